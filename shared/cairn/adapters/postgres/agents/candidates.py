"""What people said of investigations, and what may be learned from them, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.store import Store
from cairn.investigations.people.ports import Candidate, CandidateState, Observed, Opinion

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID


class PostgresOpinions(Store):
    """Implements `agent.people.ports.OpinionStore`."""

    def put(self, opinion: Opinion) -> None:
        """Keep the last word of a principal on an investigation."""
        self.run(
            "opinion.put",
            id=opinion.id,
            investigation_id=opinion.investigation_id,
            principal_id=opinion.principal_id,
            rating=opinion.rating,
            content=opinion.content,
            data_subjects=list(opinion.data_subjects),
            said_at=opinion.said_at,
        )

    def of(self, investigation_id: UUID) -> Sequence[Opinion]:
        """Return what stands, the oldest first."""
        rows = self.run("opinion.of", investigation_id=investigation_id)
        return [_opinion(row) for row in rows]


class PostgresCandidates(Store):
    """Implements `agent.people.ports.CandidateStore`."""

    def add(self, candidate: Candidate) -> bool:
        """Keep a new one; False when its investigation has one."""
        one = candidate
        added = self.run(
            "candidate.add",
            id=one.id,
            investigation_id=one.investigation_id,
            ticket_id=one.ticket_id,
            cause=one.cause,
            state=one.state.value,
            content=one.content,
            data_subjects=list(one.data_subjects),
            staged_at=one.staged_at,
            decided_at=one.decided_at,
            reason=one.reason,
        )
        return added.rowcount == 1

    def find(self, candidate_id: UUID) -> Candidate | None:
        """Return one."""
        row = self.run("candidate.find", id=candidate_id).fetchone()
        return _candidate(row) if row else None

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
        """Decide a staged one; False when it is not staged."""
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
        rows = self.run(
            "candidate.page", state=state.value if state else None, before=before, limit=limit
        )
        return [_candidate(row) for row in rows]

    def unreviewed(self, before: datetime, limit: int) -> Sequence[Candidate]:
        """Return those staged before a moment that nobody decided on, the oldest first."""
        rows = self.run("candidate.unreviewed", before=before, limit=limit)
        return [_candidate(row) for row in rows]

    def due(self, before: datetime, limit: int) -> Sequence[tuple[UUID, str]]:
        """Return (investigation, cause) of resolved ones without a candidate, the oldest first."""
        rows = self.run("candidate.due", before=before, limit=limit)
        return [(one, cause) for one, cause in rows]

    def observed(self, since: datetime, limit: int) -> Sequence[Observed]:
        """Return what tools did for customers, the newest first."""
        rows = self.run("candidate.observed", since=since, limit=limit)
        return [
            Observed(tool=tool, outcome=outcome, customer=customer, investigation_id=one, at=at)
            for tool, outcome, customer, one, at in rows
        ]


def _opinion(row: Sequence[Any]) -> Opinion:
    one, investigation_id, principal_id, rating, content, subjects, said_at = row
    return Opinion(
        id=one,
        investigation_id=investigation_id,
        principal_id=principal_id,
        rating=rating,
        content=content,
        data_subjects=tuple(subjects),
        said_at=said_at,
    )


def _candidate(row: Sequence[Any]) -> Candidate:
    one, investigation_id, ticket_id, cause, state, content, subjects, staged_at, *rest = row
    edited_at, decided_at, decided_by, reason, document_id, ingestion_id = rest
    return Candidate(
        id=one,
        investigation_id=investigation_id,
        ticket_id=ticket_id,
        cause=cause,
        state=CandidateState(state),
        content=content,
        data_subjects=tuple(subjects),
        staged_at=staged_at,
        edited_at=edited_at,
        decided_at=decided_at,
        decided_by=decided_by,
        reason=reason,
        document_id=document_id,
        ingestion_id=ingestion_id,
    )
