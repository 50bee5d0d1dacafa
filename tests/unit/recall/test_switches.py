"""Stages on and off: by recipe, workspace and request; and where a class goes."""

import pytest

from cairn.recall.questions.understanding import RetrievalClass
from cairn.recall.recipes import (
    DEFAULT,
    GRAPH,
    KEYWORD,
    RECIPES,
    ROUTES,
    SEED_000,
    SEED_001,
    SUBSCRIPTIONS,
    VECTOR,
    Fusion,
    SignalWeights,
    looked_up,
    routed,
)
from cairn.recall.switches import (
    LEG_WEIGHT,
    STAGES,
    faults_of_stages,
    is_on,
    switched,
    weighted,
)

NOT_ALONE = {"signals", *SignalWeights.__slots__}  # no weight of theirs is published


def test_every_stage_of_every_recipe_can_be_switched() -> None:
    stuck = [
        (name, stage, on)
        for name, recipe in RECIPES.items()
        for stage in STAGES
        for on in (False, True)
        if is_on(switched(recipe, {stage: on}), stage) is not on and not (on and stage in NOT_ALONE)
    ]
    assert stuck == []


def test_what_is_on_already_keeps_its_value() -> None:
    on = [stage for stage in STAGES if is_on(DEFAULT, stage)]
    assert [stage for stage in on if switched(DEFAULT, {stage: True}) != DEFAULT] == []


def test_legs_take_the_recipes_weight_else_the_published_one() -> None:
    changed = switched(DEFAULT, {GRAPH: True, KEYWORD: False, VECTOR: True})
    assert changed.weights == {VECTOR: DEFAULT.weights[VECTOR], GRAPH: LEG_WEIGHT[GRAPH]}


def test_a_workspaces_weights_are_of_legs_that_run() -> None:
    changed = weighted(SEED_000, {VECTOR: 0.9, GRAPH: 5.0})
    assert changed.weights == {VECTOR: 0.9, KEYWORD: 0.3}


def test_an_unknown_stage_is_a_fault_that_names_the_known_ones() -> None:
    [fault] = faults_of_stages({"gate": True, "magic": True})
    assert fault.location == "stages.magic"
    assert "rerank" in fault.message


@pytest.mark.parametrize(
    ("kind", "weights", "label", "with_kinds"),
    [
        (RetrievalClass.ENTITY, {VECTOR: 0.8, KEYWORD: 0.2}, "Entity", ()),
        (RetrievalClass.TEMPORAL, {VECTOR: 0.3, KEYWORD: 0.7}, "Event", ()),
        (RetrievalClass.EVENT, {KEYWORD: 1.0}, "Event", ("event",)),
        (RetrievalClass.GENERAL, {VECTOR: 0.5, KEYWORD: 0.5}, None, ()),
        (RetrievalClass.NONE, {VECTOR: 0.7, KEYWORD: 0.3}, None, ()),
    ],
)
def test_a_class_goes_where_the_table_says(
    kind: RetrievalClass, weights: dict[str, float], label: str | None, with_kinds: tuple[str, ...]
) -> None:
    on = switched(SEED_000, {"route": True})
    found = routed(on, kind)
    assert found.weights == weights
    assert found.labels[:1] == ((label,) if label else ())
    assert found.with_kinds == with_kinds
    assert routed(SEED_000, kind) == SEED_000
    narrowed = routed(on, kind, narrowed=True)
    assert (narrowed.weights, narrowed.labels, narrowed.with_kinds) == (weights, (), ())


def test_a_route_divides_what_the_text_legs_weigh_in_the_recipe() -> None:
    found = routed(switched(DEFAULT, {"route": True}), RetrievalClass.ENTITY)
    assert found.weights == pytest.approx({VECTOR: 0.8 * 1.9, KEYWORD: 0.2 * 1.9})


def test_only_a_routed_message_without_content_is_not_looked_up() -> None:
    routing = switched(DEFAULT, {"route": True})
    assert not looked_up(routing, RetrievalClass.NONE)
    assert looked_up(routing, RetrievalClass.GENERAL)
    assert looked_up(DEFAULT, RetrievalClass.NONE)


def test_reciprocal_ranks_are_chosen_on_a_recipe_and_what_has_a_scale_follows() -> None:
    ranks = switched(DEFAULT, {"rrf": True, "threshold": True})
    assert ranks.fusion is Fusion.RECIPROCAL_RANK
    assert ranks.weights == {VECTOR: 1.0, KEYWORD: 1.0}
    most = 2 / 61
    assert ranks.threshold == pytest.approx(0.3 * most)
    assert ranks.signals.time == pytest.approx(DEFAULT.signals.time * most / 1.9)
    assert switched(SEED_001, {"threshold": True}).threshold == pytest.approx(0.3 * 3 / 61)
    sums = switched(SEED_001, {"rrf": False, "threshold": True})
    assert (sums.fusion, sums.threshold) == (Fusion.WEIGHTED_SUM, 0.3)
    assert sums.weights == {leg: LEG_WEIGHT[leg] for leg in (VECTOR, KEYWORD, GRAPH)}
    assert switched(SEED_001, {"rrf": True}) == SEED_001


def test_subscriptions_weigh_what_the_keyword_leg_does() -> None:
    assert switched(SEED_001, {SUBSCRIPTIONS: True}).weights[SUBSCRIPTIONS] == 1.0
    assert switched(SEED_000, {SUBSCRIPTIONS: True}).weights[SUBSCRIPTIONS] == 0.3


def test_a_route_keeps_the_legs_it_does_not_name_and_adds_none() -> None:
    recipe = switched(SEED_000, {"route": True, SUBSCRIPTIONS: True, KEYWORD: False})
    found = routed(recipe, RetrievalClass.EVENT)
    assert found.weights == {SUBSCRIPTIONS: LEG_WEIGHT[SUBSCRIPTIONS]}
    only_vector = switched(SEED_000, {"route": True, KEYWORD: False})
    assert routed(only_vector, RetrievalClass.EVENT) == only_vector


def test_every_class_but_none_has_a_route() -> None:
    assert set(ROUTES) == set(RetrievalClass) - {RetrievalClass.NONE}
