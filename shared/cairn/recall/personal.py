"""A search for somebody: what is known of them moves what bears on it up. It finds nothing itself.

A walk of the intent `personalize` from the person, by the published weights: to what they said
they prefer, can do or are like, and over their interests to what names one. Not deriving that.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from cairn.graph.edge import Relation, Role, View
from cairn.graph.intent_weights import INTENT_WEIGHTS, Intent
from cairn.graph.node import Label
from cairn.graph.quality import GraphEdge
from cairn.graph.traversal import Bounds, walk
from cairn.kernel.access import Role as KeyRole
from cairn.kernel.errors import CairnError, Denied
from cairn.kernel.ids import derived_id
from cairn.recall.legs import LegOutcome, tuning_of
from cairn.recall.records import Candidate

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Stopwatch
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.recall.query import Search
    from cairn.recall.recipes import Recipe

PERSONAL = "personal"
"""The name that its scores go by, beside those of the legs."""

WEIGHT = 0.5
"""What a score of 1 adds to the fused score; a path's is at most 0.8."""

MOST_NODES = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Trait:
    """Something known of a person. `weight` is in [0, 1], `evidence` what they said or did.

    `name` is what an interest is in; other traits lead to the nodes of their evidence.
    """

    relation: Relation
    evidence: tuple[UUID, ...]
    weight: float = 1.0
    name: str | None = None


Traits = Callable[["Principal", str, "datetime", "int | None"], "Sequence[Trait]"]
"""Returns what a principal may see of a client at a moment, or as of a ledger position."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalReason:
    """Why a result stands higher for a person: the trait that leads to it."""

    relation: Relation
    score: float
    evidence: tuple[UUID, ...]
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonalOutcome(LegOutcome):
    """What was moved up, and why."""

    reasons: Mapping[UUID, PersonalReason] = field(default_factory=dict["UUID", "PersonalReason"])


def nobody(
    principal: Principal, client_id: str, at: datetime, as_of_position: int | None
) -> Sequence[Trait]:
    """Know nothing of anybody."""
    return ()


def require_person(principal: Principal, client_id: str) -> None:
    """Raise Denied for another client than the principal's own, and for public keys."""
    if principal.role is KeyRole.PUBLIC:
        raise Denied("A public key searches for nobody in particular.", reason="role")
    principal.writing_client(client_id)


def with_personal(recipe: Recipe) -> Recipe:
    """Return the recipe with the weight of what is personal."""
    return replace(recipe, weights=MappingProxyType({**recipe.weights, PERSONAL: WEIGHT}))


def personal_outcome(
    search: Search,
    outcomes: Mapping[str, LegOutcome],
    traits: Traits,
    transactions: Transactions[Stores],
    *,
    stopwatch: Stopwatch,
    timeout_ms: int,
) -> PersonalOutcome:
    """Return which of the legs' candidates the person leads to, best first.

    A failure to read is an outcome with its reason, as of any leg.
    """
    start = stopwatch()
    client = search.request.personalize_for or ""
    ids = list(dict.fromkeys(each.node_id for leg in outcomes.values() for each in leg.candidates))
    try:
        known_traits = traits(search.principal, client, search.at, search.filters.as_of_position)
        texts: dict[UUID, str] = {}
        if known_traits and ids:
            with transactions.reading(search.principal, timeout_ms=timeout_ms) as stores:
                texts = {
                    each.id: each.text for each in stores.node_reader.sketch(ids, search.filters)
                }
    except CairnError as error:
        return PersonalOutcome(ms=(stopwatch() - start) * 1000, failure=error.reason)
    reasons = reasons_of(search, client, known_traits, texts, stopwatch=stopwatch)
    ranked = sorted(reasons.items(), key=lambda each: (-each[1].score, each[0]))
    return PersonalOutcome(
        candidates=tuple(Candidate(node_id, reason.score) for node_id, reason in ranked),
        ms=(stopwatch() - start) * 1000,
        reasons=reasons,
    )


