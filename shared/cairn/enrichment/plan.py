"""What enriching a batch changes in the graph, as the bodies of its entries. Pure.

One body a set of data subjects, so that destroying a person's key takes what was derived of them.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from cairn.graph.edge import Relation, Role
from cairn.graph.entities import MAX_ENTITIES, ExtractedEntity, entity_id, extract_entities
from cairn.graph.entity_names import lookup_key, name_key, tidy_name
from cairn.graph.node import Label
from cairn.graph.prose import keywords
from cairn.kernel.text.canonical import format_timestamp
from cairn.memories.kinds import derived_importance

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import timedelta
    from uuid import UUID

    from cairn.enrichment.causes import Cause, CauseChanges
    from cairn.enrichment.ports import EnrichableNode, Outgoing


Audience: TypeAlias = "tuple[str, tuple[str, ...] | None]"
"""A scope and the agents a node is tagged for."""

STRENGTH = (
    Role.ABOUT,
    Role.SUBJECT,
    Role.SOURCE,
    Role.OBJECT,
    Role.TOOL,
    Role.TARGET,
    Role.MENTIONED,
)
"""Roles, the strongest first: a node refers to an entity once, in the strongest it has."""

NO_ENTITIES = frozenset({Label.ENTITY, Label.DOCUMENT, Label.SECTION, Label.CONVERSATION})
"""Labels whose texts are names, or stand for texts that are enriched themselves."""

PAYLOAD_ROLES: Mapping[str, tuple[Role, str]] = {
    "object": (Role.OBJECT, "resource"),
    "resource": (Role.OBJECT, "resource"),
    "file": (Role.OBJECT, "resource"),
    "document": (Role.OBJECT, "resource"),
    "table": (Role.OBJECT, "resource"),
    "ticket": (Role.OBJECT, "resource"),
    "service": (Role.OBJECT, "system"),
    "component": (Role.OBJECT, "system"),
    "user": (Role.OBJECT, "user"),
    "customer": (Role.OBJECT, "user"),
    "target": (Role.TARGET, "resource"),
    "destination": (Role.TARGET, "resource"),
    "endpoint": (Role.TARGET, "resource"),
    "environment": (Role.TARGET, "system"),
    "host": (Role.TARGET, "system"),
    "system": (Role.TARGET, "system"),
    "recipient": (Role.TARGET, "user"),
    "assignee": (Role.TARGET, "user"),
}
"""Keys of a payload whose short texts name something: as what, and of which type."""

MAX_NAMED_CHARS = 100


def entities_of(
    node: EnrichableNode, aliases: Mapping[str, tuple[str, str]]
) -> tuple[ExtractedEntity, ...]:
    """Return what a node refers to, each entity once, at most MAX_ENTITIES.

    Memories and the like: their client (about), who said it (source), what the text mentions.
    Events: who acts (subject), the tool, what the payload names (object, target), and the rest.
    """
    if node.label in NO_ENTITIES:
        return ()
    entities = extract_entities(
        node.text, client_id=node.client_id, source_agent=node.source_agent, aliases=aliases
    )
    if node.label != Label.EVENT:
        return entities
    names = [_resolved(*item, aliases) for item in _payload_names(node.metadata)]
    acting = [_acting(item) for item in entities if item.role is not Role.MENTIONED]
    others = [item for item in entities if item.role is Role.MENTIONED]
    return _strongest([*acting, *(item for item in names if item), *others])


def _acting(entity: ExtractedEntity) -> ExtractedEntity:
    """Return the agent of an event as its subject; the client stays what it is about."""
    if entity.role is not Role.SOURCE:
        return entity
    return ExtractedEntity(name=entity.name, type=entity.type, role=Role.SUBJECT)


def _payload_names(metadata: Mapping[str, Any]) -> list[tuple[str, str, Role]]:
    """Return (name, type, role) of an event's tool and of what its payload's keys name."""
    names: list[tuple[str, str, Role]] = []
    if metadata.get("tool_name"):
        names.append((metadata["tool_name"], "tool", Role.TOOL))
    payload = cast("Mapping[str, Any]", metadata.get("payload") or {})
    for key, value in payload.items():
        role = PAYLOAD_ROLES.get(key.casefold())
        if role and isinstance(value, str) and len(value) <= MAX_NAMED_CHARS:
            names.append((value, role[1], role[0]))
    return names


def _resolved(
    name: str, type_: str, role: Role, aliases: Mapping[str, tuple[str, str]]
) -> ExtractedEntity | None:
    tidy = tidy_name(name)
    if tidy is None or not any(item.isalpha() for item in tidy):
        return None
    canonical, known_type = aliases.get(name_key(tidy), (tidy, type_))
    return ExtractedEntity(name=canonical, type=known_type, role=role)


def _strongest(entities: Sequence[ExtractedEntity]) -> tuple[ExtractedEntity, ...]:
    by_name: dict[str, ExtractedEntity] = {}
    for entity in sorted(entities, key=lambda entity: STRENGTH.index(entity.role)):
        by_name.setdefault(name_key(entity.name), entity)
    return tuple(by_name.values())[:MAX_ENTITIES]


PAIRED_ENTITIES = 10
"""Entities of one node that are counted as seen together: at most 45 pairs a node."""

SUMMARY_WORDS = 25
"""Of an event: at most so many of its words."""

MAX_PAIRS = 2_000
"""Pairs one entry may strengthen; the most frequent stay."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Derived:
    """What rules found in one node's text, before anything stored is looked at."""

    node: EnrichableNode
    keywords: tuple[str, ...]
    entities: tuple[ExtractedEntity, ...]
    importance: int | None = None  # only where nobody can have given one
    summary: str | None = None  # of an event, when it is looked at for the first time
    drawn: bool = False  # a message whose memories are drawn with it
    stated: tuple[tuple[Relation, str], ...] = ()  # of a drawn memory, to entities by their names


