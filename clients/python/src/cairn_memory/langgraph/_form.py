"""How LangGraph's items, filters and namespaces look as memories of Cairn. No I/O."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, TypeAlias, cast
from uuid import UUID

from cairn_memory import models

Found: TypeAlias = tuple[UUID, dict[str, Any], float | None]
"""A memory's id, what its item is made of, and its score."""

INDEXED = {"path": ["unindexed"], "op": "exists", "value": False}
ITEMS = {"path": ["value"], "op": "exists", "value": True}
_OPERATORS = {"$eq": "eq", "$ne": "ne", "$gt": "gt", "$gte": "gte", "$lt": "lt", "$lte": "lte"}


def path_of(namespace: Sequence[str]) -> str:
    """Return a namespace as Cairn writes it; what would separate or match labels is escaped."""
    return "/".join(_escaped(label) for label in namespace)


def pattern_of(path: Sequence[str]) -> str:
    """Return a pattern of namespaces, in which `*` stays what it is."""
    return "/".join(label if label == "*" else _escaped(label) for label in path)


def labels_of(path: str) -> tuple[str, ...]:
    """Return the namespace that `path_of` wrote."""
    return tuple(
        label.replace("%2A", "*").replace("%2F", "/").replace("%25", "%")
        for label in path.split("/")
    )


def _escaped(label: str) -> str:
    return label.replace("%", "%25").replace("/", "%2F").replace("*", "%2A")


def below(prefix: Sequence[str]) -> str | None:
    """Return what asks for a namespace and those below it; None for all."""
    return path_of(prefix) or None


def metadata_of(value: Mapping[str, Any], *, indexed: bool, ttl: int | None) -> dict[str, Any]:
    """Return what a memory keeps of an item besides its text."""
    marks: dict[str, Any] = {} if indexed else {"unindexed": True}
    return {"value": dict(value), **marks, **({"ttl": ttl} if ttl else {})}


def lasts(metadata: Mapping[str, Any]) -> bool:
    """Return whether an item lasts for a time only."""
    return "ttl" in metadata


def text_of(value: Mapping[str, Any]) -> str:
    """Return a value as lines to be searched: a text alone, else each with the names before it."""
    if len(value) == 1 and isinstance(text := next(iter(value.values())), str):
        return text
    return "\n".join(_lines("", dict(value)))


def _lines(name: str, value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in cast("dict[str, Any]", value).items():
            yield from _lines(f"{name} {key}".strip(), inner)
    elif isinstance(value, list):
        for inner in cast("list[Any]", value):
            yield from _lines(name, inner)
    elif value is not None:
        yield f"{name}: {value}"


def conditions_of(filter: Mapping[str, Any] | None) -> list[dict[str, Any]]:
    """Return a filter as conditions on metadata; ValueError for what cannot be asked."""
    return [ITEMS, *_conditions(["value"], filter or {})]


def _conditions(path: list[str], filter: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for key, wanted in filter.items():
        if key in _OPERATORS:
            yield {"path": path, "op": _OPERATORS[key], "value": wanted}
        elif key.startswith("$"):
            raise ValueError(f"There is no operator {key}; there are {', '.join(_OPERATORS)}")
        elif isinstance(wanted, dict):
            yield from _conditions([*path, key], cast("dict[str, Any]", wanted))
        elif isinstance(wanted, list):
            raise ValueError(f"{key}: a filter compares with texts, numbers, true, false and None")
        else:
            yield {"path": [*path, key], "op": "eq", "value": wanted}


def written(conditions: list[dict[str, Any]]) -> str:
    """Return conditions as a parameter of a list."""
    return json.dumps(conditions)


def item_of(
    namespace: str | None, key: str | None, metadata: Mapping[str, Any], recorded_at: datetime
) -> dict[str, Any]:
    """Return what an `Item` is made of; a version's two times are when it was put."""
    at = recorded_at.astimezone(UTC)
    return {
        "namespace": labels_of(namespace or ""),
        "key": key,
        "value": dict(metadata["value"]),
        "created_at": at,
        "updated_at": at,
    }


def found_of(result: models.SearchResult) -> Found:
    """Return a result of a search."""
    attributes = result.attributes
    if attributes is None or attributes.metadata is None:
        raise ValueError("The server shows no attributes of what it found.")
    fields = {
        "namespace": attributes.namespace,
        "key": attributes.key,
        "metadata": attributes.metadata,
        "recorded_at": result.provenance.recorded_at,
    }
    return result.node_id, fields, result.scores.get("total", result.relevance)


def listed_of(memory: models.MemoryView) -> Found:
    """Return a memory of a list."""
    fields = {
        "namespace": memory.namespace,
        "key": memory.key,
        "metadata": memory.metadata,
        "recorded_at": memory.recorded_at,
    }
    return memory.id, fields, None
