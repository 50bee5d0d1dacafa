"""Calls of people, what they said and what may be learned, in memory. For tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cairn.investigations.ports import (
    ActionState,
    Candidate,
    CandidateState,
    Channel,
    Escalation,
    EscalationState,
    Observed,
    Opinion,
)
from cairn.investigations.state import State, Verdict
from cairn.safety.tools import Lane

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from tests.fakes.stores import Tables

    from cairn.investigations.ports import ActionRow

GOOD = 4
POOR = 2


@dataclass(frozen=True)
class InMemoryEscalations:
    """Does what `PostgresEscalations` does."""

    tables: Tables

    def add(self, escalation: Escalation) -> bool:
        """Keep a new one; False when its investigation has one."""
        if self.of(escalation.investigation_id) is not None:
            return False
        self.tables.escalations[escalation.id] = escalation
        return True

    def find(self, escalation_id: UUID) -> Escalation | None:
        """Return one."""
        return self.tables.escalations.get(escalation_id)

    def of(self, investigation_id: UUID) -> Escalation | None:
        """Return that of an investigation."""
        every = self.tables.escalations.values()
        return next((item for item in every if item.investigation_id == investigation_id), None)

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
        present = self.tables.escalations.get(escalation_id)
        if present is None or present.state is not EscalationState.QUEUED:
            return False
        self.tables.escalations[escalation_id] = replace(
            present,
            state=state,
            channel=channel,
            noted=present.noted or noted,
            error=error,
            attempts=present.attempts + 1,
            updated_at=now,
            delivered_at=now if state is EscalationState.DELIVERED else None,
        )
        return True

    def requeue(self, escalation_id: UUID, now: datetime) -> bool:
        """Queue a failed one anew; False when it has not failed."""
        present = self.tables.escalations.get(escalation_id)
        if present is None or present.state is not EscalationState.FAILED:
            return False
        queued = replace(present, state=EscalationState.QUEUED, attempts=0, updated_at=now)
        self.tables.escalations[escalation_id] = queued
        return True

    def page(
        self, *, state: EscalationState | None, before: UUID | None, limit: int
    ) -> Sequence[Escalation]:
        """Return them, the newest first."""
        found = [
            escalation
            for escalation in self.tables.escalations.values()
            if state in (None, escalation.state) and (before is None or escalation.id < before)
        ]
        return sorted(found, key=lambda item: item.id, reverse=True)[:limit]


@dataclass(frozen=True)
class InMemoryChannels:
    """Does what `PostgresChannels` does."""

    tables: Tables

    def add(self, channel: Channel, sealed_url: bytes) -> bool:
        """Keep one; False when its name is taken."""
        if channel.name in self.tables.channels:
            return False
        self.tables.channels[channel.name] = (channel, sealed_url)
        return True

    def find(self, name: str) -> tuple[Channel, bytes] | None:
        """Return one with its sealed address."""
        return self.tables.channels.get(name)

    def all(self) -> Sequence[Channel]:
        """Return every one, by name."""
        return [channel for _, (channel, _) in sorted(self.tables.channels.items())]

    def remove(self, name: str) -> bool:
        """Remove one; False when there is none."""
        return self.tables.channels.pop(name, None) is not None


@dataclass(frozen=True)
class InMemoryOpinions:
    """Does what `PostgresOpinions` does."""

    tables: Tables

    def put(self, opinion: Opinion) -> None:
        """Keep the last word of a principal on an investigation."""
        self.tables.opinions[opinion.investigation_id, opinion.principal_id] = opinion

    def of(self, investigation_id: UUID) -> Sequence[Opinion]:
        """Return what stands, the oldest first."""
        every = self.tables.opinions.values()
        found = [item for item in every if item.investigation_id == investigation_id]
        return sorted(found, key=lambda item: (item.said_at, item.id))


@dataclass(frozen=True)
class InMemoryCandidates:
    """Does what `PostgresCandidates` does."""

    tables: Tables

    def add(self, candidate: Candidate) -> bool:
        """Keep a new one; False when its investigation has one."""
        if candidate.investigation_id in self._known():
            return False
        self.tables.candidates[candidate.id] = candidate
        return True

    def find(self, candidate_id: UUID) -> Candidate | None:
        """Return one."""
        return self.tables.candidates.get(candidate_id)

    def edit(self, candidate_id: UUID, content: bytes, now: datetime) -> bool:
        """Replace what a staged one says; False when it is not staged any more."""
        present = self._staged(candidate_id)
        if present is None:
            return False
        self.tables.candidates[candidate_id] = replace(present, content=content, edited_at=now)
        return True

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
        """Decide a staged one; False when it is not staged."""
        present = self._staged(candidate_id)
        if present is None:
            return False
        self.tables.candidates[candidate_id] = replace(
            present,
            state=state,
            decided_at=now,
            decided_by=by,
            reason=reason,
            content=present.content if content is None else content,
        )
        return True

    def stored(self, candidate_id: UUID, document_id: UUID, ingestion_id: UUID) -> None:
        """Keep which document an accepted one became."""
        present = self.tables.candidates[candidate_id]
        if present.state is CandidateState.ACCEPTED:
            self.tables.candidates[candidate_id] = replace(
                present, document_id=document_id, ingestion_id=ingestion_id
            )

    def page(
        self, *, state: CandidateState | None, before: UUID | None, limit: int
    ) -> Sequence[Candidate]:
        """Return candidates, the newest first."""
        found = [
            candidate
            for candidate in self.tables.candidates.values()
            if state in (None, candidate.state) and (before is None or candidate.id < before)
        ]
        return sorted(found, key=lambda item: item.id, reverse=True)[:limit]

    def unreviewed(self, before: datetime, limit: int) -> Sequence[Candidate]:
        """Return those staged before a moment that nobody decided on, the oldest first."""
        found = [
            candidate
            for candidate in self.tables.candidates.values()
            if candidate.state is CandidateState.STAGED and candidate.staged_at < before
        ]
        return sorted(found, key=lambda item: (item.staged_at, item.id))[:limit]

    def due(self, before: datetime, limit: int) -> Sequence[tuple[UUID, str]]:
        """Return (investigation, cause) of resolved ones without a candidate, the oldest first."""
        known, opinions = self._known(), InMemoryOpinions(self.tables)
        found: list[tuple[datetime, UUID, str]] = []
        for investigation in self.tables.investigations.values():
            resolved = (
                investigation.verdict is Verdict.AUTO_RESOLVED and investigation.state is State.DONE
            )
            if not resolved or investigation.ended_at is None or investigation.id in known:
                continue
            ratings = [said.rating for said in opinions.of(investigation.id)]
            rated = any(rating is not None and rating >= GOOD for rating in ratings)
            poor = any(rating is None or rating <= POOR for rating in ratings)
            if not poor and (rated or investigation.ended_at < before):
                found.append(
                    (investigation.ended_at, investigation.id, "rated" if rated else "undisputed")
                )
        return [(one, cause) for _, one, cause in sorted(found)[:limit]]

    def observed(self, since: datetime, limit: int) -> Sequence[Observed]:
        """Return what tools did for customers, the newest first."""
        latest: dict[tuple[str, str, str, UUID], datetime] = {}
        for row in self.tables.actions.values():
            investigation_id = row.investigation_id
            if investigation_id is None or not _tells(row):
                continue
            if row.completed_at is None or row.completed_at < since:
                continue
            for customer in self._customers(investigation_id):
                tool = f"{row.connector}.{row.tool}"
                key = (tool, row.state.value, customer, investigation_id)
                latest[key] = max(latest.get(key, since), row.completed_at)
        ordered = sorted(sorted(latest), key=latest.__getitem__, reverse=True)
        return [
            Observed(
                tool=key[0],
                outcome=key[1],
                customer=key[2],
                investigation_id=key[3],
                at=latest[key],
            )
            for key in ordered[:limit]
        ]

    def _customers(self, investigation_id: UUID) -> list[str]:
        investigation = self.tables.investigations[investigation_id]
        ticket = self.tables.tickets.get(investigation.ticket_id)
        about = ticket.data_subjects if ticket else ()
        subjects = self.tables.subjects.items()
        return [key for (kind, key), one in subjects if kind == "client" and one in about]

    def _staged(self, candidate_id: UUID) -> Candidate | None:
        present = self.tables.candidates.get(candidate_id)
        return present if present and present.state is CandidateState.STAGED else None

    def _known(self) -> set[UUID]:
        return {candidate.investigation_id for candidate in self.tables.candidates.values()}


def _tells(row: ActionRow) -> bool:
    """Return whether a call says something: it changed something, or it failed."""
    if row.dry_run:
        return False
    changed = row.state is ActionState.APPLIED and row.lane != Lane.READ
    return changed or row.state is ActionState.FAILED
