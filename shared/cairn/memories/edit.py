"""What people do about a memory: correct, merge, move, pin, and keep it from recall. Not deletion.

A correction, a merge and a move put a new memory in the place of the one that was named, so an id
says which version was meant: who edits what somebody else has edited meanwhile gets a Conflict that
names the memory that stands there now, and the same request again gets the first one's answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn
from uuid import UUID

from cairn.graph.node import State
from cairn.kernel.errors import Conflict, FieldError, NotFound, ValidationFailed
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.scrub import scrub
from cairn.memories.edit_plan import (
    EDITABLE,
    WholeMemory,
    conversations_of,
    corrected,
    edited_metadata,
    is_successor,
    merged,
    placement_of,
    replacement_body,
    replacement_meta,
    says_the_same,
)
from cairn.memories.identity import Conversation, Message, Session, chain_key, dedup_key
from cairn.memories.plan import recontexted_meta, session_of, texts_of
from cairn.writing.audience import GLOBAL_CLIENT, Audience
from cairn.writing.checks import clean_name, require_writer, tagged_agents
from cairn.writing.items import IdempotencyKey, Outcome
from cairn.writing.subjects import resolve
from cairn.writing.writer import Work, Write, Writer

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from cairn.kernel.access import Principal, Scope
    from cairn.kernel.stores import Stores
    from cairn.memories.draft import MemoryDraft

MAX_REASON_CHARS = 1_000
Contexts = dict[UUID, tuple[Message, tuple[Message, ...]]]


class EditOutcome(StrEnum):
    """What became of an edit."""

    CREATED = Outcome.CREATED.value  # a new memory stands in the place of the old
    CHANGED = "changed"  # the memory is marked, or no longer
    UNCHANGED = "unchanged"  # it is so already; nothing was written
    DUPLICATE = Outcome.DUPLICATE.value  # the same request was done before; its memory


@dataclass(frozen=True, slots=True, kw_only=True)
class Edited:
    """What an edit did: the memory that stands now, and those it stands in the place of."""

    outcome: EditOutcome
    id: UUID
    position: int
    replaced: tuple[UUID, ...] = ()
    warnings: tuple[str, ...] = ()
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """Where a memory goes; None stays as it is."""

    client_id: str | None = None
    scope: Scope | None = None
    agents: tuple[str, ...] | None = None


class Mark(StrEnum):
    """What may be said of a memory that stays what it is."""

    PINNED = "pinned"
    UNPINNED = "unpinned"
    NEVER_RECALL = "never-recall"
    RECALL = "recall"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Replacement:
    """The memory that goes in the place of others, on its way into the ledger."""

    type: str
    draft: MemoryDraft
    sources: Sequence[WholeMemory]  # closed by the entry itself
    moved: WholeMemory | None = None  # deleted by an entry of its own, under its own keys
    node_id: UUID
    changed: Contexts = field(default_factory=dict[UUID, tuple[Message, tuple[Message, ...]]])

    @property
    def of(self) -> tuple[WholeMemory, ...]:
        return (*self.sources, *([self.moved] if self.moved else []))


@dataclass(frozen=True, slots=True, kw_only=True)
class EditMemories(Writer):
    """The edits. NotFound for a memory the principal cannot see, Conflict for one that is gone."""

    def correct(
        self,
        principal: Principal,
        memory_id: UUID,
        changes: Mapping[str, Any],
        *,
        reason: str,
        idempotency: IdempotencyKey | None = None,
    ) -> Edited:
        """Say something else in a memory's place, and why. What `changes` leaves out stays."""
        why = clean_reason(reason)
        if not changes:
            _refuse("body", "names nothing to change")

        def draft(_: Write, memories: Sequence[WholeMemory]) -> MemoryDraft:
            (memory,) = memories
            new = corrected(memory, changes, principal, self.platform.clock())
            same = says_the_same(new, memory)
            return memory.draft() if same else _with_edit(new, "corrected", memories, why)

        work = partial(self._replacing, principal, [memory_id], "memory.corrected", draft)
        return self.write_once(principal, work, idempotency)

    def merge(
        self,
        principal: Principal,
        memory_id: UUID,
        other_id: UUID,
        *,
        text: str | None,
        reason: str,
        idempotency: IdempotencyKey | None = None,
    ) -> Edited:
        """Put one memory in the place of two; without a text it says what both say."""
        why = clean_reason(reason)
        if memory_id == other_id:
            _refuse("with", "names the same memory; a merge takes two")

        def draft(_: Write, memories: Sequence[WholeMemory]) -> MemoryDraft:
            first, other = memories
            _require_like(first, other)
            fields = {"text": text if text is not None else both_texts(first.text, other.text)}
            new = merged(first, other, corrected(first, fields, principal, self.platform.clock()))
            return _with_edit(new, "merged", memories, why)

        ids = [memory_id, other_id]
        work = partial(self._replacing, principal, ids, "memory.merged", draft)
        return self.write_once(principal, work, idempotency)

    def move(
        self,
        principal: Principal,
        memory_id: UUID,
        to: Move,
        *,
        reason: str,
        idempotency: IdempotencyKey | None = None,
    ) -> Edited:
        """Give a memory to another client, scope or agents; whom it was taken from sees it no more.

        Denied for a client, a scope or agents that the principal may not write for.
        """
        why = clean_reason(reason)
        client = clean_name(to.client_id, "client_id")
        if client is not None:
            principal.require_client(client)
        if to == Move():
            _refuse("body", "names no client_id, scope or agents to move to")
        scope = principal.writing_scope(to.scope) if to.scope else None
        agents = tagged_agents(to.agents, principal) if to.agents is not None else None
        owners = (("client", client),) if client and client != GLOBAL_CLIENT else ()

        def draft(write: Write, memories: Sequence[WholeMemory]) -> MemoryDraft:
            (memory,) = memories
            subjects = memory.data_subjects
            if client is not None and client != memory.client_id:
                left = set(write.stores.subjects.find([("client", memory.client_id)]).values())
                subject_ids = write.resolution.subjects_of(owners)
                subjects = tuple(sorted({*subjects, *subject_ids} - left))
            audience = Audience(
                scope=scope or memory.scope,
                agents=agents if to.agents is not None else memory.agents,
                data_subjects=subjects,
            )
            new = replace(memory.draft(), audience=audience, client_id=client or memory.client_id)
            return new if new == memory.draft() else _with_edit(new, "moved", memories, why)

        work = partial(
            self._replacing, principal, [memory_id], "memory.moved", draft, owners=owners
        )
        return self.write_once(principal, work, idempotency)

    def mark(
        self,
        principal: Principal,
        memory_id: UUID,
        mark: Mark,
        *,
        reason: str | None = None,
        idempotency: IdempotencyKey | None = None,
    ) -> Edited:
        """Pin a memory or not, keep it from recall or not; what is so already stays so."""
        why = clean_reason(reason) if reason is not None else ""

        def prepared() -> Work[Edited]:
            memories = self._look(principal, [memory_id])
            subjects = {subject for memory in memories.values() for subject in memory.data_subjects}
            return Work(
                resolution=resolve(self.platform, principal, (), subjects),
                do=partial(_mark, principal, memory_id, mark, why),
                keep=stored_answer,
                read=edit_of,
            )

        require_writer(principal)
        return self.write_once(principal, prepared, idempotency)

    def _replacing(
        self,
        principal: Principal,
        ids: Sequence[UUID],
        type_: str,
        draft: Any,
        owners: Collection[tuple[str, str]] = (),
    ) -> Work[Edited]:
        require_writer(principal)
        memories = self._look(principal, ids)
        subjects = {subject for memory in memories.values() for subject in memory.data_subjects}
        return Work(
            resolution=resolve(self.platform, principal, owners, subjects),
            do=partial(_replace, principal, ids, type_, draft),
            keep=stored_answer,
            read=edit_of,
        )

    def _look(self, principal: Principal, ids: Sequence[UUID]) -> Mapping[UUID, WholeMemory]:
        with self.platform.transactions.reading(principal) as stores:
            return stores.memories.whole(ids)


