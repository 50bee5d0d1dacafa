"""A memory as a caller hands it in, checked and scrubbed. Not yet a row: no id, no position."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from cairn.graph.node import CHOICES, PLAIN_NAMES, UNLESS_GIVEN, Category, MemoryFields
from cairn.kernel.access import Principal
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.hashes import content_hash
from cairn.kernel.text.scrub import scrub
from cairn.memories.items import NewMemory
from cairn.memories.kinds import DEFAULT_CATEGORY, MemoryKind, derived_importance
from cairn.safety.screening import screen
from cairn.writing.audience import GLOBAL_CLIENT, Audience
from cairn.writing.checks import (
    MAX_TEXT_CHARS,
    clean_metadata,
    clean_name,
    moment,
    refuse,
    source_agent,
    tagged_agents,
)

MAX_TTL_SECONDS = 10 * 366 * 86_400


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDraft(MemoryFields):
    """Everything about a memory that its writer decides."""

    text: str
    kind: MemoryKind
    content_hash: str
    audience: Audience
    source_agent: str
    occurred_at: datetime
    valid_from: datetime
    valid_to: datetime | None = None
    client_id: str = GLOBAL_CLIENT
    category: str | None = Category.SEMANTIC.value
    importance: int = 5
    session_id: str | None = None
    sequence: int | None = None
    trace_id: str | None = None
    parent_id: UUID | None = None
    confidence: float = 1.0
    screening: str = "clean"
    task_id: UUID | None = None  # the task, or the message, that produced it
    conversation_id: UUID | None = None  # the one it was drawn from
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])
    ttl_seconds: int | None = None
    expires_at: datetime | None = None

    def warnings(self) -> tuple[str, ...]:
        """Name what the writer should know: what piles up for ever, what looks hostile."""
        results: list[str] = []
        if self.kind is MemoryKind.FACT and not self.key:
            results.append("A fact without a key is never superseded: it stays beside newer ones.")
        if self.kind is MemoryKind.STATUS and not self.subject:
            results.append(
                "A status without a subject is never superseded: it stays beside newer ones."
            )
        if self.screening != "clean":
            results.append(
                "This text reads like an instruction to a model; it is kept as data, marked."
            )
        return tuple(results)


def draft_memory(new: NewMemory, principal: Principal, now: datetime) -> MemoryDraft:
    """Return the draft of a memory; its audience has no data subjects yet (see `owners`).

    Raises ValidationFailed or TooLarge naming the field, Denied for a scope or an agent the
    principal may not write for.
    """
    scope = principal.writing_scope(new.scope)
    text = scrub(clean_text(new.text, field="text", max_chars=MAX_TEXT_CHARS)).text
    occurred_at = moment(new.occurred_at, "occurred_at") or now
    valid_from = moment(new.valid_from, "valid_from") or occurred_at
    valid_to = moment(new.valid_to, "valid_to")
    if new.ttl_seconds is not None and not 1 <= new.ttl_seconds <= MAX_TTL_SECONDS:
        refuse("ttl_seconds", f"must be from 1 to {MAX_TTL_SECONDS}")
    if valid_to is not None and valid_to < valid_from:
        refuse("valid_to", f"is before valid_from ({valid_from.isoformat()})")
    return MemoryDraft(
        text=text,
        kind=new.type,
        content_hash=content_hash(text),
        audience=Audience(
            scope=scope, agents=tagged_agents(new.agents, principal), data_subjects=()
        ),
        source_agent=source_agent(new.source_agent, principal),
        occurred_at=occurred_at,
        valid_from=valid_from,
        valid_to=valid_to,
        client_id=principal.writing_client(clean_name(new.client_id, "client_id") or GLOBAL_CLIENT),
        **_plain_fields(new),
        importance=new.importance or derived_importance(text, new.type),
        session_id=clean_name(new.session_id, "session_id"),
        sequence=new.sequence,
        trace_id=clean_name(new.trace_id, "trace_id"),
        parent_id=new.parent_id,
        task_id=new.produced_by_task_id,
        confidence=new.confidence,
        metadata=clean_metadata(new.metadata),
        screening=screen(text).verdict.value.lower(),
        ttl_seconds=new.ttl_seconds,
        expires_at=now + timedelta(seconds=new.ttl_seconds) if new.ttl_seconds else None,
    )


def _plain_fields(new: NewMemory) -> dict[str, Any]:
    """Return the plain fields checked: names scrubbed, other values among those they may have."""
    defaults = {**UNLESS_GIVEN, "category": DEFAULT_CATEGORY[new.type]}
    fields: dict[str, Any] = {name: getattr(new, name) or defaults.get(name) for name in CHOICES}
    chosen = {name: CHOICES[name](value).value for name, value in fields.items() if value}
    written = (name for name in PLAIN_NAMES if name not in CHOICES)
    names = {name: clean_name(getattr(new, name), name) for name in written}
    return {**names, **chosen}
