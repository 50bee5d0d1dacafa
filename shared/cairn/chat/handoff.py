"""A chat that goes to a person: how far it is, what is said meanwhile, and when it is due. Pure.

    pending ◀──left── active ──▶ closed
       └──accepted────▲   └──▶ returned, ticket    (pending, too)

A chat has one open hand-off at most. Who changes one names the state and the
operator that they saw.
"""

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID

from cairn.chat.widget_sessions import SessionState

SILENCE = timedelta(hours=12)
"""An answered chat in which nobody has said anything for so long is closed."""

MOST_LINE_CHARS = 4_000


class HandOffState(StrEnum):
    """How far it is."""

    PENDING = "pending"  # -> active, returned, ticket
    ACTIVE = "active"  # -> pending (the operator left), returned, closed, ticket
    RETURNED = "returned"  # the end: the agent answers again
    CLOSED = "closed"  # the end: the operator closed it
    TICKET = "ticket"  # the end: nobody came, or the operator made one


class HandOffCause(StrEnum):
    """Who wanted a person."""

    CUSTOMER = "customer"  # by the button
    RULES = "rules"  # the customer's words say so, or nothing was found too often
    AGENT = "agent"  # the model called the tool
    OPERATOR = "operator"  # a person took the chat over


class LineKind(StrEnum):
    """What a line is."""

    SAID = "said"
    REQUESTED = "requested"
    ACCEPTED = "accepted"
    LEFT = "left"
    RETURNED = "returned"
    CLOSED = "closed"
    TICKET = "ticket"


class LineBy(StrEnum):
    """Who speaks."""

    CUSTOMER = "customer"
    OPERATOR = "operator"
    CAIRN = "cairn"


OPEN = (HandOffState.PENDING, HandOffState.ACTIVE)

SESSION_OF = {
    HandOffState.PENDING: SessionState.HANDOFF_PENDING,
    HandOffState.ACTIVE: SessionState.HANDOFF_ACTIVE,
    HandOffState.RETURNED: SessionState.ACTIVE,
    HandOffState.CLOSED: SessionState.CLOSED,
    HandOffState.TICKET: SessionState.CLOSED,
}
"""Where the widget's session is meanwhile."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandOffRow:
    """A hand-off as it is kept. `sealed` has why a person was wanted and the session's name."""

    workspace_id: UUID
    id: UUID
    session: bytes
    chat_session_id: UUID | None
    principal_id: UUID
    client_id: str | None
    state: HandOffState
    cause: HandOffCause
    operator_id: UUID | None
    operator: str | None
    data_subjects: tuple[UUID, ...]
    sealed: bytes = field(repr=False)
    resolution: bytes | None = field(default=None, repr=False)
    wait_seconds: int
    away_seconds: int
    seq: int = 0
    requested_at: datetime
    moved_at: datetime
    heard_at: datetime
    unanswered_since: datetime | None
    accepted_at: datetime | None = None
    ended_at: datetime | None = None
    ticket_id: UUID | None = None
    channel: str | None = None  # by which door the chat came; None: as before there were several

    @property
    def door(self) -> str:
        """Return by which door the chat came: `widget`, `api`, or a kind of channel."""
        return self.channel or ("widget" if self.chat_session_id else "api")

    @property
    def due_at(self) -> datetime | None:
        """Return when nobody will have come, or the operator will have left; None: open-ended."""
        if self.state is HandOffState.PENDING:
            return self.moved_at + timedelta(seconds=self.wait_seconds)
        if self.state is not HandOffState.ACTIVE:
            return None
        if self.unanswered_since is not None:
            return self.unanswered_since + timedelta(seconds=self.away_seconds)
        return self.heard_at + SILENCE

    def due(self, now: datetime) -> HandOffState | None:
        """Return where it goes because time is up."""
        if self.due_at is None or self.due_at > now:
            return None
        if self.state is HandOffState.PENDING:
            return HandOffState.TICKET
        left = self.unanswered_since is not None
        return HandOffState.PENDING if left else HandOffState.CLOSED


@dataclass(frozen=True, slots=True, kw_only=True)
class LineRow:
    """A line as it is kept; `sealed` is bound to its id."""

    seq: int
    id: UUID
    kind: LineKind
    speaker: LineBy
    name: str | None
    sealed: bytes | None = field(repr=False)
    recorded: bool
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line as its readers see it; `text` is None where there is none, or it was forgotten."""

    seq: int
    kind: LineKind
    speaker: LineBy
    name: str | None
    text: str | None
    at: datetime
