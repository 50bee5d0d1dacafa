"""From an event as a caller sent it to a checked and scrubbed draft. Pure; not planning."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from cairn.kernel.text.checks import clean_json, clean_text
from cairn.kernel.text.hashes import content_hash
from cairn.kernel.text.scrub import scrub, scrub_value
from cairn.ledger.entry import ENTRY_TYPE
from cairn.memories.kinds import derived_importance
from cairn.safety.screening import screen
from cairn.writing.audience import GLOBAL_CLIENT, Audience
from cairn.writing.checks import (
    MAX_TEXT_CHARS,
    clean_name,
    moment,
    refuse,
    source_agent,
    tagged_agents,
)
from cairn.writing.items import WarnedOutcome

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal, Scope

MAX_PAYLOAD_BYTES = 32_768
MAX_PAYLOAD_DEPTH = 8
MAX_TYPE_CHARS = 100
MAX_RENDERED_CHARS = 4_000
MAX_VALUE_CHARS = 500

FAILED_STATUSES = frozenset(
    {"error", "failed", "failure", "timeout", "crashed", "aborted", "denied", "rejected"}
)
"""Statuses, casefolded, that say an event went wrong."""

_FAILED_TYPES = frozenset({"error", "failed", "failure", "exception", "timeout", "crashed"})


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEvent:
    """One event as the caller wrote it; nothing is scrubbed yet.

    `parent_id` names what caused it; `parent_item` does the same by the place of an earlier event
    in the same batch, whose id nobody knows yet.
    """

    type: str
    client_id: str
    scope: Scope | None
    occurred_at: datetime | None = None
    session_id: str | None = None
    sequence: int | None = None
    agent_id: str | None = None
    trace_id: str | None = None
    parent_id: UUID | None = None
    parent_item: int | None = None
    tool_name: str | None = None
    status: str | None = None
    payload: Mapping[str, Any] = field(default_factory=dict[str, Any])
    text: str | None = None
    importance: int | None = None
    agents: tuple[str, ...] = ()
    data_subjects: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class EventOutcome(WarnedOutcome):
    """What became of one event: created, duplicate or rejected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The outcomes of a write, in the order of its events."""

    outcomes: tuple[EventOutcome, ...]
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class EventDraft:
    """Everything about an event that its writer decides."""

    type: str
    text: str
    content_hash: str
    audience: Audience
    source_agent: str
    occurred_at: datetime
    client_id: str
    importance: int
    payload: Mapping[str, Any]
    session_id: str | None
    sequence: int | None
    trace_id: str | None
    parent_id: UUID | None
    parent_item: int | None
    tool_name: str | None
    status: str | None
    screening: str

    def warnings(self) -> tuple[str, ...]:
        """Name what the writer should know of the text."""
        if self.screening == "clean":
            return ()
        return ("This text reads like an instruction to a model; it is kept as data, marked.",)


def draft_event(new: NewEvent, principal: Principal, now: datetime) -> EventDraft:
    """Return the draft of an event; its audience has no data subjects yet (see `owners`).

    Raises ValidationFailed or TooLarge naming the field, Denied for a scope or an agent the
    principal may not write for.
    """
    scope = principal.writing_scope(new.scope)
    if len(new.type) > MAX_TYPE_CHARS or not ENTRY_TYPE.fullmatch(new.type):
        refuse("type", "must be a dot-namespaced name such as tool.execute")
    tool_name, status = clean_name(new.tool_name, "tool_name"), clean_name(new.status, "status")
    payload = _payload(new.payload)
    text = _text(new, payload, tool_name, status)
    failed = is_failure(new.type, status)
    return EventDraft(
        type=new.type,
        text=text,
        content_hash=content_hash(text),
        audience=Audience(
            scope=scope, agents=tagged_agents(new.agents, principal), data_subjects=()
        ),
        source_agent=source_agent(new.agent_id, principal, field="agent_id"),
        occurred_at=moment(new.occurred_at, "occurred_at") or now,
        client_id=principal.writing_client(clean_name(new.client_id, "client_id") or GLOBAL_CLIENT),
        importance=new.importance or derived_importance(text, "event", failed=failed),
        payload=payload,
        session_id=clean_name(new.session_id, "session_id"),
        sequence=new.sequence,
        trace_id=clean_name(new.trace_id, "trace_id"),
        parent_id=new.parent_id,
        parent_item=new.parent_item,
        tool_name=tool_name,
        status=status,
        screening=screen(text).verdict.value.lower(),
    )


def is_failure(type_: str, status: str | None) -> bool:
    """Return whether an event says that something went wrong, by its status or its type's end."""
    if status is not None:
        return status.casefold() in FAILED_STATUSES
    return type_.rpartition(".")[2] in _FAILED_TYPES


def event_identity(draft: EventDraft) -> str:
    """Return the identity for exact dedup: 32 hex characters.

    Events are append-only: the same thing observed at another moment, in another session or by
    another agent is another event. The audience is part of it, so that a duplicate never tells of
    an event that the caller may not see.
    """
    audience = draft.audience
    parts = [
        "event.observed",
        draft.client_id,
        audience.scope,
        sorted(audience.agents) if audience.agents is not None else None,
        sorted(str(subject) for subject in audience.data_subjects),
        draft.type,
        draft.content_hash,
        draft.payload,
        draft.tool_name,
        draft.status,
        draft.source_agent,
        draft.occurred_at.isoformat(),
        draft.session_id,
        draft.sequence,
        draft.trace_id,
    ]
    packed = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(packed.encode()).hexdigest()[:32]


def rendered(
    type_: str, tool_name: str | None, status: str | None, payload: Mapping[str, Any]
) -> str:
    """Return an event as a reader would like it: `tool execute deploy failed. service: api; ...`.

    Nested names are joined by dots; a value has at most 500 characters, the whole 4,000.
    """
    head = " ".join(filter(None, (type_.replace(".", " ").replace("_", " "), tool_name, status)))
    fields = "; ".join(f"{name}: {value}" for name, value in _fields(payload, ""))
    text = f"{head}. {fields}" if fields else head
    return text[:MAX_RENDERED_CHARS]


def _fields(value: object, path: str) -> list[tuple[str, str]]:
    if isinstance(value, dict):
        pairs = cast("dict[str, Any]", value).items()
        return [
            field
            for name, item in pairs
            for field in _fields(item, f"{path}.{name}" if path else name)
        ]
    if isinstance(value, list):
        items = cast("list[Any]", value)
        if any(isinstance(item, dict | list) for item in items):
            return [field for item in items for field in _fields(item, path)]
        return [(path, ", ".join(_plain(item) for item in items)[:MAX_VALUE_CHARS])]
    return [(path, _plain(value)[:MAX_VALUE_CHARS])]


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _text(
    new: NewEvent, payload: Mapping[str, Any], tool_name: str | None, status: str | None
) -> str:
    if new.text is None:
        return rendered(new.type, tool_name, status, payload)
    return scrub(clean_text(new.text, field="text", max_chars=MAX_TEXT_CHARS)).text


def _payload(payload: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the payload without secrets: at most 32 KiB of JSON, eight levels deep."""
    checked = clean_json(
        dict(payload), field="payload", max_bytes=MAX_PAYLOAD_BYTES, max_depth=MAX_PAYLOAD_DEPTH
    )
    return cast("Mapping[str, Any]", scrub_value(checked)[0])