def clean_reason(reason: str) -> str:
    """Return why something is done, without secrets; ValidationFailed for none, or a long one."""
    return scrub(clean_text(reason, field="reason", max_chars=MAX_REASON_CHARS)).text


def _replace(
    principal: Principal, ids: Sequence[UUID], type_: str, draft: Any, write: Write
) -> Edited:
    memories = visible_memories(write.stores, ids, principal)
    new: MemoryDraft = draft(write, memories)
    repeat = _done_before(write.stores, new, memories)
    if repeat is not None:
        return repeat
    for memory in memories:
        _require_editable(write.stores, memory)
    if len(memories) == 1 and new == memories[0].draft():
        return unchanged(memories[0])
    _require_free(write.stores, new, memories)
    write.register()
    moves = type_ == "memory.moved"
    replacement = _Replacement(
        type=type_,
        draft=new,
        sources=() if moves else memories,
        moved=memories[0] if moves else None,
        node_id=write.entries.new_id(),
    )
    position = _plan(write, replacement)
    write.append()
    touched = dict.fromkeys([replacement.node_id, *replacement.changed])
    edited = Edited(
        outcome=EditOutcome.CREATED,
        id=replacement.node_id,
        position=position,
        replaced=tuple(memory.id for memory in memories),
        warnings=new.warnings(),
    )
    write.wake_embed(touched)
    return edited


