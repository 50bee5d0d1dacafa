"""Which stages run: a recipe, changed by what the workspace sets and then by what a request asks.

Pure. A stage that is switched on and that the recipe leaves out takes the published value.
"""

from collections.abc import Mapping
from dataclasses import fields, replace
from types import MappingProxyType
from typing import Any

from cairn.kernel.errors import FieldError
from cairn.recall.recipes import (
    GRAPH,
    KEYWORD,
    LEGS,
    SECOND_PASS,
    SUBSCRIPTIONS,
    VECTOR,
    Fusion,
    Recipe,
    SignalWeights,
)

LEG_WEIGHT = MappingProxyType({VECTOR: 0.7, KEYWORD: 0.3, GRAPH: 0.2, SUBSCRIPTIONS: 0.3})
"""What a leg weighs when it is switched on and the recipe has no weight for it.

The first two are the published weights. The graph leg gets less: with an equal vote it costs more
than it brings. Subscriptions weigh what the recipe's keyword leg does, if it has one: the better
of the two counts."""
RRF = "rrf"
RERANKED = 20
PROACTIVE_NODES = 5
THRESHOLD = 0.3

SIGNALS = tuple(field.name for field in fields(SignalWeights))
_ON: Mapping[str, Any] = MappingProxyType(
    {
        "gate": True,
        "expansion": True,
        "route": True,
        "facets": True,
        "decomposition": True,
        "relevance": True,
        "dedup": True,
        "one_text": True,
        "present_first": True,
        "second_pass": SECOND_PASS,
        "cache": True,
        "decay": 1.0,
        "access": 1.0,
        "compiled_truth": 1.0,
        "backlinks": 1.0,
        "rerank": RERANKED,
        "threshold": THRESHOLD,
        "expand_hops": 1,
        "proactive": PROACTIVE_NODES,
    }
)
_OFF: Mapping[str, Any] = MappingProxyType({"threshold": None, "second_pass": None})

STAGES = (*LEGS, *_ON, RRF, "signals", *SIGNALS)
"""Every name that `stages` of a request or of a workspace may switch."""


def switched(recipe: Recipe, stages: Mapping[str, bool]) -> Recipe:
    """Return `recipe` with the named stages on or off; what is on already keeps its value.

    `signals` off drops every signal; a signal cannot be switched on where the recipe has no
    weight for it, since none is published. Either is so in both passes. A leg that is on and has a
    weight keeps it. `rrf` chooses reciprocal ranks, or the weighted sum instead of them; what has
    its scale follows.
    """
    changes: dict[str, Any] = {}
    if RRF in stages and stages[RRF] != is_on(recipe, RRF):
        recipe = _by_ranks(recipe) if stages[RRF] else _by_scores(recipe)
    weights = dict(recipe.weights)
    with_signals = stages.get("signals", True)
    signals = recipe.signals if with_signals else SignalWeights()
    if not with_signals:
        recipe = replace(recipe, second_pass=None)
    for name, enabled in stages.items():
        if name in LEG_WEIGHT:
            _switch_leg(weights, name, enabled=enabled)
        elif name in SIGNALS and not enabled:
            signals = replace(signals, **{name: 0.0})
        elif name in _ON and enabled != is_on(recipe, name):
            changes[name] = _ON[name] if enabled else _off(recipe, name)
    if changes.get("threshold") and recipe.fusion is Fusion.RECIPROCAL_RANK:
        changes["threshold"] = THRESHOLD * _most_by_rank(weights, recipe.rrf_k)
    recipe = replace(recipe, weights=MappingProxyType(weights), signals=signals, **changes)
    off = {name: 0.0 for name in SIGNALS if not stages.get(name, True)}
    if off and recipe.second_pass is not None:
        recipe = replace(recipe, second_pass=replace(recipe.second_pass, **off))
    return recipe


def is_on(recipe: Recipe, stage: str) -> bool:
    """Return whether a recipe runs a stage at all."""
    if stage in LEG_WEIGHT:
        return bool(recipe.weights.get(stage))
    if stage == RRF:
        return recipe.fusion is Fusion.RECIPROCAL_RANK
    if stage == "signals":
        return recipe.signals != SignalWeights()
    if stage in SIGNALS:
        return any(getattr(part, stage) for part in (recipe.signals, recipe.second_pass) if part)
    value = getattr(recipe, stage)
    return value is not None and bool(value)


def weighted(recipe: Recipe, weights: Mapping[str, float]) -> Recipe:
    """Return `recipe` with other weights for legs it runs; legs it does not run stay out."""
    own = {leg: weights.get(leg, weight) for leg, weight in recipe.weights.items()}
    return replace(recipe, weights=MappingProxyType(own))


def faults_of_stages(stages: Mapping[str, bool]) -> list[FieldError]:
    """Return a fault for each name that is no stage."""
    return [
        FieldError(f"stages.{name[:64]}", f"is not one of {', '.join(STAGES)}")
        for name in stages
        if name not in STAGES
    ]


def _switch_leg(weights: dict[str, float], leg: str, *, enabled: bool) -> None:
    if not enabled:
        weights.pop(leg, None)
    elif not weights.get(leg):
        joined = weights.get(KEYWORD) if leg == SUBSCRIPTIONS else None
        weights[leg] = joined or LEG_WEIGHT[leg]


def _by_ranks(recipe: Recipe) -> Recipe:
    """Return the recipe with reciprocal rank fusion, every leg with one vote.

    What signals add and the threshold keep their proportion to what the legs can give at most. The
    second pass weighs scores, so it is left out.
    """
    votes = dict.fromkeys(recipe.weights, 1.0)
    smaller = _most_by_rank(votes, recipe.rrf_k) / (sum(recipe.weights.values()) or 1.0)
    return replace(
        recipe,
        fusion=Fusion.RECIPROCAL_RANK,
        weights=MappingProxyType(votes),
        signals=SignalWeights(
            **{name: getattr(recipe.signals, name) * smaller for name in SIGNALS}
        ),
        second_pass=None,
        threshold=None if recipe.threshold is None else recipe.threshold * smaller,
    )


def _by_scores(recipe: Recipe) -> Recipe:
    """Return the recipe with the weighted sum and the published weights of its legs."""
    weights = {leg: LEG_WEIGHT[leg] for leg in recipe.weights}
    larger = sum(weights.values()) / (_most_by_rank(recipe.weights, recipe.rrf_k) or 1.0)
    return replace(
        recipe,
        fusion=Fusion.WEIGHTED_SUM,
        weights=MappingProxyType(weights),
        threshold=None if recipe.threshold is None else recipe.threshold * larger,
    )


def _most_by_rank(weights: Mapping[str, float], k: int) -> float:
    """Return the fused score of what every leg ranks first."""
    return sum(weights.values()) / (k + 1)


def _off(recipe: Recipe, name: str) -> Any:
    return _OFF.get(name, type(getattr(recipe, name))())
