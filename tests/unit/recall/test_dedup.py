"""One result for one thing, in four layers."""

from datetime import timedelta
from typing import Any

import pytest
from tests.unit.recall.fakes import NOW, node_id, sketch

from cairn.recall.ranking import Deduped, deduped
from cairn.recall.scoring import Scored


def of(*nodes: dict[str, Any]) -> Deduped:
    return deduped(
        [
            Scored(sketch=sketch(number, **values), score=1.0, signals={})
            for number, values in enumerate(nodes, start=1)
        ]
    )


def kept(found: Deduped) -> list[int]:
    return [one.sketch.id.int for one in found.kept]


@pytest.mark.parametrize(
    "same",
    [
        {"slug": "acme"},
        {"label": "Entity", "canonical_name": "ACME"},
        {"kind": "fact", "content_hash": "abc"},
        {"label": "Chunk", "kind": None, "content_hash": "abc"},
    ],
    ids=["slug", "name", "content", "chunk"],
)
def test_the_better_one_stays_and_stands_for_the_other(same: dict[str, Any]) -> None:
    found = of(same, {}, same)
    assert kept(found) == [1, 2]
    assert found.merged == {node_id(1): (node_id(3),)}


def test_names_are_compared_without_case() -> None:
    entity = {"label": "Entity", "canonical_name": "Straße"}
    assert kept(of(entity, entity | {"canonical_name": "STRASSE"})) == [1]


@pytest.mark.parametrize("other", [{"label": "Person"}, {"client_id": "acme"}])
def test_names_are_compared_within_a_label_and_a_client_only(other: dict[str, Any]) -> None:
    entity = {"label": "Entity", "canonical_name": "Mercury"}
    assert kept(of(entity, entity | other)) == [1, 2]


@pytest.mark.parametrize(
    "other",
    [{"occurred_at": NOW + timedelta(hours=1)}, {"session_id": "t"}, {"source_agent": "b"}],
    ids=["time", "session", "speaker"],
)
def test_an_event_said_again_is_another_event(other: dict[str, Any]) -> None:
    event = {"kind": "event", "content_hash": "abc"}
    assert kept(of(event, event)) == [1]
    assert kept(of(event, event | other)) == [1, 2]


def test_layers_chain_to_the_first() -> None:
    found = of({"slug": "a"}, {"slug": "a", "content_hash": "x", "kind": "fact"})
    assert found.merged == {node_id(1): (node_id(2),)}
    found = of(
        {"slug": "a", "kind": "fact"},
        {"slug": "a", "kind": "fact", "content_hash": "x"},
        {"kind": "fact", "content_hash": "x"},
    )
    assert found.merged == {node_id(1): (node_id(2), node_id(3))}


def test_the_same_node_twice_is_one_and_merges_nothing() -> None:
    one = Scored(sketch=sketch(1), score=1.0, signals={})
    found = deduped([one, one])
    assert len(found.kept) == 1
    assert found.merged == {}


def test_what_has_no_mark_is_never_merged() -> None:
    assert kept(of({}, {}, {"slug": ""}, {"slug": ""})) == [1, 2, 3, 4]
