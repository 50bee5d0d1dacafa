"""Fusion: what several rankings say together."""

from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.unit.recall.fakes import NOW, node_id, ranked, sketch

from cairn.recall.ranking import (
    RRF_K,
    Deduped,
    bookkeeping,
    deduped,
    min_max,
    newer_first,
    one_text,
    present_first,
    reciprocal_rank,
    weighted_sum,
    without_bookkeeping,
)
from cairn.recall.scoring import Scored


def of(*nodes: dict[str, Any]) -> Deduped:
    return deduped(
        [
            Scored(sketch=sketch(number, **values), score=1.0, signals={})
            for number, values in enumerate(nodes, start=1)
        ]
    )


def kept(found: Deduped) -> list[int]:
    return [item.sketch.id.int for item in found.kept]


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


EQUAL = {"vector": 1.0, "keyword": 1.0}


def order(fused: dict[UUID, float]) -> list[UUID]:
    return sorted(fused, key=lambda each: -fused[each])


def test_third_in_both_beats_first_in_one() -> None:
    legs = {"vector": ranked(1, 2, 3), "keyword": ranked(4, 5, 3)}

    fused = reciprocal_rank(legs, EQUAL)

    assert order(fused)[0] == node_id(3)
    assert fused[node_id(3)] == pytest.approx(2 / 63)
    assert fused[node_id(1)] == pytest.approx(1 / 61)


def test_the_constant_is_sixty() -> None:
    assert RRF_K == 60


def test_a_heavier_leg_counts_more() -> None:
    fused = reciprocal_rank(
        {"vector": ranked(1), "keyword": ranked(2)}, {"vector": 1.0, "keyword": 2.0}
    )

    assert fused == {node_id(1): pytest.approx(1 / 61), node_id(2): pytest.approx(2 / 61)}


def test_no_legs_fuse_to_nothing() -> None:
    assert reciprocal_rank({}, {}) == {}
    assert weighted_sum({"keyword": ()}, EQUAL, normalised=frozenset({"keyword"})) == {}


def test_the_weighted_sum_takes_cosines_as_they_are_and_stretches_text_ranks() -> None:
    legs = {
        "vector": ranked(1, 2, scores=[0.8, 0.5]),
        "keyword": ranked(2, 3, 4, scores=[9.0, 6.0, 3.0]),
    }

    fused = weighted_sum(legs, {"vector": 0.7, "keyword": 0.3}, normalised=frozenset({"keyword"}))

    assert fused == {
        node_id(1): pytest.approx(0.56),
        node_id(2): pytest.approx(0.7 * 0.5 + 0.3),
        node_id(3): pytest.approx(0.15),
        node_id(4): pytest.approx(0.0),
    }


def test_what_is_lowered_counts_from_the_least_of_its_leg() -> None:
    legs = {"vector": ranked(1, 2, scores=[0.8, 0.5]), "keyword": ranked(3, 1, scores=[9.0, 3.0])}

    fused = weighted_sum(
        legs,
        {"vector": 1.0, "keyword": 0.2},
        normalised=frozenset({"keyword"}),
        lowered=frozenset({"vector"}),
    )

    assert fused == {
        node_id(1): pytest.approx(0.3),
        node_id(2): pytest.approx(0.0),
        node_id(3): pytest.approx(0.2),
    }


@pytest.mark.parametrize("scores", [[0.4], [2.0, 2.0], [0.0, 0.0]])
def test_equal_scores_all_become_one(scores: list[float]) -> None:
    assert min_max(scores) == [1.0] * len(scores)


# One text, and what holds


def scored(number: int, score: float, **values: Any) -> Scored:
    return Scored(sketch=sketch(number, **values), score=score, signals={})


def hits(*nodes: Scored) -> Deduped:
    return one_text(Deduped(kept=nodes, merged={node_id(3): (node_id(30),)}))


WHOLE: dict[str, Any] = {"label": "Document", "document_id": node_id(1)}
PART: dict[str, Any] = {"label": "Section", "document_id": node_id(1), "parent_id": node_id(1)}
PASSAGE: dict[str, Any] = {"label": "Chunk", "document_id": node_id(1), "parent_id": node_id(2)}


def test_the_finest_good_grain_takes_the_place_of_what_is_around_it() -> None:
    found = hits(
        scored(1, 3.0, **WHOLE), scored(9, 2.5), scored(2, 2.0, **PART), scored(3, 1.8, **PASSAGE)
    )
    assert kept(found) == [3, 9]
    assert found.kept[0].score == pytest.approx(3.0)
    assert set(found.merged[node_id(3)]) == {node_id(1), node_id(2), node_id(30)}


def test_a_grain_that_is_much_worse_merges_into_what_is_around_it() -> None:
    found = hits(scored(1, 3.0, **WHOLE), scored(3, 1.0, **PASSAGE))
    assert kept(found) == [1]
    assert found.merged == {node_id(1): (node_id(3), node_id(30))}


def test_passages_of_other_documents_and_messages_are_left_alone() -> None:
    other = PASSAGE | {"document_id": node_id(50), "parent_id": node_id(51)}
    found = hits(scored(1, 3.0, **WHOLE), scored(3, 1.0, **other), scored(4, 0.5))
    assert kept(found) == [1, 3, 4]


def test_what_is_past_keeps_its_order_below_all_that_holds() -> None:
    ended = {"valid_to": NOW}
    order = present_first(
        [
            scored(1, 3.0, state="superseded"),
            scored(2, 2.0, **ended),
            scored(3, 0.1),
            scored(4, -0.2),
        ],
        NOW,
    )
    assert [each.sketch.id.int for each in order] == [3, 4, 1, 2]
    assert present_first([scored(1, 1.0, **ended)], NOW)[0].signals == {}


def test_what_replaced_a_message_stands_just_above_it() -> None:
    old = scored(1, 3.0, label="Message")
    old = old._replace(sketch=old.sketch._replace(replaced_by=node_id(3)))
    order = newer_first([old, scored(2, 2.0), scored(3, 0.1)])
    assert [each.sketch.id.int for each in order] == [3, 1, 2]
    assert order[0].signals["newer"] == pytest.approx(2.91)
    assert newer_first(order) == order
    assert newer_first([old]) == [old]


@pytest.mark.parametrize(
    ("label", "text", "hidden"),
    [
        ("Ticket", "Cannot log in", True),
        ("Customer", "customer:acme", True),
        ("System", "0191f6a0-0000-7000-8000-000000000001", True),
        ("Customer", "Acme: makers of anvils", False),
        ("Memory", "https://example.org/page", False),
    ],
)
def test_bookkeeping_is_a_label_or_a_bare_id(label: str, text: str, hidden: bool) -> None:
    assert bookkeeping(label, text) is hidden


@pytest.mark.parametrize("labels", [(), ("Summary",), ("Entity", "Summary")])
def test_what_is_held_of_people_is_no_result_whatever_labels_are_asked_for(
    labels: tuple[str, ...],
) -> None:
    held = [sketch(1, label="Summary", kind="profile"), sketch(2, label="Summary", kind="pattern")]
    summary = sketch(3, label="Summary", kind="session")
    assert without_bookkeeping([*held, summary], labels) == [summary]
