"""`cairn search-index`: look at the OpenSearch index, compare it, mend it, build it anew.

Works on the index and the database directly, so it needs both within reach; on AWS, where they are
not, the audit function does the same on a schedule.
"""

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import typer

from cairn.cli.client import Failure
from cairn.cli.deps import Deps
from cairn.cli.options import Json, deps_of, print_json, table

if TYPE_CHECKING:
    from cairn.search_index.check import Drift, KeepSearchIndex, Repaired

LISTED = 10

app = typer.Typer(help="The OpenSearch index beside the database.", no_args_is_help=True)

Workspace = Annotated[UUID | None, typer.Option("--workspace", help="Only this workspace.")]


@app.command()
def status(ctx: typer.Context, as_json: Json = False) -> None:
    """Show which index is live and how far it has followed each workspace."""
    deps = deps_of(ctx)
    index_status = keeper(deps).status()
    if as_json:
        return print_json(
            {
                "live": index_status.live.name if index_status.live else None,
                "current_mapping": bool(index_status.live and index_status.live.current),
                "building": index_status.building,
                "workspaces": [
                    {
                        "workspace_id": workspace.workspace_id,
                        "pending": workspace.pending,
                        **asdict(workspace.state),
                    }
                    for workspace in index_status.workspaces
                ],
            }
        )
    if index_status.live is None:
        deps.out.print(
            "there is no index yet; the next write makes one, or cairn search-index repair"
        )
        return
    stale = (
        ""
        if index_status.live.current
        else " [red]of another mapping: cairn search-index reindex[/]"
    )
    deps.out.print(f"{index_status.live.name}{stale}")
    if index_status.building:
        deps.out.print(f"{index_status.building} is being built")
    shown = table("workspace", "position", "pending", "refused", "last update")
    for workspace in index_status.workspaces:
        at = str(workspace.state.indexed_at)[:19] if workspace.state.indexed_at else "-"
        last = f"[red]failed: {workspace.state.failure}[/]" if workspace.state.failure else at
        shown.add_row(
            str(workspace.workspace_id),
            str(workspace.state.position),
            str(workspace.pending),
            str(workspace.state.refused),
            last,
        )
    deps.out.print(shown)


@app.command()
def check(ctx: typer.Context, workspace: Workspace = None, as_json: Json = False) -> None:
    """Compare the index with PostgreSQL; exit status 1 when they differ."""
    deps = deps_of(ctx)
    keep = keeper(deps)
    drifts = [keep.check(item) for item in _chosen(keep, workspace)]
    if as_json:
        print_json(
            {"ok": all(item.ok for item in drifts), "workspaces": [_drift(item) for item in drifts]}
        )
    else:
        _show_drift(deps, drifts)
    if not all(item.ok for item in drifts):
        raise typer.Exit(1)


@app.command()
def repair(ctx: typer.Context, workspace: Workspace = None, as_json: Json = False) -> None:
    """Index what is missing or stale and delete what is surplus; exit status 1 if some is left."""
    deps = deps_of(ctx)
    keep = keeper(deps)
    _show_repairs(deps, [keep.repair(item) for item in _chosen(keep, workspace)], as_json)


@app.command()
def reindex(ctx: typer.Context, workspace: Workspace = None, as_json: Json = False) -> None:
    """Build a new index from PostgreSQL beside the live one and switch to it.

    With --workspace that workspace's part of the live index is written again instead.
    """
    deps = deps_of(ctx)
    keep = keeper(deps)
    if workspace:
        _show_repairs(deps, [keep.rebuild_workspace(workspace)], as_json)
        return
    total = 0

    def progress(workspace_id: UUID, nodes: int) -> None:
        nonlocal total
        total += nodes
        deps.err.print(f"{total} nodes, at workspace {workspace_id}")

    built = keep.rebuild(progress=progress)
    if as_json:
        print_json(asdict(built))
    else:
        gone = f", {', '.join(built.dropped)} dropped" if built.dropped else ""
        deps.out.print(f"{built.index_name} is live with {built.nodes} nodes{gone}")


def keeper(deps: Deps) -> "KeepSearchIndex":
    """Return what works on the index that is configured."""
    url, database = deps.settings.opensearch_url, deps.settings.app_database_url
    if url is None:
        raise Failure(
            "There is no search index: PostgreSQL finds words by itself.",
            advice="make up OPENSEARCH=1, or set CAIRN_OPENSEARCH_URL",
        )
    if database is None:
        raise Failure(
            "The index is compared with the database.", advice="set CAIRN_APP_DATABASE_URL"
        )
    return deps.load_operator().search_index(
        database.get_secret_value(), url.get_secret_value(), deps.settings.opensearch_auth or "none"
    )


def _chosen(keep: "KeepSearchIndex", workspace: UUID | None) -> Sequence[UUID]:
    return [workspace] if workspace else keep.workspaces()


def _drift(drift: "Drift") -> dict[str, Any]:
    return {"ok": drift.ok, **asdict(drift), "extra": [str(item) for item in drift.extra]}


def _show_drift(deps: Deps, drifts: Sequence["Drift"]) -> None:
    shown = table("workspace", "in PostgreSQL", "in the index", "waiting", "differs")
    for drift in drifts:
        differences = {"missing": drift.missing, "stale": drift.stale, "extra": tuple(drift.extra)}
        differs = [f"{len(ids)} {name}" for name, ids in differences.items() if ids]
        says = f"[red]{', '.join(differs)}[/]" if differs else "[green]nothing[/]"
        shown.add_row(
            str(drift.workspace_id),
            str(drift.expected),
            str(drift.indexed),
            str(drift.pending),
            says,
        )
    deps.out.print(shown)
    for drift in drifts:
        for name, ids in (
            ("missing", drift.missing),
            ("stale", drift.stale),
            ("extra", drift.extra),
        ):
            for node_id in list(ids)[:LISTED]:
                deps.out.print(f"{name} {node_id}")


def _show_repairs(deps: Deps, results: Sequence["Repaired"], as_json: bool) -> None:
    ok = all(repaired.ok for repaired in results)
    if as_json:
        print_json({"ok": ok, "workspaces": [asdict(repaired) for repaired in results]})
    else:
        shown = table("workspace", "caught up", "indexed again", "taken out", "now")
        for repaired in results:
            now = (
                "[green]equal[/]" if repaired.ok else "[red]differs: cairn search-index reindex[/]"
            )
            counts = (repaired.caught_up, repaired.indexed, repaired.removed)
            shown.add_row(str(repaired.workspace_id), *(str(count) for count in counts), now)
        deps.out.print(shown)
    if not ok:
        raise typer.Exit(1)
