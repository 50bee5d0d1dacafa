"""How to rank, as data: recipes, and where a question goes by its class. No code in a recipe."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType

from cairn.graph.node import Label
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.memories.kinds import MemoryKind
from cairn.recall.questions.understanding import RetrievalClass
from cairn.recall.walks.graph_ports import Method

VECTOR = "vector"
KEYWORD = "keyword"
GRAPH = "graph"
SUBSCRIPTIONS = "subscriptions"
LEGS = (KEYWORD, VECTOR, GRAPH, SUBSCRIPTIONS)
"""Every leg there is, in the order they are started."""
MIN_COSINE = 0.3


class Fusion(StrEnum):
    """How the legs become one ranking."""

    RECIPROCAL_RANK = "rrf"
    WEIGHTED_SUM = "weighted_sum"
    WEIGHTED_MARGIN = "weighted_margin"  # the same, of what cosines are above the leg's least


@dataclass(frozen=True, slots=True, kw_only=True)
class SignalWeights:
    """What each signal in [0, 1] adds to the fused score. Zero switches it off."""

    speaker: float = 0.0  # said by somebody the question names
    time: float = 0.0  # happened when the question says
    time_words: float = 0.0  # names a time, when the question asks for one
    length: float = 0.0  # says more
    question: float = 0.0  # ends as a question itself
    parent: float = 0.0  # its session or document matches well elsewhere
    specifics: float = 0.0  # names somebody or something
    words: float = 0.0  # has the question's rare words, for its length; second pass
    late: float = 0.0  # late interaction: its words mean what the question's do; second pass
    whole: float = 0.0  # its document's title and beginning are alike, too; second pass
    answers: float = 0.0  # the message before it ends as a question; second pass
    next: float = 0.0  # the message after it matches; second pass


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """A named way to search.

    `weights` are by leg; a leg without a weight is not run. `candidates` is how many nodes a leg
    may return, `scored` how many fused ones are read and scored (never fewer than asked for), and
    `minimum_cosine` what the vector leg must reach. `method` is how the graph leg ranks; None
    leaves it to the intents. `decay`, `access`, `compiled_truth` and `backlinks` say how much of
    the factor of that name enters the score: 0 none, 1 all of it.

    With `second_pass` the best `SECOND` by `signals` are read again and get these weights instead.

    `decay_factor` is what confidence keeps a day, `rrf_k` the constant of reciprocal rank fusion.

    `gate`, `expansion`, `route`, `facets`, `decomposition`, `relevance`, `dedup`, `one_text`,
    `present_first` and `cache` switch those stages. `rerank` is how many of
    the best are read again by the reranker, 0 none. `threshold` is what the final score must
    reach, in the scale of this recipe's fusion; None keeps all. `expand_hops` is 0 or 1, and
    `proactive` how many nodes nobody asked for may follow. `labels` empty means any; memories of
    the kinds in `with_kinds` are searched besides. `limit` is how many results a request gets
    that does not say.
    """

    name: str
    fusion: Fusion
    weights: Mapping[str, float]
    candidates: int = 100
    scored: int = 120
    minimum_cosine: float = 0.0
    signals: SignalWeights = field(default_factory=SignalWeights)
    second_pass: SignalWeights | None = None
    decay: float = 0.0
    access: float = 0.0
    compiled_truth: float = 0.0
    backlinks: float = 0.0
    decay_factor: float = 0.98
    rrf_k: int = 60
    gate: bool = False
    expansion: bool = False
    route: bool = False
    facets: bool = False
    decomposition: bool = False
    relevance: bool = False
    dedup: bool = False
    one_text: bool = False
    present_first: bool = False
    cache: bool = True
    rerank: int = 0
    threshold: float | None = None
    expand_hops: int = 0
    proactive: int = 0
    labels: tuple[str, ...] = ()
    with_kinds: tuple[str, ...] = ()
    method: Method | None = None
    limit: int = 10


SECOND = 200
"""How many candidates the second pass measures."""

SECOND_PASS = SignalWeights(  # fitted by `cairn bench locomo --fit`: docs/use/recall.md
    speaker=0.47,
    time=1.30,
    time_words=0.46,
    length=0.50,
    question=-0.13,
    parent=1.22,
    specifics=0.30,
    words=0.64,
    late=1.55,
    whole=1.6,
    answers=0.10,
    next=0.36,
)

DEFAULT = Recipe(
    name="default",  # measured: docs/use/recall.md
    fusion=Fusion.WEIGHTED_MARGIN,
    weights=MappingProxyType({VECTOR: 1.6, KEYWORD: 0.3}),
    candidates=200,
    scored=250,
    minimum_cosine=MIN_COSINE,
    signals=SignalWeights(
        speaker=0.2,
        time=1.0,
        time_words=0.3,
        length=0.2,
        question=-0.08,
        parent=0.3,
        specifics=0.13,
    ),
    second_pass=SECOND_PASS,
    decay=0.2,
    access=0.1,
    facets=True,
    relevance=True,
    dedup=True,
    one_text=True,
    present_first=True,
)
SEED_000 = Recipe(
    name="seed-000",
    fusion=Fusion.WEIGHTED_SUM,
    weights=MappingProxyType({VECTOR: 0.7, KEYWORD: 0.3}),
    expand_hops=1,
)
SEED_001 = Recipe(
    name="seed-001",
    fusion=Fusion.RECIPROCAL_RANK,
    weights=MappingProxyType({VECTOR: 1.0, KEYWORD: 1.0, GRAPH: 1.0}),
    minimum_cosine=MIN_COSINE,
    decay=1.0,
    access=1.0,
    method=Method.ACTIVATION,
    expand_hops=1,
)
KNOWLEDGE = Recipe(
    name="knowledge",
    fusion=Fusion.RECIPROCAL_RANK,
    weights=MappingProxyType({VECTOR: 1.0, KEYWORD: 1.0}),
    candidates=20,
    scored=40,
    minimum_cosine=MIN_COSINE,
    facets=True,
    relevance=True,
    dedup=True,
    one_text=True,
    present_first=True,
    rerank=20,
    labels=("Document", "Section", "Chunk"),
    limit=6,
)
MEMORY = Recipe(
    name="memory",
    fusion=DEFAULT.fusion,
    weights=DEFAULT.weights,
    candidates=DEFAULT.candidates,
    scored=DEFAULT.scored,
    minimum_cosine=DEFAULT.minimum_cosine,
    signals=DEFAULT.signals,
    second_pass=DEFAULT.second_pass,
    decay=DEFAULT.decay,
    access=DEFAULT.access,
    facets=True,
    relevance=True,
    dedup=True,
    one_text=True,
    present_first=True,
    labels=("Memory", "Event", "Message", "Summary", "Report"),
    limit=10,
)

RECIPES: Mapping[str, Recipe] = MappingProxyType(
    {recipe.name: recipe for recipe in (DEFAULT, SEED_000, SEED_001, KNOWLEDGE, MEMORY)}
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
