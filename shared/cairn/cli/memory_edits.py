"""`cairn memory list`, `show` and the edits: what people do about single memories. Over the API.

A memory may be named by the beginning of its id, as long as one memory only has it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cairn.cli.client import Failure
from cairn.cli.memory import app
from cairn.cli.options import (
    Client,
    Json,
    deps_of,
    escape,
    moment,
    print_json,
    table,
    text_given,
    without_none,
)

if TYPE_CHECKING:
    from cairn.cli.deps import Deps

SHOWN_CHARS = 100
SHORTEST_ID = 4
CANDIDATES = 20
_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_BEGINNING = re.compile(r"[0-9a-f][0-9a-f-]*")

MemoryId = Annotated[str, typer.Argument(help="Its id, or the beginning of it.", metavar="ID")]
Why = Annotated[str, typer.Option("--reason", "-r", help="Why; it is kept with what is done.")]


def whole_id(deps: Deps, prefix: str) -> str:
    """Return the id that `prefix` is or begins; a Failure lists the memories it may mean."""
    digits = prefix.strip().lower()
    if _ID.fullmatch(digits):
        return digits
    if len(digits) < SHORTEST_ID or not _BEGINNING.fullmatch(digits):
        raise Failure(
            f"{prefix!r} is no id, nor {SHORTEST_ID} or more digits of the beginning of one.",
            advice="cairn memory list",
        )
    matches = deps.client.get("/v1/memories", id_prefix=digits, state="any", limit=CANDIDATES)[
        "items"
    ]
    if not matches:
        raise Failure(
            f"There is no memory whose id begins with {digits}.", advice="cairn memory list"
        )
    if len(matches) > 1:
        listed = "\n".join(f"  {item['id']}  {_line(item['text'])}" for item in matches)
        raise Failure(
            f"{digits} begins the ids of several memories:\n{listed}", advice="give more of the id"
        )
    return str(matches[0]["id"])


@app.command("list")
def list_memories(
    ctx: typer.Context,
    kind: Annotated[str | None, typer.Option(help="event, fact, decision or status.")] = None,
    client: Client = None,
    key: Annotated[str | None, typer.Option(help="Only those that state this.")] = None,
    session: Annotated[str | None, typer.Option(help="Only those of this session.")] = None,
    state: Annotated[
        str, typer.Option(help="active, superseded, quarantined, ...; any.")
    ] = "active",
    occurred_from: Annotated[
        str | None, typer.Option("--from", help="Of what happened from a time.")
    ] = None,
    occurred_to: Annotated[
        str | None, typer.Option("--to", help="Of what happened before a time.")
    ] = None,
    as_of: Annotated[
        str | None, typer.Option("--as-of", help="What stood then: a time, or a ledger position.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 50,
    as_json: Json = False,
) -> None:
    """List memories, the newest first."""
    deps = deps_of(ctx)
    where = {
        "type": kind,
        "client_id": client,
        "key": key,
        "session_id": session,
        "state": state,
        "occurred_from": occurred_from,
        "occurred_to": occurred_to,
        "as_of": as_of,
    }
    page = deps.client.get("/v1/memories", limit=limit, **where)
    if as_json:
        return print_json(page)
    shown = table("id", "kind", "client", "state", "when", "text", whole="id")
    for memory in page["items"]:
        shown.add_row(
            memory["id"],
            memory["type"],
            escape(memory["client_id"]),
            _state(memory),
            moment(memory["recorded_at"]),
            escape(_line(memory["text"])),
        )
    deps.out.print(shown)
    if page["next_cursor"]:
        deps.err.print(f"[dim]the newest {limit}; --limit shows more[/]")


@app.command("show")
def show_memory(ctx: typer.Context, memory: MemoryId, as_json: Json = False) -> None:
    """Show a memory, what it was before, and why it was changed."""
    deps = deps_of(ctx)
    id_ = whole_id(deps, memory)
    body = deps.client.get(f"/v1/memories/{id_}")
    versions = deps.client.get(f"/v1/memories/{id_}/history")["versions"]
    if as_json:
        return print_json({**body, "versions": versions})
    deps.out.print(escape(body["text"]), highlight=False)
    shown = table("", "")
    for name in ("id", "type", "client_id", "scope", "key", "subject", "importance", "confidence"):
        if body[name] is not None:
            shown.add_row(name, escape(str(body[name])))
    shown.add_row("state", _state(body))
    shown.add_row("valid", f"{moment(body['valid_from'])} - {moment(body['valid_to'] or '')}")
    for name in ("supersedes", "superseded_by"):
        if body[name]:
            shown.add_row(name, body[name])
    deps.out.print(shown)
    _print_versions(deps, versions)


def _print_versions(deps: Deps, versions: list[dict[str, Any]]) -> None:
    shown = table("ledger", "id", "state", "text", "why")
    for version in versions:
        memory = version["memory"]
        own: dict[str, Any] = memory["metadata"].get("cairn") or {}
        edit: dict[str, Any] = own.get("edit") or {}
        shown.add_row(
            str(version["from_position"]),
            memory["id"],
            memory["state"],
            escape(_line(memory["text"])),
            escape(str(edit.get("reason", ""))),
        )
    deps.out.print(shown)


@app.command()
def edit(
    ctx: typer.Context,
    memory: MemoryId,
    reason: Why,
    text: Annotated[str | None, typer.Option(help="What it says instead, or @FILE.")] = None,
    key: Annotated[str | None, typer.Option(help="Another key; '' for none.")] = None,
    subject: Annotated[str | None, typer.Option(help="Another subject; '' for none.")] = None,
    importance: Annotated[str | None, typer.Option(help="critical, high, medium, low.")] = None,
    valid_to: Annotated[str | None, typer.Option(help="Until when it held: RFC 3339.")] = None,
    as_json: Json = False,
) -> None:
    """Correct a memory: a new version stands in its place, with the reason."""
    deps = deps_of(ctx)
    body = without_none(
        {
            "text": None if text is None else text_given(text),
            "importance": importance,
            "valid_to": valid_to,
        }
    )
    names = {"key": key, "subject": subject}
    body |= {name: value or None for name, value in names.items() if value is not None}
    done = deps.client.patch(f"/v1/memories/{whole_id(deps, memory)}", {**body, "reason": reason})
    _print_edit(deps, done, as_json=as_json)


@app.command()
def delete(
    ctx: typer.Context,
    memory: MemoryId,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    as_json: Json = False,
) -> None:
    """Hide a memory from recall and lists. `cairn forget` destroys what is known of somebody."""
    deps = deps_of(ctx)
    id_ = whole_id(deps, memory)
    if not yes:
        shown = deps.client.get(f"/v1/memories/{id_}")
        deps.err.print(escape(_line(shown["text"])), highlight=False)
        typer.confirm("Delete this memory?", abort=True, err=True)
    done = deps.client.delete(f"/v1/memories/{id_}")
    if as_json:
        return print_json(done)
    deps.out.print(f"[red]deleted[/] {done['id']}  [dim]ledger {done['position']}[/]")


@app.command()
def restore(ctx: typer.Context, memory: MemoryId, as_json: Json = False) -> None:
    """Take a deletion back, within seven days; by the whole id, as lists show no deleted ones."""
    deps = deps_of(ctx)
    path = f"/v1/memories/{whole_id(deps, memory)}/restore"
    _print_edit(deps, deps.client.post(path, {}), as_json=as_json)


@app.command()
def pin(
    ctx: typer.Context,
    memory: MemoryId,
    off: Annotated[bool, typer.Option("--off", help="Unpin it.")] = False,
    as_json: Json = False,
) -> None:
    """Pin a memory: it does not age or fade, and ranks higher."""
    deps = deps_of(ctx)
    path = f"/v1/memories/{whole_id(deps, memory)}/pin"
    _print_edit(deps, deps.client.delete(path) if off else deps.client.put(path), as_json=as_json)


@app.command("never-recall")
def never_recall(
    ctx: typer.Context,
    memory: MemoryId,
    reason: Annotated[str | None, typer.Option("--reason", "-r", help="Why.")] = None,
    off: Annotated[bool, typer.Option("--off", help="Let it be recalled again.")] = False,
    as_json: Json = False,
) -> None:
    """Keep a memory, and let no search or context find it."""
    if not off and not reason:
        raise typer.BadParameter("Say why with --reason.")
    deps = deps_of(ctx)
    path = f"/v1/memories/{whole_id(deps, memory)}/never-recall"
    done = deps.client.delete(path) if off else deps.client.put(path, {"reason": reason})
    _print_edit(deps, done, as_json=as_json)


@app.command()
def merge(
    ctx: typer.Context,
    memory: MemoryId,
    other: Annotated[str, typer.Argument(help="The other memory's id.", metavar="OTHER")],
    reason: Why,
    text: Annotated[str | None, typer.Option(help="What the new one says, or @FILE.")] = None,
    as_json: Json = False,
) -> None:
    """Merge two memories into one that stands for both."""
    deps = deps_of(ctx)
    body = without_none(
        {
            "other_id": whole_id(deps, other),
            "text": None if text is None else text_given(text),
            "reason": reason,
        }
    )
    done = deps.client.post(f"/v1/memories/{whole_id(deps, memory)}/merge", body)
    _print_edit(deps, done, as_json=as_json)


@app.command()
def move(
    ctx: typer.Context,
    memory: MemoryId,
    reason: Why,
    client: Client = None,
    scope: Annotated[str | None, typer.Option(help="public, shared or admin.")] = None,
    agent: Annotated[
        list[str] | None, typer.Option(help="An agent it is for; repeat for several.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Move a memory to another client, scope or agents."""
    deps = deps_of(ctx)
    body = without_none({"client_id": client, "scope": scope, "agents": agent, "reason": reason})
    done = deps.client.post(f"/v1/memories/{whole_id(deps, memory)}/move", body)
    _print_edit(deps, done, as_json=as_json)


def _print_edit(deps: Deps, done: dict[str, Any], *, as_json: bool) -> None:
    if as_json:
        return print_json(done)
    line = f"[green]{done['outcome']}[/] {done['id']}  [dim]ledger {done['position']}[/]"
    if done["replaced"]:
        line += f"  in the place of {', '.join(done['replaced'])}"
    deps.out.print(line, highlight=False)
    for warning in done["warnings"]:
        deps.err.print(f"[yellow]note:[/] {warning}")


def _state(memory: dict[str, Any]) -> str:
    marks = [name for name in ("pinned", "never_recall") if memory[name]]
    return ", ".join([memory["state"], *(mark.replace("_", "-") for mark in marks)])


def _line(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= SHOWN_CHARS else f"{flat[: SHOWN_CHARS - 2]} …"
