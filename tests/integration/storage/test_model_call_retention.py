"""Old calls of models leave, in every workspace; what each day cost stays."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from tests.support.world import open_world

from cairn.adapters.postgres.agents.model_calls import DropCalls, PostgresCallLog
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.ids import new_id
from cairn.llm.costs import CallRecord
from cairn.llm.port import Purpose, Usage
from cairn.operations.sweep import MODEL_CALLS_FOR, KeepForDays

if TYPE_CHECKING:
    from tests.plugins.postgres import Database
    from tests.support.world import World


def called(world: World, *, days: float) -> CallRecord:
    """Keep a call of so many days ago."""
    record = CallRecord(
        id=new_id(),
        workspace_id=world.workspace_id,
        run_id=new_id(),
        purpose=Purpose.CONSOLIDATION,
        provider="anthropic",
        model="m",
        started_at=utc_now() - timedelta(days=days),
        usage=Usage(input_tokens=5, output_tokens=1),
        cost_usd=None,
        ms=1.0,
    )
    PostgresCallLog(world.pool).record(record)
    return record


def kept(world: World, record: CallRecord) -> tuple[int, int]:
    """Return the tokens still known of the call's run, and of its day."""
    spent = PostgresCallLog(world.pool).spent(world.workspace_id, record.run_id, record.started_at)
    return spent.run.tokens, spent.day.tokens


def test_calls_leave_after_400_days_everywhere_and_the_sums_of_their_days_stay(
    database: Database,
) -> None:
    worlds = [open_world(database.owner_url, database.app_url, f"calls {name}") for name in "ab"]
    old = [called(world, days=401) for world in worlds]
    young = [called(world, days=399) for world in worlds]
    drop = KeepForDays(
        drop=DropCalls(worlds[0].pool), age=MODEL_CALLS_FOR, clock=utc_now, stopwatch=monotonic
    )
    assert drop() == 2
    assert drop() == 0
    assert [kept(*each) for each in zip(worlds, old, strict=True)] == [(0, 6)] * 2
    assert [kept(*each) for each in zip(worlds, young, strict=True)] == [(6, 6)] * 2
    for world in worlds:
        world.pool.close()


def test_the_oldest_leave_first_and_never_one_of_the_last_day(database: Database) -> None:
    world = open_world(database.owner_url, database.app_url, "calls of today")
    records = [called(world, days=days) for days in (900, 800, 0.9)]
    drop = DropCalls(world.pool)
    assert drop(utc_now() - timedelta(days=1), 1) == 1
    assert [kept(world, record)[0] for record in records] == [0, 6, 6]
    assert drop(utc_now() + timedelta(days=1), 1000) >= 1
    assert [kept(world, record)[0] for record in records] == [0, 0, 6]
    world.pool.close()
