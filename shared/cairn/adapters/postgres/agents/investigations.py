"""Investigations, their timelines and their slots, in PostgreSQL."""

from __future__ import annotations

import json
from dataclasses import asdict
from functools import partial
from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.store import Store, part, record
from cairn.adapters.postgres.stores import entries_of
from cairn.investigations.ports import Progress, StepRow
from cairn.investigations.state import Investigation, Spending, State, Verdict

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from datetime import datetime
    from uuid import UUID

    from psycopg.rows import RowFactory

    from cairn.investigations.ports import Move
    from cairn.ledger.entry import Entry


class PostgresInvestigations(Store):
    """The investigations of the transaction's workspace."""

    def add(self, investigation: Investigation, snapshot: bytes) -> bool:
        """Keep a new one with its `execution`; False when its ticket has one in no end state."""
        added = self.write("investigation.add", investigation, snapshot=snapshot)
        return added.rowcount == 1

    def find(self, investigation_id: UUID) -> Investigation | None:
        """Return one."""
        return self.first_of(self._row_factory, "investigation.find", id=investigation_id)

    def snapshot(self, investigation_id: UUID) -> bytes:
        """Return the sealed working memory of the last transition; b"" where it was erased."""
        return self.value("investigation.snapshot", id=investigation_id) or b""

    def move(self, move: Move) -> bool:
        """Make a transition; False, and nothing changes, when it has moved on from `since`.

        A transition to DONE or HALTED leaves `ended_at` empty: `close` sets it.
        """
        spent = asdict(move.spending)
        moved = self.write("investigation.move", move, id=move.investigation_id, **spent)
        return moved.rowcount == 1

    def close(self, investigation_id: UUID, now: datetime) -> bool:
        """Set `ended_at` of one in an end state: everybody was told. False when it is set."""
        return self.run("investigation.close", id=investigation_id, now=now).rowcount == 1

    def spend(self, investigation_id: UUID, spending: Spending, *, run: int) -> None:
        """Keep what was spent by a step that did not get to a transition; nothing of older runs."""
        self.run("investigation.spend", id=investigation_id, run=run, **asdict(spending))

    def rerun(self, investigation_id: UUID, execution: str, now: datetime) -> int:
        """Count another execution, name it, and return its number; `moved_at` becomes `now`.

        The name it has already is not counted again.
        """
        parameters = {"id": investigation_id, "execution": execution, "now": now}
        return self.value("investigation.rerun", **parameters) or 0

    def add_steps(self, investigation_id: UUID, steps: Sequence[StepRow]) -> None:
        """Append lines; `seq` 0 is given the next number."""
        if steps:
            rows = json.dumps([asdict(step) for step in steps], default=str)
            self.run("investigation.add_steps", id=investigation_id, rows=rows)

    def steps(self, investigation_id: UUID, *, after: int, limit: int) -> Sequence[StepRow]:
        """Return lines after a number, in order."""
        parameters = {"id": investigation_id, "after": after, "limit": limit}
        return self.all_of(record(StepRow), "investigation.steps", **parameters)

    def progress(self, investigation_ids: Collection[UUID]) -> Sequence[Progress]:
        """Return how far each of these is; those that are not there are left out."""
        return self.all_of(record(Progress), "investigation.progress", ids=[*investigation_ids])

    def page(
        self, *, before: UUID | None, limit: int, state: State | None, ticket_id: UUID | None
    ) -> Sequence[Investigation]:
        """Return investigations, the newest first."""
        return self.all_of(
            self._row_factory,
            "investigation.page",
            before=before,
            limit=limit,
            state=state.value if state else None,
            ticket_id=ticket_id,
        )

    def stale(self, before: datetime, limit: int) -> Sequence[Investigation]:
        """Return those that are not closed and have not moved since, the longest first.

        Those that wait for a person are left out; those in an end state without `ended_at` are in.
        """
        return self.all_of(self._row_factory, "investigation.stale", before=before, limit=limit)

    @property
    def _row_factory(self) -> RowFactory[Investigation]:
        make = partial(_investigation, self.principal.workspace_id)
        return record(make, state=State, verdict=Verdict)


def _investigation(workspace_id: UUID, **row: Any) -> Investigation:
    also = {"workspace_id": workspace_id, "spending": part(Spending, row)}
    return part(Investigation, row | also)


class PostgresSlots(Store):
    """How many investigations run at once in a workspace: numbered slots."""

    def take(self, investigation_id: UUID, most: int, now: datetime) -> bool:
        """Take a free slot of `most`, skipping what others hold; True too when it has one."""
        self.run("slot.make", most=most)
        taken = self.run("slot.take", id=investigation_id, most=most, now=now)
        return taken.fetchone() is not None

    def free(self, investigation_id: UUID) -> None:
        """Give the slot back; nothing when it has none."""
        self.run("slot.free", id=investigation_id)

    def taken(self) -> int:
        """Return how many are held."""
        return self.value("slot.taken")


class PostgresEntries(Store):
    """The ledger of the transaction's workspace, by position."""

    def at(self, positions: Collection[int]) -> Sequence[Entry]:
        """Return the entries at these positions, in order; positions that are none are left out."""
        if not positions:
            return []
        factory = entries_of(self.principal.workspace_id)
        return self.all_of(factory, "ledger.at", positions=sorted(positions))
