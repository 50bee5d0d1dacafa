"""Record what is said in conversations: the use cases behind `POST /v1/conversations/...`.

A web chat enters the records with the second message of its user; until then its messages wait,
sealed under the keys of their data subjects, and are written with it, in order, in one transaction.
Other channels keep every message at once, before anybody decides whether its sender is let in.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.access import Role
from cairn.errors import Conflict, NotFound
from cairn.ingestion.appending import append_and_project, principal_actor
from cairn.ingestion.conversations_ports import ConversationStores, PendingMessage
from cairn.ingestion.drafting import refuse, require_writer
from cairn.ingestion.messages import (
    DEFERRED,
    MessageRole,
    NewMessage,
    draft_message,
    from_body,
    message_owners,
    to_body,
)
from cairn.ingestion.messages_plan import ConversationPlan
from cairn.ingestion.once import replayed_answer, save_answer
from cairn.ingestion.planning import Planned
from cairn.ingestion.ports import OutboxRow, Topic
from cairn.ingestion.subjects import SubjectRegisteredMeanwhile, retried
from cairn.ledger.entry import NewEntry
from cairn.ledger.keys import BodyUnreadable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from cairn.access import Principal
    from cairn.clock import Clock
    from cairn.ids import IdSource
    from cairn.ingestion.conversations_ports import StoredConversation
    from cairn.ingestion.drafting import Owner
    from cairn.ingestion.messages import MessageDraft
    from cairn.ingestion.ports import Dispatcher
    from cairn.ingestion.requests import IdempotencyKey
    from cairn.ingestion.subjects import Resolution, SubjectResolver
    from cairn.ledger.keys import BodyCipher
    from cairn.transaction import Transactions

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

    principal: Principal
    draft: MessageDraft
    wanted: tuple[Owner, ...]
    message_id: UUID
    resolution: Resolution
    waiting: Mapping[UUID, MessageDraft | None]
    keys: Mapping[UUID, bytes]
    idempotency: IdempotencyKey | None


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordMessage:
    """Records one message of a conversation, which begins with its first recorded one.

    Raises Denied for a principal that may not write, ValidationFailed or TooLarge naming the field,
    Conflict (`too-many-pending`) when a web chat's user stays silent, Unavailable when nothing
    could be written.
    """

    transactions: Transactions[ConversationStores]
    resolver: SubjectResolver
    cipher: BodyCipher
    dispatcher: Dispatcher
    clock: Clock
    new_id: IdSource

    def __call__(
        self,
        principal: Principal,
        message: NewMessage,
        *,
        idempotency: IdempotencyKey | None = None,
    ) -> MessageRecorded:
        """Write the message, or let it wait."""
        require_writer(principal)
        draft = draft_message(message, principal, self.clock())
        wanted, message_id = message_owners(draft, message.data_subjects), self.new_id()

        def attempt() -> tuple[MessageRecorded, list[OutboxRow]]:
            return self._write(self._prepared(principal, draft, wanted, message_id, idempotency))

        recorded, rows = retried(attempt)
        self.dispatcher.send(rows)
        return recorded

    def _prepared(
        self,
        principal: Principal,
        draft: MessageDraft,
        wanted: tuple[Owner, ...],
        message_id: UUID,
        idempotency: IdempotencyKey | None,
    ) -> _Saying:
        """Look up what needs keys: nothing of it may happen while the ledger is locked."""
        with self.transactions.reading(principal) as stores:
            present = stores.conversations.find(draft.identity())
            waiting = stores.conversations.pending(draft.identity(), self.clock())
        of_others = present.data_subjects if present and _inherits(draft) else ()
        resolution = self.resolver.resolve(principal, wanted, of_others)
        subjects = {one for message in waiting for one in message.data_subjects}
        keys = {
            **self.resolver.keys.get(principal.workspace_id, subjects),
            **resolution.keys,
        }
        return _Saying(
            principal=principal,
            draft=draft,
            wanted=wanted,
            message_id=message_id,
            resolution=resolution,
            waiting={one.id: self._opened(principal, one, keys) for one in waiting},
            keys=keys,
            idempotency=idempotency,
        )

    def _opened(
        self, principal: Principal, message: PendingMessage, keys: Mapping[UUID, bytes]
    ) -> MessageDraft | None:
        """Return the draft that waits, None when its data subject was forgotten meanwhile."""
        subjects = message.data_subjects or (principal.workspace_id,)
        try:
            body = self.cipher.open(
                message.id, principal.workspace_id, subjects, keys, message.body
            )
        except BodyUnreadable:
            return None
        return from_body(body, message.data_subjects)

    def _write(self, saying: _Saying) -> tuple[MessageRecorded, list[OutboxRow]]:
        once = saying.idempotency.key if saying.idempotency else None
        with self.transactions.writing(saying.principal, once=once) as stores:
            now = self.clock()
            answer = replayed_answer(stores.idempotency, saying.idempotency, now)
            if answer is not None:
                return _from_answer(answer), []
            saying.resolution.check(stores)
            identity = saying.draft.identity()
            present = stores.conversations.find(identity)
            waiting = [] if present else list(stores.conversations.pending(identity, now))
            if any(one.id not in saying.waiting for one in waiting):
                raise SubjectRegisteredMeanwhile("Another message came to wait meanwhile.")
            draft = self._owned(saying, present, waiting)
            if present is None and _must_wait(draft, waiting):
                recorded, rows = self._wait(stores, saying, draft, waiting, now), []
            else:
                recorded, rows = self._record(stores, saying, draft, (present, waiting), now)
            if saying.idempotency:
                save_answer(stores.idempotency, saying.idempotency, _answer(recorded), now)
            return recorded, rows

    def _owned(
        self, saying: _Saying, present: StoredConversation | None, waiting: Sequence[PendingMessage]
    ) -> MessageDraft:
        """Return the draft with its data subjects: an answer is about whom it answers, too."""
        subjects = set(saying.resolution.subjects_of(saying.wanted))
        if _inherits(saying.draft):
            opened = [one.data_subjects for one in waiting if saying.waiting[one.id]]
            subjects.update(*([present.data_subjects] if present else opened[:1]))
        if any(one not in saying.keys for one in subjects):
            raise SubjectRegisteredMeanwhile("The conversation was begun meanwhile.")
        return saying.draft.owned_by(tuple(sorted(subjects)))

    def _wait(
        self,
        stores: ConversationStores,
        saying: _Saying,
        draft: MessageDraft,
        waiting: Sequence[PendingMessage],
        now: datetime,
    ) -> MessageRecorded:
        if len(waiting) >= MAX_PENDING:
            raise Conflict(
                f"{MAX_PENDING} messages wait for the user's second one; no more are taken.",
                reason="too-many-pending",
            )
        if not waiting:
            stores.conversations.settle(draft.identity())  # what expired makes room
        plan = self._plan(saying, self.new_id(), None, now)
        plan.register(saying.resolution.new)
        append_and_project(stores, plan.planned, now)
        subjects = draft.audience.data_subjects
        message = PendingMessage(
            id=saying.message_id,
            conversation_id=waiting[0].conversation_id if waiting else plan.conversation_id,
            identity=draft.identity(),
            sequence=waiting[-1].sequence + 1 if waiting else 1,
            by_user=draft.role is MessageRole.USER,
            data_subjects=subjects,
            body=_seal(self.cipher, saying)(saying.message_id, subjects, to_body(draft)),
            created_at=now,
            expires_at=waiting[0].expires_at if waiting else now + PENDING_LIFETIME,
        )
        stores.conversations.wait(message)
        return MessageRecorded(
            conversation_id=message.conversation_id,
            message_id=message.id,
            persisted=False,
            pending=len(waiting) + 1,
            expires_at=message.expires_at,
            warnings=draft.warnings(),
        )

    def _record(
        self,
        stores: ConversationStores,
        saying: _Saying,
        draft: MessageDraft,
        before: tuple[StoredConversation | None, Sequence[PendingMessage]],
        now: datetime,
    ) -> tuple[MessageRecorded, list[OutboxRow]]:
        present, waiting = before
        said = [(one.id, saying.waiting[one.id]) for one in waiting]
        drafts = [(one_id, one) for one_id, one in said if one] + [(saying.message_id, draft)]
        first = waiting[0].conversation_id if waiting else self.new_id()
        plan = self._plan(saying, first, present, now)
        plan.register(saying.resolution.new)
        if present is None:
            plan.open(drafts[0][1])
        for message_id, one in drafts:
            plan.record(one, message_id)
        position = append_and_project(stores, plan.planned, now)[-1].position
        if present is None:
            stores.conversations.settle(draft.identity())
        row = OutboxRow(
            workspace_id=saying.principal.workspace_id,
            id=self.new_id(),
            topic=Topic.EMBED,
            position=position,
            node_ids=tuple(plan.recorded),
        )
        stores.outbox.add(row, now)
        recorded = MessageRecorded(
            conversation_id=plan.conversation_id,
            message_id=saying.message_id,
            persisted=True,
            position=position,
            written=tuple(plan.recorded),
            warnings=draft.warnings(),
        )
        return recorded, [row]

    def _plan(
        self,
        saying: _Saying,
        conversation_id: UUID,
        present: StoredConversation | None,
        now: datetime,
    ) -> ConversationPlan:
        return ConversationPlan(
            workspace_id=saying.principal.workspace_id,
            conversation_id=present.id if present else conversation_id,
            actor=principal_actor(saying.principal),
            now=now,
            new_id=self.new_id,
            seal=_seal(self.cipher, saying),
            last=present.last if present else (),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class BindKey:
    """Binds a public key to the one conversation it may see; Denied unless by an admin.

    The binding stands in the database under the key's id, which comes from the key itself: no
    request can name another conversation. It is for good, as the key is in a visitor's hands.
    """

    transactions: Transactions[ConversationStores]
    clock: Clock
    new_id: IdSource

    def __call__(self, principal: Principal, conversation_id: UUID, key_id: UUID) -> None:
        """Bind; again to the same conversation changes nothing.

        Raises NotFound for a conversation that is not visible, ValidationFailed for a key that is
        not a public one of this workspace, Conflict when it is bound to another conversation.
        """
        principal.require(Role.ADMIN)
        with self.transactions.writing(principal) as stores:
            if not stores.conversations.exists(conversation_id):
                raise NotFound("There is no such conversation.")
            if key_id not in stores.conversations.public_key_ids():
                refuse("key_id", "is not a public key of this workspace")
            bound = stores.conversations.bound_to(key_id)
            if bound == conversation_id:
                return
            if bound is not None:
                raise Conflict("This key belongs to another conversation.", reason="key-bound")
            now = self.clock()
            entry = NewEntry(
                id=self.new_id(),
                workspace_id=principal.workspace_id,
                type="key.bound",
                actor=principal_actor(principal),
                occurred_at=now,
                meta={"key_id": str(key_id), "conversation_id": str(conversation_id)},
            )
            sealed = append_and_project(stores, [Planned(entry=entry, body={})], now)[-1]
            stores.conversations.bind(key_id, conversation_id, sealed.position)


def _must_wait(draft: MessageDraft, waiting: Sequence[PendingMessage]) -> bool:
    """Return whether a conversation that is not recorded stays so after this message."""
    if draft.channel not in DEFERRED:
        return False
    second = draft.role is MessageRole.USER and any(one.by_user for one in waiting)
    return not second


def _inherits(draft: MessageDraft) -> bool:
    return draft.role is not MessageRole.USER


def _seal(
    cipher: BodyCipher, saying: _Saying
) -> Callable[[UUID, tuple[UUID, ...], Mapping[str, Any]], bytes]:
    workspace_id = saying.principal.workspace_id

    def seal(entry_id: UUID, subjects: tuple[UUID, ...], body: Mapping[str, Any]) -> bytes:
        keys = {one: saying.keys[one] for one in subjects or (workspace_id,)}
        return cipher.seal(entry_id, workspace_id, keys, body)

    return seal


def _answer(recorded: MessageRecorded) -> dict[str, Any]:
    return {
        "conversation_id": str(recorded.conversation_id),
        "message_id": str(recorded.message_id),
        "persisted": recorded.persisted,
        "position": recorded.position,
        "written": [str(one) for one in recorded.written],
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
        written=tuple(UUID(one) for one in answer["written"]),
        pending=answer["pending"],
        expires_at=datetime.fromisoformat(expires_at) if expires_at else None,
        warnings=tuple(answer["warnings"]),
        replayed=True,
    )
