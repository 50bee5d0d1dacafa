"""What the graph is to hold of a person, by a derived profile, and what changes it to that. Pure.

The memory stays the preference or the skill. What has no node of its own gets one that says no more
than its name: the profile as a whole, and each pattern. Ids follow from whose they are, so that
deriving the same again changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

from cairn.conversations.messages import OWN_METADATA
from cairn.graph.edge import Relation, View
from cairn.graph.entities import entity_id
from cairn.graph.node import OF_PEOPLE, State
from cairn.kernel.ids import derived_id
from cairn.nodes.plan import edge_body
from cairn.profiles.claims import NONE

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from uuid import UUID

    from cairn.nodes.draft import StoredNode
    from cairn.profiles.claims import Claims
    from cairn.profiles.derive import Pattern, Profile, Skill
    from cairn.profiles.ports import HeldEdge, Holder

PROFILE, PATTERN = OF_PEOPLE
"""Kinds of the nodes of label Summary that are made here."""

RELATIONS = (
    Relation.HAS_PROFILE,
    Relation.HAS_PREFERENCE,
    Relation.HAS_SKILL,
    Relation.EXHIBITS_PATTERN,
    Relation.INTERESTED_IN,
    Relation.PARENT_SKILL,
    Relation.ABOUT,
    Relation.DERIVED_FROM,
    Relation.ABSTRACTED_FROM,
)

LEAST_STRENGTH = 0.1
"""Below it a pattern has faded: it is answered, and not in the graph."""

MAX_SOURCES = 200
"""Memories that a profile says it is derived from; what an interest or a skill is, comes first."""


class Place(NamedTuple):
    """Where an edge is; one holds there at a time."""

    view: str
    relation: str
    source_id: UUID
    target_id: UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A node that is to stand: a profile, or a pattern."""

    id: UUID
    kind: str
    text: str
    metadata: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonGraph:
    """What the graph is to hold of one person; `edges` are weights by their places."""

    holder: Holder
    profile_id: UUID
    parts: Sequence[Part]
    edges: Mapping[Place, float]


def profile_id(workspace_id: UUID, holder: Holder) -> UUID:
    """Return the id of a person's profile, as far as these data subjects go."""
    subjects = (str(subject) for subject in sorted(holder.data_subjects))
    return derived_id(workspace_id, PROFILE, holder.entity_id, *subjects)


def pattern_id(own: UUID, pattern: Pattern) -> UUID:
    """Return the id of a pattern of a profile."""
    return derived_id(own, PATTERN, pattern.type, pattern.tool_name or "", pattern.text or "")


def wanted_of(
    workspace_id: UUID, holder: Holder, profile: Profile, up_to: int, claims: Claims = NONE
) -> PersonGraph:
    """Return what the graph is to hold of a profile that was derived up to a ledger position."""
    own = profile_id(workspace_id, holder)
    parts = [
        Part(
            id=own,
            kind=PROFILE,
            text=f"Profile of {holder.name}",
            metadata=_own_metadata(up_to=up_to, holder=str(holder.entity_id), claims=claims.told()),
        )
    ]
    edges = {Place(View.KNOWLEDGE, Relation.HAS_PROFILE, holder.entity_id, own): 1.0}
    edges |= _from(own, Relation.DERIVED_FROM, _sources(profile), view=View.PROVENANCE)
    edges |= _stated(holder, profile) | _interests(workspace_id, holder, profile)
    for pattern in profile.patterns:
        if pattern.strength < LEAST_STRENGTH:
            continue
        part = _pattern(own, holder, pattern)
        parts.append(part)
        edges[Place(View.KNOWLEDGE, Relation.EXHIBITS_PATTERN, holder.entity_id, part.id)] = (
            _rounded(pattern.strength)
        )
        edges |= _from(part.id, Relation.DERIVED_FROM, pattern.evidence, view=View.PROVENANCE)
        edges |= _from(part.id, Relation.ABSTRACTED_FROM, pattern.evidence)
        if pattern.tool_name is not None:
            tool = _entity(workspace_id, holder, "tool", pattern.tool_name)
            edges |= _from(part.id, Relation.ABOUT, [tool])
    return PersonGraph(holder=holder, profile_id=own, parts=parts, edges=edges)


def without(goal: PersonGraph, taken_out: Collection[UUID]) -> PersonGraph:
    """Return what is left of it without what somebody deleted; nothing without the profile."""
    if goal.profile_id in taken_out:
        return gone(goal.holder, goal.profile_id)
    return replace(
        goal,
        parts=[part for part in goal.parts if part.id not in taken_out],
        edges={
            place: weight
            for place, weight in goal.edges.items()
            if place.source_id not in taken_out and place.target_id not in taken_out
        },
    )


def _sources(profile: Profile) -> list[UUID]:
    ids = [each.id for each in (*profile.skills, *profile.preferences)]
    ids += [memory for each in profile.interests for memory in each.evidence]
    ids += [each.id for each in profile.facts]
    return list(dict.fromkeys(ids))[:MAX_SOURCES]


def _stated(holder: Holder, profile: Profile) -> dict[Place, float]:
    return {
        **_from(
            holder.entity_id, Relation.HAS_PREFERENCE, (each.id for each in profile.preferences)
        ),
        **_from(holder.entity_id, Relation.HAS_SKILL, (each.id for each in profile.skills)),
        **{
            Place(View.KNOWLEDGE, Relation.PARENT_SKILL, narrower.id, wider.id): 1.0
            for narrower, wider in wider_skills(profile.skills)
        },
    }


