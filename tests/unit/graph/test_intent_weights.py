"""The published matrix, what the other relations take from it, and a workspace's own weights."""

import pytest

from cairn.graph.edge import Relation
from cairn.graph.intent_weights import (
    INTENT_WEIGHTS,
    LIKE,
    PUBLISHED,
    UNKNOWN_WEIGHT,
    Intent,
    greatest_weight,
    intent_weights,
    weight_of,
)
from cairn.kernel.errors import ValidationFailed

MATRIX = {
    "why": (5.0, 1.0, 1.5, 2.0, 1.0),
    "when": (1.0, 5.0, 0.5, 1.0, 0.5),
    "what": (2.0, 1.0, 2.0, 5.0, 2.0),
    "related": (1.5, 0.5, 5.0, 2.0, 1.5),
    "general": (2.0, 2.0, 2.0, 2.0, 2.0),
}
COLUMNS = ("CAUSED_BY", "FOLLOWS", "SIMILAR_TO", "REFERENCES", "SUMMARIZES")


@pytest.mark.parametrize(("intent", "weights"), MATRIX.items())
def test_the_five_published_intents_weigh_the_five_published_relations_as_published(
    intent: str, weights: tuple[float, ...]
) -> None:
    row = INTENT_WEIGHTS[Intent(intent)]
    assert tuple(weight_of(row, column) for column in COLUMNS) == weights


def test_every_intent_weighs_every_relation() -> None:
    assert {intent: set(row) for intent, row in INTENT_WEIGHTS.items()} == {
        intent: set(Relation) for intent in Intent
    }
    assert set(LIKE) | set(PUBLISHED[Intent.WHY]) == set(Relation)


def test_a_relation_takes_its_weight_from_the_one_it_is_like() -> None:
    why, what = INTENT_WEIGHTS[Intent.WHY], INTENT_WEIGHTS[Intent.WHAT]
    assert weight_of(why, "CAUSES") == 5.0
    assert weight_of(why, "SOLVES") == 4.0
    assert weight_of(what, "USES") == 5.0
    assert weight_of(what, "CO_OCCURRENCE") == 2.5


def test_an_intent_may_state_a_weight_of_its_own() -> None:
    assert weight_of(INTENT_WEIGHTS[Intent.PERSONALIZE], "PREFERS") == 5.0


@pytest.mark.parametrize(
    ("intent", "best"),
    [
        ("who_is", {"HAS_PROFILE", "HAS_SKILL", "SAME_AS"}),
        ("how_does", {"EXHIBITS_PATTERN"}),
        ("personalize", {"HAS_PROFILE", "HAS_PREFERENCE", "INTERESTED_IN"}),
    ],
)
def test_what_a_person_has_weighs_most_to_the_questions_about_a_person(
    intent: str, best: set[str]
) -> None:
    row = INTENT_WEIGHTS[Intent(intent)]
    assert {relation: weight_of(row, relation) for relation in best} == dict.fromkeys(
        best, greatest_weight(row)
    )


def test_a_relation_nobody_knows_weighs_one() -> None:
    assert weight_of(INTENT_WEIGHTS[Intent.WHY], "MENTIONED_IN_PASSING") == UNKNOWN_WEIGHT


def test_the_greatest_weight_of_a_row_is_its_greatest() -> None:
    assert greatest_weight(INTENT_WEIGHTS[Intent.WHY]) == 5.0
    assert greatest_weight(INTENT_WEIGHTS[Intent.GENERAL]) == 2.0


def test_a_workspace_lays_its_own_weights_over_the_matrix() -> None:
    own = intent_weights({"why": {"FOLLOWS": 3, "SIMILAR_TO": 0}})
    assert weight_of(own[Intent.WHY], "FOLLOWS") == 3.0
    assert weight_of(own[Intent.WHY], "SIMILAR_TO") == 0.0
    assert weight_of(own[Intent.WHY], "CAUSED_BY") == 5.0
    assert own[Intent.WHEN] == INTENT_WEIGHTS[Intent.WHEN]
    assert weight_of(INTENT_WEIGHTS[Intent.WHY], "FOLLOWS") == 1.0


@pytest.mark.parametrize(
    ("overrides", "location", "message"),
    [
        ({"wherefore": {"FOLLOWS": 1.0}}, "wherefore", "is not an intent"),
        ({"why": {"LIKES": 1.0}}, "why.LIKES", "is not a relation"),
        ({"why": {"FOLLOWS": -1}}, "why.FOLLOWS", "must be from 0 to 10"),
        ({"why": {"FOLLOWS": 10.5}}, "why.FOLLOWS", "must be from 0 to 10"),
        ({"why": {"FOLLOWS": float("nan")}}, "why.FOLLOWS", "must be from 0 to 10"),
        ({"why": {"FOLLOWS": True}}, "why.FOLLOWS", "is not a number"),
        ({"why": {"FOLLOWS": "5"}}, "why.FOLLOWS", "is not a number"),
        (
            {"why": dict.fromkeys(Relation, 0)},
            "why",
            "leaves every relation at zero",
        ),
    ],
)
def test_weights_that_are_none_are_refused_by_their_place(
    overrides: dict[str, dict[str, float]], location: str, message: str
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        intent_weights(overrides)
    assert [(error.location, error.message) for error in refused.value.errors] == [
        (location, message)
    ]
