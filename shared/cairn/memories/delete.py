"""Soft deletion of memories and documents. Forgetting, which destroys keys, is something else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.kernel.errors import NotFound
from cairn.memories.identity import Conversation, Message
from cairn.memories.plan import recontexted_meta, texts_of
from cairn.writing.checks import require_writer
from cairn.writing.items import Deleted
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.memories.identity import StoredMemory
    from cairn.writing.platform import Platform


@dataclass(frozen=True, slots=True)
class DeleteMemory:
    """Hides a memory; messages whose context it was get a new one."""

    platform: Platform

    def __call__(self, principal: Principal, memory_id: UUID) -> Deleted:
        """Delete softly; deleting again returns the first deletion. NotFound when not visible."""
        require_writer(principal)
        with open_write(self.platform, principal) as write:
            memory = write.stores.memories.find(memory_id)
            if memory is None:
                raise NotFound("There is no such memory.", memory_id=str(memory_id))
            principal.require_client(memory.client_id)
            if memory.deleted:
                return Deleted(id=memory.id, position=memory.position)
            changed = _contexts_without(write.stores, memory)
            position = write.entries.add(
                "memory.deleted",
                {"node_ids": [str(memory.id)], "recontexted": recontexted_meta(changed)},
                None,
                data_subjects=memory.data_subjects,
                occurred_at=write.now,
                texts=texts_of(*(c for _, c in changed)),
            )
            write.wake_embed(message.id for message, _ in changed)
        return Deleted(id=memory.id, position=position)


@dataclass(frozen=True, slots=True)
class DeleteDocument:
    """Hides a document with all its sections and chunks."""

    platform: Platform

    def __call__(self, principal: Principal, document_id: UUID) -> Deleted:
        """Delete softly; deleting again returns the first deletion. NotFound when not visible."""
        require_writer(principal)
        with open_write(self.platform, principal) as write:
            documents = write.stores.documents
            document = documents.visible(document_id)
            parts = documents.parts(document_id) if document else None
            if document is None or parts is None:
                raise NotFound("There is no such document.", document_id=str(document_id))
            count = 1 + len(parts.sections) + len(parts.chunks)
            if document.deleted_at is not None:
                return Deleted(id=document_id, position=document.position, nodes=count)
            position = write.entries.add(
                "document.deleted",
                {"document_id": str(document_id), "nodes": count},
                None,
                data_subjects=document.data_subjects,
                occurred_at=write.now,
            )
        return Deleted(id=document_id, position=position, nodes=count)


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
