"""Calls of people, and the channels they are called by, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.store import Store, record
from cairn.investigations.ports import Channel, Escalation, EscalationState
from cairn.investigations.state import Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID


ESCALATION = record(Escalation, verdict=Verdict, state=EscalationState)


class PostgresEscalations(Store):
    """The calls of people in the transaction's workspace, one an investigation."""

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
        asked = {"id": escalation_id, "investigation_id": None}
        return self.first_of(ESCALATION, "escalation.find", **asked)

    def of(self, investigation_id: UUID) -> Escalation | None:
        """Return that of an investigation."""
        asked = {"id": None, "investigation_id": investigation_id}
        return self.first_of(ESCALATION, "escalation.find", **asked)

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
        """Queue a failed one anew, with no try counted; False when it has not failed."""
        return self.run("escalation.requeue", id=escalation_id, now=now).rowcount == 1

    def page(
        self, *, state: EscalationState | None, before: UUID | None, limit: int
    ) -> Sequence[Escalation]:
        """Return them, the newest first."""
        asked = {"state": state.value if state else None, "before": before, "limit": limit}
        return self.all_of(ESCALATION, "escalation.page", **asked)


class PostgresChannels(Store):
    """The channels of the transaction's workspace, by name."""

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
        return self.first_of(record(_channel), "escalation.channels", called=name)

    def all(self) -> Sequence[Channel]:
        """Return every one, by name."""
        sealed = self.all_of(record(_channel), "escalation.channels", called=None)
        return [channel for channel, _ in sealed]

    def remove(self, name: str) -> bool:
        """Remove one; False when there is none."""
        return self.run("escalation.remove_channel", called=name).rowcount == 1


def _channel(url: bytes, **row: Any) -> tuple[Channel, bytes]:
    return Channel(**row), url
