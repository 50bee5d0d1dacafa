"""Where a question goes by its class: which labels, and how much each leg counts. A table."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from cairn.graph.node import Label
from cairn.memories.kinds import MemoryKind
from cairn.recall.questions.understanding import RetrievalClass
from cairn.recall.recipes import KEYWORD, VECTOR, Recipe


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """`shares` divide what the recipe's text legs weigh together; `labels` empty means any.

    Memories of `with_kinds` are searched besides `labels`.
    """

    shares: Mapping[str, float]
    labels: tuple[str, ...] = ()
    with_kinds: tuple[str, ...] = ()


NAMED = ("Person", "Organization", "Company", "Concept")
"""Labels of nodes that people write for somebody or something, besides entities."""

ROUTES: Mapping[RetrievalClass, Route] = MappingProxyType(
    {
        RetrievalClass.ENTITY: Route(
            shares=MappingProxyType({VECTOR: 0.8, KEYWORD: 0.2}),
            labels=(Label.ENTITY, *NAMED, Label.MEMORY, Label.SUMMARY),
        ),
        RetrievalClass.TEMPORAL: Route(
            shares=MappingProxyType({VECTOR: 0.3, KEYWORD: 0.7}),
            labels=(Label.EVENT, Label.MEMORY, Label.TASK, Label.REPORT),
        ),
        RetrievalClass.EVENT: Route(
            shares=MappingProxyType({VECTOR: 0.0, KEYWORD: 1.0}),
            labels=(Label.EVENT,),
            with_kinds=(MemoryKind.EVENT,),
        ),
        RetrievalClass.GENERAL: Route(shares=MappingProxyType({VECTOR: 0.5, KEYWORD: 0.5})),
    }
)
"""By class; docs/use/recall.md has what each measures. `none` has no route: it is not looked up."""


def routed(recipe: Recipe, retrieval_class: RetrievalClass, *, narrowed: bool = False) -> Recipe:
    """Return the recipe as its class routes it, unchanged when routing is off or has no route.

    Only legs that the recipe runs get another weight; a weight of 0 takes the leg out. A recipe
    with labels of its own keeps them, and so does a request that names labels or kinds: one that
    is `narrowed`.
    """
    route = ROUTES.get(retrieval_class) if recipe.route else None
    if route is None:
        return recipe
    weights = {**recipe.weights, **_divided(recipe.weights, route.shares)}
    running = {leg: weight for leg, weight in weights.items() if weight}
    if not running:
        return recipe
    if narrowed or recipe.labels:
        return replace(recipe, weights=MappingProxyType(running))
    return replace(
        recipe,
        weights=MappingProxyType(running),
        labels=route.labels,
        with_kinds=route.with_kinds,
    )


def looked_up(recipe: Recipe, retrieval_class: RetrievalClass) -> bool:
    """Return whether there is anything to search for: a routed `none` has nothing."""
    return not (recipe.route and retrieval_class is RetrievalClass.NONE)


def _divided(weights: Mapping[str, float], shares: Mapping[str, float]) -> dict[str, float]:
    """Return what each running leg with a share weighs; together what they weighed before."""
    running = {leg: share for leg, share in shares.items() if leg in weights}
    whole = sum(running.values())
    total = sum(weights[leg] for leg in running)
    return {leg: total * share / whole if whole else 0.0 for leg, share in running.items()}
