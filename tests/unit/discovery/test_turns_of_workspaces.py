"""A sweep that has no time for all serves each workspace within a few runs."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.discovery.matching.ambient import SweepDiscovery
from cairn.discovery.matching.retries import in_turn

if TYPE_CHECKING:
    from collections.abc import Iterator

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
FIVE_MINUTES = timedelta(minutes=5)
WORKSPACES = [UUID(int=number) for number in range(1, 61)]


class Platform:
    """Time that passes by what is done, and workspaces that always have two intents due."""

    def __init__(self) -> None:
        self.now, self.seconds, self.looked = NOON, 0.0, list[UUID]()
        self.transactions = self

    def clock(self) -> datetime:
        return self.now

    def stopwatch(self) -> float:
        return self.seconds

    @contextmanager
    def reading(self, principal: Any) -> Iterator[Any]:
        due = [UUID(int=principal.workspace_id.int << 64 | place) for place in range(2)]
        yield SimpleNamespace(
            matches=SimpleNamespace(due=lambda *_: due),
            opportunities=SimpleNamespace(due=lambda *_: (), negotiable=lambda *_: {}),
        )

    @contextmanager
    def preparing(self, principal: Any) -> Iterator[Any]:
        yield SimpleNamespace(retries=SimpleNamespace(claim=lambda *_: True)), None

    def look(self, workspace_id: UUID, intent_id: UUID) -> int:
        self.looked.append(workspace_id)
        self.seconds += 1.0
        return 0


def sweep_of(platform: Platform, workspaces: list[UUID]) -> SweepDiscovery:
    class Look:
        def __init__(self) -> None:
            self.platform = platform

        def __call__(self, workspace_id: UUID, intent_id: UUID) -> int:
            return platform.look(workspace_id, intent_id)

    return SweepDiscovery(
        workspaces=lambda: workspaces,
        discover=Look(),  # pyright: ignore[reportArgumentType]
        negotiate=lambda *_: None,
        introduce=lambda *_: 0,
        report=lambda *_: None,
    )


def test_each_of_many_workspaces_is_served_within_a_few_runs() -> None:
    platform = Platform()
    sweep = sweep_of(platform, WORKSPACES)
    for _ in range(30):  # 12 seconds for looking are 12 of 60 workspaces
        sweep(seconds=20)
        platform.now += FIVE_MINUTES
    assert set(platform.looked) == set(WORKSPACES)


def test_one_with_much_to_do_leaves_the_others_their_share() -> None:
    platform = Platform()
    sweep_of(platform, WORKSPACES[:4])(seconds=20)
    assert {platform.looked.count(each) for each in WORKSPACES[:4]} == {2}


def test_turns_keep_the_order_and_lose_nobody() -> None:
    for number in range(50):
        turned = in_turn(WORKSPACES, NOON + number * FIVE_MINUTES)
        start = turned.index(WORKSPACES[0])
        assert [*turned[start:], *turned[:start]] == WORKSPACES
    assert in_turn([], NOON) == []
