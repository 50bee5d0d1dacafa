"""Drafts of memories for tests."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from cairn.kernel.text.hashes import content_hash
from cairn.memories.draft import MemoryDraft
from cairn.memories.kinds import MemoryKind
from cairn.writing.audience import Audience

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
ADMINS = Audience(scope="admin", agents=None, data_subjects=())


def draft(text: str = "the hut has a stove", **changes: Any) -> MemoryDraft:
    """A fact about everybody, without a key, unless changed."""
    made = MemoryDraft(
        text=text,
        kind=MemoryKind.FACT,
        content_hash=content_hash(text),
        audience=ADMINS,
        source_agent="one",
        occurred_at=NOON,
        valid_from=NOON,
    )
    return replace(made, **changes)