def derive(node: EnrichableNode, aliases: Mapping[str, tuple[str, str]]) -> Derived:
    """Return what a node's text says by itself: keywords, entities, a chunk's importance.

    An event is summed up in its own words when it is first enriched.

    A summary names nobody anew: its sources refer to the entities, and would be counted twice.
    """
    if node.label in NO_ENTITIES:
        return Derived(node=node, keywords=node.keywords, entities=())
    importance = derived_importance(node.text, "") if node.label == Label.CHUNK else None
    entities = () if node.label == Label.SUMMARY else entities_of(node, aliases)
    return Derived(
        node=node,
        keywords=keywords(node.text),
        entities=entities,
        stated=_stated(node, entities),
        importance=importance if importance != node.importance else None,
        summary=_summary(node),
    )


def _stated(
    node: EnrichableNode, entities: Sequence[ExtractedEntity]
) -> tuple[tuple[Relation, str], ...]:
    """Return what a memory, drawn from a message and looked at for the first time, states of whom.

    Whose preference, fact or skill it is: the speaker's, else the client's; what a preference is
    about and for, and what somebody uses.
    """
    if node.conversation_id is None or node.label != Label.MEMORY or node.keywords:
        return ()
    from cairn.conversations.messages import OWN_METADATA  # for what was drawn only
    from cairn.extraction.liking import liked, used
    from cairn.extraction.skills import skill_in
    from cairn.extraction.statements import StatementKind

    own: Mapping[str, Any] = node.metadata.get(OWN_METADATA) or {}
    speaker, _, statement = node.text.partition(": ")
    relations: list[tuple[Relation, list[str]]] = []
    match own.get("statement"):
        case StatementKind.PREFERENCE:
            relations = [
                (Relation.PREFERS, _named_in(liked(statement), entities)),
                (Relation.ABOUT, _named_in(statement.casefold(), entities)),
                (Relation.HAS_PREFERENCE, _holder(speaker, entities)),
            ]
        case StatementKind.FACT:
            things = [each for each in entities if each.type not in NOT_USED]
            relations = [
                (Relation.HAS_FACT, _holder(speaker, entities)),
                (Relation.HAS_SKILL, _holder(speaker, entities) if skill_in(statement) else []),
                (Relation.USES, _named_in(used(statement), things)),
            ]
        case _:
            pass
    return tuple((relation, name) for relation, names in relations for name in names)


def _holder(speaker: str, entities: Sequence[ExtractedEntity]) -> list[str]:
    """Return the name of the speaker's entity, else of the client's; nothing without either."""
    holders = [entity.name for entity in entities if name_key(entity.name) == name_key(speaker)]
    holders += [entity.name for entity in entities if entity.role is Role.ABOUT]
    return holders[:1]


