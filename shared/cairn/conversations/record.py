"""Record what is said in conversations: the use cases behind `POST /v1/conversations/...`.

A web chat enters the records with the second message of its user; until then its messages wait,
sealed under the keys of their data subjects, and are written with it, in order, in one transaction.
Other channels keep every message at once, before anybody decides whether its sender is let in.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.conversations.messages import (
    DEFERRED,
    MessageRole,
    NewMessage,
    draft_message,
    from_body,
    message_owners,
    to_body,
)
from cairn.conversations.plan import CHANGED, ConversationPlan, PendingMessage, changing
from cairn.kernel.access import Role
from cairn.kernel.errors import Conflict, NotFound
from cairn.ledger.keys import BodyUnreadable
from cairn.writing.checks import refuse, require_writer
from cairn.writing.subjects import SubjectRegisteredMeanwhile, resolve
from cairn.writing.writer import Work, Write, Writer, open_write

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from cairn.conversations.messages import MessageDraft
    from cairn.conversations.plan import StoredConversation
    from cairn.kernel.access import Principal
    from cairn.writing.checks import Owner
    from cairn.writing.items import IdempotencyKey
    from cairn.writing.platform import Platform
    from cairn.writing.subjects import Resolution

PENDING_LIFETIME = timedelta(hours=24)
"""How long a web chat's first messages wait for the user's second one."""

MAX_PENDING = 50
"""Messages that may wait in one web chat; the user's second one is always taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRecorded:
    """What became of a message.

    `persisted` False: it waits until `expires_at` for the user's second message. `written` are the
    messages this call wrote, in order: those that waited and then this one; empty while waiting.
    """

    conversation_id: UUID
    message_id: UUID
    persisted: bool
    position: int | None = None
    written: tuple[UUID, ...] = ()
    pending: int = 0
    expires_at: datetime | None = None
    warnings: tuple[str, ...] = ()
    replayed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Saying:
    """One message on its way, with what was looked up before the lock."""

    draft: MessageDraft
    wanted: tuple[Owner, ...]
    message_id: UUID
    resolution: Resolution
    waiting: Mapping[UUID, MessageDraft | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordMessage(Writer):
    """Records one message of a conversation, which begins with its first recorded one.

    Raises Denied for a principal that may not write, ValidationFailed or TooLarge naming the field,
    Conflict (`too-many-pending`) when a web chat's user stays silent, Unavailable when nothing
    could be written.
    """

    def __call__(
        self,
        principal: Principal,
        message: NewMessage,
        *,
        idempotency: IdempotencyKey | None = None,
    ) -> MessageRecorded:
        """Write the message, or let it wait."""
        require_writer(principal)
        draft = draft_message(message, principal, self.platform.clock())
        owners, message_id = message_owners(draft, message.data_subjects), self.platform.new_id()

        def prepared() -> Work[MessageRecorded]:
            saying = self._prepared(principal, draft, owners, message_id)
            return Work(
                resolution=saying.resolution,
                do=partial(_say, saying),
                keep=_answer,
                read=_from_answer,
            )

        return self.write_once(principal, prepared, idempotency)

    def _prepared(
        self,
        principal: Principal,
        draft: MessageDraft,
        owners: tuple[Owner, ...],
        message_id: UUID,
    ) -> _Saying:
        """Look up what needs keys: nothing of it may happen while the ledger is locked."""
        with self.platform.transactions.reading(principal) as stores:
            present = stores.conversations.find(draft.identity())
            waiting = stores.conversations.pending(draft.identity(), self.platform.clock())
        of_others = present.data_subjects if present and _inherits(draft) else ()
        resolution = resolve(self.platform, principal, owners, of_others)
        subjects = {subject for message in waiting for subject in message.data_subjects}
        keys = {
            **self.platform.keys.get(principal.workspace_id, subjects),
            **resolution.keys,
        }
        return _Saying(
            draft=draft,
            wanted=owners,
            message_id=message_id,
            resolution=replace(resolution, keys=keys),
            waiting={
                item.id: open_waiting(self.platform, principal, item, keys) for item in waiting
            },
        )


def open_waiting(
    platform: Platform, principal: Principal, message: PendingMessage, keys: Mapping[UUID, bytes]
) -> MessageDraft | None:
    """Return the draft that waits, None when its data subject was forgotten meanwhile."""
    subjects = message.data_subjects or (principal.workspace_id,)
    try:
        body = platform.cipher.open(
            message.id, principal.workspace_id, subjects, keys, message.body
        )
    except BodyUnreadable:
        return None
    return from_body(body, message.data_subjects)


def _say(saying: _Saying, write: Write) -> MessageRecorded:
    write.register()
    conversations, identity = write.stores.conversations, saying.draft.identity()
    present = conversations.find(identity)
    waiting = [] if present else list(conversations.pending(identity, write.now))
    if any(item.id not in saying.waiting for item in waiting):
        raise SubjectRegisteredMeanwhile("Another message came to wait meanwhile.")
    draft = _owned(saying, present, waiting)
    if present is None and _must_wait(draft, waiting):
        return _wait(write, saying, draft, waiting)
    return _record(write, saying, draft, present, waiting)


def _owned(
    saying: _Saying, present: StoredConversation | None, waiting: Sequence[PendingMessage]
) -> MessageDraft:
    """Return the draft with its data subjects: an answer is about whom it answers, too."""
    subjects = set(saying.resolution.subjects_of(saying.wanted))
    if _inherits(saying.draft):
        opened = [message.data_subjects for message in waiting if saying.waiting[message.id]]
        subjects.update(*([present.data_subjects] if present else opened[:1]))
    if any(subject not in saying.resolution.keys for subject in subjects):
        raise SubjectRegisteredMeanwhile("The conversation was begun meanwhile.")
    return saying.draft.owned_by(tuple(sorted(subjects)))


def _wait(
    write: Write,
    saying: _Saying,
    draft: MessageDraft,
    waiting: Sequence[PendingMessage],
) -> MessageRecorded:
    if len(waiting) >= MAX_PENDING:
        raise Conflict(
            f"{MAX_PENDING} messages wait for the user's second one; no more are taken.",
            reason="too-many-pending",
        )
    entries, conversations = write.entries, write.stores.conversations
    if not waiting:
        conversations.settle(draft.identity())  # what expired makes room
    write.append()
    subjects = draft.audience.data_subjects
    message = PendingMessage(
        id=saying.message_id,
        conversation_id=waiting[0].conversation_id if waiting else entries.new_id(),
        identity=draft.identity(),
        sequence=waiting[-1].sequence + 1 if waiting else 1,
        by_user=draft.role is MessageRole.USER,
        data_subjects=subjects,
        body=entries.seal(saying.message_id, subjects, to_body(draft)),
        created_at=write.now,
        expires_at=waiting[0].expires_at if waiting else write.now + PENDING_LIFETIME,
    )
    conversations.wait(message)
    return MessageRecorded(
        conversation_id=message.conversation_id,
        message_id=message.id,
        persisted=False,
        pending=len(waiting) + 1,
        expires_at=message.expires_at,
        warnings=draft.warnings(),
    )


def _record(
    write: Write,
    saying: _Saying,
    draft: MessageDraft,
    present: StoredConversation | None,
    waiting: Sequence[PendingMessage],
) -> MessageRecorded:
    waiting_drafts = [(message.id, saying.waiting[message.id]) for message in waiting]
    drafts = [
        (one_id, earlier_draft) for one_id, earlier_draft in waiting_drafts if earlier_draft
    ] + [(saying.message_id, draft)]
    first = waiting[0].conversation_id if waiting else write.entries.new_id()
    plan = ConversationPlan(
        entries=write.entries,
        conversation_id=present.id if present else first,
        last=present.last if present else (),
    )
    if present is None:
        plan.open(drafts[0][1])
    for message_id, message_draft in drafts:
        plan.record(message_draft, message_id)
    position = write.append()[-1].position
    if present is None:
        write.stores.conversations.settle(draft.identity())
    recorded = MessageRecorded(
        conversation_id=plan.conversation_id,
        message_id=saying.message_id,
        persisted=True,
        position=position,
        written=tuple(plan.recorded),
        warnings=draft.warnings(),
    )
    write.wake_embed(plan.recorded)
    return recorded


@dataclass(frozen=True, slots=True)
class BindKey:
    """Binds a public key to the one conversation it may see; Denied unless by an admin.

    The binding stands in the database under the key's id, which comes from the key itself: no
    request can name another conversation. It is for good, as the key is in a visitor's hands.
    """

    platform: Platform

    def keys_of(self, principal: Principal, conversation_id: UUID) -> Collection[UUID]:
        """Return the ids of the keys that see a conversation; Denied unless to an admin."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            return stores.conversations.keys_of(conversation_id)

    def __call__(self, principal: Principal, conversation_id: UUID, key_id: UUID) -> None:
        """Bind; again to the same conversation changes nothing.

        Raises NotFound for a conversation that is not visible, ValidationFailed for a key that is
        not a public one of this workspace, Conflict when it is bound to another conversation.
        """
        principal.require(Role.ADMIN)
        with open_write(self.platform, principal) as write:
            conversations = write.stores.conversations
            if not conversations.exists(conversation_id):
                raise NotFound("There is no such conversation.")
            if key_id not in conversations.public_key_ids():
                refuse("key_id", "is not a public key of this workspace")
            bound = conversations.bound_to(key_id)
            if bound == conversation_id:
                return
            if bound is not None:
                raise Conflict("This key belongs to another conversation.", reason="key-bound")
            meta = {"key_id": str(key_id), "conversation_id": str(conversation_id)}
            conversations.bind(key_id, conversation_id, write.note("key.bound", meta))


@dataclass(frozen=True, slots=True)
class ChangeConversation:
    """Says whether memories are drawn from a conversation; what was drawn already stays."""

    platform: Platform

    def __call__(self, principal: Principal, conversation_id: UUID, *, infer: bool) -> None:
        """Set it; the same again changes nothing. Raises NotFound when it is not visible."""
        require_writer(principal)
        with open_write(self.platform, principal) as write:
            present = write.stores.conversation_views.conversation(conversation_id)
            if present is None:
                raise NotFound("There is no such conversation.")
            if present.infer != infer:
                drawn = write.stores.conversations.drawn(conversation_id)
                write.note(CHANGED, changing(conversation_id, infer=infer, drawn=drawn))


def _must_wait(draft: MessageDraft, waiting: Sequence[PendingMessage]) -> bool:
    """Return whether a conversation that is not recorded stays so after this message."""
    if draft.channel not in DEFERRED:
        return False
    second = draft.role is MessageRole.USER and any(message.by_user for message in waiting)
    return not second


def _inherits(draft: MessageDraft) -> bool:
    return draft.role is not MessageRole.USER


def _answer(recorded: MessageRecorded) -> dict[str, Any]:
    return {
        "conversation_id": str(recorded.conversation_id),
        "message_id": str(recorded.message_id),
        "persisted": recorded.persisted,
        "position": recorded.position,
        "written": [str(item) for item in recorded.written],
        "pending": recorded.pending,
        "expires_at": recorded.expires_at.isoformat() if recorded.expires_at else None,
        "warnings": list(recorded.warnings),
    }


def _from_answer(answer: Mapping[str, Any]) -> MessageRecorded:
    expires_at = answer["expires_at"]
    return MessageRecorded(
        conversation_id=UUID(answer["conversation_id"]),
        message_id=UUID(answer["message_id"]),
        persisted=answer["persisted"],
        position=answer["position"],
        written=tuple(UUID(item) for item in answer["written"]),
        pending=answer["pending"],
        expires_at=datetime.fromisoformat(expires_at) if expires_at else None,
        warnings=tuple(answer["warnings"]),
        replayed=True,
    )
