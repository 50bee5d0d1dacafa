"""Compact a transcript: the use case behind `POST /v1/context/compact`.

Everything is recorded first, as messages of a conversation that recall finds; only then is
something left out. A model that fails leaves its part to rules.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from cairn.compaction.choose import choose, tokens_of
from cairn.compaction.turns import Part, Turn
from cairn.conversations.messages import MessageRole
from cairn.conversations.transcript import TranscriptRecorded, draft_turns
from cairn.kernel.errors import (
    BudgetExceeded,
    FieldError,
    Unavailable,
    ValidationFailed,
)
from cairn.writing.checks import refuse, require_writer

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.compaction.choose import Chosen
    from cairn.compaction.turns import CountTokens, Piece
    from cairn.conversations.read import ConversationMessage
    from cairn.conversations.transcript import (
        NewTranscript,
        RecordTranscript,
        TurnDraft,
    )
    from cairn.kernel.access import Principal

    Reword = Callable[[UUID, Sequence[Turn], float], Sequence[Piece]]
    """(workspace, turns, seconds) -> what a model says of them; raises what models raise."""

SHARE = 0.25
LEAST_TOKENS, MOST_TOKENS = 64, 200_000
SECONDS = 20.0
MOST_EARLIER = 5_000
"""Messages of a conversation that are summed up again, the latest."""


class CompactionMethod(StrEnum):
    """Who says what was said before."""

    MODEL = "model"
    RULES = "rules"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """How long the result may be: in tokens, or as a share of the transcript; a quarter of it."""

    tokens: int | None = None
    share: float | None = None
    method: CompactionMethod | None = None  # a model where one is configured
    seconds: float = SECONDS

    def of(self, before: int) -> int:
        """Return the target for a transcript of so many tokens."""
        if self.tokens is not None:
            return self.tokens
        return max(LEAST_TOKENS, int(before * (SHARE if self.share is None else self.share)))


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptTurn:
    """A turn that stays in its own words: its place in the transcript, and its messages."""

    place: int
    role: str
    text: str
    sender: str | None
    occurred_at: datetime | None
    message_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Brief:
    """A piece of the summary with the messages it is of. `reworded`: in a model's words."""

    part: Part
    text: str
    message_ids: tuple[UUID, ...]
    reworded: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Compacted:
    """What is left of a transcript, and where all of it is kept.

    `context` is the summary and the kept turns as one text, of `tokens_after` tokens. `stored` are
    the messages that this call wrote; `message_ids` all of the transcript's, in order. `failure`
    says why rules answered for a model.
    """

    conversation_id: UUID
    summary: str
    briefs: tuple[Brief, ...]
    kept: tuple[KeptTurn, ...]
    context: str
    message_ids: tuple[UUID, ...]
    stored: tuple[UUID, ...]
    dropped: int
    tokens_before: int
    tokens_after: int
    target_tokens: int
    method: CompactionMethod
    failure: str | None = None
    warnings: tuple[str, ...] = ()


@dataclass(slots=True)
class _ModelAttempt:
    """How a model was asked: why it did not answer, None when it did or nobody asked."""

    failure: str | None = None
    method: CompactionMethod = field(default=CompactionMethod.RULES)


@dataclass(frozen=True, slots=True, kw_only=True)
class Compact:
    """Records a transcript and returns it shorter. `reword` is None where no model is configured.

    What earlier transcripts of the conversation had and this one has no more is summed up with it.

    Raises Denied for a principal that may not write, ValidationFailed or TooLarge naming the field,
    Unavailable when nothing could be written.
    """

    record: RecordTranscript
    count_tokens: CountTokens
    reword: Reword | None = None

    def __call__(
        self, principal: Principal, transcript: NewTranscript, target: Target
    ) -> Compacted:
        """Record what is new of the transcript, then choose what is kept of all of it."""
        require_writer(principal)
        _check(target)
        drafts = draft_turns(transcript, principal, self.record.platform.clock())
        done = self.record(principal, drafts, transcript.data_subjects)
        turns, ids = turns_of(transcript, drafts), ids_of(drafts, done.message_ids)
        before = tokens_of(turns, self.count_tokens)
        recorded = set(done.message_ids)
        messages = self._messages(principal, done.conversation_id)
        others = [message for message in messages if message.id not in recorded]
        earlier = [_turn(place, each) for place, each in enumerate(others, start=-len(others))]
        ids |= {turn.place: (each.id,) for turn, each in zip(earlier, others, strict=True)}
        context = _CompactionSource(
            done=done,
            senders={place: new.sender for place, new in enumerate(transcript.messages)},
            ids=ids,
            before=before,
            target=target.of(before),
        )
        return self._compacted(principal, [*earlier, *turns], context, target)

    def recorded(
        self, principal: Principal, conversation_id: UUID, target: Target
    ) -> Compacted | None:
        """Choose what is kept of a conversation as it is recorded; None where nothing is."""
        require_writer(principal)
        messages = self._messages(principal, conversation_id)
        if not messages:
            return None
        turns = [_turn(place, each) for place, each in enumerate(messages)]
        before = tokens_of(turns, self.count_tokens)
        context = _CompactionSource(
            done=TranscriptRecorded(
                conversation_id=conversation_id,
                message_ids=tuple(each.id for each in messages),
                new=(),
            ),
            senders={place: each.sender for place, each in enumerate(messages)},
            ids={place: (each.id,) for place, each in enumerate(messages)},
            before=before,
            target=target.of(before),
        )
        return self._compacted(principal, turns, context, target)

    def _messages(
        self, principal: Principal, conversation_id: UUID
    ) -> Sequence[ConversationMessage]:
        with self.record.platform.transactions.reading(principal) as stores:
            return stores.conversation_views.latest(conversation_id, limit=MOST_EARLIER)

    def _compacted(
        self,
        principal: Principal,
        turns: Sequence[Turn],
        context: _CompactionSource,
        target: Target,
    ) -> Compacted:
        rewording = _ModelAttempt()
        reword = self._reword(principal, target, rewording)
        chosen = choose(turns, context.target, self.count_tokens, reword=reword)
        return _compacted(context, chosen, rewording)

    def _reword(
        self, principal: Principal, target: Target, rewording: _ModelAttempt
    ) -> Callable[[Sequence[Turn]], Sequence[Piece]] | None:
        if target.method is CompactionMethod.RULES:
            return None
        reword = self.reword
        if reword is None:
            rewording.failure = "no-model" if target.method is CompactionMethod.MODEL else None
            return None

        def reworded(turns: Sequence[Turn]) -> Sequence[Piece]:
            try:
                pieces = reword(principal.workspace_id, turns, target.seconds)
            except (Unavailable, BudgetExceeded, ValidationFailed) as failure:
                optional = failure.reason == "no-model" and target.method is None
                rewording.failure = None if optional else failure.reason
                return ()
            rewording.method = CompactionMethod.MODEL if pieces else CompactionMethod.RULES
            rewording.failure = None if pieces else "invents"
            return pieces

        return reworded


