"""What is left out because it does not bear on the question, and what never is."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from types import MappingProxyType
from typing import Any

import pytest
from tests.support.embedding import HashingEmbedder
from tests.unit.recall.fakes import FakeEmbedder, node_id, principal, ranked
from tests.unit.recall.test_recall import DOWN, World

from cairn.embedding.models import BGE_SMALL
from cairn.embedding.port import EmbeddingModel
from cairn.kernel.errors import ValidationFailed
from cairn.recall.answer import answer
from cairn.recall.estimate import estimated
from cairn.recall.query import SearchRequest
from cairn.recall.recipes import DEFAULT, SECOND_PASS
from cairn.recall.relevance import (
    CALIBRATIONS,
    USUAL_LATE,
    Floor,
    Unjudged,
    floor_of,
    names_no_matter,
    relevance_of,
)
from cairn.recall.searches.explain import replay

BGE = CALIBRATIONS[BGE_SMALL.name]


@pytest.fixture
def world() -> Any:
    with ThreadPoolExecutor(4) as pool:
        made = World(pool)
        made.embedder.model = EmbeddingModel(id=7, name=BGE.model, dimensions=3, max_tokens=8)
        yield made


def asked(world: Any, query: str = "Which wine goes with trout?", **given: Any) -> Any:
    request = SearchRequest(query=query, **given)
    return answer(world.recall(principal(), request), request)


def finds(world: Any, *, cosines: list[float], words: dict[int, float]) -> None:
    world.vector.answer = ranked(*range(1, 1 + len(cosines)), scores=cosines)
    world.keyword.answer = ranked(*words, scores=list(words.values()))


def test_a_question_that_nothing_bears_on_gets_nothing_and_says_so(world: Any) -> None:
    finds(world, cosines=[0.38, 0.35, 0.3], words={})
    found = asked(world)
    assert found.results == ()
    assert found.meta["answerable"] is False
    assert found.meta["relevance"]["left_out"] == 3
    assert found.meta["relevance"]["best"] < BGE.answerable
    assert not found.meta["truncated"]


def test_what_bears_on_a_question_stays_and_the_rest_goes(world: Any) -> None:
    finds(world, cosines=[0.8, 0.29, 0.25], words={1: 0.6})
    found = asked(world)
    [only] = found.results
    assert found.meta["answerable"] is True
    assert only["relevance"] == found.meta["relevance"]["best"] > 0.5


def test_the_same_likeness_says_less_among_more_candidates() -> None:
    assert BGE.relevance(0.6, 0.2, 600) < BGE.relevance(0.6, 0.2, 6)
    assert BGE.relevance(0.6, 0.2, 600) == BGE.relevance(0.6, 0.2, 100_000)
    assert BGE.relevance(0.6, 0.2, 0) == BGE.relevance(0.6, 0.2, 1)


def test_late_interaction_and_the_time_a_question_names_count_and_are_kept() -> None:
    near, alike, lacking = (node_id(number) for number in (1, 2, 3))
    floor = Floor(
        calibration=BGE,
        enough=0.1,
        least=0.1,
        without_late=(lacking,),
        late_from=0.2,
        time_share=0.5,
    )
    legs = {
        "vector": ranked(1, 2, 3, scores=[0.6] * 3),
        "keyword": ranked(1, 2, 3, scores=[0.1] * 3),
    }
    signals: dict[Any, dict[str, float]] = {
        near: {"late": SECOND_PASS.late * 0.4, "time": SECOND_PASS.time},
        alike: {"fused": 1.0},
        lacking: {"fused": 1.0},
    }
    told = relevance_of(legs, MappingProxyType({}), DEFAULT, floor, signals)
    assert told[near] == pytest.approx(BGE.relevance(0.6, 0.6, 3, 0.6))
    assert told[alike] == pytest.approx(BGE.relevance(0.6, 0.1, 3, 0.2))
    assert told[lacking] == BGE.relevance(0.6, 0.1, 3)
    usual = USUAL_LATE[0] + USUAL_LATE[1] * 0.6
    assert told[lacking] == BGE.relevance(0.6, 0.1, 3, usual)
    assert floor_of(floor.json()) == floor


@pytest.mark.parametrize(("others", "size"), [(2, 3), (199, 40)])
def test_what_the_asker_said_competes_with_what_else_they_said(others: int, size: int) -> None:
    own, *rest = (node_id(number) for number in range(1, others + 2))
    found = ranked(*range(1, others + 2), scores=[0.6] * (others + 1))
    floor = Floor(calibration=BGE, enough=0.1, least=0.1, of_asker=True)
    signals = {own: {"speaker": 0.47}, rest[0]: {"fused": 1.0}}
    legs = {"vector": found, "keyword": ()}
    told = relevance_of(legs, MappingProxyType({}), DEFAULT, floor, signals)
    assert told[own] == BGE.relevance(0.6, 0.0, size)
    assert told[rest[0]] == BGE.relevance(0.6, 0.0, 3 if others == 2 else 600)
    named = replace(floor, of_asker=False)
    same = relevance_of(legs, MappingProxyType({}), DEFAULT, named, signals)
    assert same[own] == told[rest[0]]
    assert floor_of(floor.json()) == floor


@pytest.mark.parametrize("least", [0.0, 0.2, 1.0])
def test_a_least_relevance_takes_the_place_of_both_bounds(world: Any, least: float) -> None:
    finds(world, cosines=[0.8, 0.29, 0.25], words={1: 0.3})
    found = asked(world, min_relevance=least)
    assert len(found.results) == {0.0: 3, 0.2: 1, 1.0: 0}[least]
    assert found.meta["answerable"] is bool(found.results)
    assert all(each["relevance"] >= least for each in found.results)


@pytest.mark.parametrize("given", [-0.1, 1.1, float("nan")])
def test_a_relevance_that_is_no_probability_is_refused(world: Any, given: float) -> None:
    with pytest.raises(ValidationFailed, match="min_relevance must be from 0 to 1"):
        asked(world, min_relevance=given)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"stages": {"relevance": False}}, Unjudged.OFF),
        ({"recipe": "seed-000"}, Unjudged.OFF),
        ({"stages": {"keyword": False}}, Unjudged.NO_LEGS),
        ({"query": "どのワインが鱒に合いますか"}, Unjudged.LANGUAGE),
        ({"query": " ".join(f"word{n}" for n in range(40))}, Unjudged.LONG),
        ({"labels": ("Entity",)}, Unjudged.LABELS),
        ({"query": "What happened last week?"}, Unjudged.LISTING),
    ],
)
def test_nothing_is_left_out_where_relevance_says_nothing(
    world: Any, given: dict[str, Any], reason: Unjudged
) -> None:
    finds(world, cosines=[0.38, 0.35, 0.3], words={})
    found = asked(world, **given)
    assert len(found.results) == 3
    assert found.meta["relevance"]["unjudged"] == reason


def test_an_unknown_embedder_has_no_floor_and_who_asks_for_one_is_told(world: Any) -> None:
    world.embedder.model = replace(world.embedder.model, name="somebody's own")
    finds(world, cosines=[0.38], words={})
    [only] = asked(world).results
    assert only["relevance"] is None
    found = asked(world, min_relevance=0.5)
    assert found.meta["answerable"] is None
    assert found.meta["degraded"] == ["relevance: no_calibration"]


def test_relevance_of_an_unknown_embedder_is_estimated_and_hides_nothing_unasked(
    world: Any,
) -> None:
    world.embedder.model = replace(world.embedder.model, name="somebody's own")
    world.recall = replace(world.recall, estimate=lambda: replace(BGE, estimated=True))
    finds(world, cosines=[0.8, 0.2], words={1: 0.6})
    found = asked(world)
    assert [each["relevance"] > 0.1 for each in found.results] == [True, False]
    assert (found.meta["answerable"], found.meta["degraded"]) == (None, [])
    told = found.meta["relevance"]
    assert (told["estimated"], told["unjudged"], told["left_out"]) == (True, "estimated", 0)
    held = asked(world, min_relevance=0.1)
    assert (len(held.results), held.meta["answerable"]) == (1, True)
    assert held.meta["relevance"]["unjudged"] is None


def test_where_nothing_can_be_estimated_no_relevance_is_told(world: Any) -> None:
    def down() -> Any:
        raise DOWN

    world.embedder.model = replace(world.embedder.model, name="somebody's own")
    finds(world, cosines=[0.8], words={1: 0.6})
    for estimate in (down, lambda: None):
        world.recall = replace(world.recall, estimate=estimate)
        found = asked(world)
        assert found.results[0]["relevance"] is None
        assert found.meta["relevance"]["unjudged"] == Unjudged.NO_CALIBRATION
        assert found.meta["relevance"]["estimated"] is False


def test_an_estimate_reads_cosines_as_those_of_the_default_embedder() -> None:
    estimate = estimated(HashingEmbedder())
    assert estimate is not None
    assert (estimate.model, estimate.estimated, estimate.late) == ("hashing", True, 0.0)
    assert estimate.relevance(0.1, 0.0, 600) < 0.01 < 0.1 < estimate.relevance(0.6, 0.5, 600)
    flat: Any = FakeEmbedder()  # to it all texts are alike
    assert estimated(flat) is None


def test_a_failed_leg_takes_nothing_away(world: Any) -> None:
    finds(world, cosines=[], words={1: 0.1})
    world.vector.failure = DOWN
    assert len(asked(world).results) == 1


def test_labels_of_texts_are_held_to_the_floor(world: Any) -> None:
    finds(world, cosines=[0.38], words={})
    assert asked(world, labels=("Memory",)).meta["answerable"] is False


def test_what_is_not_embedded_yet_is_found_by_its_words(world: Any) -> None:
    finds(world, cosines=[0.28], words={2: 0.2})
    assert asked(world).meta["answerable"] is False  # its vector is known to be far away
    world.nodes.unembedded = {each.node_id for each in ranked(2)}
    [only] = asked(world).results
    assert only["node_id"] == str(ranked(2)[0].node_id)


def test_a_search_with_a_floor_is_replayed_to_the_same_results(world: Any) -> None:
    finds(world, cosines=[0.8, 0.29, 0.25], words={1: 0.6})
    asked(world)
    finds(world, cosines=[0.3], words={})
    asked(world)
    assert [len(run.returned) for run in world.runs.runs] == [1, 0]
    assert [replay(run) == run.returned for run in world.runs.runs] == [True, True]


@pytest.mark.parametrize(
    ("scores", "given", "shown", "answerable"),
    [
        ([0.2, 0.9, 0.0], {}, [2, 1], True),
        ([0.0, 0.0, 0.0], {}, [], False),
        ([0.0, 0.0, 0.0], {"min_relevance": 0.0}, [1, 2, 3], True),
        ([0.2], {}, [1], True),
        ([0.0], {}, [], False),
    ],
)
def test_what_a_reranker_gives_nothing_is_no_answer(
    world: Any, scores: list[float], given: dict[str, Any], shown: list[int], answerable: bool
) -> None:
    class Reads:
        name = "reads"

        def __call__(self, query: str, texts: list[str], **_: Any) -> list[float]:
            return scores

    finds(world, cosines=[0.8, 0.79, 0.78][: len(scores)], words={1: 0.6})
    world.recall = replace(world.recall, reranker=Reads())
    found = asked(world, stages={"rerank": True}, **given)
    assert [each["node_id"] for each in found.results] == [str(node_id(n)) for n in shown]
    assert found.meta["answerable"] is answerable
    assert found.meta["relevance"]["left_out"] == len(scores) - len(shown)
    [run] = world.runs.runs
    assert replay(run) == run.returned


def test_questions_without_matter_want_a_list() -> None:
    for question in ("What happened in May 2023?", "anything new?", "list all memories", ""):
        assert names_no_matter(question)
    assert not names_no_matter("What happened at the harbour?")
