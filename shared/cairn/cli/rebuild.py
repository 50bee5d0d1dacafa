"""`cairn rebuild`: make the projections anew from the ledger, or compare them with it."""

from typing import Annotated, Any
from uuid import UUID

import typer

from cairn.cli.deps import Deps
from cairn.cli.failure import Failure
from cairn.cli.options import Json, deps_of, print_json, table

POLL_SECONDS = 1.0
STUCK_SECONDS = 600.0
"""After so long without any progress nobody is at work."""

Workspace = Annotated[UUID | None, typer.Option("--workspace", help="The key's own without.")]
Check = Annotated[bool, typer.Option("--check", help="Only compare; nothing changes.")]
Deep = Annotated[
    bool, typer.Option("--deep", help="With --check: compute every vector again, not a sample.")
]
Here = Annotated[
    bool, typer.Option("--here", help="In this process, beside the database, not by the machine.")
]


def rebuild(
    ctx: typer.Context,
    workspace: Workspace = None,
    check: Check = False,
    here: Here = False,
    deep: Deep = False,
    as_json: Json = False,
) -> None:
    """Replay a workspace's ledger and replace every row that is not as it says.

    Searches go on meanwhile. May be stopped and repeated: it goes on where it was. The exit status
    of --check is 1 when something is not as the ledger says. Beside the deployment's settings it
    also computes vectors again: the cache they come from may have been changed with them.
    """
    if deep and not check:
        raise typer.BadParameter("--deep goes with --check")
    deps = deps_of(ctx)
    told = _here(deps, workspace, check) if here else _by_machine(deps, workspace, check)
    vectors = _vectors(deps, UUID(told["workspace_id"]), deep) if check else None
    if as_json:
        print_json(told | ({"vectors": vectors} if check else {}))
    else:
        _show(deps, told)
        _show_vectors(deps, vectors)
    if check and not (told["equal"] and not (vectors and vectors["wrong"])):
        raise typer.Exit(1)


def _vectors(deps: Deps, workspace_id: UUID, deep: bool) -> dict[str, Any] | None:
    """Compute vectors again where the deployment's model and database are known."""
    settings = deps.deployment() if deep else deps.deployment_if_known()
    if settings is None:
        return None
    return deps.load_operator().check_vectors(settings, workspace_id, deep=deep)


def _show_vectors(deps: Deps, vectors: dict[str, Any] | None) -> None:
    if vectors is None:
        return
    deps.out.print(
        f"vectors: {vectors['texts']} texts of {vectors['nodes']} nodes computed again by "
        f"{vectors['model']}, {vectors['wrong']} nodes have another one"
    )
    for node_id in vectors["wrong_nodes"]:
        deps.out.print(f"[red]not what its text says[/]: {node_id}")


def _here(deps: Deps, workspace: UUID | None, check: bool) -> dict[str, Any]:
    chosen = workspace or UUID(deps.client.get("/v1/whoami")["workspace_id"])
    return deps.load_operator().rebuild(deps.deployment(), chosen, only_check=check)


def _by_machine(deps: Deps, workspace: UUID | None, check: bool) -> dict[str, Any]:
    own = deps.client.get("/v1/whoami")["workspace_id"]
    if workspace and str(workspace) != own:
        raise Failure(
            "This key belongs to another workspace.", advice="use --here, or a key of that one"
        )
    state = deps.client.post("/v1/rebuilds", {"check": check})
    moved, entries = deps.stopwatch(), -1
    with deps.err.status("replaying …") as line:
        while state["state"] == "running":
            if deps.stopwatch() - moved > STUCK_SECONDS:
                raise Failure("Gave up waiting.", advice=f"GET /v1/rebuilds/{state['id']}")
            deps.sleep(POLL_SECONDS)
            state = deps.client.get(f"/v1/rebuilds/{state['id']}")
            if state["entries"] != entries:
                moved, entries = deps.stopwatch(), state["entries"]
            line.update(f"{entries} of {state['head']} entries replayed …")
    if state["state"] != "finished":
        raise Failure(f"The rebuild failed: {state['error']}.", advice="cairn ledger verify")
    return state["result"]


def _show(deps: Deps, told: dict[str, Any]) -> None:
    shown = table("table", "rows", "as the ledger says", "checksum")
    for name, one in told["tables"].items():
        same = "[green]yes[/]" if one["equal"] else f"[red]no[/] ({one['rows_before']} rows before)"
        shown.add_row(name, str(one["rows"]), same, one["after"][:16])
    deps.out.print(shown)
    verb = "would change" if told["check"] else "changed"
    state = "all was as the ledger says" if told["equal"] else f"rows {verb}: see above"
    deps.out.print(
        f"{told['entries']} entries up to position {told['position']}, {told['unreadable']} of "
        f"them without a key; {state}; {told['queued']} nodes wait for the embedder"
    )
