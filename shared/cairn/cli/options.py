"""Options that many commands share, values that come from files, and how answers are printed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from cairn.cli.client import Failure
from cairn.cli.deps import Deps

if TYPE_CHECKING:
    from rich.table import Table


Json = Annotated[bool, typer.Option("--json", help="Print one JSON value, for programs.")]
Client = Annotated[str | None, typer.Option("--client", help="The client it belongs to.")]
Scope = Annotated[
    str | None,
    typer.Option(help="public, shared or admin; the narrowest that the key has by default."),
]


def deps_of(ctx: typer.Context) -> Deps:
    """Return what the command works with; the real things unless a test gave others."""
    return ctx.ensure_object(Deps)


def print_json(value: Any) -> None:
    """Print a JSON value on standard output."""
    typer.echo(json.dumps(value, ensure_ascii=False, indent=2, default=str))


def print_done(deps: Deps, answer: Any, text: str, *, as_json: bool) -> None:
    """Print what a command did: the API's answer for programs, else one line."""
    print_json(answer) if as_json else deps.out.print(text, highlight=False)


def escape(text: str) -> str:
    """Return a text as a terminal shows it: what looks like markup is none."""
    from rich.markup import escape as escape_markup

    return escape_markup(text)


def table(*columns: str, whole: str | None = None) -> Table:
    """Return an empty table in the house style; `whole` is a column that is never folded."""
    from rich import box
    from rich.table import Table

    result = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        result.add_column(column, overflow="fold", no_wrap=column == whole)
    return result


def without_none(values: dict[str, Any]) -> dict[str, Any]:
    """Leave out what was not given: None and empty lists."""
    return {name: value for name, value in values.items() if value is not None and value != []}


def json_object(text: str, what: str) -> dict[str, Any]:
    """Return the JSON object an option holds; a usage error for anything else."""
    try:
        value = json.loads(text)
    except ValueError as error:
        raise typer.BadParameter(f"{what} are not JSON: {error}") from error
    if not isinstance(value, dict):
        raise typer.BadParameter(f"{what} are a JSON object.")
    return cast("dict[str, Any]", value)


def moment(text: str) -> str:
    """Return an answer's time as tables show it, to the second."""
    return text[:19].replace("T", " ")


Config = Annotated[str | None, typer.Option(help="Settings in clear: JSON, or @FILE.")]
Secret = Annotated[
    list[str] | None,
    typer.Option("--secret", help="NAME, which is then asked for, or NAME=@FILE; repeat."),
]
NoSecret = Annotated[
    list[str] | None, typer.Option("--no-secret", help="NAME of a secret to remove; repeat.")
]


def text_given(value: str) -> str:
    """Return a text, or what the file of `@FILE` holds."""
    if not value.startswith("@"):
        return value
    try:
        return Path(value[1:]).read_text(encoding="utf-8")
    except OSError as exc:
        raise Failure(f"{value[1:]}: {exc.strerror}.") from exc
    except UnicodeDecodeError as exc:
        raise Failure(f"{value[1:]} is no text in UTF-8.") from exc


def json_given(value: str) -> Any:
    """Return a JSON value, or that of a file."""
    try:
        return json.loads(text_given(value))
    except ValueError as exc:
        raise Failure(f"This is no JSON: {exc}.") from exc


def secret_given(value: str) -> tuple[str, str]:
    """Return a secret's name and value: typed, or read from the file of `NAME=@FILE`."""
    name, equals, place = value.partition("=")
    if equals and not place.startswith("@"):
        raise Failure(
            "A secret on the command line stands in every process listing.",
            advice=f"write --secret {name} and type it, or --secret {name}=@FILE",
        )
    if equals:
        return name, text_given(place).rstrip("\r\n")
    return name, typer.prompt(name, hide_input=True, err=True)


def secrets_given(
    values: list[str] | None, removed: list[str] | None = None
) -> dict[str, str | None] | None:
    """Return secrets by name, None for those to be removed; None when there is nothing to do."""
    gone: dict[str, str | None] = dict.fromkeys(removed or ())
    return {**gone, **dict(secret_given(item) for item in values or ())} or None
