"""`cairn taint`, `cairn taints`: hold back what is not trusted, look at it, let it out again."""

from typing import Annotated, Any
from uuid import UUID

import typer

from cairn.cli.client import Failure
from cairn.cli.deps import Deps
from cairn.cli.options import Json, deps_of, print_json, table

MOST_CALLS = 1_000
"""Calls one command makes at the most; each does what it can in some seconds."""

app = typer.Typer(help="Taints: what is quarantined.", no_args_is_help=True)

TaintId = Annotated[UUID, typer.Argument(help="The taint's id.")]


def taint(
    ctx: typer.Context,
    agent: Annotated[str | None, typer.Option(help="All that this agent wrote.")] = None,
    session: Annotated[str | None, typer.Option(help="All that was written in it.")] = None,
    source: Annotated[str | None, typer.Option(help="The documents of this URI.")] = None,
    node: Annotated[UUID | None, typer.Option(help="One node.")] = None,
    reason: Annotated[str, typer.Option(help="Why; kept encrypted in the ledger.")] = "",
    causes: Annotated[bool, typer.Option("--causes", help="Also what it caused.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only report; change nothing.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Take an agent, a session, a source or a node out of recall, with all that was made of it.

    Reports which actions and searches have used it. May be stopped and repeated.
    """
    deps = deps_of(ctx)
    targets = {"agent": agent, "session": session, "source": source, "node": node}
    chosen = {name: str(value) for name, value in targets.items() if value is not None}
    if len(chosen) != 1:
        raise typer.BadParameter("name exactly one of --agent, --session, --source, --node")
    if not reason and not dry_run:
        raise typer.BadParameter("--reason says why")
    body = {**chosen, "reason": reason or "dry run", "causes": causes, "dry_run": dry_run}
    fields = _apply(deps, body)
    if as_json:
        print_json(fields)
    else:
        _show(deps, fields)


@app.command("list")
def list_taints(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=200)] = 20,
    as_json: Json = False,
) -> None:
    """List taints, newest first."""
    deps = deps_of(ctx)
    page = deps.client.get("/v1/taints", limit=limit)
    if as_json:
        return print_json(page)
    shown = table("taint", "of", "nodes", "in quarantine", "applied", "lifted", "reason")
    for each in page["items"]:
        shown.add_row(
            each["id"],
            _target(each),
            str(each["nodes"]),
            str(each["quarantined"]),
            each["applied_at"][:19],
            (each["lifted_at"] or "")[:19],
            each["reason"],
        )
    deps.out.print(shown)


@app.command()
def show(ctx: typer.Context, taint_id: TaintId, as_json: Json = False) -> None:
    """Show a taint, and the actions and searches that used what it holds."""
    deps = deps_of(ctx)
    report = deps.client.get(f"/v1/taints/{taint_id}")
    if as_json:
        return print_json(report)
    held = report["taint"]
    state = "lifted" if held["lifted_at"] else "stands"
    deps.out.print(
        f"{_target(held)}: {held['reason']}; {state}, {held['nodes']} nodes, "
        f"{held['quarantined']} in quarantine"
    )
    _show_uses(deps, report)


@app.command()
def lift(ctx: typer.Context, taint_id: TaintId, as_json: Json = False) -> None:
    """Let nodes out of quarantine that no other taint holds. May be stopped and repeated."""
    deps = deps_of(ctx)
    fields: dict[str, Any] = {"complete": False}
    restored = 0
    for _ in range(MOST_CALLS):
        fields = deps.client.post(f"/v1/taints/{taint_id}/lift", {})
        restored += fields["restored"]
        if fields["complete"]:
            break
    fields["restored"] = restored
    if as_json:
        print_json(fields)
    else:
        deps.out.print(f"{restored} nodes are back")


def _apply(deps: Deps, body: dict[str, Any]) -> dict[str, Any]:
    """Ask until all is held back; return the last answer with the sum of nodes."""
    held = 0
    for _ in range(MOST_CALLS):
        answer = deps.client.post("/v1/taint", body)
        held += answer["held"]
        if answer["complete"] or answer["dry_run"] or not answer["held"]:
            return answer | {"held": held}
    raise Failure("There is more to hold back than a command does.", advice="repeat it")


def _show(deps: Deps, answer: dict[str, Any]) -> None:
    verb = "would go" if answer["dry_run"] else "went"
    deps.out.print(f"{answer['held']} nodes {verb} into quarantine")
    if answer["taint_id"]:
        deps.out.print(
            f"taint {answer['taint_id']}; lift it: cairn taints lift {answer['taint_id']}"
        )
    if not answer["complete"]:
        deps.err.print("[yellow]more is reached than one taint holds; see docs/operate/taint.md[/]")
    _show_uses(deps, answer)


def _show_uses(deps: Deps, answer: dict[str, Any]) -> None:
    for action in answer["actions"]:
        at = action["recorded_at"][:19]
        deps.out.print(f"[red]{action['type']}[/] at {at}, ledger position {action['position']}")
    if answer["searches"]:
        newest = answer["searches"][0]["recorded_at"][:19]
        deps.out.print(f"{len(answer['searches'])} searches returned it, the newest at {newest}")


def _target(held: dict[str, Any]) -> str:
    what = held["value"] or held["source"] or ", ".join(held["roots"][:3])
    return f"{held['kind']} {what}"
