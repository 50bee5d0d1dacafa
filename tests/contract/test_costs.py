"""What every report of costs owes: one suite over PostgreSQL's sums and the in-memory ones."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from tests.fakes.costs import InMemoryCosts
from tests.fakes.model_calls import InMemoryCallLog
from tests.support.world import open_world

from cairn.adapters.postgres.agents.model_calls import PostgresCallLog, costs_by_workspace
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.kernel.ids import new_id
from cairn.llm.costs import CallRecord, CostBy, CostRow
from cairn.llm.port import Purpose, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from tests.plugins.postgres import Database

    from cairn.adapters.postgres.agents.model_calls import PostgresCosts

    Costs = PostgresCosts | InMemoryCosts

LATE = datetime(2026, 3, 10, 23, 59, tzinfo=UTC)
RUN = new_id()


def calls(workspace_id: UUID, other: UUID) -> list[CallRecord]:
    one = CallRecord(
        id=new_id(),
        workspace_id=workspace_id,
        run_id=RUN,
        purpose=Purpose.PLANNER,
        provider="anthropic",
        model="big",
        started_at=LATE,
        usage=Usage(input_tokens=10, output_tokens=5, cache_read_tokens=2, cache_write_tokens=1),
        cost_usd=Decimal("0.02"),
    )
    return [
        one,
        replace(one, id=new_id(), purpose=Purpose.VERDICT, model="small", cost_usd=None),
        replace(one, id=new_id(), started_at=LATE + timedelta(minutes=2), run_id=None),
        replace(one, id=new_id(), workspace_id=other),
    ]


@pytest.fixture(scope="module", params=["memory", "postgres"])
def costs(request: pytest.FixtureRequest, database: Database) -> Iterator[Costs]:
    ours = open_world(database.owner_url, database.app_url, f"costs {request.param}")
    theirs = open_world(database.owner_url, database.app_url, f"others' {request.param}")
    memory = request.param == "memory"
    log = InMemoryCallLog() if memory else PostgresCallLog(ours.pool)
    for call in calls(ours.workspace_id, theirs.workspace_id):
        log.record(call)
    if isinstance(log, InMemoryCallLog):
        yield InMemoryCosts(log, ours.workspace_id)
    else:
        with StoreTransactions(ours.pool).reading(ours.admin) as stores:
            yield stores.costs
    ours.pool.close()
    theirs.pool.close()


def test_days_are_of_universal_time_and_in_order(costs: Costs) -> None:
    first, last = LATE.date(), LATE.date() + timedelta(days=1)
    assert costs.days(first, last) == [
        CostRow(name="2026-03-10", calls=2, tokens=36, usd=0.02, unpriced_calls=1),
        CostRow(name="2026-03-11", calls=1, tokens=18, usd=0.02),
    ]
    assert [row.name for row in costs.days(last, last)] == ["2026-03-11"]


def test_models_and_purposes_are_summed_the_dearest_first(
    costs: Costs,
) -> None:
    first, last = LATE.date(), LATE.date() + timedelta(days=1)
    big, small = costs.grouped(CostBy.MODEL, first, last)
    assert (big.name, big.calls, big.usd, big.tokens) == ("big", 2, 0.04, 36)
    assert (small.name, small.usd, small.unpriced_calls) == ("small", 0.0, 1)
    assert (big.input_tokens, big.output_tokens) == (20, 10)
    assert (big.cache_read_tokens, big.cache_write_tokens) == (4, 2)
    assert [row.name for row in costs.grouped(CostBy.PURPOSE, first, last)] == [
        "planner",
        "verdict",
    ]
    assert [row.calls for row in costs.grouped(CostBy.MODEL, last, last)] == [1]


def test_the_owner_sees_every_workspace(database: Database) -> None:
    ours = open_world(database.owner_url, database.app_url, "costs of ours")
    theirs = open_world(database.owner_url, database.app_url, "costs of theirs")
    log = PostgresCallLog(ours.pool)
    day = LATE + timedelta(days=30)
    for call in calls(ours.workspace_id, theirs.workspace_id):
        log.record(replace(call, id=new_id(), started_at=day))
    found = costs_by_workspace(database.owner_url, day.date(), day.date())
    assert [(row.name, row.calls, row.usd) for row in found] == [
        (str(ours.workspace_id), 3, 0.04),
        (str(theirs.workspace_id), 1, 0.02),
    ]
    ours.pool.close()
    theirs.pool.close()


def test_a_run_is_told_by_purpose(costs: Costs) -> None:
    assert [(row.name, row.calls) for row in costs.of_run(RUN)] == [("planner", 1), ("verdict", 1)]
    assert costs.of_run(new_id()) == []
