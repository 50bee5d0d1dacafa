"""What a person's edit of memories means: the memory in their place, and its entry. Pure."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cairn.graph.edge import Relation, View
from cairn.graph.node import PLAIN_NAMES, MemoryFields, State
from cairn.kernel.access import Principal, Scope
from cairn.kernel.records import convert
from cairn.kernel.text.canonical import format_timestamp
from cairn.memories.draft import MemoryDraft, draft_memory
from cairn.memories.identity import Link, Placement, Session, chain_key, dedup_key, place
from cairn.memories.items import NewMemory
from cairn.memories.kinds import MemoryKind
from cairn.memories.plan import chain_meta
from cairn.memories.rows import memory_body
from cairn.nodes.plan import edge_body
from cairn.writing.audience import Audience

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

EDITABLE = frozenset({State.PROVISIONAL, State.ACTIVE, State.ARCHIVED, State.EXPIRED})
"""States of memories that people may correct, merge and move; the others have said their last."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WholeMemory(MemoryFields):
    """All of a stored memory, by the names of its columns; `position` is its first entry's."""

    id: UUID
    position: int
    state: State
    kind: str
    text: str
    content_hash: str
    dedup_key: str | None
    chain_key: str | None
    scope: str
    agents: tuple[str, ...] | None
    client_id: str
    data_subjects: tuple[UUID, ...]
    source_agent: str | None
    observed_by: tuple[str, ...]
    importance: int
    confidence: float
    screening: str
    metadata: Mapping[str, Any]
    session_id: str | None
    sequence: int | None
    trace_id: str | None
    parent_id: UUID | None
    conversation_id: UUID | None  # a public key of another one does not see it
    occurred_at: datetime
    valid_from: datetime
    valid_to: datetime | None
    superseded_by: UUID | None
    pinned: bool
    never_recall: bool
    ttl_seconds: int | None
    expires_at: datetime | None

    @property
    def audience(self) -> Audience:
        """Return who may see it and whose data it is."""
        return Audience(scope=self.scope, agents=self.agents, data_subjects=self.data_subjects)

    @property
    def session(self) -> Session | None:
        """Return the conversation it is a numbered message of."""
        if self.session_id is None or self.sequence is None:
            return None
        return Session(session_id=self.session_id, audience=self.audience)

    def draft(self) -> MemoryDraft:
        """Return the memory as a draft that says the same."""
        kind = MemoryKind(self.kind)
        return convert(self, MemoryDraft, kind=kind, source_agent=self.source_agent or "")


def corrected(
    memory: WholeMemory, changes: Mapping[str, Any], principal: Principal, now: datetime
) -> MemoryDraft:
    """Return what a memory says after a correction, checked and scrubbed like a new one.

    It holds from when the wrong one was said to: that one was never true.
    """
    fields: dict[str, Any] = {
        "text": memory.text,
        **{name: getattr(memory, name) for name in PLAIN_NAMES},
        "importance": memory.importance,
        "confidence": memory.confidence,
        "metadata": _own_metadata(memory.metadata),
        "occurred_at": memory.occurred_at,
        "valid_to": memory.valid_to,
        "ttl_seconds": memory.ttl_seconds,
        **changes,
    }
    checked = draft_memory(
        NewMemory(
            **fields,
            type=MemoryKind(memory.kind),
            client_id=memory.client_id,
            scope=Scope(memory.scope),
            valid_from=memory.valid_from,
            session_id=memory.session_id,
            sequence=memory.sequence,
            trace_id=memory.trace_id,
            parent_id=memory.parent_id,
        ),
        principal,
        now,
    )
    return replace(
        checked,
        audience=memory.audience,
        client_id=memory.client_id,
        conversation_id=memory.conversation_id,
    )


def merged(first: WholeMemory, other: WholeMemory, text: MemoryDraft) -> MemoryDraft:
    """Return the memory that stands for both; `text` is the first with the text of the merge.

    It is about everybody either is about, holds from when the younger does, and is as certain as
    the less certain of them.
    """
    subjects = tuple(sorted({*first.data_subjects, *other.data_subjects}))
    same_session = first.session_id == other.session_id
    return replace(
        text,
        key=first.key or other.key,
        subject=first.subject or other.subject,
        status_value=first.status_value or other.status_value,
        audience=replace(first.audience, data_subjects=subjects),
        occurred_at=max(first.occurred_at, other.occurred_at),
        valid_from=max(first.valid_from, other.valid_from),
        importance=max(first.importance, other.importance),
        confidence=min(first.confidence, other.confidence),
        session_id=first.session_id if same_session else None,
        sequence=None,
        conversation_id=first.conversation_id or other.conversation_id,
        metadata={**_own_metadata(other.metadata), **text.metadata},
    )


