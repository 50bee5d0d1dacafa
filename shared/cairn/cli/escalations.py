"""`cairn escalations`: where a person was called, the hand-off, and the channels."""

import json
from typing import Annotated, Any

import typer

from cairn.cli.deps import Deps
from cairn.cli.given import text_given
from cairn.cli.options import Json, deps_of, escape, moment, print_done, print_json, table

app = typer.Typer(
    help="Where agents called a person, and the channels for it.", no_args_is_help=True
)

Id = Annotated[str, typer.Argument(help="The escalation's id.")]
Name = Annotated[str, typer.Argument(help="The channel's name.")]
_COLOURS = {"queued": "yellow", "delivered": "green", "failed": "red"}


@app.command("list")
def list_escalations(
    ctx: typer.Context,
    state: Annotated[str | None, typer.Option(help="queued, delivered or failed.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 50,
    as_json: Json = False,
) -> None:
    """List escalations, the newest first."""
    deps = deps_of(ctx)
    found = deps.client.get("/v1/escalations", state=state, limit=limit)["items"]
    if as_json:
        return print_json(found)
    shown = table("id", "verdict", "channel", "state", "queued", "why")
    for one in found:
        state_ = f"[{_COLOURS[one['state']]}]{one['state']}[/]"
        error = f" ({one['error']})" if one["error"] else ""
        shown.add_row(
            one["id"],
            one["verdict"],
            escape(one["channel"]),
            state_ + error,
            moment(one["queued_at"]),
            escape(one["why"] or "[forgotten]"),
        )
    deps.out.print(shown)


@app.command()
def show(ctx: typer.Context, escalation: Id, as_json: Json = False) -> None:
    """Show the hand-off: why, the timeline, the tool calls, citations, what to authorise again."""
    deps = deps_of(ctx)
    found = deps.client.get(f"/v1/escalations/{escalation}")
    print_json(found) if as_json else _show(deps, found)


@app.command()
def retry(ctx: typer.Context, escalation: Id, as_json: Json = False) -> None:
    """Call a person again after a failure, by the channel the persona has now."""
    deps = deps_of(ctx)
    queued = deps.client.post(f"/v1/escalations/{escalation}/retry", {})
    print_done(deps, queued, f"[green]queued[/] {escalation}", as_json=as_json)


@app.command()
def channels(ctx: typer.Context, as_json: Json = False) -> None:
    """List the channels for calling people, besides ticket notes and webhooks."""
    deps = deps_of(ctx)
    found = deps.client.get("/v1/escalation-channels")["items"]
    if as_json:
        return print_json(found)
    shown = table("name", "kind", "made")
    for one in found:
        shown.add_row(one["name"], one["kind"], moment(one["created_at"]))
    deps.out.print(shown)


@app.command("add-channel")
def add_channel(
    ctx: typer.Context,
    name: Name,
    url: Annotated[
        str, typer.Option(help="The address of a Slack incoming webhook, or @FILE; a secret.")
    ],
    as_json: Json = False,
) -> None:
    """Keep a Slack incoming webhook; a persona names it as `slack:NAME`."""
    deps = deps_of(ctx)
    body = {"name": name, "url": text_given(url).strip()}
    added = deps.client.post("/v1/escalation-channels", body)
    print_done(deps, added, f"[green]added[/] slack:{name}", as_json=as_json)


@app.command("remove-channel")
def remove_channel(ctx: typer.Context, name: Name, as_json: Json = False) -> None:
    """Remove a channel; personas that name it fall back to notes."""
    deps = deps_of(ctx)
    gone = deps.client.delete(f"/v1/escalation-channels/{name}")
    print_done(deps, gone, f"[green]removed[/] slack:{name}", as_json=as_json)


def _show(deps: Deps, found: dict[str, Any]) -> None:
    out, one = deps.out, found["escalation"]
    out.print(f"[bold]{one['verdict']}[/] by {escape(one['channel'])}: {one['state']}")
    out.print(escape(one["why"] or "[forgotten]"))
    for mend in found["mend"]:
        out.print(f"[yellow]sign in again[/] {mend['kind']} {mend['name']}: {mend['command']}")
    lines = table("#", "who", "what", "")
    for step in found["transcript"]:
        detail = escape(step["detail"] or "[forgotten]")
        lines.add_row(str(step["seq"]), escape(step["system"]), step["action"], detail)
    out.print(lines)
    calls = table("tool", "state", "with", "came back")
    for call in found["tool_calls"]:
        given, came = escape(call["input"] or ""), escape(call["output"] or "")
        calls.add_row(escape(call["tool"]), call["state"], given, came)
    out.print(calls)
    if found["citations"]:
        out.print(escape("rests on " + " ".join(found["citations"])))
    if found["memory"] is not None:
        out.print(
            f"working memory: {len(json.dumps(found['memory']))} characters (--json shows it)"
        )
