"""What an agent is given beside recall: what a session begins with, a transcript made shorter."""

from collections.abc import Sequence
from datetime import datetime
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Body as BodyParameter
from fastapi import Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import ClientWriter, Services, Writer
from cairn.api.documentation import answers, problems
from cairn.api.fields import Body, Name, Names, ScopeName, Timestamp, at_most
from cairn.api.routing import router
from cairn.compaction.compact import LEAST_TOKENS, MOST_TOKENS, Compacted, CompactionMethod, Target
from cairn.compaction.turns import TITLES, Part
from cairn.conversations.messages import Channel, MessageRole
from cairn.conversations.transcript import (
    MAX_CALLS,
    MAX_TURN_CHARS,
    MAX_TURNS,
    NewToolCall,
    NewTranscript,
    NewTurn,
)
from cairn.kernel.records import convert
from cairn.writing.audience import GLOBAL_CLIENT

routes = router("context")

_EXAMPLE: dict[str, Any] = {
    "session_id": "support-4711",
    "share": 0.25,
    "messages": [
        {"role": "user", "sender": "Ines Roth", "text": "Please move our site to Hetzner."},
        {
            "role": "assistant",
            "text": "I look at what runs today.",
            "tool_calls": [{"name": "list_servers", "arguments": {"site": "acme"}}],
        },
        {"role": "tool", "text": "acme-web-1, 8 GB, Frankfurt"},
        {"role": "user", "sender": "Ines Roth", "text": "We decided for the 16 GB machine."},
    ],
}


class BriefItem(TypedDict):
    """A piece of the summary, and the messages it is of."""

    text: str
    message_ids: Sequence[UUID]
    reworded: bool


class KeptMessage(TypedDict):
    """A turn that stays in its own words, and the messages it is recorded as."""

    place: int
    role: str
    text: str
    sender: str | None
    occurred_at: datetime | None
    message_ids: Sequence[UUID]


class CompactedTokens(TypedDict):
    """How long the transcript was, may be now, and is."""

    before: int
    target: int
    after: int


class CompactedAnswer(TypedDict):
    """What is left of a transcript, and where all of it is kept."""

    conversation_id: UUID
    context: str
    summary: str
    parts: dict[str, list[BriefItem]]
    kept: list[KeptMessage]
    dropped: int
    tokens: CompactedTokens
    message_ids: Sequence[UUID]
    stored: Sequence[UUID]
    summary_id: UUID | None
    method: CompactionMethod
    failure: str | None
    warnings: Sequence[str]


class CalledToolIn(Body):
    """A tool that a turn called."""

    name: Name
    arguments: dict[str, Any] | str = Field(default_factory=dict[str, Any])
    id: Name | None = None

    def record(self) -> NewToolCall:
        """Return the use case's record."""
        return convert(self, NewToolCall)


class TranscriptTurnIn(Body):
    """One turn of a transcript; it says something, or calls a tool."""

    role: Annotated[MessageRole, Field(strict=False)]
    text: Annotated[str, at_most(MAX_TURN_CHARS)] = ""
    occurred_at: Timestamp | None = None
    sender: Name | None = None
    tool_calls: Annotated[list[CalledToolIn], Field(max_length=MAX_CALLS)] = Field(
        default_factory=list[CalledToolIn]
    )
    tool_call_id: Name | None = None

    def record(self) -> NewTurn:
        """Return the use case's record."""
        return convert(self, NewTurn, tool_calls=tuple(call.record() for call in self.tool_calls))


class CompactIn(Body):
    """A transcript, whose conversation it is, and how long it may be."""

    session_id: Name
    messages: Annotated[list[TranscriptTurnIn], Field(min_length=1, max_length=MAX_TURNS)]
    channel: Annotated[Channel, Field(strict=False)] = Channel.API
    target_tokens: Annotated[int, Field(ge=LEAST_TOKENS, le=MOST_TOKENS)] | None = None
    share: Annotated[float, Field(gt=0, le=1)] | None = None
    method: Annotated[CompactionMethod | None, Field(strict=False)] = None
    keep: bool = False
    client_id: Name = GLOBAL_CLIENT
    scope: ScopeName | None = None
    agents: Names = Field(default_factory=list[str])
    data_subjects: Names = Field(default_factory=list[str])
    infer: bool = True

    def record(self) -> NewTranscript:
        """Return the use case's record."""
        return convert(self, NewTranscript, messages=tuple(t.record() for t in self.messages))

    def target(self) -> Target:
        """Return how long the result may be, and who writes it."""
        return Target(tokens=self.target_tokens, share=self.share, method=self.method)


