"""Record a whole transcript: every turn a message of one conversation, each once.

The same transcript again writes nothing, a longer one what is new: a turn is known by who said what
in the conversation, and when, where the caller says when.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from cairn.conversations.messages import (
    Channel,
    MessageDraft,
    MessageRole,
    NewMessage,
    draft_message,
    message_owners,
)
from cairn.conversations.plan import ConversationPlan
from cairn.conversations.record import open_waiting
from cairn.kernel.errors import CairnError, FieldError, ValidationFailed
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.scrub import scrub, scrub_value
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.checks import MAX_TEXT_CHARS, refuse, require_writer
from cairn.writing.subjects import SubjectRegisteredMeanwhile, resolve
from cairn.writing.writer import Work, Write, Writer

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal, Scope
    from cairn.writing.checks import Owner
    from cairn.writing.subjects import Resolution

MAX_TURNS = 2_000
MAX_TURN_CHARS = 1_000_000
"""Of one turn; what a message cannot hold becomes several messages."""

MAX_CALLS = 100
AT_ONCE = 200
"""Messages written in one transaction: others wait for the ledger meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewToolCall:
    """A tool that a turn called, with its arguments as they were sent."""

    name: str
    arguments: Mapping[str, Any] | str = field(default_factory=dict[str, Any])
    id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """One turn as the caller wrote it. `tool_call_id` says which call a tool's answer is of."""

    role: MessageRole
    text: str = ""
    occurred_at: datetime | None = None
    sender: str | None = None
    tool_calls: tuple[NewToolCall, ...] = ()
    tool_call_id: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTranscript:
    """A conversation as its host holds it, named as its messages are: by channel and session."""

    session_id: str
    messages: tuple[NewTurn, ...]
    channel: Channel = Channel.API
    client_id: str = GLOBAL_CLIENT
    scope: Scope | None = None
    agents: tuple[str, ...] = ()
    data_subjects: tuple[str, ...] = ()
    infer: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class SaidMessage:
    """A message that a conversation has already."""

    id: UUID
    role: str
    sender: str | None
    content_hash: str
    occurred_at: datetime
    data_subjects: tuple[UUID, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnDraft:
    """A turn's message checked and scrubbed. `timed`: the caller said when; `place`: which turn."""

    place: int
    draft: MessageDraft
    timed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class TranscriptRecorded:
    """The conversation, the message of each draft in order, and which of them are new."""

    conversation_id: UUID
    message_ids: tuple[UUID, ...]
    new: tuple[UUID, ...]
    warnings: tuple[str, ...] = ()


def draft_turns(
    transcript: NewTranscript, principal: Principal, now: datetime
) -> tuple[TurnDraft, ...]:
    """Return the messages of a transcript; a turn that is too long for one becomes several.

    Raises ValidationFailed or TooLarge naming the turn, Denied for a scope or an agent the
    principal may not write for.
    """
    if not 1 <= len(transcript.messages) <= MAX_TURNS:
        refuse("messages", f"are 1 to {MAX_TURNS}, not {len(transcript.messages)}")
    drafts: list[TurnDraft] = []
    for place, turn in enumerate(transcript.messages):
        try:
            drafts += _drafted(transcript, turn, place, principal, now)
        except CairnError as error:
            raise _in_turn(error, place) from error
    return tuple(drafts)


def _drafted(
    transcript: NewTranscript, turn: NewTurn, place: int, principal: Principal, now: datetime
) -> Iterable[TurnDraft]:
    # scrubbed whole: a secret must not be cut in two
    text = scrub(clean_text(text_of(turn), field="text", max_chars=MAX_TURN_CHARS)).text
    for part in cut(text):
        new = NewMessage(
            channel=transcript.channel,
            session_id=transcript.session_id,
            role=turn.role,
            text=part,
            occurred_at=turn.occurred_at,
            sender=turn.sender,
            client_id=transcript.client_id,
            scope=transcript.scope,
            agents=transcript.agents,
            infer=transcript.infer,
        )
        draft = draft_message(new, principal, now)
        yield TurnDraft(place=place, draft=draft, timed=turn.occurred_at is not None)


def text_of(turn: NewTurn) -> str:
    """Return what a turn says: its text, then a line for each tool that it called."""
    if len(turn.tool_calls) > MAX_CALLS:
        refuse("tool_calls", f"are more than {MAX_CALLS}")
    lines = [turn.text] if turn.text.strip() else []
    for call in turn.tool_calls:
        arguments = call.arguments
        text = arguments if isinstance(arguments, str) else _json(arguments)
        lines.append(f"[called {call.name}({text})]")
    return "\n".join(lines)


def _json(arguments: Mapping[str, Any]) -> str:
    """Return arguments as JSON, without what their names say is a secret."""
    return json.dumps(scrub_value(dict(arguments))[0], ensure_ascii=False)


def cut(text: str) -> Sequence[str]:
    """Return a text in parts that messages can hold, cut at a line or a space if there is one."""
    parts: list[str] = []
    while len(text) > MAX_TEXT_CHARS:
        end = max(text.rfind("\n", 1, MAX_TEXT_CHARS), text.rfind(" ", 1, MAX_TEXT_CHARS))
        end = end if end > MAX_TEXT_CHARS // 2 else MAX_TEXT_CHARS
        parts.append(text[:end])
        text = text[end:]
    return [part for part in (*parts, text) if part.strip()]


def _in_turn(error: CairnError, place: int) -> CairnError:
    """Return the error with its fields named under the turn that has it."""
    if not isinstance(error, ValidationFailed):
        return error
    fields = [
        FieldError(f"messages[{place}].{fault.location}", fault.message) for fault in error.errors
    ]
    return type(error)(f"messages[{place}]: {error.detail}", reason=error.reason, errors=fields)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordTranscript(Writer):
    """Records what a conversation does not have yet of a transcript, in its order.

    Raises Denied for a principal that may not write, Unavailable when nothing could be written; a
    part that was written before stays, and is found there by the next call.
    """

    def __call__(
        self, principal: Principal, drafts: Sequence[TurnDraft], data_subjects: tuple[str, ...]
    ) -> TranscriptRecorded:
        """Write the messages, a part at a time."""
        require_writer(principal)
        new: list[UUID] = []
        for end in range(AT_ONCE, len(drafts), AT_ONCE):
            # what went before is matched again: a text said twice is two messages
            new += self._written(principal, drafts[:end], data_subjects).new
        whole = self._written(principal, drafts, data_subjects)
        warnings = dict.fromkeys(note for each in drafts for note in each.draft.warnings())
        return replace(whole, new=(*new, *whole.new), warnings=tuple(warnings))

    def _written(
        self, principal: Principal, drafts: Sequence[TurnDraft], data_subjects: tuple[str, ...]
    ) -> TranscriptRecorded:
        owners_of_each = [message_owners(each.draft, data_subjects) for each in drafts]

        def prepared() -> Work[TranscriptRecorded]:
            identity = drafts[0].draft.identity()
            with self.platform.transactions.reading(principal) as stores:
                present = stores.conversations.find(identity)
                waiting = stores.conversations.pending(identity, self.platform.clock())
            of_others = present.data_subjects if present else ()
            owners = dict.fromkeys(owner for each in owners_of_each for owner in each)
            resolution = resolve(self.platform, principal, tuple(owners), of_others)
            subjects = {subject for message in waiting for subject in message.data_subjects}
            # a key that is gone is not made anew: what waits under it is not written
            keys = {**self.platform.keys.get(principal.workspace_id, subjects), **resolution.keys}
            resolution = replace(resolution, keys=keys)
            opened = {
                item.id: open_waiting(self.platform, principal, item, keys) for item in waiting
            }
            work = _Transcript(
                drafts=drafts, wanted=owners_of_each, resolution=resolution, waiting=opened
            )
            return Work(
                resolution=resolution, do=partial(_record, work), keep=_stored_answer, read=_unread
            )

        return self.write_once(principal, prepared, None)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Transcript:
    """A transcript on its way, with what was looked up before the lock."""

    drafts: Sequence[TurnDraft]
    wanted: Sequence[tuple[Owner, ...]]
    resolution: Resolution
    waiting: Mapping[UUID, MessageDraft | None]


def _record(work: _Transcript, write: Write) -> TranscriptRecorded:
    write.register()
    stores, identity = write.stores.conversations, work.drafts[0].draft.identity()
    present = stores.find(identity)
    waiting = [] if present else list(stores.pending(identity, write.now))
    if any(item.id not in work.waiting for item in waiting):
        raise SubjectRegisteredMeanwhile("Another message came to wait meanwhile.")
    earlier = [
        (item.id, earlier_draft) for item in waiting if (earlier_draft := work.waiting[item.id])
    ]
    messages = [
        *(stores.said(present.id) if present else ()),
        *(_message_row(*each) for each in earlier),
    ]
    drafts = _owned(work, present.data_subjects if present else None)
    matched = match([(each.draft, each.timed) for each in drafts], messages)
    first = waiting[0].conversation_id if waiting else write.entries.new_id()
    plan = ConversationPlan(
        entries=write.entries,
        conversation_id=present.id if present else first,
        last=present.last if present else (),
    )
    if present is None:
        plan.open(earlier[0][1] if earlier else drafts[0].draft)
    for message_id, draft in earlier:
        plan.record(draft, message_id)
    ids: list[UUID] = []
    for each, stored_id in zip(drafts, matched, strict=True):
        message_id = stored_id or write.entries.new_id()
        if stored_id is None:
            plan.record(each.draft, message_id)
        ids.append(message_id)
    write.append()
    if present is None:
        stores.settle(identity)
    write.wake_embed(plan.recorded)
    return TranscriptRecorded(
        conversation_id=plan.conversation_id, message_ids=tuple(ids), new=tuple(plan.recorded)
    )


def _owned(work: _Transcript, of_conversation: tuple[UUID, ...] | None) -> list[TurnDraft]:
    """Return the drafts with their data subjects: an answer is about whom it answers, too."""
    own = [work.resolution.subjects_of(owners) for owners in work.wanted]
    users = [
        subjects
        for each, subjects in zip(work.drafts, own, strict=True)
        if each.draft.role is MessageRole.USER
    ]
    of_users = of_conversation if of_conversation is not None else (users[0] if users else ())
    if any(subject not in work.resolution.keys for subject in of_users):
        raise SubjectRegisteredMeanwhile("The conversation was begun meanwhile.")
    owned: list[TurnDraft] = []
    for each, subjects in zip(work.drafts, own, strict=True):
        if each.draft.role is not MessageRole.USER:
            subjects = tuple(sorted({*subjects, *of_users}))
        owned.append(replace(each, draft=each.draft.owned_by(subjects)))
    return owned


def match(
    drafts: Iterable[tuple[MessageDraft, bool]], messages: Iterable[SaidMessage]
) -> list[UUID | None]:
    """Return the message that each draft is already, None for a new one; each is one's at most.

    With a time, only a message of that time is the same; without one the earliest that is left.
    """
    stored: dict[tuple[str, str | None, str], list[SaidMessage]] = defaultdict(list)
    for each in messages:
        stored[each.role, each.sender, each.content_hash].append(each)
    ids: list[UUID | None] = []
    for draft, timed in drafts:
        left = stored[draft.role.value, draft.sender, draft.content_hash]
        same = [
            message for message in left if not timed or message.occurred_at == draft.occurred_at
        ]
        ids.append(same[0].id if same else None)
        if same:
            left.remove(same[0])
    return ids


def _message_row(message_id: UUID, draft: MessageDraft) -> SaidMessage:
    return SaidMessage(
        id=message_id,
        role=draft.role.value,
        sender=draft.sender,
        content_hash=draft.content_hash,
        occurred_at=draft.occurred_at,
    )


def _stored_answer(done: TranscriptRecorded) -> Mapping[str, Any]:
    return {"conversation_id": str(done.conversation_id)}


def _unread(_: Mapping[str, Any]) -> TranscriptRecorded:
    raise AssertionError("A transcript has no idempotency key: its messages are each their own.")
