"""Reads mem0's memories: what `get_all` and the platform's list of memories answer. Pure.

A memory is `{"id", "memory", "hash", "metadata", "created_at", "updated_at", "user_id", "agent_id",
"app_id", "run_id"}`, in a list or under `results`; `relations` are `{"source", "relationship",
"target"}`. mem0 replaces a memory in place, so there is nothing superseded to take over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from cairn.kernel.errors import ValidationFailed
from cairn.memories.foreign.items import (
    Defaults,
    ExportValue,
    Fields,
    ForeignMemory,
    Item,
    Unreadable,
    a_kind,
)
from cairn.memories.items import NewMemory
from cairn.memories.kinds import MemoryKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

_LISTS = ("results", "memories")


def read_mem0(items: Iterable[ExportValue | Unreadable], defaults: Defaults) -> Iterator[Item]:
    """Yield the memories and relations of an export, whatever could not be read among them."""
    for item in items:
        if isinstance(item, Unreadable):
            yield item
        else:
            yield from _records(item, defaults)


def _records(item: ExportValue, defaults: Defaults) -> Iterator[Item]:
    value = item.value
    if isinstance(value, list):
        yield from _each(item.name, value, defaults, _memory)
        return
    if isinstance(value, dict) and any(name in value for name in (*_LISTS, "relations")):
        holder = cast("dict[str, Any]", value)
        for name in _LISTS:
            yield from _each(name, holder.get(name), defaults, _memory)
        yield from _each("relations", holder.get("relations"), defaults, _relation)
        return
    yield _read(item, defaults, _memory)


def _each(name: str, items: Any, defaults: Defaults, read: Any) -> Iterator[Item]:
    if items is None:
        return
    if not isinstance(items, list):
        yield Unreadable(name=name, why=f"is {a_kind(items)}, not a list")
        return
    for at, item in enumerate(cast("list[Any]", items)):
        yield _read(ExportValue(name=f"{name}[{at}]", value=item), defaults, read)


def _read(item: ExportValue, defaults: Defaults, read: Any) -> Item:
    try:
        return read(item, Fields(item), defaults)
    except ValidationFailed as refused:
        return Unreadable(name=item.name, why=refused.detail)


def _memory(item: ExportValue, fields: Fields, defaults: Defaults) -> ForeignMemory:
    record = fields.name("id") or item.name
    created = fields.time("created_at")
    updated = fields.time("updated_at") or created
    subject = fields.name("user_id")
    imported = {"mem0_id": record, "app_id": fields.name("app_id"), "run_id": fields.name("run_id")}
    new = NewMemory(
        text=fields.text("memory"),
        type=MemoryKind.FACT,
        client_id=defaults.client_id,
        importance=None,
        scope=defaults.scope,
        source_agent=fields.name("agent_id") or "mem0",
        occurred_at=updated,
        valid_from=updated,
        session_id=fields.name("run_id"),
        data_subjects=(subject,) if subject else (),
        metadata={**fields.object("metadata"), "imported": _without_none(imported)},
    )
    return ForeignMemory(
        name=f"{item.name} ({record})", record=record, new=new, recorded_at=created
    )


def _relation(item: ExportValue, fields: Fields, defaults: Defaults) -> ForeignMemory:
    target = fields.optional("target") or fields.text("destination")
    text = " ".join(
        item.replace("_", " ")
        for item in (fields.text("source"), fields.text("relationship"), target)
    )
    new = NewMemory(
        text=text,
        type=MemoryKind.FACT,
        client_id=defaults.client_id,
        importance=None,
        scope=defaults.scope,
        source_agent="mem0",
        data_subjects=tuple(filter(None, (fields.name("user_id"),))),
        metadata={"imported": {"mem0_relation": fields.text("relationship")}},
    )
    return ForeignMemory(name=item.name, record=item.name, new=new, recorded_at=None)


def _without_none(values: dict[str, str | None]) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}