class SessionDigest(TypedDict):
    """The newest report of a review; `text` is its beginning."""

    id: UUID
    title: str
    text: str
    occurred_at: datetime


class SessionTask(TypedDict):
    """A task that has not ended."""

    id: UUID
    kind: str
    title: str
    status: str
    importance: int
    occurred_at: datetime


class SessionAlert(TypedDict):
    """Something that waits for a person."""

    id: UUID
    kind: Literal["approval", "escalation"]
    text: str
    at: datetime


class SessionContext(TypedDict):
    """What a session begins with, its parts and as one text for a prompt."""

    context: str
    digest: SessionDigest | None
    tasks: list[SessionTask]
    alerts: list[SessionAlert]
    keywords: Sequence[str]
    earlier: str | None
    knowledge: str | None


class SessionIn(Body):
    """Whose session begins, and in which conversation."""

    agent: Name | None = None
    conversation_id: Annotated[UUID | None, Field(strict=False)] = None


@routes.post(
    "/v1/context/session",
    summary="Begin a session",
    response_model=None,
    responses={
        **answers(200, "What an agent should know before the first turn", SessionContext),
        **problems(body=True),
    },
)
def begin_session(body: SessionIn, caller: Writer, services: Services) -> Response:
    """Return the review digest, open tasks, what waits for a person, and what was said before.

    Nothing is searched for and nothing is written. Every part is what the key may read.
    """
    opened = services.open_session(caller, agent=body.agent, conversation_id=body.conversation_id)
    return answer(opened)


@routes.post(
    "/v1/context/compact",
    summary="Make a transcript shorter",
    response_model=None,
    responses={
        **answers(200, "What is left of it, and where all of it is kept", CompactedAnswer),
        **problems(body=True),
    },
)
def compact(
    body: Annotated[CompactIn, BodyParameter(openapi_examples={"plain": {"value": _EXAMPLE}})],
    caller: ClientWriter,
    services: Services,
) -> Response:
    """Record every turn as a message of its conversation; give back what an agent goes on with.

    The last turns stay in their own words; of the others a summary does, in five parts. What is in
    neither is found by recall. The same transcript again records nothing twice.
    """
    compacted_context = services.compact(caller, body.record(), body.target())
    summary_id = services.keep_briefing(caller, compacted_context) if body.keep else None
    return answer(compacted(compacted_context, summary_id))


def compacted(compacted_context: Compacted, summary_id: UUID | None) -> CompactedAnswer:
    """Return the JSON form of a compaction."""
    return {
        "conversation_id": compacted_context.conversation_id,
        "context": compacted_context.context,
        "summary": compacted_context.summary,
        "parts": {part.value: _briefs(compacted_context, part) for part in TITLES},
        "kept": [
            {
                "place": turn.place,
                "role": turn.role,
                "text": turn.text,
                "sender": turn.sender,
                "occurred_at": turn.occurred_at,
                "message_ids": turn.message_ids,
            }
            for turn in compacted_context.kept
        ],
        "dropped": compacted_context.dropped,
        "tokens": {
            "before": compacted_context.tokens_before,
            "target": compacted_context.target_tokens,
            "after": compacted_context.tokens_after,
        },
        "message_ids": compacted_context.message_ids,
        "stored": compacted_context.stored,
        "summary_id": summary_id,
        "method": compacted_context.method,
        "failure": compacted_context.failure,
        "warnings": compacted_context.warnings,
    }


def _briefs(compacted_context: Compacted, part: Part) -> list[BriefItem]:
    return [
        {"text": brief.text, "message_ids": brief.message_ids, "reworded": brief.reworded}
        for brief in compacted_context.briefs
        if brief.part is part
    ]
