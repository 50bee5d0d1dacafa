"""DONE and HALTED: tell the desk, call a person, give back the slot, take the next ticket.

Each part may be done again: a closing that was interrupted is closed by the next.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cairn.investigations.journal import agent_of
from cairn.investigations.outcomes import in_the_air
from cairn.investigations.ports import ActionState, ApprovalState, Escalation, Move
from cairn.investigations.run.moving import (
    Opened,
    add_lines,
    find_investigation,
    halted,
    ids,
    line_bodies,
    moved,
    read,
)
from cairn.investigations.snapshot import Snapshots
from cairn.investigations.state import State, Step, Verdict
from cairn.investigations.steps.plan import readable
from cairn.investigations.tool_calls import sealed_output
from cairn.investigations.views import Present, present
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import NotFound
from cairn.kernel.ids import derived_id
from cairn.kernel.metrics import Metric, untold
from cairn.kernel.spans import passed
from cairn.ledger.entry import SYSTEM as CAIRN
from cairn.ledger.keys import BodyUnreadable, SubjectForgotten
from cairn.tickets.ticket import SourceKind
from cairn.writing.ports import Topic

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from cairn.investigations.journal import Journal
    from cairn.investigations.state import Investigation
    from cairn.kernel.metrics import Metrics
    from cairn.tickets.write_back import Desk
    from cairn.writing.writer import Write


WHY = "Its executions keep failing. Cairn tries again every hour; somebody has to look why."


@dataclass(frozen=True, slots=True, kw_only=True)
class AbandonExecution:
    """Frees the slot of an investigation and calls a person; `admit` takes up who is next."""

    journal: Journal
    escalate: QueueEscalation
    admit: Callable[[UUID], object]

    def __call__(self, workspace_id: UUID, investigation_id: UUID) -> Present:
        """Return where the investigation is: whoever was called before is not called again.

        Raises NotFound, and Unavailable when nobody could be called: repeat it.
        """
        answer = self.journal.write(
            workspace_id, (), CAIRN, lambda write: _freed(write, investigation_id)
        )
        with suppress(SubjectForgotten):  # there is nobody to call for: the next execution ends it
            self.escalate(workspace_id, investigation_id, verdict=Verdict.FAILED, why=WHY)
        self.admit(workspace_id)
        return answer


def _freed(write: Write, investigation_id: UUID) -> Present:
    write.stores.slots.free(investigation_id)
    investigation = find_investigation(write.stores, investigation_id)
    if write.stores.escalations.of(investigation_id) is None:
        line = Step(system="resume", action="left", detail=WHY, kind="error")
        meta = {**ids(investigation), "run": investigation.run}
        position = write.note("investigation.left", meta, {"lines": line_bodies([line])})
        add_lines(write, investigation, [line], position)
    return present(investigation)


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEscalation:
    """Queues the call of a person; who was called for an investigation is not called again."""

    journal: Journal
    desk: Desk

    def __call__(
        self, workspace_id: UUID, investigation_id: UUID, *, verdict: Verdict, why: str
    ) -> None:
        """Queue the call, and say so in the ledger."""
        with self.journal.reading(workspace_id) as stores:
            investigation = find_investigation(stores, investigation_id)
        channel = self.desk.persona(workspace_id, investigation.persona).escalation
        escalation_id = derived_id(investigation_id, "escalation")

        def queue(write: Write) -> None:
            new = Escalation(
                id=escalation_id,
                investigation_id=investigation_id,
                ticket_id=investigation.ticket_id,
                verdict=verdict,
                channel=channel,
                why=write.entries.seal(escalation_id, write.data_subjects, {"why": why}),
                data_subjects=write.data_subjects,
                queued_at=write.now,
                updated_at=write.now,
            )
            if not write.stores.escalations.add(new):
                return
            meta = {**ids(investigation), "verdict": verdict.value}
            meta |= {"escalation_id": str(escalation_id), "channel": channel.partition(":")[0]}
            write.note("escalation.queued", meta, {"why": why})
            write.wake(Topic.ESCALATION, investigation_id)

        actor = agent_of(investigation)
        self.journal.write(workspace_id, investigation.data_subjects, actor, queue)


FORGOTTEN = "subject-forgotten"
MAX_CODE_CHARS = 100
MAX_CAUSE_CHARS = 20_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Close:
    """Closes an investigation in an end state; `admit` takes up who is next."""

    journal: Journal
    desk: Desk
    escalate: QueueEscalation
    admit: Callable[[UUID], object]
    metrics: Metrics = field(default=untold)

    def __call__(self, workspace_id: UUID, investigation_id: UUID) -> Present:
        """Return where the investigation is; one that has not ended is left alone.

        Raises NotFound, and Unavailable when somebody could not be told: repeat it.
        """
        with self.journal.reading(workspace_id) as stores:
            investigation = find_investigation(stores, investigation_id)
        if investigation.state.is_end:
            if investigation.ended_at is None:
                self._give_back(investigation)
                self._tell(investigation)
                self._close(investigation)
            self.admit(workspace_id)
        return present(investigation)

    def _give_back(self, investigation: Investigation) -> None:
        """Free the slot for the next ticket, whoever cannot be told meanwhile."""
        workspace_id = investigation.workspace_id
        with self.journal.platform.transactions.writing(system_principal(workspace_id)) as stores:
            stores.slots.free(investigation.id)
        self.admit(workspace_id)

    def _never_ended(self, investigation: Investigation) -> str:
        """Return why a person has to look though nothing else says so; "" when nobody has to."""
        with self.journal.reading(investigation.workspace_id) as stores:
            begun = stores.actions.open(investigation.id)
        names = ", ".join(f"{row.connector}.{row.tool}" for row in begun if in_the_air(row))
        return f"Nobody knows whether {names} happened." if names else ""

    def _tell(self, investigation: Investigation) -> None:
        workspace_id, verdict = investigation.workspace_id, _verdict(investigation)
        why = investigation.error or ""
        try:
            self.desk.ended(workspace_id, investigation.ticket_id, investigation.id, verdict)
            memory = read(self.journal, workspace_id, investigation.id).memory
            why = memory.verdict_reason or why
            unknown = self._never_ended(investigation)
            if unknown and not verdict.escalates:
                verdict, why = Verdict.NEEDS_TECH, ""
            if verdict.escalates:
                why = f"{why} {unknown}".strip()
                self.escalate(workspace_id, investigation.id, verdict=verdict, why=why)
        except (SubjectForgotten, NotFound):
            return  # whom it was about was forgotten: there is nobody to call for

    def _close(self, investigation: Investigation) -> None:
        subjects = investigation.data_subjects
        try:
            closed = self._written(investigation, subjects)
        except SubjectForgotten:
            closed = self._written(investigation, ())
        if closed:
            self._count(investigation)

    def _written(self, investigation: Investigation, subjects: tuple[UUID, ...]) -> bool:
        def close(write: Write) -> bool:
            stores = write.stores
            if not stores.investigations.close(investigation.id, write.now):
                return False
            _leave_nothing_open(write, investigation, readable=subjects != ())
            meta = {
                **ids(investigation),
                "state": investigation.state.value,
                "verdict": _verdict(investigation).value,
                "tokens": investigation.spending.tokens,
                "iterations": investigation.spending.iterations,
                "ms": investigation.spending.ms,
                "run": investigation.run,
            }
            write.note("investigation.ended", meta, {"error": investigation.error})
            return True

        return self.journal.write(
            investigation.workspace_id, subjects, agent_of(investigation), close
        )

    def _count(self, investigation: Investigation) -> None:
        labels = {"workspace": investigation.workspace_id, "outcome": investigation.state.value}
        verdict = _verdict(investigation)
        whole = self.journal.platform.clock() - investigation.created_at
        passed("invoke_agent investigation", whole.total_seconds(), own=investigation.traceparent)
        self.metrics(Metric.INVESTIGATIONS, 1, **labels)
        seconds = investigation.spending.ms / 1000
        self.metrics(Metric.INVESTIGATION_SECONDS, seconds, **labels)
        self.metrics(
            Metric.VERDICTS, 1, workspace=investigation.workspace_id, outcome=verdict.value
        )
        if channel := self._channel(investigation):
            self.metrics(Metric.CHAT_SESSIONS, 1, channel=channel, outcome=verdict.value)

    def _channel(self, investigation: Investigation) -> str | None:
        """Return the chat that a ticket is a thread of: Slack's; None for other tickets."""
        with self.journal.reading(investigation.workspace_id) as stores:
            ticket = stores.tickets.find(investigation.ticket_id)
            source = stores.ticket_sources.named(ticket.source) if ticket else None
        return source.kind.value if source and source.kind is SourceKind.SLACK else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Halt:
    """Stops an investigation whose step failed in a way nobody planned for."""

    journal: Journal
    abandon: Abandon

    def __call__(
        self,
        workspace_id: UUID,
        investigation_id: UUID,
        *,
        error: str,
        cause: str = "",
        run: int | None = None,
    ) -> Present:
        """Return HALTED; an investigation that has ended, or has another run, stays as it is.

        `error` is a code or the name of an exception, `cause` what a person needs to find the
        mistake: it is sealed in the ledger.
        """
        try:
            before = read(self.journal, workspace_id, investigation_id)
            of_another = run is not None and run != before.investigation.run
            if not before.investigation.state.is_end and not of_another:
                self._halt(before, error, cause)
        except (BodyUnreadable, SubjectForgotten):
            return self.abandon(workspace_id, investigation_id)
        with self.journal.reading(workspace_id) as stores:
            return present(find_investigation(stores, investigation_id))

    def _halt(self, before: Opened, error: str, cause: str) -> None:
        investigation, code = before.investigation, readable(error, MAX_CODE_CHARS)
        why = f"A step failed: {code}."
        change = halted(before.memory, Verdict.FAILED, why, code=code)
        snapshots = Snapshots(cipher=self.journal.platform.cipher)

        def halt(write: Write) -> bool:
            if not moved(write, snapshots, before, change):
                return False
            meta: dict[str, Any] = {**ids(investigation), "error": code}
            body = {"cause": readable(cause, MAX_CAUSE_CHARS)}
            write.note("investigation.failed", meta, body)
            return True

        self.journal.write(
            investigation.workspace_id,
            investigation.data_subjects,
            agent_of(investigation),
            halt,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Abandon:
    """Ends an investigation that cannot be read: whom it was about was forgotten meanwhile."""

    journal: Journal

    def __call__(self, workspace_id: UUID, investigation_id: UUID) -> Present:
        """Return HALTED; nothing of what it knew is kept."""

        def end(write: Write) -> Present:
            investigation = find_investigation(write.stores, investigation_id)
            if investigation.state.is_end:
                return present(investigation)
            move = Move(
                investigation_id=investigation_id,
                run=investigation.run,
                source=investigation.state,
                since=investigation.moved_at,
                target=State.HALTED,
                snapshot=b"",
                spending=investigation.spending,
                now=write.now,
                verdict=Verdict.FAILED,
                error=FORGOTTEN,
            )
            write.stores.investigations.move(move)
            meta = {
                **ids(investigation),
                "from": investigation.state.value,
                "to": State.HALTED.value,
                "run": investigation.run,
                "reason": FORGOTTEN,
            }
            write.note("investigation.moved", meta, {})
            return present(find_investigation(write.stores, investigation_id))

        with self.journal.reading(workspace_id) as stores:
            investigation = find_investigation(stores, investigation_id)
        return self.journal.write(workspace_id, (), agent_of(investigation), end)


def _leave_nothing_open(write: Write, investigation: Investigation, *, readable: bool) -> None:
    """Void what still waits for a person, and say of what was started that nobody knows."""
    for item in write.stores.approvals.of(investigation.id):
        if item.state is ApprovalState.PENDING:
            meta = {**ids(investigation), "approval_id": str(item.id), "reason": "ended"}
            position = write.note("approval.voided", meta, {})
            write.stores.approvals.decide(
                item.id, ApprovalState.VOID, by=None, position=position, now=write.now
            )
    for row in write.stores.actions.open(investigation.id):
        write.stores.actions.end(
            row.id,
            ActionState.UNKNOWN,
            output=sealed_output(write, row.id, "") if readable else b"",
            is_error=False,
            error="never-ended",
            now=write.now,
        )
        meta = {**ids(investigation), "action_id": str(row.id), "error": "never-ended"}
        write.note("action.unknown", meta, {})


def _verdict(investigation: Investigation) -> Verdict:
    return investigation.verdict or Verdict.FAILED
