"""`cairn channels`: Slack and the like, where people chat and operators work. Over the API."""

import json
import re
from pathlib import Path
from typing import Annotated, Any, cast

import typer

from cairn.cli.client import Failure
from cairn.cli.options import (
    Json,
    NoSecret,
    Secret,
    deps_of,
    escape,
    moment,
    print_done,
    print_json,
    secrets_given,
    table,
    without_none,
)

app = typer.Typer(help="Where people chat, operators decide and answer.", no_args_is_help=True)
PATH = "/v1/channels"
_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
Name = Annotated[str, typer.Argument(help="The channel's name or id.")]
Person = Annotated[str, typer.Argument(help="The person's login or id.")]
Config = Annotated[
    str | None, typer.Option(help="Its kind's own settings as JSON, or @file of them.")
]
Settings = Annotated[
    str | None, typer.Option(help="What it may do as JSON, or @file: the guide lists it.")
]


@app.command("list")
def list_channels(ctx: typer.Context, as_json: Json = False) -> None:
    """List channels, and how asking them goes."""
    deps = deps_of(ctx)
    items = deps.client.get(PATH)["items"]
    if as_json:
        return print_json(items)
    shown = table("name", "kind", "state", "operators", "today", "error")
    for each in items:
        state = "paused" if each["paused"] else "active"
        operators = str(each["config"].get("operators") or "")
        spent = f"{each['spent_usd']:.2f} USD"
        row = (each["name"], each["kind"], state, operators, spent, each["error"] or "")
        shown.add_row(*map(escape, row))
    deps.out.print(shown if items else "there is no channel")


@app.command()
def add(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What to call it.")],
    kind: Annotated[str, typer.Option(help="slack, or teams.")],
    config: Config = None,
    settings: Settings = None,
    secret: Secret = None,
    as_json: Json = False,
) -> None:
    """Add a channel, and say where it delivers to."""
    deps = deps_of(ctx)
    body = {
        "name": name,
        "kind": kind,
        "config": _document(config),
        "settings": _document(settings),
        "secrets": secrets_given(secret),
    }
    added = deps.client.post(PATH, without_none(body))
    print_done(deps, added, f"added; it delivers to {added['events_path']}", as_json=as_json)


@app.command("set")
def change(
    ctx: typer.Context,
    name: Name,
    config: Config = None,
    settings: Settings = None,
    secret: Secret = None,
    no_secret: NoSecret = None,
    pause: Annotated[bool | None, typer.Option("--pause/--resume")] = None,
    as_json: Json = False,
) -> None:
    """Change a channel; what is not named stays."""
    deps = deps_of(ctx)
    body = {
        "config": _document(config),
        "settings": _document(settings),
        "secrets": secrets_given(secret, no_secret),
        "paused": pause,
    }
    changed = deps.client.patch(f"{PATH}/{_find(ctx, name)['id']}", without_none(body))
    print_done(deps, changed, f"changed {escape(changed['name'])}", as_json=as_json)


@app.command()
def check(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Ask a channel whether its keys are good."""
    deps = deps_of(ctx)
    answer = deps.client.post(f"{PATH}/{_find(ctx, name)['id']}/check", {})
    print_done(deps, answer, f"good: the app is {escape(answer['app'])} there", as_json=as_json)


@app.command()
def remove(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Remove a channel with its secrets and ties; what was said stays."""
    deps = deps_of(ctx)
    gone = deps.client.delete(f"{PATH}/{_find(ctx, name)['id']}")
    print_done(deps, gone, f"removed {gone['id']}", as_json=as_json)


@app.command()
def ties(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """List who of a channel is who here."""
    deps = deps_of(ctx)
    items = deps.client.get(f"{PATH}/{_find(ctx, name)['id']}/ties")["items"]
    if as_json:
        return print_json(items)
    shown = table("user", "person", "name", "since")
    for each in items:
        row = (each["user_id"], each["person_id"], each["name"], moment(each["tied_at"]))
        shown.add_row(*map(escape, row))
    deps.out.print(shown if items else "nobody is tied")


@app.command()
def tie(ctx: typer.Context, name: Name, person: Person, as_json: Json = False) -> None:
    """Make a code: who sends it to the app, directly and within ten minutes, is this person."""
    deps = deps_of(ctx)
    path = f"{PATH}/{_find(ctx, name)['id']}/codes"
    code = deps.client.post(path, {"person_id": _person(ctx, person)})
    print_done(deps, code, f"send the app: tie {code['code']}", as_json=as_json)


@app.command()
def untie(ctx: typer.Context, name: Name, person: Person, as_json: Json = False) -> None:
    """Let a person decide and answer nothing there any more."""
    deps = deps_of(ctx)
    path = f"{PATH}/{_find(ctx, name)['id']}/ties/{_person(ctx, person)}"
    gone = deps.client.delete(path)
    print_done(deps, gone, f"untied {gone['id']}", as_json=as_json)


@app.command()
def manifest(
    kind: Annotated[str, typer.Argument(help="teams.")],
    app_id: Annotated[str, typer.Option(help="The application (client) id of the bot.")],
    website: Annotated[str, typer.Option(help="The https address that Teams shows for help.")],
    name: Annotated[str, typer.Option(help="What the bot is called in Teams.")] = "Cairn",
    hears_all: Annotated[
        bool, typer.Option(help="Ask owners of teams that it need not be mentioned.")
    ] = False,
    out: Annotated[Path | None, typer.Option(help="Write the package to upload there.")] = None,
) -> None:
    """Print the manifest of the app that people add in Teams, or write it with its icons."""
    from cairn.channels.teams.package import manifest as manifest_of
    from cairn.channels.teams.package import package

    if kind != "teams" or not _GUID.fullmatch(app_id) or not website.startswith("https://"):
        raise Failure(
            "This makes no manifest: say teams, an --app-id that is a GUID in small letters, and "
            "a --website that begins with https://."
        )
    document = manifest_of(app_id, name=name, website=website, hears_all=hears_all)
    if out is None:
        return print_json(document)
    try:
        out.write_bytes(package(document))
    except OSError as error:
        raise Failure(f"{out} cannot be written.") from error
    typer.echo(f"wrote {out}; upload it in the Teams admin center, under Manage apps")


def _find(ctx: typer.Context, name: str) -> dict[str, Any]:
    items = deps_of(ctx).client.get(PATH)["items"]
    channel = next((each for each in items if name in (each["name"], each["id"])), None)
    if channel is None:
        raise Failure(f"There is no channel {name}.", advice="see `cairn channels list`")
    return cast("dict[str, Any]", channel)


def _person(ctx: typer.Context, login: str) -> str:
    items = deps_of(ctx).client.get("/v1/people")["items"]
    person = next((each for each in items if login in (each["login"], each["id"])), None)
    if person is None:
        raise Failure(f"There is no person {login}.", advice="see `cairn people list`")
    return str(person["id"])


def _document(text: str | None) -> dict[str, Any] | None:
    """Return a JSON object that was typed, or stands in a file."""
    if text is None:
        return None
    try:
        written = Path(text[1:]).read_text(encoding="utf-8") if text.startswith("@") else text
        value = json.loads(written)
    except (OSError, ValueError) as error:
        raise Failure(f"{text} cannot be read as JSON.") from error
    if not isinstance(value, dict):
        raise Failure(f"{text} holds no JSON object.")
    return cast("dict[str, Any]", value)
