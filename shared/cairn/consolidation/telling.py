"""A plan as it is counted and shown: what would be merged, flagged, linked. Pure.

Texts stand in what is told, so it goes to who asked and nowhere else.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from cairn.consolidation.plan import (
    Add,
    AddEntity,
    Flag,
    Link,
    Operation,
    Plan,
    Recategorise,
    Relate,
    Supersede,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from uuid import UUID

_COUNTED: Mapping[type, str] = {
    Add: "merged",
    Flag: "flagged",
    Link: "linked",
    Recategorise: "recategorised",
    Relate: "related",
    AddEntity: "entities",
}


def counts_of(plan: Plan) -> Counter[str]:
    """Return how many of each operation a plan has, and what its check refused, by reason."""
    found = Counter(_COUNTED[type(one)] for one in plan.operations if type(one) in _COUNTED)
    found["superseded"] = sum(
        len(one.sources) for one in plan.operations if isinstance(one, Supersede)
    )
    found.update({f"refused_{why.value}": number for why, number in plan.refused.items()})
    return +found


def told(plan: Plan, texts: Mapping[UUID, str]) -> list[dict[str, Any]]:
    """Return the operations of a plan as JSON objects, each naming its memories with their text."""
    return [each for one in plan.operations if (each := _told(one, texts))]


def _told(operation: Operation, texts: Mapping[UUID, str]) -> dict[str, Any] | None:
    match operation:
        case Add():
            return {
                "operation": "merge",
                "kind": operation.kind.value,
                "text": operation.text,
                "why": operation.why,
                "memories": _memories(operation.sources, texts),
            }
        case Flag():
            return {
                "operation": "flag",
                "clash": operation.clash.value,
                "why": operation.why,
                "memories": _memories((operation.one, operation.other), texts),
            }
        case Link():
            return {
                "operation": "link",
                "why": operation.description,
                "memories": _memories(operation.memories, texts),
            }
        case Recategorise():
            return {
                "operation": "recategorise",
                "category": operation.category.value,
                "memories": _memories((operation.memory,), texts),
            }
        case Relate() | AddEntity():
            return _named(operation, texts)
        case Supersede():
            return None


def _named(operation: Relate | AddEntity, texts: Mapping[UUID, str]) -> dict[str, Any]:
    memories = _memories(operation.memories, texts)
    if isinstance(operation, AddEntity):
        return {
            "operation": "entity",
            "name": operation.entity.name,
            "type": operation.entity.type,
            "aliases": list(operation.aliases),
            "memories": memories,
        }
    return {
        "operation": "relate",
        "source": operation.source.name,
        "relation": operation.relation.value,
        "target": operation.target.name,
        "strength": operation.strength,
        "memories": memories,
    }


def _memories(ids: Iterable[UUID], texts: Mapping[UUID, str]) -> list[dict[str, Any]]:
    return [{"id": str(one), "text": texts.get(one, "")} for one in ids]
