"""Soft deletion of memories and documents. Forgetting, which destroys keys, is something else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from cairn.kernel.errors import NotFound
from cairn.memories.identity import Conversation, Message
from cairn.memories.plan import recontexted_meta, texts_of
from cairn.writing.append import append_and_project, principal_actor
from cairn.writing.checks import require_writer
from cairn.writing.entries import Planned, plan_entry
from cairn.writing.items import Deleted
from cairn.writing.ports import OutboxRow, Topic

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock
    from cairn.kernel.ids import IdSource
    from cairn.kernel.stores import Stores
    from cairn.kernel.text.json_value import JsonValue
    from cairn.kernel.transaction import Transactions
    from cairn.memories.identity import StoredMemory
    from cairn.writing.ports import Dispatcher


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteMemory:
    """Hides a memory; messages whose context it was get a new one."""

    transactions: Transactions[Stores]
    dispatcher: Dispatcher
    clock: Clock
    new_id: IdSource

    def __call__(self, principal: Principal, memory_id: UUID) -> Deleted:
        """Delete softly; deleting again returns the first deletion. NotFound when not visible."""
        require_writer(principal)
        with self.transactions.writing(principal) as stores:
            memory = stores.memories.find(memory_id)
            if memory is None:
                raise NotFound("There is no such memory.", memory_id=str(memory_id))
            principal.require_client(memory.client_id)
            if memory.deleted:
                return Deleted(id=memory.id, position=memory.position)
            position, rows = self._delete(principal, stores, memory, self.clock())
        self.dispatcher.send(rows)
        return Deleted(id=memory.id, position=position)

    def _delete(
        self, principal: Principal, stores: Stores, memory: StoredMemory, now: datetime
    ) -> tuple[int, list[OutboxRow]]:
        changed = _contexts_without(stores, memory)
        meta: dict[str, Any] = {
            "node_ids": [str(memory.id)],
            "recontexted": recontexted_meta(changed),
        }
        entry = _entry(principal, self.new_id(), "memory.deleted", meta, now, memory.data_subjects)
        planned = replace(entry, texts=texts_of(*(c for _, c in changed)))
        position = append_and_project(stores, [planned], now)[-1].position
        if not changed:
            return position, []
        row = OutboxRow(
            workspace_id=principal.workspace_id,
            id=self.new_id(),
            topic=Topic.EMBED,
            position=position,
            node_ids=tuple(message.id for message, _ in changed),
        )
        stores.outbox.add(row, now)
        return position, [row]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeleteDocument:
    """Hides a document with all its sections and chunks."""

    transactions: Transactions[Stores]
    clock: Clock
    new_id: IdSource

    def __call__(self, principal: Principal, document_id: UUID) -> Deleted:
        """Delete softly; deleting again returns the first deletion. NotFound when not visible."""
        require_writer(principal)
        with self.transactions.writing(principal) as stores:
            document = stores.documents.visible(document_id)
            parts = stores.documents.parts(document_id) if document else None
            if document is None or parts is None:
                raise NotFound("There is no such document.", document_id=str(document_id))
            count = 1 + len(parts.sections) + len(parts.chunks)
            if document.deleted_at is not None:
                return Deleted(id=document_id, position=document.position, nodes=count)
            meta: Mapping[str, JsonValue] = {"document_id": str(document_id), "nodes": count}
            now = self.clock()
            entry = _entry(
                principal, self.new_id(), "document.deleted", meta, now, document.data_subjects
            )
            sealed = append_and_project(stores, [entry], now)
            return Deleted(id=document_id, position=sealed[-1].position, nodes=count)


def _contexts_without(
    stores: Stores, memory: StoredMemory
) -> list[tuple[Message, tuple[Message, ...]]]:
    """Return the later messages that had the memory as context, each with its context now."""
    if memory.session is None or memory.sequence is None:
        return []
    sequence = memory.sequence
    conversation = Conversation(stores.memories.messages(memory.session, sequence, sequence))
    message = Message(id=memory.id, sequence=sequence, text=memory.text)
    dependants = conversation.dependants(message)
    conversation.remove(memory.id)
    return [(dependant, conversation.context(dependant)) for dependant in dependants]


def _entry(
    principal: Principal,
    entry_id: UUID,
    type_: str,
    meta: Mapping[str, JsonValue],
    now: datetime,
    data_subjects: tuple[UUID, ...],
) -> Planned:
    return plan_entry(
        id=entry_id,
        workspace_id=principal.workspace_id,
        type=type_,
        actor=principal_actor(principal),
        occurred_at=now,
        data_subjects=data_subjects,
        meta=meta,
    )
