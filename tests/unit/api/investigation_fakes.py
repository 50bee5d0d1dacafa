"""Investigations behind the fake API: views that tests set, and what was asked for."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from cairn.investigations.ports import ActionState
from cairn.investigations.state import State, Verdict
from cairn.investigations.views import (
    InvestigationDetail,
    InvestigationView,
    LimitsView,
    Present,
    SpentView,
    StepsView,
    StepView,
    ToolCallView,
)
from cairn.kernel.access import Principal, Role
from cairn.kernel.errors import CairnError, Conflict, NotFound
from cairn.kernel.ids import new_id
from cairn.llm.costs import CostRow

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"


def investigation(**changes: Any) -> InvestigationView:
    given: dict[str, Any] = {
        "id": new_id(),
        "ticket_id": new_id(),
        "persona": "default",
        "state": State.PLANNING,
        "verdict": None,
        "error": None,
        "run": 1,
        "execution": None,
        "trace_id": TRACE,
        "spent": SpentView(tokens=1_200, usd=0.02, seconds=4.5, iterations=2),
        "created_at": NOON,
        "moved_at": NOON,
        "ended_at": None,
    }
    return InvestigationView(**given | changes)


def step(seq: int, **changes: Any) -> StepView:
    given: dict[str, Any] = {
        "seq": seq,
        "state": "ACTING",
        "system": "accounts.unlock",
        "action": "called",
        "kind": "action",
        "detail": f"step {seq}",
        "citations": (),
        "ms": 250,
        "at": NOON + timedelta(seconds=seq),
        "position": 10 + seq,
    }
    return StepView(**given | changes)


def tool_call(**changes: Any) -> ToolCallView:
    given: dict[str, Any] = {
        "id": new_id(),
        "investigation_id": new_id(),
        "owner": "accounts",
        "tool": "accounts.unlock",
        "lane": "write",
        "state": ActionState.APPLIED,
        "dry_run": False,
        "is_error": False,
        "error": None,
        "input": '{"user": "<EMAIL_1>"}',
        "output": "unlocked",
        "session_id": None,
        "proposed_at": NOON,
        "started_at": NOON,
        "completed_at": NOON + timedelta(milliseconds=80),
        "ms": 80,
    }
    return ToolCallView(**given | changes)


@dataclass
class AgentWorld:
    """Investigations and their steps. `looked` is called before each look, and may change them."""

    made: dict[UUID, InvestigationView] = field(default_factory=dict[UUID, InvestigationView])
    lines: dict[UUID, list[StepView]] = field(default_factory=dict[UUID, list[StepView]])
    calls: list[ToolCallView] = field(default_factory=list[ToolCallView])
    resumed: list[UUID] = field(default_factory=list[UUID])
    looked: Callable[[], None] = field(default=lambda: None)
    trouble: CairnError | None = None
    full: bool = False

    def add(self, *steps: StepView, **changes: Any) -> InvestigationView:
        one = investigation(**changes)
        self.made[one.id] = one
        self.lines[one.id] = list(steps)
        return one

    def end(self, investigation_id: UUID) -> None:
        self.made[investigation_id] = replace(
            self.made[investigation_id],
            state=State.DONE,
            verdict=Verdict.AUTO_RESOLVED,
            moved_at=NOON + timedelta(seconds=9),
            ended_at=NOON + timedelta(seconds=10),
        )

    def start(self, principal: Principal, ticket_id: UUID) -> Present | None:
        if any(item.ticket_id == ticket_id for item in self.made.values()):
            raise Conflict("The ticket is being investigated.", reason="investigated-already")
        if ticket_id.int == 0:
            raise NotFound("There is no such ticket.", ticket_id=str(ticket_id))
        if self.full:
            return None
        one = self.add(ticket_id=ticket_id, state=State.CREATED)
        return self._present(principal, one)

    def one(self, principal: Principal, investigation_id: UUID) -> Present:
        principal.require(Role.ADMIN)
        found = self._found(investigation_id)
        self.resumed.append(investigation_id)
        return self._present(principal, found)

    def stale(self, principal: Principal) -> tuple[Present, ...]:
        principal.require(Role.ADMIN)
        moving = [item for item in self.made.values() if item.ended_at is None]
        return tuple(self.one(principal, item.id) for item in moving)

    def page(
        self,
        principal: Principal,
        *,
        state: State | None,
        ticket_id: UUID | None,
        before: UUID | None,
        limit: int,
    ) -> tuple[InvestigationView, ...]:
        found = [
            item
            for item in sorted(self.made.values(), key=lambda each: each.id, reverse=True)
            if (state is None or item.state == state)
            and (ticket_id is None or item.ticket_id == ticket_id)
            and (before is None or item.id < before)
        ]
        return tuple(found[:limit])

    def show(self, principal: Principal, investigation_id: UUID) -> InvestigationDetail:
        limits = LimitsView(tokens=50_000, usd=0.5, seconds=900.0, iterations=20)
        return InvestigationDetail(
            investigation=self._found(investigation_id),
            spent_by_purpose=(CostRow(name="planner", calls=2, tokens=1_200, usd=0.02),),
            budget=limits,
            left=replace(limits, tokens=48_800),
            approvals=(),
            actions=(tool_call(investigation_id=investigation_id),),
        )

    def steps(
        self, principal: Principal, investigation_id: UUID, *, after: int, limit: int
    ) -> StepsView:
        return self.look(principal, investigation_id, after=after, limit=limit)[1]

    def look(
        self, principal: Principal, investigation_id: UUID, *, after: int, limit: int
    ) -> tuple[InvestigationView, StepsView]:
        self.looked()
        if self.trouble:
            raise self.trouble
        one = self._found(investigation_id)
        items = tuple(each for each in self.lines[one.id] if each.seq > after)[:limit]
        steps = StepsView(
            items=items,
            after=items[-1].seq if items else after,
            state=one.state,
            ended=one.ended_at is not None and len(items) < limit,
        )
        return one, steps

    def tool_calls(
        self,
        principal: Principal,
        *,
        investigation_id: UUID | None,
        connector: str | None,
        session_id: str | None,
        before: UUID | None,
        limit: int,
    ) -> tuple[ToolCallView, ...]:
        found = [
            call
            for call in sorted(self.calls, key=lambda each: each.id, reverse=True)
            if (connector is None or call.owner == connector)
            and session_id in (None, call.session_id)
            and (investigation_id is None or call.investigation_id == investigation_id)
            and (before is None or call.id < before)
        ]
        return tuple(found[:limit])

    def tool_call(self, principal: Principal, action_id: UUID) -> ToolCallView:
        found = next((call for call in self.calls if call.id == action_id), None)
        if found is None:
            raise NotFound("There is no such tool call.")
        return found

    def _found(self, investigation_id: UUID) -> InvestigationView:
        if investigation_id not in self.made:
            raise NotFound("There is no such investigation.")
        return self.made[investigation_id]

    def _present(self, principal: Principal, one: InvestigationView) -> Present:
        return Present(
            workspace_id=principal.workspace_id,
            investigation_id=one.id,
            state=one.state,
            run=one.run,
        )