def _named_in(words: str, entities: Iterable[ExtractedEntity]) -> list[str]:
    """Return the names of mentioned entities that stand in lower-case words."""
    return [
        entity.name
        for entity in entities
        if entity.role is Role.MENTIONED and entity.name.casefold() in words
    ]


NOT_USED = frozenset({"place", "person", "user", "animal"})
"""Types of entities that nobody uses: "we use Ghent" is about something else there."""

UNCLEAR = "concept"
"""The type of a name of which nothing says what it is of."""


def unclear_names(derived: Iterable[Derived]) -> dict[Audience, set[str]]:
    """Return the names of unclear type by audience, in lower case as stored ones are looked up."""
    names: dict[Audience, set[str]] = {}
    for item in derived:
        unclear = {lookup_key(entity.name) for entity in item.entities if entity.type == UNCLEAR}
        if unclear:
            names.setdefault(item.node.audience, set()).update(unclear)
    return names


def typed(
    derived: Sequence[Derived], known_types: Mapping[Audience, Mapping[str, str]]
) -> list[Derived]:
    """Give names of unclear type the one they have elsewhere in their audience.

    "Biscuit barked" means the dog of "our dog Biscuit", stored (`known_types`) or of this batch.
    """
    types: dict[tuple[Audience, str], str] = {}
    for item in derived:
        for entity in item.entities:
            if entity.type != UNCLEAR:
                types.setdefault((item.node.audience, lookup_key(entity.name)), entity.type)
    for audience, names in known_types.items():
        types.update({(audience, name): type for name, type in names.items()})
    return [replace(item, entities=_typed(item, types)) for item in derived]


def _typed(item: Derived, types: Mapping[tuple[Audience, str], str]) -> tuple[ExtractedEntity, ...]:
    return tuple(
        replace(entity, type=types.get((item.node.audience, lookup_key(entity.name)), UNCLEAR))
        if entity.type == UNCLEAR
        else entity
        for entity in item.entities
    )


def _summary(node: EnrichableNode) -> str | None:
    if node.label != Label.EVENT or node.keywords:
        return None
    from cairn.llm.summaries import extract  # for events only

    return extract(node.text, max_words=SUMMARY_WORDS) or None