def _plan(write: Write, replacement: _Replacement) -> int:
    """Add the entries and return the position of the new memory's."""
    draft, stores = replacement.draft, write.stores
    context = _neighbours(stores, replacement)
    if replacement.moved is not None:
        gone = {
            key: change
            for key, change in replacement.changed.items()
            if change[0].id != replacement.node_id
        }
        write.entries.add(
            "memory.deleted",
            {
                "node_ids": [str(replacement.moved.id)],
                "moved_to": str(replacement.node_id),
                "recontexted": recontexted_meta(gone.values()),
            },
            {},
            data_subjects=replacement.moved.data_subjects,
            occurred_at=write.now,
            texts=texts_of(*(message for _, message in gone.values())),
        )
    chain = chain_key(draft)
    links = stores.memories.links([(chain, draft.valid_from)]).get(chain, ()) if chain else ()
    taken = {memory.id for memory in replacement.of}
    placement = placement_of(
        draft, replacement.sources, [link for link in links if link.id not in taken]
    )
    stays = replacement.moved is None
    changed = replacement.changed.values() if stays else ()
    meta = {
        **replacement_meta(draft, replacement.node_id, placement, replacement.sources),
        "context": [str(item.id) for item in context],
        "recontexted": recontexted_meta(changed),
    }
    stated = stores.memories.edges([memory.id for memory in replacement.of])
    return write.entries.add(
        replacement.type,
        meta,
        replacement_body(draft, replacement.node_id, replacement.of, stated, derived=stays),
        data_subjects=draft.audience.data_subjects,
        occurred_at=draft.occurred_at,
        session_id=draft.session_id,
        trace_id=draft.trace_id,
        parent_id=draft.parent_id,
        texts=texts_of(context, *(message for _, message in changed)),
    )


def _neighbours(stores: Stores, replacement: _Replacement) -> tuple[Message, ...]:
    """Return the context of the new message; in `changed` those of the messages around it.

    Who replaces a message of a session stands where it stood; one that moves out leaves a gap, and
    comes without a context.
    """
    session, context = session_of(replacement.draft), ()
    for memory in replacement.of:
        if memory.session is None or memory.sequence is None:
            continue
        conversation = messages_around(stores, memory.session, memory.sequence)
        old = Message(id=memory.id, sequence=memory.sequence, text=memory.text)
        dependants = conversation.dependants(old)
        conversation.remove(memory.id)
        if session == memory.session and replacement.draft.sequence is not None:
            new = Message(
                id=replacement.node_id,
                sequence=replacement.draft.sequence,
                text=replacement.draft.text,
            )
            conversation.add(new)
            context = conversation.context(new)
        replacement.changed.update(
            {each.id: (each, conversation.context(each)) for each in dependants}
        )
    return context


def messages_around(stores: Stores, session: Session, sequence: int) -> Conversation:
    """Return a session's messages around a number."""
    return Conversation(stores.memories.messages(session, sequence, sequence))


def _mark(principal: Principal, memory_id: UUID, mark: Mark, reason: str, write: Write) -> Edited:
    (memory,) = visible_memories(write.stores, [memory_id], principal)
    if memory.state == State.DELETED or (
        memory.state == State.QUARANTINED and not memory.never_recall
    ):
        raise _unknown(memory_id)
    if _is_marked(memory, mark):
        return unchanged(memory)
    meta: dict[str, Any] = {"node_id": str(memory_id)}
    if mark in (Mark.PINNED, Mark.UNPINNED):
        type_, meta["pinned"] = "memory.pinned", mark is Mark.PINNED
    elif mark is Mark.NEVER_RECALL:
        type_ = "memory.withheld"
        derived = write.stores.memories.made_of(memory_id)
        meta["cleared"] = [str(row["id"]) for row in derived if row["entity"]]
        meta["summaries"] = [str(row["id"]) for row in derived if not row["entity"]]
    else:
        type_, meta["superseded"] = "memory.released", memory.superseded_by is not None
        if memory.superseded_by is None:
            require_place(write.stores, memory)
    position = write.entries.add(
        type_,
        meta,
        {"reason": reason} if reason else {},
        data_subjects=memory.data_subjects,
        occurred_at=write.now,
    )
    write.append()
    edited = Edited(outcome=EditOutcome.CHANGED, id=memory_id, position=position)
    write.wake_embed([memory_id])
    return edited


def _is_marked(memory: WholeMemory, mark: Mark) -> bool:
    if mark in (Mark.PINNED, Mark.UNPINNED):
        return memory.pinned is (mark is Mark.PINNED)
    return memory.never_recall is (mark is Mark.NEVER_RECALL)


def visible_memories(
    stores: Stores, ids: Sequence[UUID], principal: Principal
) -> tuple[WholeMemory, ...]:
    """Return the memories, which are the principal's to change."""
    memories = stores.memories.whole(ids)
    for id_ in ids:
        if id_ not in memories:
            raise _unknown(id_)
        principal.require_client(memories[id_].client_id)
    return tuple(memories[id_] for id_ in ids)


