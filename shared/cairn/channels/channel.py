"""A messaging channel: whose it is, what it may do, and its rows. Pure."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import BaseModel, Field

from cairn.chat.widget import BUSY, Sentence, WidgetHandOff, WidgetPart
from cairn.workspace.settings import Amount

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date, datetime
    from uuid import UUID

    from cairn.channels.port import Place


LEASE = timedelta(seconds=40)
"""Longer than the function may work: whoever holds something still by then is dead. Shorter than
two waits of the queue, so that what the dead held comes again while it has tries left."""


class ChannelKind(StrEnum):
    """Which product a channel is of."""

    SLACK = "slack"
    TEAMS = "teams"


class ChannelPart(BaseModel):
    """Base of what a channel is set to: as strict as what a widget is."""

    model_config = WidgetPart.model_config


class ChannelLimits(ChannelPart):
    """How much somebody may say: in a minute, in a day, and in one session of a thread."""

    per_minute: Annotated[int, Field(ge=1, le=1_000)] = 20
    per_day: Annotated[int, Field(ge=1, le=100_000)] = 200
    per_session: Annotated[int, Field(ge=1, le=1_000)] = 40
    idle_minutes: Annotated[int, Field(ge=1, le=10_080)] = 240


class ChannelSettings(ChannelPart):
    """What a channel may do. `agent` is whose public documents it answers from; null: nobody's.

    Without `hand_off` customers have no way to a person; `outsiders` lets guests and people of
    other organisations chat; without `answers` nobody chats here, and operators work all the same.
    """

    answers: bool = True
    outsiders: bool = False
    limits: ChannelLimits = Field(default_factory=ChannelLimits)
    busy: Sentence = BUSY
    day_usd: Amount = Decimal(50)
    hand_off: WidgetHandOff | None = None
    agent: Annotated[str, Field(min_length=1, max_length=256)] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelRow:
    """A channel as it is kept. `config` is its kind's own; its secrets are sealed, elsewhere.

    `config["operators"]` is the conversation that operators work in, where there is one.
    """

    id: UUID
    name: str
    kind: ChannelKind
    config: Mapping[str, Any]
    settings: Mapping[str, Any]
    paused: bool
    error: str | None = None  # why it could not be asked, the last time
    spent_on: date | None = None
    spent_usd: Decimal = Decimal(0)
    created_at: datetime
    changed_at: datetime

    def spent(self, today: date) -> Decimal:
        """Return what its turns have cost today."""
        return self.spent_usd if self.spent_on == today else Decimal(0)

    @property
    def operators(self) -> str:
        """Return the conversation that operators work in; empty without one."""
        return str(self.config.get("operators") or "")


class InboundState(StrEnum):
    """How far what came in is."""

    PENDING = "pending"  # -> done, refused, failed
    DONE = "done"
    REFUSED = "refused"  # somebody who may not, or too much
    FAILED = "failed"  # tried too often


@dataclass(frozen=True, slots=True, kw_only=True)
class InboundRow:
    """What somebody said or clicked, kept before anybody looks whether they may.

    `known_as` tells the same message apart from another; `thread` is what is worked on in order.
    `sealed` is all of it, under the keys of its client.
    """

    id: UUID
    channel_id: UUID
    known_as: str
    thread: bytes
    client_id: str
    data_subjects: tuple[UUID, ...]
    sealed: bytes = field(repr=False)
    state: InboundState = InboundState.PENDING
    attempts: int = 0
    leased_until: datetime | None = None
    received_at: datetime


class PostedAs(StrEnum):
    """What a message of ours is about, and for whom."""

    APPROVAL = "approval"  # an action that waits, for operators
    HAND_OFF = "hand_off"  # a chat that a person is wanted in, for operators
    CUSTOMER = "customer"  # the same chat, for the customer in their thread


@dataclass(frozen=True, slots=True, kw_only=True)
class PostRow:
    """A message of ours that changes with what it is about.

    `shown` names the form that stands there, `seq` the last line of a chat that was told.
    """

    channel_id: UUID
    about: UUID
    role: PostedAs
    place: Place
    message_id: str | None
    shown: str
    seq: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class TieRow:
    """Somebody who signs in here, as the channel knows them."""

    channel_id: UUID
    user_id: str
    person_id: UUID
    tied_at: datetime