@dataclass(slots=True, kw_only=True)
class _Body:
    """One entry's body in the making. Entities are named once and referred to by their place."""

    workspace_id: UUID
    places: dict[UUID, int] = field(default_factory=dict["UUID", int])
    entities: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    nodes: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    references: list[list[Any]] = field(default_factory=list[list[Any]])
    follows: list[list[Any]] = field(default_factory=list[list[Any]])
    closed: list[str] = field(default_factory=list[str])
    pairs: Counter[tuple[UUID, UUID]] = field(default_factory=Counter["tuple[UUID, UUID]"])
    stated: dict[str, list[list[Any]]] = field(default_factory=dict[str, "list[list[Any]]"])

    def add(self, derived: Derived, held: Sequence[Outgoing]) -> None:
        """Take in what one node changes, beside the edges it has."""
        node = derived.node
        change: dict[str, Any] = {"id": str(node.id)}
        if derived.keywords != node.keywords:
            change["keywords"] = list(derived.keywords)
        if derived.importance is not None:
            change["importance"] = derived.importance
        if derived.summary is not None:
            change["summary"] = derived.summary
        if derived.drawn:
            change["drawn"] = True
        if len(change) > 1:
            self.nodes.append(change)
        self._refer(
            derived, [outgoing for outgoing in held if outgoing.relation == Relation.REFERENCES]
        )
        by_name = {entity.name: entity for entity in derived.entities}
        for relation, name in derived.stated:
            place = self._place(node, self._id_of(node, by_name[name]), by_name[name])
            self.stated.setdefault(relation.lower(), []).append([str(node.id), place])
        self._follow(node, [outgoing for outgoing in held if outgoing.relation == Relation.FOLLOWS])

    def _refer(self, derived: Derived, held: Sequence[Outgoing]) -> None:
        """Refer to what is new, let go what is gone; strengthen pairs with a new one in them."""
        node = derived.node
        by_id = {self._id_of(node, entity): entity for entity in derived.entities}
        has = {outgoing.target_id: outgoing for outgoing in held}
        current = {
            id_ for id_, edge in has.items() if id_ in by_id and edge.role == by_id[id_].role
        }
        self.closed += [str(edge.id) for id_, edge in has.items() if id_ not in current]
        for id_, entity in by_id.items():
            if id_ not in current:
                place = self._place(node, id_, entity)
                at = format_timestamp(node.occurred_at)
                self.references.append([str(node.id), place, entity.role.value, at])
        for id_, other in combinations(list(by_id)[:PAIRED_ENTITIES], 2):
            if id_ not in has or other not in has:
                self._place(node, id_, by_id[id_])
                self._place(node, other, by_id[other])
                self.pairs[min(id_, other), max(id_, other)] += 1

    def _follow(self, node: EnrichableNode, held: Sequence[Outgoing]) -> None:
        """Let a message follow the one before it; events are placed when they are observed."""
        if node.label != Label.MEMORY:
            return
        before = node.before
        self.closed += [
            str(outgoing.id)
            for outgoing in held
            if before is None or outgoing.target_id != before.id
        ]
        if before is not None and all(outgoing.target_id != before.id for outgoing in held):
            delta = _milliseconds(node.occurred_at - before.occurred_at)
            at = format_timestamp(node.occurred_at)
            self.follows.append([str(node.id), str(before.id), delta, node.session_id, at])

    def _id_of(self, node: EnrichableNode, entity: ExtractedEntity) -> UUID:
        return entity_id(self.workspace_id, node.scope, node.agents, entity.type, entity.name)

    def _place(self, node: EnrichableNode, id_: UUID, entity: ExtractedEntity) -> int:
        if id_ not in self.places:
            self.places[id_] = len(self.entities)
            self.entities.append(
                {
                    "id": str(id_),
                    "name": entity.name,
                    "type": entity.type,
                    "scope": node.scope,
                    "agents": list(node.agents) if node.agents is not None else None,
                    "at": format_timestamp(node.occurred_at),
                }
            )
        return self.places[id_]

    def strengths(self) -> list[list[int]]:
        """Return [place, place, how often], the most frequent pairs first."""
        return [
            [self.places[first], self.places[other], count]
            for (first, other), count in self.pairs.most_common(MAX_PAIRS)
        ]


def bodies(
    workspace_id: UUID,
    derived: Iterable[Derived],
    held: Iterable[Outgoing],
    causes: Iterable[Cause],
    alike: CauseChanges,
) -> dict[tuple[UUID, ...], dict[str, Any]]:
    """Return the body of each entry by the data subjects it is about, and whose key seals it."""
    everyone = list(derived)
    by_node: dict[UUID, list[Outgoing]] = {}
    for outgoing in held:
        by_node.setdefault(outgoing.source_id, []).append(outgoing)
    making: dict[tuple[UUID, ...], _Body] = {}
    for item in everyone:
        body = making.setdefault(item.node.data_subjects, _Body(workspace_id=workspace_id))
        body.add(item, by_node.get(item.node.id, ()))
    results = {subjects: _written(body) for subjects, body in making.items()}
    subjects_of = {item.node.id: item.node.data_subjects for item in everyone}
    for cause in causes:
        row = [str(cause.node_id), str(cause.cause_id), cause.mechanism, cause.weight]
        results[subjects_of[cause.node_id]]["causes"].append(row)
    for pair in alike.added:
        new = pair.source_id if pair.source_id in subjects_of else pair.target_id
        row = [str(pair.source_id), str(pair.target_id), pair.score]
        results[subjects_of[new]]["similar"].append(row)
    if alike.closed:
        next(iter(results.values()))["closed"] += [str(item) for item in alike.closed]
    return results


def _written(body: _Body) -> dict[str, Any]:
    return {
        "nodes": body.nodes,
        "entities": body.entities,
        "references": body.references,
        "follows": body.follows,
        "strengths": body.strengths(),
        "causes": [],
        "similar": [],
        "closed": body.closed,
        **body.stated,
    }


def _milliseconds(delta: timedelta) -> int:
    return round(delta.total_seconds() * 1000)
