"""Investigations, their timelines and the group of stores their steps need, in PostgreSQL."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.store import Store
from cairn.investigations.ports import StepRow
from cairn.investigations.state import Investigation, Spending, State, Verdict

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.investigations.ports import Move


class PostgresInvestigations(Store):
    """Implements `agent.ports.InvestigationStore`."""

    def add(self, investigation: Investigation, snapshot: bytes) -> bool:
        """Keep a new one with its `execution`; False when its ticket has one in no end state."""
        one = investigation
        added = self.run(
            "investigation.add",
            id=one.id,
            ticket_id=one.ticket_id,
            persona=one.persona,
            state=one.state.value,
            snapshot=snapshot,
            data_subjects=list(one.data_subjects),
            run=one.run,
            execution=one.execution,
            traceparent=one.traceparent,
            created_at=one.created_at,
            moved_at=one.moved_at,
        )
        return added.rowcount == 1

    def find(self, investigation_id: UUID) -> Investigation | None:
        """Return one."""
        row = self.run("investigation.find", id=investigation_id).fetchone()
        return self._investigation(row) if row else None

    def snapshot(self, investigation_id: UUID) -> bytes:
        """Return the sealed working memory of the last transition; b"" where it was erased."""
        row = self.run("investigation.snapshot", id=investigation_id).fetchone()
        return row[0] if row else b""

    def move(self, move: Move) -> bool:
        """Make a transition; False when it has moved on from `since`."""
        moved = self.run(
            "investigation.move",
            id=move.investigation_id,
            run=move.run,
            source=move.source.value,
            since=move.since,
            target=move.target.value,
            snapshot=move.snapshot,
            verdict=move.verdict.value if move.verdict else None,
            error=move.error,
            data_subjects=list(move.data_subjects) if move.data_subjects is not None else None,
            now=move.now,
            **asdict(move.spending),
        )
        return moved.rowcount == 1

    def close(self, investigation_id: UUID, now: datetime) -> bool:
        """Set `ended_at` of one in an end state; False when it is set."""
        return self.run("investigation.close", id=investigation_id, now=now).rowcount == 1

    def spend(self, investigation_id: UUID, spending: Spending, *, run: int) -> None:
        """Keep what was spent by a step that did not get to a transition; nothing of older runs."""
        self.run("investigation.spend", id=investigation_id, run=run, **asdict(spending))

    def rerun(self, investigation_id: UUID, execution: str, now: datetime) -> int:
        """Count another execution, name it, and return its number."""
        row = self.run(
            "investigation.rerun", id=investigation_id, execution=execution, now=now
        ).fetchone()
        return row[0] if row else 0

    def add_steps(self, investigation_id: UUID, steps: Sequence[StepRow]) -> None:
        """Append lines; `seq` 0 is given the next number."""
        if steps:
            rows = json.dumps([asdict(one) for one in steps], default=str)
            self.run("investigation.add_steps", id=investigation_id, rows=rows)

    def steps(self, investigation_id: UUID, *, after: int, limit: int) -> Sequence[StepRow]:
        """Return lines after a number, in order."""
        names = tuple(StepRow.__dataclass_fields__)
        rows = self.run("investigation.steps", id=investigation_id, after=after, limit=limit)
        return [StepRow(**dict(zip(names, row, strict=True))) for row in rows]

    def page(
        self, *, before: UUID | None, limit: int, state: State | None, ticket_id: UUID | None
    ) -> Sequence[Investigation]:
        """Return investigations, the newest first."""
        rows = self.run(
            "investigation.page",
            before=before,
            limit=limit,
            state=state.value if state else None,
            ticket_id=ticket_id,
        )
        return [self._investigation(row) for row in rows]

    def stale(self, before: datetime, limit: int) -> Sequence[Investigation]:
        """Return those that are not closed and have not moved since, the longest first."""
        rows = self.run("investigation.stale", before=before, limit=limit)
        return [self._investigation(row) for row in rows]

    def _investigation(self, row: Sequence[Any]) -> Investigation:
        one, ticket_id, persona, state, verdict, tokens, usd, ms, iterations, unpriced, *rest = row
        subjects, run, execution, traceparent, error, created_at, moved_at, ended_at = rest
        return Investigation(
            id=one,
            workspace_id=self.principal.workspace_id,
            ticket_id=ticket_id,
            persona=persona,
            state=State(state),
            verdict=Verdict(verdict) if verdict else None,
            spending=Spending(
                tokens=tokens, usd=usd, ms=ms, iterations=iterations, unpriced_calls=unpriced
            ),
            data_subjects=tuple(subjects),
            run=run,
            execution=execution,
            traceparent=traceparent,
            error=error,
            created_at=created_at,
            moved_at=moved_at,
            ended_at=ended_at,
        )