def edited_metadata(
    draft: MemoryDraft, how: str, of: Collection[UUID], reason: str
) -> Mapping[str, Any]:
    """Return the metadata with what was done: how, to which memories, why."""
    edit = {"how": how, "of": [str(id_) for id_ in of], "reason": reason}
    return {**_own_metadata(draft.metadata), "cairn": {"edit": edit}}


def _own_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in metadata.items() if name != "cairn"}


def placement_of(
    draft: MemoryDraft, sources: Sequence[WholeMemory], links: Collection[Link]
) -> Placement:
    """Return the place in its chain: that of a source of the same chain, else by `valid_from`."""
    own = [memory for memory in sources if memory.chain_key == chain_key(draft) is not None]
    if not own:
        return place(links, draft.valid_from, draft.valid_to)
    last = max(own, key=lambda memory: (memory.valid_from, memory.position))
    link = Link(
        id=last.id,
        valid_from=last.valid_from,
        valid_to=last.valid_to,
        position=last.position,
    )
    return place([link], draft.valid_from, draft.valid_to)


def replacement_meta(
    draft: MemoryDraft, node_id: UUID, placement: Placement, sources: Sequence[WholeMemory]
) -> dict[str, Any]:
    """Return what of the entry's meta says whom the memory follows, and what becomes of those."""
    meta = {
        "node_id": str(node_id),
        "kind": draft.kind.value,
        "scope": draft.audience.scope,
        "valid_from": format_timestamp(draft.valid_from),
        **chain_meta(placement),
        "sources": [[str(memory.id), _until(memory, draft)] for memory in sources],
    }
    if sources and meta["supersedes"] is None:
        meta["supersedes"] = str(sources[0].id)
    return meta


def _until(memory: WholeMemory, draft: MemoryDraft) -> str:
    since = max(memory.valid_from, draft.valid_from)
    return format_timestamp(min(memory.valid_to or since, since))


def replacement_body(
    draft: MemoryDraft,
    node_id: UUID,
    replaced: Sequence[WholeMemory],
    stated: Sequence[Mapping[str, Any]],
    *,
    derived: bool,
) -> dict[str, Any]:
    """Return the entry's body: the memory, and the edges that go over to it.

    With `derived` it comes of those it replaces; a memory that moved comes of what they came of.
    """
    ids = {memory.id for memory in replaced}
    edges = [
        edge_body(
            edge["view"],
            edge["relation"],
            node_id if edge["source_id"] in ids else edge["source_id"],
            node_id if edge["target_id"] in ids else edge["target_id"],
            weight=edge["weight"],
            properties=edge["properties"],
        )
        for edge in stated
        if not (derived and edge["relation"] == Relation.DERIVED_FROM)
        and not {edge["source_id"], edge["target_id"]} <= ids
    ]
    if derived:
        edges += [
            edge_body(view, relation, node_id, memory.id)
            for memory in replaced
            for view, relation in (
                (View.TEMPORAL, Relation.SUPERSEDES),
                (View.PROVENANCE, Relation.DERIVED_FROM),
            )
        ]
    body: dict[str, Any] = {
        **memory_body(draft),
        "edges": edges,
        "pinned": any(memory.pinned for memory in replaced),
    }
    if not derived:
        body["observed_by"] = [observer for memory in replaced for observer in memory.observed_by]
    return body


def conversations_of(memories: Sequence[WholeMemory]) -> list[str]:
    """Return the conversations that memories were drawn from, each once."""
    ids = (memory.conversation_id for memory in memories)
    return [str(id_) for id_ in dict.fromkeys(ids) if id_ is not None]


def says_the_same(draft: MemoryDraft, memory: WholeMemory) -> bool:
    """Return whether a draft would change nothing of a memory but its reason."""
    before = memory.draft()
    compared = replace(
        draft,
        source_agent=before.source_agent,
        metadata=_own_metadata(draft.metadata),
        expires_at=before.expires_at,
    )
    return compared == replace(before, metadata=_own_metadata(before.metadata))


def is_successor(draft: MemoryDraft, memory: WholeMemory) -> bool:
    """Return whether a memory is what this draft has become: the same request came again."""
    return memory.dedup_key == dedup_key(draft) and memory.state in EDITABLE
