"""`cairn escalations`, `personas`, `candidates` and `proposals`: where people come in."""

import json
from itertools import islice
from typing import Annotated, Any

import typer

from cairn.cli.deps import Deps
from cairn.cli.options import (
    Json,
    deps_of,
    escape,
    moment,
    print_done,
    print_json,
    table,
    text_given,
    without_none,
)

app = typer.Typer(help="Escalations to people, and their channels.", no_args_is_help=True)

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
    """List escalations, newest first."""
    deps = deps_of(ctx)
    items = deps.client.get("/v1/escalations", state=state, limit=limit)["items"]
    if as_json:
        return print_json(items)
    shown = table("id", "verdict", "channel", "state", "queued", "why")
    for item in items:
        state_ = f"[{_COLOURS[item['state']]}]{item['state']}[/]"
        error = f" ({item['error']})" if item["error"] else ""
        sent = escape(item["channel"]), state_ + error, moment(item["queued_at"])
        shown.add_row(item["id"], item["verdict"], *sent, escape(item["why"] or "[forgotten]"))
    deps.out.print(shown)


@app.command()
def show(ctx: typer.Context, escalation: Id, as_json: Json = False) -> None:
    """Show the hand-off: why, the timeline, the tool calls, citations, what to authorise again."""
    deps = deps_of(ctx)
    answer = deps.client.get(f"/v1/escalations/{escalation}")
    print_json(answer) if as_json else _show(deps, answer)


@app.command()
def retry(ctx: typer.Context, escalation: Id, as_json: Json = False) -> None:
    """Deliver a failed escalation again, by the channel that the persona has now."""
    deps = deps_of(ctx)
    queued = deps.client.post(f"/v1/escalations/{escalation}/retry", {})
    print_done(deps, queued, f"[green]queued[/] {escalation}", as_json=as_json)


@app.command()
def channels(ctx: typer.Context, as_json: Json = False) -> None:
    """List the channels of escalations, besides ticket notes and webhooks."""
    deps = deps_of(ctx)
    items = deps.client.get("/v1/escalation-channels")["items"]
    if as_json:
        return print_json(items)
    shown = table("name", "kind", "made")
    for item in items:
        shown.add_row(item["name"], item["kind"], moment(item["created_at"]))
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
    """Add a Slack incoming webhook; personas name it as `slack:NAME`."""
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


def _show(deps: Deps, answer: dict[str, Any]) -> None:
    out, escalation = deps.out, answer["escalation"]
    out.print(
        f"[bold]{escalation['verdict']}[/] by {escape(escalation['channel'])}: "
        f"{escalation['state']}"
    )
    out.print(escape(escalation["why"] or "[forgotten]"))
    for mend in answer["mend"]:
        out.print(f"[yellow]sign in again[/] {mend['kind']} {mend['name']}: {mend['command']}")
    lines = table("#", "who", "what", "")
    for step in answer["transcript"]:
        detail = escape(step["detail"] or "[forgotten]")
        lines.add_row(str(step["seq"]), escape(step["system"]), step["action"], detail)
    out.print(lines)
    calls = table("tool", "state", "with", "came back")
    for call in answer["tool_calls"]:
        arguments, came = escape(call["input"] or ""), escape(call["output"] or "")
        calls.add_row(escape(call["tool"]), call["state"], arguments, came)
    out.print(calls)
    if answer["citations"]:
        out.print(escape("rests on " + " ".join(answer["citations"])))
    if answer["memory"] is not None:
        out.print(
            f"working memory: {len(json.dumps(answer['memory']))} characters (--json shows it)"
        )


personas_app = typer.Typer(
    help="Personas: how agents work on kinds of tickets.", no_args_is_help=True
)

PersonaName = Annotated[str, typer.Argument(help="The persona's name.")]
_FIELDS = (
    "instructions",
    "escalation",
    "autonomy",
    "max_tokens",
    "max_usd",
    "max_seconds",
    "max_iterations",
    "redaction",
)


