"""What writing a batch of memories means, decided in order and in memory. Pure; no store is asked.

Everything read before (known identities, chain links, session messages) is handed in; what the
batch itself adds is kept here, so that the second item sees the first.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from uuid import UUID

from cairn.kernel.text.canonical import format_timestamp
from cairn.memories.draft import MemoryDraft
from cairn.memories.identity import (
    Conversation,
    Link,
    Message,
    Placement,
    Session,
    chain_key,
    dedup_key,
    place,
)
from cairn.memories.items import MemoryOutcome
from cairn.memories.rows import memory_body
from cairn.nodes.plan import produced_edge
from cairn.writing.corroboration import KnownMemory, observers_after, same_assertion
from cairn.writing.entries import Entries
from cairn.writing.items import Outcome


def session_of(draft: MemoryDraft) -> Session | None:
    """Return the conversation a draft belongs to, None for one that is not a numbered message."""
    if draft.session_id is None or draft.sequence is None:
        return None
    return Session(session_id=draft.session_id, audience=draft.audience)


@dataclass(slots=True, kw_only=True)
class BatchPlan:
    """Plans the memories of one write, one after the other."""

    entries: Entries
    known: dict[str, tuple[KnownMemory, ...]]
    links: dict[str, tuple[Link, ...]]
    conversations: dict[Session, Conversation]
    touched: dict[UUID, None] = field(default_factory=dict[UUID, None])

    def remember(self, draft: MemoryDraft) -> MemoryOutcome:
        """Plan one memory and say what becomes of it."""
        same = same_assertion(self.known.get(dedup_key(draft), ()), draft.valid_from)
        return self._said_again(draft, same) if same else self._created(draft)

    def _said_again(self, draft: MemoryDraft, same: KnownMemory) -> MemoryOutcome:
        agent = draft.source_agent
        observers = observers_after(same, agent)
        if draft.task_id is not None:
            edges = [produced_edge(draft.task_id, same.id)]
            self._append("edge.written", {"edges": 1}, {"edges": edges}, draft)
        if draft.expires_at is not None:
            until = {str(same.id): format_timestamp(draft.expires_at)}
            self._append("memory.refreshed", {"expires_at": until}, {}, draft)
        outcome = Outcome.DUPLICATE if agent in same.observed_by else Outcome.CORROBORATED
        if observers is None:
            return MemoryOutcome(
                outcome=outcome,
                id=same.id,
                position=same.position,
                observation_count=len(same.observed_by),
                warnings=draft.warnings(),
            )
        position = self._append(
            "memory.corroborated",
            {"node_id": str(same.id), "observation_count": len(observers)},
            {"observed_by": list(observers)},
            draft,
        )
        self._learn(
            draft,
            KnownMemory(
                id=same.id,
                position=same.position,
                observed_by=observers,
                valid_from=same.valid_from,
                active=True,
            ),
        )
        return MemoryOutcome(
            outcome=outcome,
            id=same.id,
            position=position,
            observation_count=len(observers),
            warnings=draft.warnings(),
        )

    def _created(self, draft: MemoryDraft) -> MemoryOutcome:
        node_id, chain = self.entries.new_id(), chain_key(draft)
        placement = place(
            self.links.get(chain, ()) if chain else (), draft.valid_from, draft.valid_to
        )
        context, recontexted, texts = self._neighbours(draft, node_id)
        meta = {
            "node_id": str(node_id),
            "kind": draft.kind.value,
            "scope": draft.audience.scope,
            "valid_from": format_timestamp(draft.valid_from),
            **chain_meta(placement),
            "context": [str(item.id) for item in context],
            "recontexted": recontexted,
            **({"produced_by": str(draft.task_id)} if draft.task_id else {}),
        }
        position = self._append("memory.remembered", meta, memory_body(draft), draft, texts)
        self._place(draft, node_id, position, chain, placement)
        replaced = placement.previous if placement.is_end else None
        return MemoryOutcome(
            outcome=Outcome.SUPERSEDED if replaced else Outcome.CREATED,
            id=node_id,
            position=position,
            superseded=(replaced.id,) if replaced else (),
            warnings=draft.warnings(),
        )

    def _neighbours(
        self, draft: MemoryDraft, node_id: UUID
    ) -> tuple[tuple[Message, ...], list[Any], dict[UUID, str]]:
        """Return the context of a new message, the contexts it changes, and the texts of both."""
        session = session_of(draft)
        self.touched[node_id] = None
        if session is None or draft.sequence is None:
            return (), [], {}
        message = Message(id=node_id, sequence=draft.sequence, text=draft.text)
        conversation = self.conversations.setdefault(session, Conversation())
        conversation.add(message)
        context = conversation.context(message)
        changed = [
            (dependant, conversation.context(dependant))
            for dependant in conversation.dependants(message)
        ]
        self.touched.update(dict.fromkeys(changed_memory.id for changed_memory, _ in changed))
        return context, recontexted_meta(changed), texts_of(context, *(c for _, c in changed))

    def _place(
        self,
        draft: MemoryDraft,
        node_id: UUID,
        position: int,
        chain: str | None,
        placement: Placement,
    ) -> None:
        """Let the rest of the batch see the new memory, and what it did to its chain."""
        self._learn(
            draft,
            KnownMemory(
                id=node_id,
                position=position,
                observed_by=(draft.source_agent,),
                valid_from=draft.valid_from,
                active=placement.is_end,
            ),
        )
        if chain is None:
            return
        link = Link(
            id=node_id, valid_from=draft.valid_from, valid_to=placement.valid_to, position=position
        )
        others = [link for link in self.links.get(chain, ()) if link != placement.previous]
        if placement.previous:
            others.append(placement.closed_previous())
            self._retire(placement.previous.id)
        self.links[chain] = (*others, link)

    def _learn(self, draft: MemoryDraft, new: KnownMemory) -> None:
        identity = dedup_key(draft)
        others = tuple(item for item in self.known.get(identity, ()) if item.id != new.id)
        self.known[identity] = (*others, new)

    def _retire(self, node_id: UUID) -> None:
        for identity, group in self.known.items():
            if any(item.id == node_id for item in group):
                self.known[identity] = tuple(
                    item.retired() if item.id == node_id else item for item in group
                )
                return

    def _append(
        self,
        type_: str,
        meta: Mapping[str, Any],
        body: Mapping[str, Any],
        draft: MemoryDraft,
        texts: Mapping[UUID, str] | None = None,
    ) -> int:
        return self.entries.add(
            type_,
            meta,
            body,
            data_subjects=draft.audience.data_subjects,
            occurred_at=draft.occurred_at,
            session_id=draft.session_id,
            trace_id=draft.trace_id,
            parent_id=draft.parent_id,
            texts=texts,
        )


def recontexted_meta(
    changed: Iterable[tuple[Message, tuple[Message, ...]]],
) -> list[list[str | list[str]]]:
    """Return how the entry's meta says that messages have a new context: ids only."""
    return [[str(memory.id), [str(other.id) for other in context]] for memory, context in changed]


def texts_of(*groups: Iterable[Message]) -> dict[UUID, str]:
    """Return the texts of the messages by id."""
    return {item.id: item.text for group in groups for item in group}


def chain_meta(placement: Placement) -> dict[str, Any]:
    """Return how an entry's meta says where in its chain a memory stands."""
    previous, following = placement.previous, placement.following
    return {
        "supersedes": str(previous.id) if previous else None,
        "superseded_by": str(following.id) if following else None,
        "replaces": bool(previous) and placement.is_end,
        "valid_to": _time(placement.valid_to),
        "previous_valid_to": _time(placement.previous_valid_to),
    }


def _time(moment: datetime | None) -> str | None:
    return format_timestamp(moment) if moment else None
