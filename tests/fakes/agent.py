"""Investigations, slots, questions to people and tool calls in memory, for tests."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeVar

from cairn.investigations.ports import (
    ActionRow,
    ActionState,
    Approval,
    ApprovalState,
    Progress,
)
from cairn.investigations.state import Investigation, State

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence
    from datetime import datetime
    from uuid import UUID

    from tests.fakes.stores import Tables

    from cairn.investigations.ports import Move, StepRow
    from cairn.investigations.state import Spending

Row = TypeVar("Row", Investigation, Approval, ActionRow)


@dataclass(frozen=True)
class InMemoryInvestigations:
    """Does what `PostgresInvestigations` does."""

    tables: Tables

    def add(self, investigation: Investigation, snapshot: bytes) -> bool:
        """Keep a new one; False when its ticket has one in no end state."""
        if any(
            item.ticket_id == investigation.ticket_id and not item.state.is_end
            for item in self.tables.investigations.values()
        ):
            return False
        self.tables.investigations[investigation.id] = investigation
        self.tables.snapshots[investigation.id] = snapshot
        return True

    def find(self, investigation_id: UUID) -> Investigation | None:
        """Return one."""
        return self.tables.investigations.get(investigation_id)

    def snapshot(self, investigation_id: UUID) -> bytes:
        """Return the sealed working memory of the last transition."""
        return self.tables.snapshots[investigation_id]

    def move(self, move: Move) -> bool:
        """Make a transition; False when it has moved on from `since`."""
        present = self.tables.investigations.get(move.investigation_id)
        if present is None:
            return False
        if (present.state, present.run, present.moved_at) != (move.source, move.run, move.since):
            return False
        self._keep(
            replace(
                present,
                state=move.target,
                spending=move.spending,
                moved_at=move.now,
                verdict=move.verdict or present.verdict,
                error=move.error or present.error,
                data_subjects=present.data_subjects
                if move.data_subjects is None
                else move.data_subjects,
            )
        )
        self.tables.snapshots[present.id] = move.snapshot
        return True

    def close(self, investigation_id: UUID, now: datetime) -> bool:
        """Set `ended_at` of one in an end state; False when it is set."""
        present = self.tables.investigations.get(investigation_id)
        if present is None or not present.state.is_end or present.ended_at is not None:
            return False
        self._keep(replace(present, ended_at=now))
        return True

    def spend(self, investigation_id: UUID, spending: Spending, *, run: int) -> None:
        """Keep what was spent by a step that did not get to a transition; nothing of older runs."""
        present = self.tables.investigations[investigation_id]
        if present.run == run:
            self._keep(replace(present, spending=spending))

    def rerun(self, investigation_id: UUID, execution: str, now: datetime) -> int:
        """Count another execution and name it; the name it has is not counted again."""
        present = self.tables.investigations[investigation_id]
        run = present.run + (present.execution != execution)
        self._keep(replace(present, run=run, execution=execution, moved_at=now))
        return run

    def add_steps(self, investigation_id: UUID, steps: Sequence[StepRow]) -> None:
        """Append lines; `seq` 0 is given the next number."""
        lines = [*self.tables.steps.get(investigation_id, ())]
        for step in steps:
            last = max((line.seq for line in lines), default=0)
            lines.append(step if step.seq else replace(step, seq=last + 1))
        self.tables.steps[investigation_id] = tuple(lines)

    def steps(self, investigation_id: UUID, *, after: int, limit: int) -> Sequence[StepRow]:
        """Return lines after a number, in order."""
        lines = self.tables.steps.get(investigation_id, ())
        return sorted((line for line in lines if line.seq > after), key=lambda item: item.seq)[
            :limit
        ]

    def progress(self, investigation_ids: Collection[UUID]) -> Sequence[Progress]:
        """Return how far each of these is; those that are not there are left out."""
        found = (self.find(each) for each in investigation_ids)
        return [
            Progress(
                id=each.id,
                moved_at=each.moved_at,
                ended_at=each.ended_at,
                seq=max((line.seq for line in self.tables.steps.get(each.id, ())), default=0),
            )
            for each in found
            if each is not None
        ]

    def page(
        self, *, before: UUID | None, limit: int, state: State | None, ticket_id: UUID | None
    ) -> Sequence[Investigation]:
        """Return investigations, the newest first."""
        found = (
            investigation
            for investigation in self.tables.investigations.values()
            if state in (None, investigation.state) and ticket_id in (None, investigation.ticket_id)
        )
        return _newest(found, before, limit)

    def stale(self, before: datetime, limit: int) -> Sequence[Investigation]:
        """Return those that are not closed and have not moved since, the longest first."""
        found = [
            investigation
            for investigation in self.tables.investigations.values()
            if investigation.ended_at is None
            and investigation.state is not State.WAITING_APPROVAL
            and investigation.moved_at < before
        ]
        return sorted(found, key=lambda item: (item.moved_at, item.id))[:limit]

    def _keep(self, investigation: Investigation) -> None:
        self.tables.investigations[investigation.id] = investigation


@dataclass(frozen=True)
class InMemorySlots:
    """Does what `PostgresSlots` does."""

    tables: Tables

    def take(self, investigation_id: UUID, most: int, now: datetime) -> bool:
        """Take a free slot of `most`; True too when it has one."""
        held = self.tables.slots
        if investigation_id in held.values():
            return True
        number = next(n for n in range(1, len(held) + 2) if n not in held)
        if number > most:
            return False
        held[number] = investigation_id
        return True

    def free(self, investigation_id: UUID) -> None:
        """Give the slot back; nothing when it has none."""
        for number, holder in list(self.tables.slots.items()):
            if holder == investigation_id:
                del self.tables.slots[number]

    def taken(self) -> int:
        """Return how many are held."""
        return len(self.tables.slots)


@dataclass(frozen=True)
class InMemoryApprovals:
    """Does what `PostgresApprovals` does."""

    tables: Tables

    def add(self, approval: Approval) -> None:
        """Keep a question."""
        self.tables.approvals[approval.id] = approval

    def find(self, approval_id: UUID) -> Approval | None:
        """Return one."""
        return self.tables.approvals.get(approval_id)

    def granted(self, investigation_id: UUID, now: datetime) -> Sequence[Approval]:
        """Return its granted approvals that are neither used nor expired, the newest first."""
        return [
            item
            for item in self.of(investigation_id)
            if item.state is ApprovalState.GRANTED and item.expires_at > now
        ]

    def decide(
        self,
        approval_id: UUID,
        state: ApprovalState,
        *,
        by: UUID | None,
        position: int,
        now: datetime,
    ) -> bool:
        """Decide a pending one; False when it was decided before or has expired."""
        present = self.tables.approvals.get(approval_id)
        if present is None or present.state is not ApprovalState.PENDING:
            return False
        late = present.expires_at <= now
        if late and state not in (ApprovalState.EXPIRED, ApprovalState.VOID):
            return False
        self.tables.approvals[approval_id] = replace(
            present, state=state, decided_at=now, decided_by=by, decision_position=position
        )
        return True

    def use(self, approval_id: UUID) -> bool:
        """Use a granted one; False when it is not granted (any more)."""
        present = self.tables.approvals.get(approval_id)
        if present is None or present.state is not ApprovalState.GRANTED:
            return False
        self.tables.approvals[approval_id] = replace(present, state=ApprovalState.USED)
        return True

    def keep_token(self, approval_id: UUID, token: str) -> None:
        """Keep the machine's task token; the newest counts."""
        if approval_id in self.tables.approvals:
            self.tables.tokens[approval_id] = token

    def token(self, approval_id: UUID) -> str | None:
        """Return the task token; None while the question is pending."""
        present = self.tables.approvals.get(approval_id)
        if present is None or present.state is ApprovalState.PENDING:
            return None
        return self.tables.tokens.get(approval_id)

    def of(self, investigation_id: UUID) -> Sequence[Approval]:
        """Return an investigation's approvals, the newest first."""
        found = (
            approval
            for approval in self.tables.approvals.values()
            if approval.investigation_id == investigation_id
        )
        return _newest(found, None, None)

    def due(self, now: datetime, limit: int) -> Sequence[Approval]:
        """Return pending ones that have expired, the longest first."""
        found = [
            approval
            for approval in self.tables.approvals.values()
            if approval.state is ApprovalState.PENDING and approval.expires_at <= now
        ]
        return sorted(found, key=lambda item: (item.expires_at, item.id))[:limit]

    def page(
        self, *, state: ApprovalState | None, before: UUID | None, limit: int
    ) -> Sequence[Approval]:
        """Return approvals, the newest first."""
        found = (
            approval
            for approval in self.tables.approvals.values()
            if state in (None, approval.state)
        )
        return _newest(found, before, limit)

    def pending(self) -> int:
        """Return how many wait."""
        waiting = ApprovalState.PENDING
        return sum(approval.state is waiting for approval in self.tables.approvals.values())