@personas_app.command("list")
def list_personas(ctx: typer.Context, as_json: Json = False) -> None:
    """List personas; `default` takes the tickets that no other takes."""
    deps = deps_of(ctx)
    items = deps.client.get("/v1/personas")["items"]
    if as_json:
        return print_json(items)
    shown = table("name", "autonomy", "tokens", "usd", "seconds", "rounds", "calls", "version")
    for each in items:
        limits = [str(each[f"max_{item}"]) for item in ("tokens", "usd", "seconds", "iterations")]
        version = str(each["version"])
        shown.add_row(each["name"], each["autonomy"], *limits, each["escalation"], version)
    deps.out.print(shown)


@personas_app.command("show")
def show_persona(ctx: typer.Context, name: PersonaName, as_json: Json = False) -> None:
    """Show a persona and how it changed."""
    deps = deps_of(ctx)
    answer = deps.client.get(f"/v1/personas/{name}")
    if as_json:
        return print_json(answer)
    deps.out.print(f"[bold]{answer['name']}[/]  version {answer['version']}", highlight=False)
    for field in _FIELDS:
        deps.out.print(f"  {field}: {escape(str(answer[field]))}", highlight=False)


@personas_app.command("set")
def change(
    ctx: typer.Context,
    name: PersonaName,
    instructions: Annotated[str | None, typer.Option(help="Instructions, or @FILE.")] = None,
    autonomy: Annotated[str | None, typer.Option(help="off, investigate, propose or act.")] = None,
    escalation: Annotated[
        str | None, typer.Option(help="ticket-note, webhook:ID or slack:NAME.")
    ] = None,
    tokens: Annotated[int | None, typer.Option(min=1)] = None,
    usd: Annotated[str | None, typer.Option(help="Such as 0.50.")] = None,
    seconds: Annotated[int | None, typer.Option(min=1)] = None,
    rounds: Annotated[int | None, typer.Option(min=1)] = None,
    redaction: Annotated[str | None, typer.Option(help="A profile, such as pii.")] = None,
    as_json: Json = False,
) -> None:
    """Create a persona, or change the given fields of one."""
    fields = without_none(
        {
            "instructions": None if instructions is None else text_given(instructions),
            "autonomy": autonomy,
            "escalation": escalation,
            "max_tokens": tokens,
            "max_usd": usd,
            "max_seconds": seconds,
            "max_iterations": rounds,
            "redaction": redaction,
        }
    )
    deps = deps_of(ctx)
    persona = _find_persona(ctx, name)
    if persona is None:
        done = deps.client.post("/v1/personas", {"name": name, **fields})
    else:
        present = {field: persona[field] for field in _FIELDS}
        done = deps.client.put(f"/v1/personas/{name}", present | fields)
    if as_json:
        return print_json(done)
    deps.out.print(f"[green]set[/] {name}  version {done['version']}", highlight=False)


@personas_app.command()
def history(ctx: typer.Context, name: PersonaName, as_json: Json = False) -> None:
    """List every version a persona had."""
    deps = deps_of(ctx)
    items = deps.client.get(f"/v1/personas/{name}/versions")["items"]
    if as_json:
        return print_json(items)
    shown = table("version", "changed", "by", "autonomy", "usd", "")
    for each in items:
        gone = "[red]removed[/]" if each["removed"] else ""
        when = moment(each["changed_at"])
        version = str(each["version"])
        shown.add_row(version, when, each["changed_by"], each["autonomy"], each["max_usd"], gone)
    deps.out.print(shown)


@personas_app.command()
def remove(ctx: typer.Context, name: PersonaName, as_json: Json = False) -> None:
    """Remove a persona; `default` takes its tickets."""
    deps = deps_of(ctx)
    gone = deps.client.delete(f"/v1/personas/{name}")
    print_done(deps, gone, f"[green]removed[/] {name}", as_json=as_json)


def _find_persona(ctx: typer.Context, name: str) -> dict[str, Any] | None:
    every = deps_of(ctx).client.get("/v1/personas")["items"]
    return next((item for item in every if item["name"] == name), None)


candidates_app = typer.Typer(help="Resolutions proposed as documents.", no_args_is_help=True)
proposals = typer.Typer(help="Nodes Cairn proposes for the memory graph.", no_args_is_help=True)

CandidateId = Annotated[str, typer.Argument(help="The candidate's id.")]
Node = Annotated[str, typer.Argument(help="The proposed node's id.")]