def reasons_of(
    search: Search,
    client: str,
    traits: Sequence[Trait],
    texts: Mapping[UUID, str],
    *,
    stopwatch: Stopwatch,
) -> dict[UUID, PersonalReason]:
    """Return why the person leads to nodes, of those with these texts that they lead to."""
    person = derived_id(search.principal.workspace_id, PERSONAL, client)
    tuning = tuning_of(search.workspace)
    edges, by_place = _edges(person, traits, texts)
    walked = walk(
        edges,
        {person: 1.0},
        (search.workspace.matrix or INTENT_WEIGHTS)[Intent.PERSONALIZE],
        Bounds(max_depth=tuning.max_depth, max_nodes=MOST_NODES),
        stopwatch=stopwatch,
        deadline=stopwatch() + 1.0,
        per_node=MOST_NODES,
        decay=tuning.hop_decay,
    ).reached
    reasons: dict[UUID, PersonalReason] = {}
    for node_id in texts:
        reached = walked.get(node_id)
        if reached is None or reached.via is None:
            continue
        first = reached.via
        while first.source_id != person and (before := walked[_near(first, node_id)].via):
            first = before
        trait = by_place[first.target_id]
        reasons[node_id] = PersonalReason(
            relation=trait.relation,
            score=reached.score,
            evidence=trait.evidence,
            name=trait.name,
        )
    return reasons


def _near(edge: GraphEdge, node_id: UUID) -> UUID:
    """Return the end of a result's edge that is nearer to the person."""
    return edge.other(node_id)


def _edges(
    person: UUID, traits: Sequence[Trait], texts: Mapping[UUID, str]
) -> tuple[list[GraphEdge], dict[UUID, Trait]]:
    """Return the graph around a person, and which trait each of its first hops is."""
    edges: list[GraphEdge] = []
    by_place: dict[UUID, Trait] = {}

    def join(relation: Relation, source: UUID, target: UUID, **more: Any) -> None:
        edge_id = derived_id(source, relation, str(target))
        ends = {"source_label": Label.SUMMARY, "target_label": Label.MEMORY}
        edges.append(GraphEdge(edge_id, View.KNOWLEDGE, relation, source, target, **ends, **more))

    for trait in traits:
        if trait.relation in (Relation.HAS_PREFERENCE, Relation.HAS_SKILL):
            for memory in trait.evidence:
                by_place[memory] = trait
                join(trait.relation, person, memory, weight=trait.weight)
            continue
        place = derived_id(person, trait.relation, trait.name or str(trait.evidence[:1]))
        by_place[place] = trait
        join(trait.relation, person, place, weight=trait.weight)
        if trait.name is not None:
            for node_id in _naming(trait.name, texts):
                join(Relation.REFERENCES, node_id, place, role=Role.MENTIONED)
        else:
            beyond = _BEYOND[trait.relation]
            for each in trait.evidence:
                join(beyond, place, each)
    return edges, by_place


_BEYOND = {
    Relation.HAS_PROFILE: Relation.DERIVED_FROM,
    Relation.EXHIBITS_PATTERN: Relation.ABSTRACTED_FROM,
}


def _naming(name: str, texts: Mapping[UUID, str]) -> Iterator[UUID]:
    """Yield the nodes whose text has a name, whole and whatever its case."""
    words = r"\s+".join(map(re.escape, name.casefold().split()))
    pattern = re.compile(rf"(?<!\w){words}(?!\w)")
    return (node_id for node_id, text in texts.items() if pattern.search(text.casefold()))


def reasons_in(outcomes: Iterable[LegOutcome]) -> Mapping[UUID, PersonalReason]:
    """Return why results stand higher for whom the search is."""
    for each in outcomes:
        if isinstance(each, PersonalOutcome):
            return each.reasons
    return {}


def personal_json(reason: PersonalReason) -> dict[str, Any]:
    """Return what an answer says of a result that stands higher for a person."""
    name = {} if reason.name is None else {"name": reason.name}
    return {
        "relation": reason.relation.value,
        **name,
        "score": round(reason.score, 6),
        "evidence": [str(each) for each in reason.evidence],
    }
