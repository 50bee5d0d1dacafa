"""Proactive nodes: few, marked, and each with the strongest of its signals."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import SimpleNamespace
from uuid import UUID

import pytest

from cairn.recall.proactive import Signal, Surfaced, proactive_json, strongest, surface
from cairn.recall.records import Filters

NOW = datetime(2026, 5, 1, tzinfo=UTC)
Rows = Sequence[tuple[UUID, UUID, float]]


def n(number: int) -> UUID:
    return UUID(int=number)


@dataclass
class Evidence:
    """A reader that knows what it is told, and what it was asked."""

    alike: Rows = ()
    important: Rows = ()
    again: Rows = ()
    said: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    asked: list[tuple[str, float, int]] = field(default_factory=list[tuple[str, float, int]])

    def judged(self, since: datetime) -> Mapping[str, tuple[int, int]]:
        assert since == NOW - timedelta(days=30)
        return self.said

    def recurring(self, node_ids: Sequence[UUID], *, minimum: float, limit: int) -> Rows:
        self.asked.append(("recurring", minimum, limit))
        return self.alike

    def important_connections(
        self, entity_ids: Sequence[UUID], *, minimum: int, limit: int
    ) -> Rows:
        self.asked.append(("important", minimum, limit))
        return self.important

    def used_again(self, session_id: str, *, minimum: int, limit: int) -> Rows:
        self.asked.append(("again", minimum, limit))
        return self.again


def surfaced(
    reader: Evidence,
    results: Sequence[UUID] = (n(1),),
    entity_ids: Sequence[UUID] = (n(2),),
    session_id: str | None = "s",
    filters: Filters | None = None,
    chosen: Mapping[str, bool] | None = None,
    cap: int = 5,
) -> tuple[Surfaced, ...]:
    return surface(
        SimpleNamespace(graph=reader),  # type: ignore[arg-type]
        results=results,
        entity_ids=entity_ids,
        session_id=session_id,
        filters=filters or Filters(),
        now=NOW,
        chosen=chosen or {},
        cap=cap,
    )


def test_each_signal_scores_its_evidence_at_half_weight() -> None:
    reader = Evidence(
        alike=[(n(10), n(1), 0.94)], important=[(n(11), n(2), 9.0)], again=[(n(12), n(3), 2.0)]
    )
    assert surfaced(reader) == (
        Surfaced(
            node_id=n(10), signal=Signal.RECURRING_PATTERN, score=pytest.approx(0.47), because=n(1)
        ),
        Surfaced(
            node_id=n(11), signal=Signal.ENTITY_CONTEXT, score=pytest.approx(0.45), because=n(2)
        ),
        Surfaced(
            node_id=n(12), signal=Signal.RETRIEVAL_HISTORY, score=pytest.approx(0.2), because=n(3)
        ),
    )
    assert reader.asked == [("recurring", 0.9, 3), ("important", 7, 3), ("again", 2, 3)]


def test_evidence_beyond_the_best_counts_as_the_best() -> None:
    (one,) = surfaced(Evidence(again=[(n(10), n(3), 40.0)]))
    assert one.score == pytest.approx(0.5)


def test_what_is_a_result_already_is_not_proactive() -> None:
    assert surfaced(Evidence(alike=[(n(1), n(1), 0.99)])) == ()


def test_a_node_of_two_signals_carries_the_stronger() -> None:
    (one,) = surfaced(Evidence(alike=[(n(9), n(1), 0.9)], important=[(n(9), n(2), 10.0)]))
    assert one.signal is Signal.ENTITY_CONTEXT


def test_there_are_no_more_than_the_cap_and_three_a_signal() -> None:
    many = [(n(100 + number), n(1), 0.95) for number in range(9)]
    assert len(surfaced(Evidence(alike=many))) == 3
    others = [(n(200 + number), n(2), 9.0) for number in range(9)]
    assert len(surfaced(Evidence(alike=many, important=others))) == 5
    assert len(surfaced(Evidence(alike=many, important=others), cap=2)) == 2


def test_without_results_entities_or_a_session_nothing_is_asked() -> None:
    reader = Evidence(alike=[(n(10), n(1), 0.94)])
    assert surfaced(reader, results=(), entity_ids=(), session_id=None) == ()
    assert reader.asked == []


def test_the_past_surfaces_nothing() -> None:
    reader = Evidence(alike=[(n(10), n(1), 0.94)])
    assert surfaced(reader, filters=Filters(as_of_position=3)) == ()
    assert reader.asked == []


def test_an_answer_says_why_a_node_is_there() -> None:
    one = Surfaced(node_id=n(1), signal=Signal.RECURRING_PATTERN, score=0.4, because=n(2))
    assert proactive_json(one) == {
        "retrieval_reason": "proactive",
        "proactive_signal": "recurring_pattern",
        "because": str(n(2)),
    }


def test_ties_are_ordered_by_id() -> None:
    two = [Surfaced(node_id=n(k), signal=Signal.ENTITY_CONTEXT, score=0.4) for k in (9, 3)]
    assert [item.node_id for item in strongest(two, without=(), cap=5)] == [n(3), n(9)]


@pytest.mark.parametrize(
    ("said", "chosen", "speaks"),
    [
        ((9, 0), {}, True),  # too few to tell
        ((10, 5), {}, True),  # not mostly of no use
        ((10, 4), {}, False),
        ((10, 4), {"entity_context": True}, True),  # the workspace's word goes first
        ((10, 10), {"entity_context": False}, False),
        ((0, 0), {"recurring_pattern": False}, True),
    ],
)
def test_a_signal_readers_find_mostly_of_no_use_is_muted_until_told_otherwise(
    said: tuple[int, int], chosen: dict[str, bool], speaks: bool
) -> None:
    reader = Evidence(important=[(n(7), n(2), 8)], said={"entity_context": said})
    found = surfaced(reader, chosen=chosen)
    assert [item.node_id for item in found] == ([n(7)] if speaks else [])
    assert ("important" in {name for name, _, _ in reader.asked}) is speaks
