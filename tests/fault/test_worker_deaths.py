"""Kill -9 of the worker in every state in turn: nothing twice, nothing lost, the chain holds."""

from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field

import pytest
from tests.fault.office import Office, machine
from tests.fault.turnstile import Turnstile, turnstile
from tests.plugins.waiting import eventually

from cairn.investigations.state import State

SECONDS = 120.0


@dataclass
class Walk:
    """One investigation let through write by write, each of its steps killed once on the way."""

    office: Office
    held: Turnstile
    ticket: str
    deadly: frozenset[State]
    deaths: set[State] = field(default_factory=set[State])

    def to_the_end(self, approving: ThreadPoolExecutor | None = None) -> None:
        """Go on until it is closed; a person, if there is one, says yes once it waits."""
        approved: Future[None] | None = None
        while (next_ := self._next()) != "closed":
            if next_ == "question" and approved is None and approving is not None:
                approved = approving.submit(self.office.approve)
            elif next_ == "write":
                self._kill()
                self.held.let_through()
        if approved is not None:
            approved.result(timeout=30)

    def _next(self) -> str:
        """What there is to do: somebody wants to write, or waits for a person, or all is over."""

        def look() -> str | None:
            row = self.office.row(self.ticket)
            if row and row["ended_at"]:
                return "closed"
            if self.held.waiting():
                return "write"
            asks = row is not None and row["state"] == State.WAITING_APPROVAL.value
            return "question" if asks and self.office.waits_with_token(self.ticket) else None

        what = f"a move of {self.office.row(self.ticket)}"
        return eventually(look, seconds=SECONDS, what=what) or ""

    def _kill(self) -> None:
        """Kill the workers when one is about to write the end of a step not killed before."""
        state = self.office.state(self.ticket)
        if state is None or state not in self.deadly - self.deaths:
            return
        before = machine(self.office)
        if before.at != state.value or self.office.owes_answers():
            return  # it is not the step that writes
        self.office.kill_worker(state)
        self.held.forget_waiting()
        if has_died(self.office, before.deaths):
            self.deaths.add(state)


def has_died(office: Office, before: int) -> bool:
    """Whether the machine noticed that a step's worker died; another one may have waited."""
    try:
        eventually(lambda: machine(office).deaths > before, seconds=3, what="a death")
    except AssertionError:
        return False
    return True


@pytest.fixture
def approving() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(1) as threads:
        yield threads


def test_a_worker_killed_in_every_state_on_the_way_to_done_does_nothing_twice(
    forgetful_office: Office, approving: ThreadPoolExecutor
) -> None:
    office = forgetful_office
    deadly = frozenset(State) - {State.HALTED}
    with turnstile(office.laptop, office.tenant.id) as held:
        ticket = held.meanwhile(office.ticket)
        walk = Walk(office=office, held=held, ticket=ticket, deadly=deadly)
        walk.to_the_end(approving)
    ended = office.over(ticket)
    assert walk.deaths == deadly
    assert (ended["state"], ended["verdict"], ended["run"]) == ("DONE", "auto_resolved", 1)
    assert len(office.effects()) == 1
    assert office.calls(ended["id"], "applied") == 1
    office.is_whole(ended["id"])


def test_a_worker_killed_while_an_investigation_halts_loses_nothing(office: Office) -> None:
    ticket = office.ticket_nobody_answered()
    with turnstile(office.laptop, office.tenant.id) as held:
        office.sweep()
        walk = Walk(office=office, held=held, ticket=ticket, deadly=frozenset({State.HALTED}))
        walk.to_the_end()
    ended = office.over(ticket)
    assert walk.deaths == {State.HALTED}
    assert (ended["state"], ended["error"]) == ("HALTED", "approval-expired")
    assert office.effects() == []
    office.is_whole(ended["id"])
