"""`cairn approvals`, `grants` and `tool-calls`: what agents may do, and what they did."""

import json
from collections.abc import Iterable, Mapping
from datetime import timedelta
from itertools import islice
from typing import Annotated, Any

import typer

from cairn.cli.deps import Deps
from cairn.cli.options import (
    Json,
    deps_of,
    escape,
    json_object,
    moment,
    print_done,
    print_json,
    table,
)
from cairn.kernel.clock import utc_now
from cairn.kernel.text.canonical import format_timestamp

app = typer.Typer(help="Actions that wait for a person's decision.", no_args_is_help=True)

Id = Annotated[str, typer.Argument(help="The approval's id.")]
Reason = Annotated[
    str | None, typer.Option("--reason", "-r", help="Why; prompted for when missing.")
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")]
PENDING = "pending"
_COLOURS = {PENDING: "yellow", "granted": "green", "used": "green", "rejected": "red"}


@app.command("list")
def list_approvals(
    ctx: typer.Context,
    state: Annotated[
        str, typer.Option(help="pending, granted, used, rejected, edited, expired, void, or all.")
    ] = PENDING,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 50,
    as_json: Json = False,
) -> None:
    """List approvals, newest first; pending ones by default."""
    deps = deps_of(ctx)
    state_filter = None if state == "all" else state
    items = deps.client.get("/v1/approvals", state=state_filter, limit=limit)["items"]
    if as_json:
        return print_json(items)
    shown = table("id", "tool", "state", "expires", whole="id")
    for item in items:
        colour = _COLOURS.get(item["state"], "dim")
        state_ = f"[{colour}]{item['state']}[/]"
        shown.add_row(item["id"], item["tool"], state_, moment(item["expires_at"]))
    deps.out.print(shown if items else _nothing(state))


@app.command()
def show(ctx: typer.Context, approval: Id, as_json: Json = False) -> None:
    """Show an approval: tool, arguments, evidence, the rule behind it, rollback, expiry."""
    deps = deps_of(ctx)
    answer = deps.client.get(f"/v1/approvals/{approval}")
    print_json(answer) if as_json else _show(deps, answer)


@app.command()
def approve(
    ctx: typer.Context,
    approval: Id,
    reason: Reason = None,
    yes: Yes = False,
    uses: Annotated[
        int, typer.Option(min=0, max=1_000, help="Also grant it for this many further calls.")
    ] = 0,
    days: Annotated[
        int, typer.Option(min=1, max=90, help="How long the grant of --uses lasts.")
    ] = 7,
    as_json: Json = False,
) -> None:
    """Approve exactly the action that is shown, once."""
    if as_json and not yes:
        raise typer.BadParameter("--json shows no question to say yes to; look first, add --yes")
    deps = deps_of(ctx)
    shown = _looked_at(deps, approval, yes=yes, as_json=as_json)
    why = _why(reason, needed=uses > 0, ask=not yes)
    body = {"binding": shown["binding"], "reason": why}
    decided = deps.client.post(f"/v1/approvals/{approval}/approve", body)
    if not as_json:
        _tell(deps, "approved", decided)
    granted = _grant(deps, shown, why, uses, days) if uses else None
    if as_json:
        print_json({**decided, **({"grant": granted} if granted else {})})
    elif granted:
        text = f"{uses} more times until {moment(granted['expires_at'])}"
        deps.out.print(f"[green]granted[/] {granted['id']}: {text}")


@app.command()
def reject(ctx: typer.Context, approval: Id, reason: Reason = None, as_json: Json = False) -> None:
    """Reject the action; the agent gets the reason and tries another way."""
    deps = deps_of(ctx)
    body = {"reason": _why(reason, needed=True)}
    decided = deps.client.post(f"/v1/approvals/{approval}/reject", body)
    print_json(decided) if as_json else _tell(deps, "rejected", decided)


@app.command()
def edit(
    ctx: typer.Context,
    approval: Id,
    change: Annotated[
        list[str] | None, typer.Option("--set", help="NAME=VALUE; repeat for several.")
    ] = None,
    arguments: Annotated[str | None, typer.Option(help="All of them, as a JSON object.")] = None,
    reason: Reason = None,
    as_json: Json = False,
) -> None:
    """Approve the action with other arguments; the safety rules check them again."""
    deps = deps_of(ctx)
    shown = deps.client.get(f"/v1/approvals/{approval}")
    new_arguments = _arguments(shown, arguments, change or [])
    body = {
        "binding": shown["binding"],
        "arguments": new_arguments,
        "reason": _why(reason, needed=True),
    }
    decided = deps.client.post(f"/v1/approvals/{approval}/edit", body)
    print_json(decided) if as_json else _tell(deps, "edited", decided)


def _nothing(state: str) -> str:
    return "nothing waits for a person" if state == PENDING else "no question is in this state"


def _looked_at(deps: Deps, approval: str, *, yes: bool, as_json: bool) -> dict[str, Any]:
    """Return the question, shown and confirmed: nobody says yes to what they did not see."""
    answer = deps.client.get(f"/v1/approvals/{approval}")
    if not as_json:
        _show(deps, answer)
    if answer["state"] == PENDING and not yes:
        typer.confirm("Approve this?", abort=True)
    return answer


def _show(deps: Deps, item: dict[str, Any]) -> None:
    colour = _COLOURS.get(item["state"], "dim")
    danger = "  [red]dangerous[/]" if item["dangerous"] else ""
    deps.out.print(f"[bold]{escape(item['tool'])}[/]  [{colour}]{item['state']}[/]{danger}")
    deps.out.print(f"ticket      {escape(item['title'])}  [dim]{item['ticket_id']}[/]")
    deps.out.print(f"asked in    [dim]{item['investigation_id']}[/]")
    deps.out.print(f"why         {escape(item['why'])}")
    deps.out.print(f"asked by    {escape(item['rule'])}: {escape(item['detail'])}")
    deps.out.print("arguments")
    for name, value in item["arguments"].items():
        text = escape(json.dumps(value, ensure_ascii=False))
        deps.out.print(f"  [cyan]{escape(name)}[/] = {text}")
    if item["rehearsal"]:
        deps.out.print(f"dry run     {escape(item['rehearsal'])}")
    _show_evidence(deps, item)
    undo = escape(item["rollback"]) if item["rollback"] else "[red]nothing undoes this[/]"
    deps.out.print(f"rollback    {undo}")
    deps.out.print(f"expires     {moment(item['expires_at'])}")
    deps.out.print(f"[dim]binding {item['binding'][:16]}…  rules {item['policy_version'][:16]}[/]")


def _show_evidence(deps: Deps, item: dict[str, Any]) -> None:
    deps.out.print("evidence" if item["evidence"] else "evidence    [red]none[/]")
    change: dict[str, list[str]] = item["evidence_change"] or {"added": [], "removed": []}
    for each in item["evidence"]:
        new = " [yellow]new[/]" if each["citation"] in change["added"] else ""
        deps.out.print(f"  {escape(each['citation'])}{new} {escape(each['text'])}")
    for gone in change["removed"]:
        deps.out.print(f"  [dim]{escape(gone)} is no longer among it[/]")


def _why(reason: str | None, *, needed: bool, ask: bool = True) -> str:
    """Return the reason given, or asked for beside the answer; "" where none is needed."""
    if reason is not None:
        return reason
    if not needed and not ask:
        return ""
    answer = typer.prompt("Why", default=None if needed else "", show_default=False, err=True)
    return str(answer).strip()


def _arguments(shown: dict[str, Any], text: str | None, changes: list[str]) -> dict[str, Any]:
    """Return the arguments of an edit: those given, else those shown, with the changes."""
    if text is None and not changes:
        raise typer.BadParameter("Say what changes: --set NAME=VALUE, or all with --arguments.")
    start = shown["arguments"] if text is None else json_object(text, "The arguments")
    return {**start, **dict(map(_change, changes))}


def _change(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not name or not equals:
        raise typer.BadParameter("A change is NAME=VALUE; the value JSON, or a text as it is.")
    try:
        return name, json.loads(value)
    except ValueError:
        return name, value


def _grant(deps: Deps, shown: dict[str, Any], reason: str, uses: int, days: int) -> dict[str, Any]:
    from datetime import timedelta

    from cairn.kernel.clock import utc_now
    from cairn.kernel.text.canonical import format_timestamp

    body = {
        "tool": shown["tool"],
        "approval_id": shown["id"],
        "expires_at": format_timestamp(utc_now() + timedelta(days=days)),
        "max_uses": uses,
        "reason": reason,
    }
    return deps.client.post("/v1/grants", body)


def _tell(deps: Deps, word: str, decided: dict[str, Any]) -> None:
    deps.out.print(
        f"[green]{word}[/]; the investigation goes on: {decided['investigation_state']}  "
        f"[dim]ledger {decided['position']}[/]"
    )
    deps.out.print(f"[dim]watch it: cairn investigations watch {decided['investigation_id']}[/]")


grants_app = typer.Typer(help="Standing grants: approvals given in advance.", no_args_is_help=True)


@grants_app.command()
def make(
    ctx: typer.Context,
    tool: Annotated[str, typer.Argument(help="connector.tool")],
    reason: Annotated[str, typer.Option("--reason", "-r", help="Why.")],
    arguments: Annotated[
        str | None,
        typer.Option(
            help="Every argument, as JSON: `*` stands for letters, digits and ._+-, `**` for "
            "anything. Without it any arguments, at most 10 times."
        ),
    ] = None,
    uses: Annotated[int, typer.Option(min=1, max=1_000, help="How often.")] = 10,
    days: Annotated[int, typer.Option(min=1, max=90, help="For how long.")] = 7,
    as_json: Json = False,
) -> None:
    """Make a grant; the ledger records it and every use."""
    deps = deps_of(ctx)
    body = {
        "tool": tool,
        "arguments": None if arguments is None else json_object(arguments, "The arguments"),
        "expires_at": format_timestamp(utc_now() + timedelta(days=days)),
        "max_uses": uses,
        "reason": reason,
    }
    grant = deps.client.post("/v1/grants", body)
    if as_json:
        return print_json(grant)
    until = moment(grant["expires_at"])
    deps.out.print(f"[green]granted[/] {grant['id']}  {tool}, {uses} times until {until}")


@grants_app.command("list")
def list_grants(ctx: typer.Context, as_json: Json = False) -> None:
    """List grants, expired and revoked ones too, with their uses."""
    deps = deps_of(ctx)
    pages = list(deps.client.pages("/v1/grants", limit=99))
    if as_json:
        return print_json(pages)
    shown = table("id", "tool", "arguments", "used", "until", "why")
    for item in pages:
        what = "any" if item["arguments"] is None else json.dumps(item["arguments"])
        until = moment(item["expires_at"])
        over = " [red](revoked)[/]" if item["revoked_at"] else ""
        used = f"{item['uses']} of {item['max_uses']}"
        shown.add_row(
            item["id"], item["tool"], escape(what), used, until + over, escape(item["reason"])
        )
    deps.out.print(shown if pages else "there are no grants: agents ask each time")


@grants_app.command()
def revoke(
    ctx: typer.Context,
    grant: Annotated[str, typer.Argument(help="The grant's id.")],
    as_json: Json = False,
) -> None:
    """Revoke a grant at once."""
    deps = deps_of(ctx)
    revoked = deps.client.delete(f"/v1/grants/{grant}")
    print_done(deps, revoked, f"[green]revoked[/] {grant}", as_json=as_json)


_STATES = {"applied": "green", "failed": "red", "denied": "red", "unknown": "red"}
SHOWN_CHARS = 120


def tool_calls(
    ctx: typer.Context,
    connector: Annotated[str | None, typer.Option(help="Only this connector's.")] = None,
    investigation: Annotated[str | None, typer.Option(help="Only this investigation's.")] = None,
    session: Annotated[str | None, typer.Option(help="Only this session's.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000)] = 50,
    as_json: Json = False,
) -> None:
    """List tool calls, newest first: input, output, error, times."""
    deps = deps_of(ctx)
    pages = deps.client.pages(
        "/v1/tool-calls",
        connector=connector,
        investigation_id=investigation,
        session_id=session,
        limit=min(limit, 200),
    )
    results = list(islice(pages, limit))
    print_json(results) if as_json else show_calls(deps, results)


def show_calls(deps: Deps, calls: Iterable[Mapping[str, Any]]) -> None:
    """Print tool calls as a table; `--json` has them whole."""
    shown = table("asked", "tool", "state", "ms", "input", "output")
    for call in calls:
        state = f"[{_STATES.get(call['state'], 'yellow')}]{call['state']}[/]"
        state += " (dry run)" if call["dry_run"] else ""
        state += f"\n{escape(call['error'])}" if call["error"] else ""
        shown.add_row(
            moment(call["proposed_at"]),
            escape(call["tool"]),
            state,
            "" if call["ms"] is None else str(call["ms"]),
            escape(_short(call["input"], readable=call["readable"])),
            escape(_short(call["output"], readable=call["readable"])),
        )
    deps.out.print(shown if shown.row_count else "no tool was called")


def _short(text: str | None, *, readable: bool) -> str:
    if text is None:
        return "" if readable else "(forgotten)"
    line = " ".join(text.split())
    return line if len(line) <= SHOWN_CHARS else line[: SHOWN_CHARS - 1] + "…"
