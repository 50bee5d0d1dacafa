"""A memory as its writer sends it, and what became of it. Not checked yet."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from cairn.graph.node import MemoryFields
from cairn.kernel.access import Scope
from cairn.memories.kinds import MemoryKind
from cairn.writing.items import Json, WarnedOutcome


@dataclass(frozen=True, slots=True, kw_only=True)
class NewMemory(MemoryFields):
    """One memory as the caller wrote it; texts are not yet scrubbed."""

    text: str
    type: MemoryKind
    client_id: str
    importance: int | None  # None: derived from the text
    scope: Scope | None
    source_agent: str | None = None
    agents: tuple[str, ...] = ()
    occurred_at: datetime | None = None
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    session_id: str | None = None
    sequence: int | None = None
    trace_id: str | None = None
    parent_id: UUID | None = None
    data_subjects: tuple[str, ...] = ()
    confidence: float = 1.0
    metadata: Json = field(default_factory=dict[str, Any])
    produced_by_task_id: UUID | None = None
    ttl_seconds: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryOutcome(WarnedOutcome):
    """What became of one memory of a batch."""

    superseded: tuple[UUID, ...] = ()
    observation_count: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Remembered:
    """The outcomes of a write, in the order of its memories."""

    outcomes: tuple[MemoryOutcome, ...]
    replayed: bool = False
