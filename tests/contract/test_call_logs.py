"""What every log of model calls owes: one suite over PostgreSQL's and the in-memory one."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING

import pytest
from tests.fakes.model_calls import InMemoryCallLog
from tests.support.world import open_world

from cairn.adapters.postgres.agents.model_calls import PostgresCallLog
from cairn.kernel.ids import new_id
from cairn.llm.budget import Spent
from cairn.llm.costs import CallRecord, Spending
from cairn.llm.port import Purpose, Usage

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from tests.plugins.postgres import Database

    from cairn.llm.costs import CallLog

NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)
USAGE = Usage(input_tokens=100, output_tokens=20, cache_read_tokens=3, cache_write_tokens=4)
COST = Decimal("0.0015")


@pytest.fixture(scope="module")
def workspaces(database: Database) -> Iterator[tuple[PostgresCallLog, UUID, UUID]]:
    ours = open_world(database.owner_url, database.app_url, "calls")
    theirs = open_world(database.owner_url, database.app_url, "others' calls")
    yield PostgresCallLog(ours.pool), ours.workspace_id, theirs.workspace_id
    ours.pool.close()
    theirs.pool.close()


@pytest.fixture(params=["memory", "postgres"])
def log(request: pytest.FixtureRequest, workspaces: tuple[PostgresCallLog, UUID, UUID]) -> CallLog:
    return InMemoryCallLog() if request.param == "memory" else workspaces[0]


@pytest.fixture
def day(request: pytest.FixtureRequest) -> Iterator[datetime]:
    """A day of this test's own: the database is the module's."""
    days = request.config.stash.setdefault(DAYS, [0])
    days[0] += 1
    yield NOON + timedelta(days=days[0])


DAYS = pytest.StashKey[list[int]]()


def call(workspaces: tuple[PostgresCallLog, UUID, UUID], at: datetime) -> CallRecord:
    return CallRecord(
        id=new_id(),
        workspace_id=workspaces[1],
        run_id=new_id(),
        purpose=Purpose.CONSOLIDATION,
        provider="anthropic",
        model="claude-sonnet-4-6",
        started_at=at,
        usage=USAGE,
        cost_usd=COST,
        ms=12.5,
    )


def test_nothing_was_spent_before_the_first_call(
    log: CallLog, workspaces: tuple[PostgresCallLog, UUID, UUID], day: datetime
) -> None:
    assert log.spent(workspaces[1], new_id(), day) == Spending()
    assert log.spent(workspaces[1], None, day) == Spending()


def test_a_call_counts_for_its_day_and_its_run_with_every_sort_of_token(
    log: CallLog, workspaces: tuple[PostgresCallLog, UUID, UUID], day: datetime
) -> None:
    one = call(workspaces, day)
    log.record(one)
    log.record(replace(one, id=new_id(), run_id=new_id()))
    log.record(replace(one, id=new_id(), run_id=None))
    spent = log.spent(one.workspace_id, one.run_id, day)
    assert spent.run == Spent(tokens=127, usd=COST)
    assert spent.day == Spent(tokens=3 * 127, usd=3 * COST)
    assert log.spent(one.workspace_id, None, day).run == Spent()


def test_a_call_kept_twice_counts_once(
    log: CallLog, workspaces: tuple[PostgresCallLog, UUID, UUID], day: datetime
) -> None:
    one = call(workspaces, day)
    log.record(one)
    log.record(one)
    assert log.spent(one.workspace_id, one.run_id, day) == Spending(
        day=Spent(tokens=127, usd=COST), run=Spent(tokens=127, usd=COST)
    )


def test_a_call_without_a_price_counts_its_tokens_and_one_that_failed_nothing(
    log: CallLog, workspaces: tuple[PostgresCallLog, UUID, UUID], day: datetime
) -> None:
    one = replace(call(workspaces, day), cost_usd=None)
    log.record(one)
    log.record(replace(one, id=new_id(), usage=Usage(), outcome="chat-busy"))
    spent = Spent(tokens=127, unpriced_calls=1)
    assert log.spent(one.workspace_id, one.run_id, day) == Spending(day=spent, run=spent)


def test_a_day_ends_at_midnight_utc(
    log: CallLog, workspaces: tuple[PostgresCallLog, UUID, UUID]
) -> None:
    late = datetime(2025, 6, 1, 23, 59, 59, tzinfo=UTC)
    log.record(call(workspaces, late))
    assert log.spent(workspaces[1], None, late).day.tokens == 127
    assert log.spent(workspaces[1], None, late + timedelta(seconds=1)).day.tokens == 0


def test_another_workspace_has_spent_nothing(
    log: CallLog, workspaces: tuple[PostgresCallLog, UUID, UUID], day: datetime
) -> None:
    one = call(workspaces, day)
    log.record(one)
    assert log.spent(workspaces[2], one.run_id, day) == Spending()


def test_calls_kept_at_the_same_time_are_all_counted(
    log: CallLog, workspaces: tuple[PostgresCallLog, UUID, UUID], day: datetime
) -> None:
    one = call(workspaces, day)
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda _: log.record(replace(one, id=new_id())), range(30)))
    assert log.spent(one.workspace_id, one.run_id, day).day.tokens == 30 * 127
    assert log.spent(one.workspace_id, one.run_id, day).run.usd == 30 * COST
