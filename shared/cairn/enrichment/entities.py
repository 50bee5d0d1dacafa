"""Which entities a node refers to, and as what. Pure; the names are found in `graph.entities`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from cairn.graph.edge import Role
from cairn.graph.entities import MAX_ENTITIES, ExtractedEntity, extract_entities
from cairn.graph.entity_names import name_key, tidy_name
from cairn.graph.node import Label

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cairn.enrichment.ports import EnrichableNode

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
    found = extract_entities(
        node.text, client_id=node.client_id, source_agent=node.source_agent, aliases=aliases
    )
    if node.label != Label.EVENT:
        return found
    named = [_resolved(*one, aliases) for one in _named(node.metadata)]
    acting = [_acting(one) for one in found if one.role is not Role.MENTIONED]
    others = [one for one in found if one.role is Role.MENTIONED]
    return _strongest([*acting, *(one for one in named if one), *others])


def _acting(entity: ExtractedEntity) -> ExtractedEntity:
    """Return the agent of an event as its subject; the client stays what it is about."""
    if entity.role is not Role.SOURCE:
        return entity
    return ExtractedEntity(name=entity.name, type=entity.type, role=Role.SUBJECT)


def _named(metadata: Mapping[str, Any]) -> list[tuple[str, str, Role]]:
    """Return (name, type, role) of an event's tool and of what its payload's keys name."""
    named: list[tuple[str, str, Role]] = []
    if metadata.get("tool_name"):
        named.append((metadata["tool_name"], "tool", Role.TOOL))
    payload = cast("Mapping[str, Any]", metadata.get("payload") or {})
    for key, value in payload.items():
        role = PAYLOAD_ROLES.get(key.casefold())
        if role and isinstance(value, str) and len(value) <= MAX_NAMED_CHARS:
            named.append((value, role[1], role[0]))
    return named


def _resolved(
    name: str, type_: str, role: Role, aliases: Mapping[str, tuple[str, str]]
) -> ExtractedEntity | None:
    tidy = tidy_name(name)
    if tidy is None or not any(one.isalpha() for one in tidy):
        return None
    canonical, known_type = aliases.get(name_key(tidy), (tidy, type_))
    return ExtractedEntity(name=canonical, type=known_type, role=role)


def _strongest(found: Sequence[ExtractedEntity]) -> tuple[ExtractedEntity, ...]:
    by_name: dict[str, ExtractedEntity] = {}
    for one in sorted(found, key=lambda one: STRENGTH.index(one.role)):
        by_name.setdefault(name_key(one.name), one)
    return tuple(by_name.values())[:MAX_ENTITIES]
