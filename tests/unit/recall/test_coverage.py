"""Results for each facet, without pushing down what answers the whole question."""

from dataclasses import replace
from datetime import timedelta

from tests.unit.recall.fakes import NOW, node_id, sketch

from cairn.recall.coverage import bare, cover, extreme_first, found_set
from cairn.recall.questions.facets import WantedSet, decompose, wanted_set
from cairn.recall.ranking import Ranking
from cairn.recall.scoring import Scored

QUESTION = "Who has the larger terrace, Anna or Ben?"


def ranking(*texts: str) -> Ranking:
    """Nodes 1, 2, ... in this order, each a day after the one before."""
    scored = tuple(
        Scored(
            sketch=sketch(number, text, occurred_at=NOW + timedelta(days=number)),
            score=1.0 - number / 100,
            signals={},
        )
        for number, text in enumerate(texts, start=1)
    )
    return Ranking(scored=scored, kept=scored)


def order(found: Ranking) -> list[int]:
    return [each.sketch.id.int for each in found.kept]


def test_a_bare_facet_gets_the_best_that_speaks_of_it_in_the_last_free_place() -> None:
    parts = decompose(QUESTION)
    first = ranking("Anna's terrace is large.", "terrace 2", "terrace 3", "Ben has a terrace.")
    found, covered = cover(first, parts, 3)
    assert order(found) == [1, 2, 4, 3]
    assert [(each.node_id, each.moved) for each in covered] == [
        (node_id(1), False),
        (node_id(4), True),
    ]
    assert found.kept[2].signals["facet"] > 0


def test_several_move_together_and_what_speaks_of_all_stays() -> None:
    parts = decompose("Did Anna, Ben and Carla like Porto?")
    first = ranking(
        "Porto was fine.", "Anna, Ben and Carla were in Porto.", "Porto 3", "Porto 4", "Anna: Porto"
    )
    assert order(cover(first, parts, 4)[0]) == [1, 2, 3, 4, 5]
    alone = ranking("Anna: Porto", "Porto 2", "Porto 3", "Carla: Porto", "Ben: Porto")
    found, _ = cover(alone, parts, 3)
    assert order(found)[0] == 1
    assert set(order(found)[:3]) == {1, 4, 5}


def test_the_first_result_never_gives_way() -> None:
    parts = decompose(QUESTION)
    first = ranking("a terrace", "Anna's terrace", "Ben's terrace")
    assert order(cover(first, parts, 1)[0]) == [1, 2, 3]


def test_what_holds_no_more_is_not_moved() -> None:
    parts = decompose(QUESTION)
    first = ranking("Anna's terrace", "terrace", "Ben's terrace")
    past = first.kept[2]._replace(signals={"past": -1.0})
    assert order(cover(replace(first, kept=(*first.kept[:2], past)), parts, 2)[0]) == [1, 2, 3]


def test_a_facet_is_bare_when_nothing_ranked_speaks_of_it() -> None:
    parts = decompose(QUESTION)
    left = bare(ranking("Anna's terrace", "Ben has a cat."), parts)
    assert [facet.terms for facet, _ in left] == [("ben",)]


def test_what_came_after_is_later_than_the_event() -> None:
    parts = decompose("What did they paint after the fair?")
    first = ranking("They painted the gate.", "The fair was on Sunday.", "They painted the shed.")
    _, covered = cover(first, parts, 3)
    assert [each.node_id for each in covered] == [node_id(2), node_id(3)]


def set_of(question: str) -> WantedSet:
    wanted = wanted_set(question)
    assert wanted is not None
    return wanted


def test_a_set_is_what_speaks_of_the_matter_in_order_of_time() -> None:
    first = ranking("Marta: dentist", "Piet went to the dentist.", "dentists for Marta", "Marta")
    wanted = set_of("How often was Marta at the dentist?")
    nodes = [each.sketch for each in reversed(first.kept)]
    found = found_set(nodes, wanted, None, complete=True)
    assert [node for node, _ in found.members] == [node_id(1), node_id(3)]
    by_entity = found_set(nodes, wanted, None, at_entity=frozenset({node_id(2)}), complete=False)
    assert (by_entity.counted, by_entity.complete) == (3, False)


def test_the_last_goes_first_only_when_it_is_as_good() -> None:
    wanted = set_of("When was Marta last at the dentist?")
    first = ranking("Marta: dentist", "tea", "Marta was at the dentist.")
    found = found_set([each.sketch for each in first.kept], wanted, None, complete=True)
    assert order(extreme_first(first, found, 3)) == [3, 1, 2]
    far = replace(first, kept=(*first.kept[:2], first.kept[2]._replace(score=0.1)))
    assert order(extreme_first(far, found, 3)) == [1, 2, 3]
    assert order(extreme_first(first, found, 2)) == [1, 2, 3]