@candidates_app.command("list")
def list_candidates(
    ctx: typer.Context,
    state: Annotated[
        str, typer.Option(help="staged, accepted, rejected, archived, or all.")
    ] = "staged",
    limit: Annotated[int, typer.Option(min=1, max=200)] = 50,
    as_json: Json = False,
) -> None:
    """List candidates, newest first; staged ones by default."""
    deps = deps_of(ctx)
    state_filter = None if state == "all" else state
    items = deps.client.get("/v1/candidates", state=state_filter, limit=limit)["items"]
    if as_json:
        return print_json(items)
    shown = table("id", "state", "cause", "staged", "title")
    for item in items:
        title = escape(item["title"] or "[forgotten]")
        shown.add_row(item["id"], item["state"], item["cause"], moment(item["staged_at"]), title)
    deps.out.print(shown)


@candidates_app.command("show")
def show_candidate(ctx: typer.Context, candidate: CandidateId, as_json: Json = False) -> None:
    """Show a candidate's text."""
    deps = deps_of(ctx)
    answer = deps.client.get(f"/v1/candidates/{candidate}")
    if as_json:
        return print_json(answer)
    deps.out.print(
        f"{answer['state']} ({answer['cause']}), investigation {answer['investigation_id']}"
    )
    deps.out.print(escape(answer["text"] or "[forgotten]"))


@candidates_app.command()
def accept(
    ctx: typer.Context,
    candidate: CandidateId,
    scope: Annotated[str, typer.Option(help="Who may find it: admin, shared, public.")] = "admin",
    as_json: Json = False,
) -> None:
    """Make the candidate a verified document."""
    deps = deps_of(ctx)
    answer = deps.client.post(f"/v1/candidates/{candidate}/accept", {"scope": scope})
    line = f"[green]accepted[/] document {answer['document_id']}"
    print_done(deps, answer, line, as_json=as_json)


@candidates_app.command()
def edit(
    ctx: typer.Context,
    candidate: CandidateId,
    title: Annotated[str | None, typer.Option(help="What to call it.")] = None,
    text: Annotated[str | None, typer.Option(help="Markdown, or @FILE.")] = None,
    as_json: Json = False,
) -> None:
    """Change a candidate's title or text; it stays staged."""
    deps = deps_of(ctx)
    fields = without_none({"title": title, "text": None if text is None else text_given(text)})
    edited = deps.client.post(f"/v1/candidates/{candidate}/edit", fields)
    print_done(deps, edited, f"[green]edited[/] {candidate}", as_json=as_json)


@candidates_app.command()
def reject(
    ctx: typer.Context,
    candidate: CandidateId,
    reason: Annotated[str, typer.Option("--reason", "-r", help="Why.")],
    as_json: Json = False,
) -> None:
    """Reject a candidate; it is kept as a record."""
    deps = deps_of(ctx)
    rejected = deps.client.post(f"/v1/candidates/{candidate}/reject", {"reason": reason})
    print_done(deps, rejected, f"[green]rejected[/] {candidate}", as_json=as_json)


@proposals.command("list")
def list_proposals(
    ctx: typer.Context,
    state: Annotated[
        str, typer.Option(help="proposed, or remembered: lines that people marked.")
    ] = "proposed",
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 50,
    as_json: Json = False,
) -> None:
    """List proposed nodes, which recurred and wait for a person, newest first."""
    deps = deps_of(ctx)
    listed = deps.client.pages("/v1/proposals", state=state, limit=min(limit, 200))
    pages = list(islice(listed, limit))
    if as_json:
        return print_json(pages)
    shown = table("id", "label", "what")
    for item in pages:
        shown.add_row(item["id"], item["label"], escape(str(item["properties"].get("text", ""))))
    deps.out.print(shown)


@proposals.command("accept")
def accept_proposal(ctx: typer.Context, node: Node, as_json: Json = False) -> None:
    """Make a proposed node active."""
    deps = deps_of(ctx)
    active = deps.client.post(f"/v1/proposals/{node}/accept", {})
    print_done(deps, active, f"[green]active[/] {node}", as_json=as_json)


@proposals.command("reject")
def reject_proposal(ctx: typer.Context, node: Node, as_json: Json = False) -> None:
    """Archive a proposed node."""
    deps = deps_of(ctx)
    archived = deps.client.post(f"/v1/proposals/{node}/reject", {})
    print_done(deps, archived, f"[green]archived[/] {node}", as_json=as_json)
