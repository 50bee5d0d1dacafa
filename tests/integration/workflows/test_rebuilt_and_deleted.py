"""Runs of workflows after a rebuild, and after their workspace is deleted, over PostgreSQL."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.workflows.test_schedules import due, tick
from tests.integration.workflows.test_workflows import FACT, RECALL, REPORT, WAIT, remember
from tests.support.forgetting import ErasableObjects, SigningKey, Tombstones
from tests.support.platform import platform_of
from tests.support.workflows import Machine, begin, make, shown

from cairn.adapters.files.keys import FileKeyStore
from cairn.adapters.postgres.ledger.deleting import PostgresWorkspaceRows
from cairn.adapters.postgres.ledger.replay import PostgresReplays
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.forgetting.workspaces import DeleteWorkspace
from cairn.kernel.clock import utc_now
from cairn.rebuild.rebuild import Rebuild

if TYPE_CHECKING:
    from pathlib import Path

    from tests.plugins.postgres import Database
    from tests.support.front import Cloud, Front
    from tests.support.world import World


def rebuild(world: World, folder: Path) -> bool:
    """Make the rows of a workspace anew; return whether they are what they were."""
    keys = FileKeyStore(folder / "keys")
    platform = platform_of(StoreTransactions(world.pool), keys=keys)
    again = Rebuild(platform=platform, replays=PostgresReplays(world.pool))
    alike = again(world.workspace_id, only_check=True).equal
    again(world.workspace_id)
    return alike


def delete(world: World, database: Database, folder: Path) -> None:
    """Delete the workspace from every store."""
    deletion = DeleteWorkspace(
        rows=PostgresWorkspaceRows(database.owner_url),
        keys=FileKeyStore(folder / "keys"),
        signer=SigningKey(),
        tombstones=Tombstones(),
        objects=ErasableObjects(),
        count_objects=lambda _: 0,
        index=None,
        clock=utc_now,
    )
    done = deletion(world.workspace_id, deletion.find(world.workspace_id).name)
    assert done.clean


def page(front: Front, **filters: Any) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = front.call("GET", "/v1/workflow-runs", params=filters)["items"]
    return items


def test_a_rebuild_makes_the_results_of_runs_anew_and_a_run_that_waits_goes_on(
    front: Front, machine: Machine, world: World, tmp_path: Path
) -> None:
    remember(front, FACT)
    make(front, RECALL, REPORT)
    done = begin(front, what="the harbour project")
    steps = [{"name": "sum", "kind": "digest"}, WAIT]
    front.call("PUT", "/v1/workflows/flow", json={"description": "", "steps": steps})
    waits = begin(front, what="the crossing")
    assert machine.work() == ["done", "waiting"]
    before = [shown(front, run_id) for run_id in (waits, done)]
    assert [len(run["results"]) for run in before] == [1, 2]
    assert page(front) == before
    assert rebuild(world, tmp_path)
    assert page(front) == before
    front.call("POST", f"/v1/workflow-runs/{waits}/decide", json={"decision": "approve"})
    assert [each["step"] for each in shown(front, waits)["results"]] == ["sum", "yes"]


def test_a_deleted_workspace_takes_its_runs_along_and_none_goes_on_or_begins(
    front: Front,
    machine: Machine,
    cloud: Cloud,
    world: World,
    database: Database,
    tmp_path: Path,
) -> None:
    schedule = {"at": "07:30"}
    steps = [{"name": "sum", "kind": "digest"}]
    body = {"name": "daily", "steps": steps, "schedule": schedule}
    front.call("POST", "/v1/workflows", json=body)
    make(front, WAIT)
    begin(front, what="the crossing")
    begin(front, "daily")
    due(database, front)
    delete(world, database, tmp_path)
    executions = [json.loads(each["input"]) for each in cloud.executions]
    cloud.executions.clear()
    assert len(executions) == 2
    for given in executions:
        ids = {name: given[name] for name in ("workspace_id", "workflow_run_id", "run")}
        for step in ("enter", "halt"):
            with pytest.raises(Exception, match="no such run") as gone:
                machine.call("plan", {"step": step, **ids})
            assert type(gone.value).__name__ == "NotFound"
    tick()
    assert cloud.executions == []
    assert rows_left(database, world) == {}


def rows_left(database: Database, world: World) -> dict[str, int]:
    """Return how many rows of a workspace there are, by table."""
    tables = ("workflow", "workflow_run", "node", "edge", "outbox")
    with database.connect_as_superuser() as root:
        counts = {
            table: root.execute(
                f"SELECT count(*) FROM {table} WHERE workspace_id = %s".encode(),  # noqa: S608
                [world.workspace_id],
            ).fetchone()
            for table in tables
        }
    return {table: row[0] for table, row in counts.items() if row and row[0]}
