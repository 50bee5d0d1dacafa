"""Causes by rule: stated ones, failures after tools; nobody causes itself or is told twice."""

from typing import Any
from uuid import UUID

import pytest
from tests.unit.enrichment.test_similar import node

from cairn.enrichment.causes import (
    DIRECT_WEIGHT,
    FAILURE_WEIGHT,
    MAX_CAUSES,
    REFERENCE_WEIGHT,
    TEXT_WEIGHT,
    Cause,
    asks_trace,
    failure_cause,
    good_causes,
    stated_causes,
)
from cairn.enrichment.ports import TraceStep

A, B = UUID(int=0xA), UUID(int=0xB)


def event(**changes: Any) -> Any:
    return node(9, **({"label": "Event", "kind": "tool.execute"} | changes))


def told(causes: Any) -> list[tuple[UUID, str, float]]:
    return [(cause.cause_id, cause.mechanism, cause.weight) for cause in causes]


def test_the_parent_of_a_memory_is_its_direct_cause() -> None:
    assert told(stated_causes(node(9, parent_id=A))) == [(A, "direct", DIRECT_WEIGHT)]


def test_the_parent_of_an_event_has_its_edge_already() -> None:
    assert stated_causes(event(parent_id=A)) == []


@pytest.mark.parametrize("key", ["retry_of", "caused_by", "Parent_Event_Id", "triggered_by"])
def test_a_payload_names_its_cause_under_a_key_for_it(key: str) -> None:
    metadata = {"payload": {key: str(A), "other": str(B)}}
    assert told(stated_causes(event(metadata=metadata))) == [(A, "inferred", REFERENCE_WEIGHT)]


@pytest.mark.parametrize("value", [1, None, {"id": "x"}, "not an id", f"{A}!", [3]])
def test_a_payload_that_names_no_id_has_no_cause(value: Any) -> None:
    assert stated_causes(event(metadata={"payload": {"caused_by": value}})) == []


@pytest.mark.parametrize(
    "text",
    [f"Stopped because of {A}.", f"It failed DUE TO event {A}", f"caused by the call {A}"],
)
def test_a_text_says_because_of_an_id(text: str) -> None:
    assert told(stated_causes(node(9, text=text))) == [(A, "inferred", TEXT_WEIGHT)]


def test_an_id_alone_is_no_cause() -> None:
    assert stated_causes(node(9, text=f"See {A}.")) == []


def test_a_text_full_of_causes_names_few() -> None:
    text = " ".join(f"because of {UUID(int=n)}" for n in range(1, 1000))
    assert len(stated_causes(node(9999, text=text))) == MAX_CAUSES


@pytest.mark.parametrize(
    ("changes", "asks"),
    [
        ({"trace_id": "t", "metadata": {"status": "failed"}}, True),
        ({"trace_id": "t", "metadata": {"status": "Error"}}, True),
        ({"trace_id": "t", "kind": "tool.error"}, True),
        ({"trace_id": "t", "metadata": {"status": "ok"}, "kind": "tool.error"}, False),
        ({"trace_id": "t"}, False),
        ({"metadata": {"status": "failed"}}, False),
        ({"trace_id": "t", "metadata": {"status": "failed"}, "parent_id": A}, False),
    ],
    ids=str,
)
def test_only_a_failure_without_a_cause_looks_back_in_its_trace(
    changes: dict[str, Any], asks: bool
) -> None:
    assert asks_trace(event(**changes)) is asks


@pytest.mark.parametrize(
    ("type_", "tool", "is_cause"),
    [("tool.execute", None, True), ("agent.call", "sh", True), ("agent.think", None, False)],
)
def test_a_failure_came_of_the_tool_that_ran_just_before(
    type_: str, tool: str | None, is_cause: bool
) -> None:
    step = TraceStep(node_id=B, before_id=A, type=type_, tool_name=tool)
    cause = failure_cause(step)
    assert (cause is not None) is is_cause
    if cause:
        assert told([cause]) == [(A, "inferred", FAILURE_WEIGHT)]


def cause(of: UUID, by: UUID, weight: float = 0.5) -> Cause:
    return Cause(node_id=of, cause_id=by, mechanism="inferred", weight=weight)


@pytest.mark.parametrize(
    ("audience", "good"),
    [
        (("admin", None), True),
        (("public", None), False),
        (("admin", ("other",)), False),
        (None, False),
    ],
    ids=str,
)
def test_a_cause_is_of_the_same_audience(audience: Any, good: bool) -> None:
    nine = node(9)
    audiences = {A: audience} if audience else {}
    assert bool(good_causes({nine.id: nine}, [cause(nine.id, A)], audiences, ())) is good


def test_a_tagged_node_may_come_of_an_untagged_one() -> None:
    nine = node(9, agents=("me",))
    assert good_causes({nine.id: nine}, [cause(nine.id, A)], {A: ("admin", None)}, ())


def test_nothing_causes_itself_nor_is_told_twice() -> None:
    nine = node(9)
    nodes, audiences = {nine.id: nine}, {nine.id: ("admin", None), A: ("admin", None)}
    assert good_causes(nodes, [cause(nine.id, nine.id)], audiences, ()) == []
    assert good_causes(nodes, [cause(nine.id, A)], audiences, [(nine.id, A)]) == []
    (best,) = good_causes(nodes, [cause(nine.id, A, 0.5), cause(nine.id, A, 0.7)], audiences, ())
    assert best.weight == 0.7
