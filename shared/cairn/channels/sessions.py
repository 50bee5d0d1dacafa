"""Sessions of threads: the widget's, with a place. Opened, found, counted; not what is answered.

created ──a message──▶ active ──idle──▶ resolved
                         └──a person is wanted──▶ handoff_pending
                                   └──an operator accepts──▶ handoff_active ──▶ closed
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, timedelta
from typing import TYPE_CHECKING

from cairn.channels.channel import ChannelRow, ChannelSettings
from cairn.chat.widget import WidgetHandOff, WidgetLimits
from cairn.chat.widget_sessions import (
    WITH_PERSON,
    NewSession,
    SessionKind,
    SessionRow,
    SessionState,
)
from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.access.system import system_principal
from cairn.kernel.metrics import Metric, untold
from cairn.kernel.text.hashes import sha256

if TYPE_CHECKING:
    from decimal import Decimal
    from uuid import UUID

    from cairn.channels.channel import InboundRow
    from cairn.channels.port import Place
    from cairn.kernel.metrics import Metrics
    from cairn.writing.platform import Platform


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadSession:
    """A session of somebody in a thread. Implements `CustomerSession`."""

    workspace_id: UUID
    door: ChannelRow
    settings: ChannelSettings
    row: SessionRow
    name: str = "thread"

    @property
    def channel(self) -> str:
        """Return what the door is called."""
        return self.door.kind.value

    @property
    def limits(self) -> WidgetLimits:
        """Return what may be said."""
        limits = self.settings.limits
        return WidgetLimits(
            per_minute=limits.per_minute,
            per_day=limits.per_day,
            per_session=limits.per_session,
            challenge_after=None,
        )

    @property
    def busy(self) -> str:
        """Return what is said when there are too many messages."""
        return self.settings.busy

    @property
    def day_usd(self) -> Decimal:
        """Return what chats of the workspace may cost in a day."""
        return self.settings.day_usd

    @property
    def hand_off(self) -> WidgetHandOff | None:
        """Return when a person is called; None: never."""
        return self.settings.hand_off

    @property
    def principal(self) -> Principal:
        """Return who asks: the public, of this session alone; no two sessions see each other."""
        return Principal(
            workspace_id=self.workspace_id,
            principal_id=self.row.id,
            role=Role.PUBLIC,
            allowed_scopes=frozenset({Scope.PUBLIC}),
            agent_slug=self.settings.agent,
            tools=frozenset(),
            name=self.channel,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ThreadSessions:
    """Finds and opens sessions of threads."""

    platform: Platform
    metrics: Metrics = field(default=untold)

    def find(self, workspace_id: UUID, channel: ChannelRow, thread: bytes) -> ThreadSession | None:
        """Return the session that goes on in a thread; one that was silent too long is over."""
        settings = ChannelSettings.model_validate(channel.settings)
        now = self.platform.clock()
        idle_before = now - timedelta(minutes=settings.limits.idle_minutes)
        system = system_principal(workspace_id)
        with self.platform.transactions.preparing(system) as (stores, _):
            row = stores.messaging.session(channel.id, thread)
            if row is None:
                return None
            idle = row.state not in WITH_PERSON and row.seen_at < idle_before
            if idle:
                before = (SessionState.CREATED, SessionState.ACTIVE)
                stores.chat_sessions.move(row.id, before, SessionState.RESOLVED, now, ended=True)
        if idle:
            self.metrics(Metric.CHAT_SESSIONS, 1, channel=channel.kind.value, outcome="idle")
            return None
        return ThreadSession(workspace_id=workspace_id, door=channel, settings=settings, row=row)

    def open(
        self, workspace_id: UUID, channel: ChannelRow, inbound: InboundRow, place: Place
    ) -> ThreadSession | None:
        """Open a session; None where one is open by now."""
        counted = sha256(f"{workspace_id} client {inbound.client_id}".encode())
        session_id = self.platform.new_id()
        new = NewSession(
            id=session_id,
            token_hash=sha256(f"thread {session_id}".encode()),  # no token begins so
            kind=SessionKind.CHANNEL,
            client_id=inbound.client_id,
            data_subjects=inbound.data_subjects,
            counted=counted,
            created_at=self.platform.clock(),
        )
        system = system_principal(workspace_id)
        with self.platform.transactions.preparing(system) as (stores, _):
            stores.messaging.open_session(
                new, channel_id=channel.id, thread=inbound.thread, place=place
            )
        return self.find(workspace_id, channel, inbound.thread)

    def spend(self, session: ThreadSession, turn_id: UUID) -> None:
        """Add what a turn has cost to the day of its channel."""
        day = self.platform.clock().astimezone(UTC).date()
        system = system_principal(session.workspace_id)
        with self.platform.transactions.preparing(system) as (stores, _):
            stores.messaging.spend(session.door.id, turn_id, day)
