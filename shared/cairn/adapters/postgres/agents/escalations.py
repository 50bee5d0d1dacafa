"""Calls of people, and the channels they are called by, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.store import Store
from cairn.investigations.people.ports import Channel, Escalation, EscalationState
from cairn.investigations.state import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID


class PostgresEscalations(Store):
    """Implements `agent.people.ports.EscalationStore`."""

    def add(self, escalation: Escalation) -> bool:
        """Keep a new one; False when its investigation has one."""
        one = escalation
        added = self.run(
            "escalation.add",
            id=one.id,
            investigation_id=one.investigation_id,
            ticket_id=one.ticket_id,
            verdict=one.verdict.value,
            channel=one.channel,
            why=one.why,
            data_subjects=list(one.data_subjects),
            queued_at=one.queued_at,
        )
        return added.rowcount == 1

    def find(self, escalation_id: UUID) -> Escalation | None:
        """Return one."""
        return self._one(id=escalation_id, investigation_id=None)

    def of(self, investigation_id: UUID) -> Escalation | None:
        """Return that of an investigation."""
        return self._one(id=None, investigation_id=investigation_id)

    def tried(
        self,
        escalation_id: UUID,
        state: EscalationState,
        *,
        channel: str,
        noted: bool,
        error: str | None,
        now: datetime,
    ) -> bool:
        """Count a try of a queued one and keep what came of it; False when it is not queued."""
        tried = self.run(
            "escalation.tried",
            id=escalation_id,
            state=state.value,
            channel=channel,
            noted=noted,
            error=error,
            now=now,
        )
        return tried.rowcount == 1

    def requeue(self, escalation_id: UUID, now: datetime) -> bool:
        """Queue a failed one anew; False when it has not failed."""
        return self.run("escalation.requeue", id=escalation_id, now=now).rowcount == 1

    def page(
        self, *, state: EscalationState | None, before: UUID | None, limit: int
    ) -> Sequence[Escalation]:
        """Return them, the newest first."""
        rows = self.run(
            "escalation.page", state=state.value if state else None, before=before, limit=limit
        )
        return [_escalation(row) for row in rows]

    def _one(self, **asked: UUID | None) -> Escalation | None:
        row = self.run("escalation.find", **asked).fetchone()
        return _escalation(row) if row else None


class PostgresChannels(Store):
    """Implements `agent.people.ports.ChannelStore`."""

    def add(self, channel: Channel, sealed_url: bytes) -> bool:
        """Keep one; False when its name is taken."""
        added = self.run(
            "escalation.add_channel",
            called=channel.name,
            kind=channel.kind,
            url=sealed_url,
            created_at=channel.created_at,
            created_by=channel.created_by,
        )
        return added.rowcount == 1

    def find(self, name: str) -> tuple[Channel, bytes] | None:
        """Return one with its sealed address."""
        row = self.run("escalation.channels", called=name).fetchone()
        return (_channel(row), row[4]) if row else None

    def all(self) -> Sequence[Channel]:
        """Return every one, by name."""
        return [_channel(row) for row in self.run("escalation.channels", called=None)]

    def remove(self, name: str) -> bool:
        """Remove one; False when there is none."""
        return self.run("escalation.remove_channel", called=name).rowcount == 1


def _escalation(row: Sequence[Any]) -> Escalation:
    one, investigation_id, ticket_id, verdict, channel, state, why, subjects, attempts, *rest = row
    noted, error, queued_at, updated_at, delivered_at = rest
    return Escalation(
        id=one,
        investigation_id=investigation_id,
        ticket_id=ticket_id,
        verdict=Verdict(verdict),
        channel=channel,
        state=EscalationState(state),
        why=why,
        data_subjects=tuple(subjects),
        attempts=attempts,
        noted=noted,
        error=error,
        queued_at=queued_at,
        updated_at=updated_at,
        delivered_at=delivered_at,
    )


def _channel(row: Sequence[Any]) -> Channel:
    name, kind, created_at, created_by = row[:4]
    return Channel(name=name, kind=kind, created_at=created_at, created_by=created_by)
