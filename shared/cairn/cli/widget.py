"""`cairn widget`: the chat on a customer's page, as an admin sets it. Over the API."""

import json
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from cairn.cli.client import Failure
from cairn.cli.options import Json, deps_of, escape, print_done, print_json

app = typer.Typer(help="The chat on a customer's page.", no_args_is_help=True)
PATH = "/v1/widget"
ABOUT = ("id", "has_secret", "spent_usd", "created_at", "changed_at")
"""What is shown of a widget and is not set."""


@app.command()
def show(ctx: typer.Context, as_json: Json = False) -> None:
    """Show the widget, and what it has cost today."""
    deps = deps_of(ctx)
    widget = deps.client.get(PATH)
    if as_json:
        return print_json(widget)
    deps.out.print(f"{widget['id']}: {escape(', '.join(widget['origins']))}")
    deps.out.print(f"{widget['spent_usd']:.2f} of {widget['day_usd']:.2f} USD today")


@app.command("set")
def set_widget(
    ctx: typer.Context,
    origin: Annotated[
        list[str] | None, typer.Option(help="Where it stands, such as https://www.example.org.")
    ] = None,
    day_usd: Annotated[float | None, typer.Option(help="What a day may cost, in USD.")] = None,
    hand_off: Annotated[
        int | None,
        typer.Option(min=0, help="Call people; after so many minutes a ticket. 0: nobody."),
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="JSON with settings: docs/use/widget.md lists them.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Make the widget or change it; settings that are not named stay as they are."""
    deps = deps_of(ctx)
    try:
        settings = dict(deps.client.get(PATH))
    except Failure as missing:
        if "has no widget" not in missing.message:
            raise
        settings = {}
    body: dict[str, Any] = {name: settings[name] for name in settings if name not in ABOUT}
    body |= _read(file) if file else {}
    body |= {"origins": origin} if origin else {}
    body |= {} if day_usd is None else {"day_usd": day_usd}
    if hand_off is not None:
        persons: dict[str, Any] = {**(body.get("hand_off") or {}), "wait_minutes": hand_off}
        body["hand_off"] = persons if hand_off else None
    widget = deps.client.put(PATH, body)
    script = f"{deps.client.url.rstrip('/')}/widget.js"
    tag = f'<script src="{script}" data-widget="{widget["id"]}" defer></script>'
    line = f"[green]set[/] {widget['id']} on {escape(', '.join(widget['origins']))}"
    line += f"\non your page: {escape(tag)}"
    print_done(deps, widget, line, as_json=as_json)


@app.command()
def remove(ctx: typer.Context, as_json: Json = False) -> None:
    """Remove the widget with its sessions; what was said stays."""
    deps = deps_of(ctx)
    removed = deps.client.delete(PATH)
    print_done(deps, removed, f"removed {removed['id']}", as_json=as_json)


def _read(file: Path) -> dict[str, Any]:
    try:
        value = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Failure(f"{file} cannot be read as JSON.") from error
    if not isinstance(value, dict):
        raise Failure(f"{file} holds no JSON object.")
    return cast("dict[str, Any]", value)
