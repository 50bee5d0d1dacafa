"""Taking the deletion of a memory back, as long as its row is there. Not the deletion."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from cairn.graph.node import State
from cairn.kernel.errors import Conflict
from cairn.memories.edit import (
    Contexts,
    Edited,
    EditOutcome,
    edit_of,
    messages_around,
    require_place,
    stored_answer,
    unchanged,
    visible_memories,
)
from cairn.memories.identity import Message
from cairn.memories.plan import recontexted_meta, texts_of
from cairn.writing.checks import require_writer
from cairn.writing.subjects import resolve
from cairn.writing.writer import Work, Write, Writer

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.memories.edit_plan import WholeMemory
    from cairn.writing.items import IdempotencyKey

RESTORABLE = (State.ACTIVE, State.PROVISIONAL, State.ARCHIVED)
"""States that a deletion is taken back from; the others had an end of their own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreMemory(Writer):
    """The use case. NotFound for a memory the principal cannot see, or that is gone for good."""

    def __call__(
        self,
        principal: Principal,
        memory_id: UUID,
        *,
        idempotency: IdempotencyKey | None = None,
    ) -> Edited:
        """Take a deletion back, as long as the memory is there; it is active then.

        Conflict when it stood for nothing any more when it was deleted, or another stands there.
        """

        def prepared() -> Work[Edited]:
            memories = self._look(principal, memory_id)
            subjects = {subject for memory in memories.values() for subject in memory.data_subjects}
            return Work(
                resolution=resolve(self.platform, principal, (), subjects),
                do=partial(_restore, principal, memory_id),
                keep=stored_answer,
                read=edit_of,
            )

        require_writer(principal)
        return self.write_once(principal, prepared, idempotency)

    def _look(self, principal: Principal, memory_id: UUID) -> Mapping[UUID, WholeMemory]:
        with self.platform.transactions.reading(principal) as stores:
            return stores.memories.whole([memory_id])


def _restore(principal: Principal, memory_id: UUID, write: Write) -> Edited:
    (memory,) = visible_memories(write.stores, [memory_id], principal)
    if memory.state != State.DELETED:
        return unchanged(memory)
    before = write.stores.memories.state_before_deletion(memory_id)
    if memory.superseded_by is not None or memory.never_recall or before not in RESTORABLE:
        raise Conflict(
            "This memory stood for nothing any more when it was deleted; it cannot come back.",
            reason="not-restorable",
            memory_id=str(memory_id),
        )
    require_place(write.stores, memory)
    context: tuple[Message, ...] = ()
    changed: Contexts = {}
    if memory.session is not None and memory.sequence is not None:
        conversation = messages_around(write.stores, memory.session, memory.sequence)
        message = Message(id=memory.id, sequence=memory.sequence, text=memory.text)
        conversation.add(message)
        context = conversation.context(message)
        changed = {
            each.id: (each, conversation.context(each)) for each in conversation.dependants(message)
        }
    position = write.entries.add(
        "memory.restored",
        {
            "node_id": str(memory_id),
            "context": [str(each.id) for each in context],
            "recontexted": recontexted_meta(changed.values()),
        },
        {},
        data_subjects=memory.data_subjects,
        occurred_at=write.now,
        texts=texts_of(context, *(texts for _, texts in changed.values())),
    )
    write.append()
    write.wake_embed([memory_id, *changed])
    return Edited(outcome=EditOutcome.CHANGED, id=memory_id, position=position)
