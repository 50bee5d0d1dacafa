"""Where a question goes by its class: which labels, and how much each leg counts. A table."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from cairn.retrieval.recipes import KEYWORD, VECTOR, Recipe
from cairn.retrieval.understanding import RetrievalClass


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """`weights` replace those of the recipe's legs of the same name; `labels` empty means any."""

    weights: Mapping[str, float]
    labels: tuple[str, ...] = ()


ROUTES: Mapping[RetrievalClass, Route] = MappingProxyType(
    {
        RetrievalClass.ENTITY: Route(weights=MappingProxyType({VECTOR: 0.8, KEYWORD: 0.2})),
        RetrievalClass.TEMPORAL: Route(weights=MappingProxyType({VECTOR: 0.3, KEYWORD: 0.7})),
        RetrievalClass.EVENT: Route(
            weights=MappingProxyType({VECTOR: 0.0, KEYWORD: 1.0}), labels=("Event",)
        ),
        RetrievalClass.GENERAL: Route(weights=MappingProxyType({VECTOR: 0.5, KEYWORD: 0.5})),
    }
)
"""By class. `none` has no route: whether to search at all is the gate's to say."""


def routed(recipe: Recipe, retrieval_class: RetrievalClass) -> Recipe:
    """Return the recipe as its class routes it, unchanged when routing is off or has no route.

    Only legs that the recipe runs get another weight; a weight of 0 takes the leg out. A recipe
    with labels of its own keeps them.
    """
    route = ROUTES.get(retrieval_class) if recipe.route else None
    if route is None:
        return recipe
    weights = {leg: route.weights.get(leg, weight) for leg, weight in recipe.weights.items()}
    running = {leg: weight for leg, weight in weights.items() if weight}
    if not running:
        return recipe
    return replace(recipe, weights=MappingProxyType(running), labels=recipe.labels or route.labels)