def _interests(workspace_id: UUID, holder: Holder, profile: Profile) -> dict[Place, float]:
    return {
        Place(
            View.KNOWLEDGE,
            Relation.INTERESTED_IN,
            holder.entity_id,
            _entity(workspace_id, holder, each.type, each.name),
        ): _rounded(each.score)
        for each in profile.interests
    }


def _pattern(own: UUID, holder: Holder, pattern: Pattern) -> Part:
    action = " with ".join(filter(None, (pattern.type, pattern.tool_name)))
    return Part(
        id=pattern_id(own, pattern),
        kind=PATTERN,
        text=pattern.text or f"{holder.name}: {action}, again and again",
        metadata=_own_metadata(type=pattern.type, tool_name=pattern.tool_name),
    )


def _own_metadata(**what: Any) -> Mapping[str, Any]:
    return {OWN_METADATA: what}


def _from(
    source: UUID, relation: Relation, targets: Iterable[UUID], *, view: View = View.KNOWLEDGE
) -> dict[Place, float]:
    return {Place(view, relation, source, target): 1.0 for target in targets}


def _entity(workspace_id: UUID, holder: Holder, type_: str, name: str) -> UUID:
    return entity_id(workspace_id, holder.scope, holder.agents, type_, name)


def _rounded(weight: float) -> float:
    """Return a weight in tenths: what fades a little from day to day is not written each time."""
    return max(0.1, round(min(weight, 1.0), 1))


def wider_skills(skills: Sequence[Skill]) -> list[tuple[Skill, Skill]]:
    """Return each skill with the narrowest of the wider ones, by their names.

    "Rust programming" is of "programming", "cooking Thai food" of "cooking".
    """
    words = [(skill, tuple(skill.name.casefold().split())) for skill in skills]
    pairs: list[tuple[Skill, Skill]] = []
    for narrower, name in words:
        wider = [(other, part) for other, part in words if _is_wider(part, name)]
        if wider:
            pairs.append((narrower, max(wider, key=lambda each: (len(each[1]), each[0].id))[0]))
    return pairs


def _is_wider(wider: tuple[str, ...], name: tuple[str, ...]) -> bool:
    if not wider or len(wider) >= len(name):
        return False
    begins = name[: len(wider)] == wider and wider[-1].endswith("ing")
    return begins or name[-len(wider) :] == wider


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What an entry is to say; without `edges`, `closed` and `dropped` only how far it looked."""

    parts: Sequence[Part]
    standing: frozenset[UUID]
    edges: Mapping[Place, float]
    closed: Sequence[UUID]
    dropped: Sequence[UUID]

    @property
    def is_empty(self) -> bool:
        """Return whether there is nothing to say, not even how far it looked."""
        return not (self.parts or self.edges or self.closed or self.dropped)

    def body(self, holder: Holder, own: UUID, client_id: str) -> dict[str, Any]:
        """Return the body of the entry."""
        return {
            "client_id": client_id,
            "agents": list(holder.agents) if holder.agents is not None else None,
            "source_agent": None,
            "parts": [
                {
                    "id": str(part.id),
                    "kind": part.kind,
                    "text": part.text,
                    "metadata": part.metadata,
                    "stands": part.id in self.standing,
                }
                for part in self.parts
            ],
            "edges": [
                edge_body(*place, weight=weight, properties={"profile": str(own)})
                for place, weight in self.edges.items()
            ],
            "closed": [str(edge) for edge in self.closed],
        }


_MADE = (Relation.HAS_PROFILE, Relation.EXHIBITS_PATTERN)


def change_of(
    goal: PersonGraph, held: Sequence[HeldEdge], nodes: Mapping[UUID, StoredNode]
) -> Change | None:
    """Return what makes the graph hold what is wanted; None when that waits for a taint's end.

    `nodes` are those of the wanted parts, of the ends of wanted edges and of held ones. What others
    state stays theirs. An edge to what is no more is left out. A part that a taint holds back keeps
    the edges it has; what else rests on the tainted goes.
    """
    parts = {part.id: part for part in goal.parts}
    at = {Place(each.view, each.relation, each.source_id, each.target_id): each for each in held}
    mine = {place: each for place, each in at.items() if each.profile == str(goal.profile_id)}
    ours = {place.target_id for place in mine if place.relation in _MADE}
    barred = {id_ for id_ in parts.keys() | ours if _is(nodes, id_, State.QUARANTINED)}
    active = {id_ for id_ in nodes if _is(nodes, id_, State.ACTIVE)}
    edges = {
        place: weight
        for place, weight in goal.edges.items()
        if {place.source_id, place.target_id} <= (active | parts.keys()) - barred
    }
    change = Change(
        parts=[part for part in goal.parts if part.id not in barred],
        standing=frozenset(parts.keys() & nodes.keys()),
        edges={
            place: weight
            for place, weight in edges.items()
            if place not in at or (place in mine and mine[place].weight != weight)
        },
        closed=[
            each.id
            for place, each in mine.items()
            if edges.get(place) != each.weight
            and barred.isdisjoint((place.source_id, place.target_id))
        ],
        dropped=sorted((ours - parts.keys()) & active),
    )
    waits = goal.profile_id in barred and not (change.edges or change.closed or change.dropped)
    return None if waits else change


def _is(nodes: Mapping[UUID, StoredNode], node_id: UUID, state: State) -> bool:
    return node_id in nodes and nodes[node_id].state is state


def gone(holder: Holder, own: UUID) -> PersonGraph:
    """Return what the graph is to hold of a person of whom nothing is known any more."""
    return PersonGraph(holder=holder, profile_id=own, parts=(), edges={})