@dataclass(frozen=True)
class InMemoryActions:
    """Does what `PostgresActions` does."""

    tables: Tables

    def add(self, action: ActionRow) -> None:
        """Keep a proposed or denied action; the same id again changes nothing."""
        self.tables.actions.setdefault(action.id, action)

    def find(self, action_id: UUID) -> ActionRow | None:
        """Return one."""
        return self.tables.actions.get(action_id)

    def same(self, investigation_id: UUID, digest: str) -> ActionRow | None:
        """Return the investigation's newest action of this digest that was not denied."""
        found = (
            action
            for action in self.tables.actions.values()
            if action.investigation_id == investigation_id
            and action.digest == digest
            and action.state is not ActionState.DENIED
        )
        return max(found, key=lambda item: item.id, default=None)

    def earlier(
        self, ticket_id: UUID, but: UUID, *, connector: str, tool: str, limit: int
    ) -> Sequence[ActionRow]:
        """Return a tool's writes for a ticket that happened or may have, the newest first."""
        done = (ActionState.STARTED, ActionState.APPLIED, ActionState.UNKNOWN)
        found = (
            action
            for action in self.tables.actions.values()
            if action.investigation_id not in (None, but)
            and self.tables.investigations[action.investigation_id].ticket_id == ticket_id
            and (action.connector, action.tool) == (connector, tool)
            and action.state in done
            and action.lane != "read"
            and not action.dry_run
        )
        return _newest(found, None, limit)

    def recent(
        self,
        ticket_id: UUID,
        but: UUID,
        *,
        owner: UUID | None,
        alone: bool,
        since: datetime,
        limit: int,
    ) -> Sequence[ActionRow]:
        """Return reads that brought a result since, the newest first."""

        def theirs(one: UUID) -> bool:
            about = self.tables.tickets[one].data_subjects
            return owner in about and (not alone or set(about) == {owner})

        found = (
            action
            for action in self.tables.actions.values()
            if action.investigation_id not in (None, but)
            and action.lane == "read"
            and action.state is ActionState.APPLIED
            and not (action.is_error or action.dry_run)
            and action.output
            and action.completed_at is not None
            and action.completed_at >= since
            and (owner is None or owner in action.data_subjects)
            and (
                (of := self.tables.investigations[action.investigation_id].ticket_id) == ticket_id
                or theirs(of)
            )
        )
        return sorted(found, key=lambda item: (item.completed_at, item.id), reverse=True)[:limit]

    def open(self, investigation_id: UUID) -> Sequence[ActionRow]:
        """Return what was started and has no end."""
        found = [
            action
            for action in self.tables.actions.values()
            if action.investigation_id == investigation_id and action.state is ActionState.STARTED
        ]
        return sorted(found, key=lambda item: item.id)

    def deny(self, action_id: UUID, *, error: str, now: datetime) -> bool:
        """Deny a proposed one; False when it is not proposed."""
        present = self._in(action_id, ActionState.PROPOSED)
        if present is None:
            return False
        self._keep(replace(present, state=ActionState.DENIED, error=error, completed_at=now))
        return True

    def start(self, action_id: UUID, *, dry_run: bool, now: datetime) -> bool:
        """Start a proposed one; False when it was started before."""
        present = self._in(action_id, ActionState.PROPOSED)
        if present is None:
            return False
        self._keep(replace(present, state=ActionState.STARTED, dry_run=dry_run, started_at=now))
        return True

    def end(
        self,
        action_id: UUID,
        state: ActionState,
        *,
        output: bytes,
        is_error: bool,
        error: str | None,
        now: datetime,
    ) -> bool:
        """End a started one; False when it has ended."""
        present = self._in(action_id, ActionState.STARTED)
        if present is None:
            return False
        self._keep(
            replace(
                present,
                state=state,
                output=output,
                is_error=is_error,
                error=error,
                completed_at=now,
            )
        )
        return True

    def page(
        self,
        *,
        investigation_id: UUID | None,
        connector: str | None,
        session_id: str | None = None,
        before: UUID | None,
        limit: int,
        principal_id: UUID | None = None,
    ) -> Sequence[ActionRow]:
        """Return tool calls, of a principal its own only, the newest first."""
        found = (
            action
            for action in self.tables.actions.values()
            if investigation_id in (None, action.investigation_id)
            and connector in (None, action.connector)
            and session_id in (None, action.session_id)
            and principal_id in (None, action.principal_id)
        )
        return _newest(found, before, limit)

    def _in(self, action_id: UUID, state: ActionState) -> ActionRow | None:
        present = self.tables.actions.get(action_id)
        return present if present is not None and present.state is state else None

    def _keep(self, action: ActionRow) -> None:
        self.tables.actions[action.id] = action


def _newest(rows: Iterable[Row], before: UUID | None, limit: int | None) -> list[Row]:
    """Return rows by id, the newest first: ids of version 7 sort by time."""
    found = [row for row in rows if before is None or row.id < before]
    return sorted(found, key=lambda item: item.id, reverse=True)[:limit]