def _done_before(
    stores: Stores, draft: MemoryDraft, memories: Sequence[WholeMemory]
) -> Edited | None:
    """Return what the same request made when it came first; None when it did not."""
    successors = {memory.superseded_by for memory in memories}
    (successor, *others) = successors
    if successor is None or others:
        return None
    replacement = stores.memories.whole([successor]).get(successor)
    if replacement is None or not is_successor(draft, replacement):
        return None
    return Edited(
        outcome=EditOutcome.DUPLICATE,
        id=replacement.id,
        position=replacement.position,
        replaced=tuple(memory.id for memory in memories),
    )


def _require_editable(stores: Stores, memory: WholeMemory) -> None:
    """Raise Conflict that says what stands in the memory's place, NotFound when nothing does."""
    if memory.never_recall:
        raise Conflict(
            "This memory is kept from recall; let it be recalled first, then edit it.",
            reason="never-recall",
            memory_id=str(memory.id),
        )
    if memory.state in EDITABLE:
        return
    by = memory.superseded_by
    seen = by is not None and by in stores.memories.whole([by])
    if by is None or not seen:
        raise _unknown(memory.id)
    raise Conflict(
        f"This memory was replaced meanwhile: read {by}, which stands in its place, and edit that.",
        reason="replaced",
        memory_id=str(memory.id),
        superseded_by=str(by),
    )


def _require_free(stores: Stores, draft: MemoryDraft, memories: Sequence[WholeMemory]) -> None:
    """Raise Conflict when another memory says just that to just these readers."""
    taken = stores.memories.standing(dedup_key(draft), None, [memory.id for memory in memories])
    if taken is not None:
        raise Conflict(
            f"The memory {taken} says exactly this already: delete this one, or merge the two.",
            reason="said-already",
            memory_id=str(taken),
        )


def require_place(stores: Stores, memory: WholeMemory) -> None:
    """Raise Conflict when another memory stands where this one would."""
    taken = stores.memories.standing(memory.dedup_key, memory.chain_key, [memory.id])
    if taken is not None:
        raise Conflict(
            f"The memory {taken} stands in the place of this one now: delete it first, or leave "
            "this one kept from recall.",
            reason="replaced",
            memory_id=str(taken),
        )


def _require_like(first: WholeMemory, other: WholeMemory) -> None:
    """Raise Conflict for memories of different kinds, or that not the same readers see."""
    if first.kind != other.kind:
        raise Conflict(
            f"A {first.kind} and a {other.kind} cannot become one memory.", reason="different-kinds"
        )
    audience, two = first.audience, other.audience
    if (first.client_id, audience.scope, audience.agents) != (
        other.client_id,
        two.scope,
        two.agents,
    ):
        raise Conflict(
            "These memories are of different clients, scopes or agents: move one of them first.",
            reason="different-readers",
        )
    if len(conversations_of([first, other])) > 1:
        raise Conflict(
            "These memories were drawn from different conversations, whose readers differ.",
            reason="different-readers",
        )


def both_texts(first: str, other: str) -> str:
    """Return what two memories say, once where one says all of the other."""
    if other in first:
        return first
    return other if first in other else f"{first}\n{other}"


def _with_edit(
    draft: MemoryDraft, how: str, memories: Sequence[WholeMemory], reason: str
) -> MemoryDraft:
    of = [memory.id for memory in memories]
    return replace(draft, metadata=edited_metadata(draft, how, of, reason))


def unchanged(memory: WholeMemory) -> Edited:
    """Return that nothing was written: the memory is so already."""
    return Edited(outcome=EditOutcome.UNCHANGED, id=memory.id, position=memory.position)


def _unknown(memory_id: UUID) -> NotFound:
    return NotFound("There is no such memory.", memory_id=str(memory_id))


def stored_answer(edited: Edited) -> dict[str, Any]:
    """Return an edit as it is kept for the same request."""
    return {
        "outcome": edited.outcome.value,
        "id": str(edited.id),
        "position": edited.position,
        "replaced": [str(id_) for id_ in edited.replaced],
        "warnings": list(edited.warnings),
    }


def edit_of(answer: Mapping[str, Any]) -> Edited:
    """Return the edit that was kept, which is told again."""
    return Edited(
        outcome=EditOutcome(answer["outcome"]),
        id=UUID(answer["id"]),
        position=answer["position"],
        replaced=tuple(UUID(id_) for id_ in answer["replaced"]),
        warnings=tuple(answer["warnings"]),
        replayed=True,
    )


def _refuse(field_: str, message: str) -> NoReturn:
    raise ValidationFailed(f"{field_} {message}.", errors=[FieldError(field_, message)])