def _check(target: Target) -> None:
    if target.tokens is not None and target.share is not None:
        message = "and share are two ways to say one thing; send one"
        raise ValidationFailed(
            f"target_tokens {message}.", errors=[FieldError("target_tokens", message)]
        )
    if target.tokens is not None and not LEAST_TOKENS <= target.tokens <= MOST_TOKENS:
        refuse("target_tokens", f"must be from {LEAST_TOKENS} to {MOST_TOKENS}")
    if target.share is not None and not 0 < target.share <= 1:
        refuse("share", "must be above 0 and at most 1")


def turns_of(transcript: NewTranscript, drafts: Sequence[TurnDraft]) -> list[Turn]:
    """Return the turns as they are recorded, scrubbed; a long one whole again."""
    texts: dict[int, list[str]] = {}
    for each in drafts:
        texts.setdefault(each.place, []).append(each.draft.text)
    turns: list[Turn] = []
    for place, parts in texts.items():
        new = transcript.messages[place]
        sender = next(each.draft.sender for each in drafts if each.place == place)
        turns.append(
            Turn(
                place=place,
                role=new.role,
                name=sender or new.role.value,
                text="".join(parts),
                occurred_at=new.occurred_at,
            )
        )
    return turns


def ids_of(drafts: Sequence[TurnDraft], ids: Sequence[UUID]) -> dict[int, tuple[UUID, ...]]:
    """Return the messages of each turn."""
    by_place: dict[int, tuple[UUID, ...]] = {}
    for each, message_id in zip(drafts, ids, strict=True):
        by_place[each.place] = (*by_place.get(each.place, ()), message_id)
    return by_place


@dataclass(frozen=True, slots=True, kw_only=True)
class _CompactionSource:
    """What a compaction started from; `senders` and `ids` by the places of turns."""

    senders: Mapping[int, str | None]
    done: TranscriptRecorded
    ids: Mapping[int, tuple[UUID, ...]]
    before: int
    target: int


def _compacted(context: _CompactionSource, chosen: Chosen, rewording: _ModelAttempt) -> Compacted:
    lines = [turn.line for turn in chosen.kept]
    kept_turns = tuple(
        _verbatim_turn(turn, context) for turn in chosen.kept if turn.place in context.senders
    )
    return Compacted(
        conversation_id=context.done.conversation_id,
        summary=chosen.summary,
        briefs=tuple(_brief(piece, context.ids) for piece in chosen.pieces),
        kept=kept_turns,
        context="\n".join(filter(None, [chosen.summary, *lines])),
        message_ids=context.done.message_ids,
        stored=context.done.new,
        dropped=len(context.senders) - len(kept_turns),
        tokens_before=context.before,
        tokens_after=chosen.tokens,
        target_tokens=context.target,
        method=rewording.method,
        failure=rewording.failure,
        warnings=context.done.warnings,
    )


def _turn(place: int, message: ConversationMessage) -> Turn:
    return Turn(
        place=place,
        role=MessageRole(message.role),
        name=message.sender or message.role,
        text=message.content,
        occurred_at=message.timestamp,
    )


def _verbatim_turn(turn: Turn, context: _CompactionSource) -> KeptTurn:
    return KeptTurn(
        place=turn.place,
        role=turn.role.value,
        text=turn.text,
        sender=turn.name if context.senders[turn.place] else None,
        occurred_at=turn.occurred_at,
        message_ids=context.ids[turn.place],
    )


def _brief(piece: Piece, ids: Mapping[int, tuple[UUID, ...]]) -> Brief:
    return Brief(
        part=piece.part,
        text=piece.text,
        message_ids=tuple(each for place in piece.places for each in ids[place]),
        reworded=piece.reworded,
    )
