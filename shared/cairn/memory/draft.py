"""A memory as a caller hands it in, checked and scrubbed. Not yet a row: no id, no position."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from cairn.memory.kinds import Category, KnowledgeCategory, MemoryKind

GLOBAL_CLIENT = "global"


@dataclass(frozen=True, slots=True, kw_only=True)
class Audience:
    """Who may see a memory and whose data it is. Memories of different audiences never mix:
    they are not duplicates, do not supersede each other and are not each other's neighbours."""

    scope: str
    agents: tuple[str, ...] | None
    data_subjects: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryDraft:
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
    key: str | None = None
    subject: str | None = None
    status_value: str | None = None
    category: Category = Category.SEMANTIC
    importance: int = 5
    knowledge_category: KnowledgeCategory = KnowledgeCategory.GENERAL
    session_id: str | None = None
    sequence: int | None = None
    trace_id: str | None = None
    parent_id: UUID | None = None
    confidence: float = 1.0
    screening: str = "clean"
    task_id: UUID | None = None  # the task that produced it
    metadata: Mapping[str, Any] = field(default_factory=dict[str, Any])

    def warnings(self) -> tuple[str, ...]:
        """Name what the writer should know: what piles up for ever, what looks hostile."""
        found: list[str] = []
        if self.kind is MemoryKind.FACT and not self.key:
            found.append("A fact without a key is never superseded: it stays beside newer ones.")
        if self.kind is MemoryKind.STATUS and not self.subject:
            found.append(
                "A status without a subject is never superseded: it stays beside newer ones."
            )
        if self.screening != "clean":
            found.append(
                "This text reads like an instruction to a model; it is kept as data, marked."
            )
        return tuple(found)
