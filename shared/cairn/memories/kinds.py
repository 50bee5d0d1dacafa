"""The four kinds of memory and what each may do in its life. Not the rows they become."""

from dataclasses import dataclass
from enum import StrEnum


class MemoryKind(StrEnum):
    """What a memory is; its lifecycle follows from it (see LIFECYCLES)."""

    EVENT = "event"  # something that happened; append-only
    FACT = "fact"  # knowledge that evolves; replaced by key
    DECISION = "decision"  # a choice and its reasons; immutable
    STATUS = "status"  # the present state of something; replaced by subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifecycle:
    """Whether a kind expires (days without use), decays, and by which field it is superseded."""

    expires_after_days: int | None
    decays: bool
    superseded_by: str | None


LIFECYCLES = {
    MemoryKind.EVENT: Lifecycle(expires_after_days=30, decays=False, superseded_by=None),
    MemoryKind.FACT: Lifecycle(expires_after_days=None, decays=True, superseded_by="key"),
    MemoryKind.DECISION: Lifecycle(expires_after_days=None, decays=False, superseded_by=None),
    MemoryKind.STATUS: Lifecycle(expires_after_days=None, decays=True, superseded_by="subject"),
}


class Category(StrEnum):
    """The cognitive category of a memory."""

    SEMANTIC = "semantic"  # concepts
    EPISODIC = "episodic"  # events
    PROCEDURAL = "procedural"  # how-to


class KnowledgeCategory(StrEnum):
    """The domain a memory belongs to; consolidation only ever moves one away from general."""

    BRAND = "brand"
    STRATEGY = "strategy"
    MEETING = "meeting"
    CONTENT = "content"
    TECHNICAL = "technical"
    RELATIONSHIP = "relationship"
    GENERAL = "general"


DEFAULT_CATEGORY = {
    MemoryKind.EVENT: Category.EPISODIC,
    MemoryKind.FACT: Category.SEMANTIC,
    MemoryKind.DECISION: Category.SEMANTIC,
    MemoryKind.STATUS: Category.SEMANTIC,
}
