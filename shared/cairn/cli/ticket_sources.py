"""`cairn ticket-sources`: the help desks that tickets come from and answers go back to."""

from typing import Annotated, Any

import typer

from cairn.cli.failure import Failure
from cairn.cli.given import Config, NoSecret, Secret, json_given, secrets_given
from cairn.cli.options import (
    Json,
    deps_of,
    escape,
    moment,
    print_done,
    print_json,
    table,
    without_none,
)

app = typer.Typer(help="Help desks: where tickets come from.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help="The source's name or id.")]
Persona = Annotated[str | None, typer.Option(help="Who works on its tickets.")]
Every = Annotated[int | None, typer.Option("--every", help="Seconds between polls.", min=60)]
_COLOURS = {"active": "green", "needs-auth": "red", "paused": "yellow"}


@app.command("list")
def list_sources(ctx: typer.Context, as_json: Json = False) -> None:
    """List help desks and how polling them goes."""
    deps = deps_of(ctx)
    found = deps.client.get("/v1/ticket-sources")["items"]
    if as_json:
        return print_json(found)
    shown = table("name", "kind", "state", "persona", "every", "polled", "webhooks go to")
    for each in found:
        polled = moment(each["polled_at"]) if each["polled_at"] else "-"
        every = f"{each['poll_seconds']} s"
        shown.add_row(
            each["name"],
            each["kind"],
            _state(each),
            each["persona"],
            every,
            polled,
            each["events_path"],
        )
    deps.out.print(shown)


@app.command()
def add(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="What to call it.")],
    kind: Annotated[str, typer.Option(help="zoho-desk or github-issues.")],
    config: Config = None,
    secret: Secret = None,
    persona: Persona = None,
    every: Every = None,
    as_json: Json = False,
) -> None:
    """Register a help desk; it is polled from now on."""
    body = {"name": name, "kind": kind, **_settings(config, secret, persona, every)}
    made = deps_of(ctx).client.post("/v1/ticket-sources", without_none(body))
    _print(ctx, made, as_json=as_json)


@app.command("set")
def change(
    ctx: typer.Context,
    name: Name,
    config: Config = None,
    secret: Secret = None,
    no_secret: NoSecret = None,
    persona: Persona = None,
    every: Every = None,
    pause: Annotated[
        bool | None, typer.Option("--pause/--resume", help="Stop polling, or go on.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Change a help desk; new secrets mend one that needs them, and its tickets go on."""
    body = without_none({**_settings(config, secret, persona, every, no_secret), "paused": pause})
    if not body:
        raise Failure("There is nothing to change.", advice="see cairn ticket-sources set --help")
    done = deps_of(ctx).client.patch(_path(ctx, name), body)
    _print(ctx, done, as_json=as_json)


@app.command()
def poll(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Fetch what is new there now."""
    deps = deps_of(ctx)
    done = deps.client.post(f"{_path(ctx, name)}/poll", {})
    if as_json:
        return print_json(done)
    more = "" if done["complete"] else "; the rest comes with the next poll"
    deps.out.print(
        f"[green]{done['new']} new[/], {done['changed']} changed, {done['known']} known{more}",
        highlight=False,
    )


@app.command()
def remove(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Remove a help desk with its secrets; its tickets stay."""
    deps = deps_of(ctx)
    gone = deps.client.delete(_path(ctx, name))
    print_done(deps, gone, f"[green]removed[/] {name}", as_json=as_json)


def _settings(
    config: str | None,
    secret: list[str] | None,
    persona: str | None,
    every: int | None,
    no_secret: list[str] | None = None,
) -> dict[str, Any]:
    return {
        "config": json_given(config) if config else None,
        "secrets": secrets_given(secret, no_secret),
        "persona": persona,
        "poll_seconds": every,
    }


def _path(ctx: typer.Context, name: str) -> str:
    """Return the path of a source by its name or its id."""
    for each in deps_of(ctx).client.get("/v1/ticket-sources")["items"]:
        if name in (each["name"], each["id"]):
            return f"/v1/ticket-sources/{each['id']}"
    raise Failure(f"There is no ticket source {name}.", advice="see cairn ticket-sources list")


def _print(ctx: typer.Context, shown: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        return print_json(shown)
    out = deps_of(ctx).out
    out.print(f"[bold]{shown['name']}[/]  {_state(shown)}  {shown['kind']}", highlight=False)
    out.print(f"  id {shown['id']}  persona {escape(shown['persona'])}", highlight=False)
    out.print(f"  webhooks go to {shown['events_path']}", highlight=False)


def _state(shown: dict[str, Any]) -> str:
    error = f" ({shown['error']})" if shown["error"] else ""
    return f"[{_COLOURS[shown['state']]}]{shown['state']}[/]{error}"
