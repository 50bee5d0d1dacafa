"""How to rank, as data. A recipe names legs, fusion and weights; it contains no code."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from cairn.errors import FieldError, ValidationFailed

VECTOR = "vector"
KEYWORD = "keyword"
MIN_COSINE = 0.3


class Fusion(StrEnum):
    """How the legs become one ranking."""

    RECIPROCAL_RANK = "rrf"
    WEIGHTED_SUM = "weighted_sum"


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalWeights:
    """What each signal in [0, 1] adds to the fused score. Zero switches it off."""

    speaker: float = 0.0  # said by somebody the question names
    time: float = 0.0  # happened when the question says
    time_words: float = 0.0  # names a time, when the question asks for one
    length: float = 0.0  # says more
    question: float = 0.0  # ends as a question itself
    parent: float = 0.0  # its session or document matches well elsewhere


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A named way to search.

    `weights` are by leg; a leg without a weight is not run. `candidates` is how many nodes a leg
    may return, `scored` how many fused ones are read and scored (never fewer than asked for), and
    `minimum_cosine` what the vector leg must reach. `decay` and `access` say how
    much of the confidence decay and of the access boost enters the score: 0 none, 1 all of it.
    """

    name: str
    fusion: Fusion
    weights: Mapping[str, float]
    candidates: int = 100
    scored: int = 120
    minimum_cosine: float = 0.0
    signals: SignalWeights = field(default_factory=SignalWeights)
    decay: float = 0.0
    access: float = 0.0


DEFAULT = Recipe(
    name="default",  # measured: docs/recall.md
    fusion=Fusion.WEIGHTED_SUM,
    weights=MappingProxyType({VECTOR: 0.5, KEYWORD: 0.5}),
    minimum_cosine=MIN_COSINE,
    signals=SignalWeights(
        speaker=0.15, time=0.4, time_words=0.15, length=0.15, question=-0.1, parent=0.2
    ),
    decay=0.2,
    access=0.1,
)
SEED_000 = Recipe(
    name="seed-000",
    fusion=Fusion.WEIGHTED_SUM,
    weights=MappingProxyType({VECTOR: 0.7, KEYWORD: 0.3}),
)
SEED_001 = Recipe(
    name="seed-001",
    fusion=Fusion.RECIPROCAL_RANK,
    weights=MappingProxyType({VECTOR: 1.0, KEYWORD: 1.0}),
    minimum_cosine=MIN_COSINE,
    decay=1.0,
    access=1.0,
)

RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {recipe.name: recipe for recipe in (DEFAULT, SEED_000, SEED_001)}
)


def recipe_named(name: str | None) -> Recipe:
    """Return the recipe of that name, `default` for None; ValidationFailed for an unknown one."""
    recipe = RECIPES.get(name or DEFAULT.name)
    if recipe is None:
        raise ValidationFailed(
            f"There is no recipe {name!r}; there are {', '.join(sorted(RECIPES))}.",
            reason="unknown-recipe",
            errors=[FieldError("recipe", "is not a recipe of this deployment")],
        )
    return recipe
