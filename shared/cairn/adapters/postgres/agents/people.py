"""Calls of people, what they said, and what may be learned of it, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.store import Store, record
from cairn.investigations.ports import (
    Candidate,
    CandidateState,
    Channel,
    Escalation,
    EscalationState,
    Observed,
    Opinion,
)
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
        added = self.write("escalation.add", escalation)
        return added.rowcount == 1

    def find(self, escalation_id: UUID) -> Escalation | None:
        """Return one."""
        parameters = {"id": escalation_id, "investigation_id": None}
        return self.first_of(ESCALATION, "escalation.find", **parameters)

    def of(self, investigation_id: UUID) -> Escalation | None:
        """Return that of an investigation."""
        parameters = {"id": None, "investigation_id": investigation_id}
        return self.first_of(ESCALATION, "escalation.find", **parameters)

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
        parameters = {"state": state.value if state else None, "before": before, "limit": limit}
        return self.all_of(ESCALATION, "escalation.page", **parameters)


class PostgresChannels(Store):
    """The channels of the transaction's workspace, by name."""

    def add(self, channel: Channel, sealed_url: bytes) -> bool:
        """Keep one; False when its name is taken."""
        added = self.write("escalation.add_channel", channel, called=channel.name, url=sealed_url)
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


CANDIDATE = record(Candidate, state=CandidateState)


class PostgresOpinions(Store):
    """What people said of investigations in the transaction's workspace; the last word counts."""

    def put(self, opinion: Opinion) -> None:
        """Keep a word; what the same principal said of the same investigation before gives way."""
        self.write("opinion.put", opinion)

    def of(self, investigation_id: UUID) -> Sequence[Opinion]:
        """Return what stands, the oldest first."""
        return self.all_of(record(Opinion), "opinion.of", investigation_id=investigation_id)


class PostgresCandidates(Store):
    """The review queue of the transaction's workspace, one candidate an investigation."""

    def add(self, candidate: Candidate) -> bool:
        """Keep a new one; False when its investigation has one."""
        added = self.write("candidate.add", candidate)
        return added.rowcount == 1

    def find(self, candidate_id: UUID) -> Candidate | None:
        """Return one."""
        return self.first_of(CANDIDATE, "candidate.find", id=candidate_id)

    def edit(self, candidate_id: UUID, content: bytes, now: datetime) -> bool:
        """Replace what a staged one says; False when it is not staged any more."""
        return self.run("candidate.edit", id=candidate_id, content=content, now=now).rowcount == 1

    def decide(
        self,
        candidate_id: UUID,
        state: CandidateState,
        *,
        by: UUID | None,
        reason: str | None,
        content: bytes | None,
        now: datetime,
    ) -> bool:
        """Decide a staged one, its content replaced unless None; False when it is not staged."""
        decided = self.run(
            "candidate.decide",
            id=candidate_id,
            state=state.value,
            by=by,
            reason=reason,
            content=content,
            now=now,
        )
        return decided.rowcount == 1

    def stored(self, candidate_id: UUID, document_id: UUID, ingestion_id: UUID) -> None:
        """Keep which document an accepted one became."""
        self.run(
            "candidate.stored", id=candidate_id, document_id=document_id, ingestion_id=ingestion_id
        )

    def page(
        self, *, state: CandidateState | None, before: UUID | None, limit: int
    ) -> Sequence[Candidate]:
        """Return candidates, the newest first."""
        parameters = {"state": state.value if state else None, "before": before, "limit": limit}
        return self.all_of(CANDIDATE, "candidate.page", **parameters)

    def unreviewed(self, before: datetime, limit: int) -> Sequence[Candidate]:
        """Return those staged before a moment that nobody decided on, the oldest first."""
        return self.all_of(CANDIDATE, "candidate.unreviewed", before=before, limit=limit)

    def due(self, before: datetime, limit: int) -> Sequence[tuple[UUID, str]]:
        """Return (investigation, cause) of resolved ones without a candidate, the oldest first.

        Those closed, resolved by themselves, which nobody disputes, and which somebody rated 4 or
        more (`rated`) or which ended before a moment (`undisputed`).
        """
        return self.run("candidate.due", before=before, limit=limit).fetchall()

    def observed(self, since: datetime, limit: int) -> Sequence[Observed]:
        """Return what tools did for customers, the newest first, once an investigation.

        What ended before a moment, was only looked up, tried out or never answered does not count.
        """
        return self.all_of(record(Observed), "candidate.observed", since=since, limit=limit)
