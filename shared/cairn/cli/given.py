"""Options whose values may come from files: texts, JSON, and secrets, which are never argued."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from cairn.cli.failure import Failure

Config = Annotated[str | None, typer.Option(help="Settings in clear: JSON, or @FILE.")]
Secret = Annotated[
    list[str] | None,
    typer.Option("--secret", help="NAME, which is then asked for, or NAME=@FILE; repeat."),
]
NoSecret = Annotated[
    list[str] | None, typer.Option("--no-secret", help="NAME of a secret to remove; repeat.")
]


def text_given(given: str) -> str:
    """Return a text, or what the file of `@FILE` holds."""
    if not given.startswith("@"):
        return given
    try:
        return Path(given[1:]).read_text(encoding="utf-8")
    except OSError as exc:
        raise Failure(f"{given[1:]}: {exc.strerror}.") from exc
    except UnicodeDecodeError as exc:
        raise Failure(f"{given[1:]} is no text in UTF-8.") from exc


def json_given(given: str) -> Any:
    """Return a JSON value, or that of a file."""
    try:
        return json.loads(text_given(given))
    except ValueError as exc:
        raise Failure(f"This is no JSON: {exc}.") from exc


def secret_given(given: str) -> tuple[str, str]:
    """Return a secret's name and value: typed, or read from the file of `NAME=@FILE`."""
    name, equals, place = given.partition("=")
    if equals and not place.startswith("@"):
        raise Failure(
            "A secret on the command line stands in every process listing.",
            advice=f"write --secret {name} and type it, or --secret {name}=@FILE",
        )
    if equals:
        return name, text_given(place).rstrip("\r\n")
    return name, typer.prompt(name, hide_input=True, err=True)


def secrets_given(
    given: list[str] | None, removed: list[str] | None = None
) -> dict[str, str | None] | None:
    """Return secrets by name, None for those to be removed; None when there is nothing to do."""
    gone: dict[str, str | None] = dict.fromkeys(removed or ())
    return {**gone, **dict(secret_given(one) for one in given or ())} or None
