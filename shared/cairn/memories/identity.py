"""When two memories are the same, and when one replaces the other. Keys only; no rows.

Identity always includes the audience: a caller must neither learn from a "duplicate" that someone
else's memory exists, nor replace what it may not see.
"""

import hashlib
import json

from cairn.memories.draft import MemoryDraft
from cairn.memories.kinds import LIFECYCLES, MemoryKind


def dedup_key(draft: MemoryDraft) -> str:
    """Return the identity for exact dedup: 32 hex characters.

    Content, client and kind within one audience, and what the memory is about (key, subject,
    status value). Events are append-only, so when and where they happened is part of them.
    """
    parts: list[object] = [
        *_audience(draft),
        draft.content_hash,
        draft.key,
        draft.subject,
        draft.status_value,
    ]
    if draft.kind is MemoryKind.EVENT:
        parts += [draft.occurred_at.isoformat(), draft.session_id, draft.sequence]
    return _digest(parts)


def chain_key(draft: MemoryDraft) -> str | None:
    """Return the identity of the supersede chain, or None when nothing can replace the memory."""
    by = LIFECYCLES[draft.kind].superseded_by
    name = draft.key if by == "key" else draft.subject if by == "subject" else None
    return _digest([*_audience(draft), name]) if name else None


def _audience(draft: MemoryDraft) -> list[object]:
    audience = draft.audience
    return [
        draft.kind,
        draft.client_id,
        audience.scope,
        sorted(audience.agents) if audience.agents is not None else None,
        sorted(str(subject) for subject in audience.data_subjects),
    ]


def _digest(parts: list[object]) -> str:
    packed = json.dumps(parts, ensure_ascii=True, separators=(",", ":"))
    return hashlib.sha256(packed.encode()).hexdigest()[:32]
