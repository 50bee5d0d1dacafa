"""Investigations over PostgreSQL: the worlds of the unit tests, with real rows and locks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from tests.support.agent import DOC, Agents, Killed, ScriptedPlanner, act, search
from tests.support.world import open_world

from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.investigations.approvals import AlreadyDecided
from cairn.investigations.ports import ActionState, ApprovalState
from cairn.investigations.state import State, Verdict
from cairn.kernel.errors import Unavailable
from cairn.kernel.ids import new_id
from cairn.ledger.verify import verify
from cairn.safety.tools import Autonomy, Lane
from cairn.tickets.personas import DEFAULT
from cairn.workspace.settings import EnvelopeSettings
from cairn.writing.ports import Subject, Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.plugins.postgres import Database
    from tests.support.world import World

    from cairn.ledger.entry import Entry

OWNERS = (("client", "acme"), ("client", "harbour"), ("person", "ada@acme.test"))
PROPOSES = replace(DEFAULT, autonomy=Autonomy.PROPOSE)


class StoredAgents(Agents):
    """Agents whose ledger is in the database."""

    def entries(self) -> list[Entry]:
        with self.transactions.reading(self.admin) as stores:
            head = stores.ledger.head().position
            return list(stores.entries.at(range(1, head + 1)))


@pytest.fixture
def world(database: Database) -> Iterator[World]:
    opened = open_world(database.owner_url, database.app_url, f"runs-{new_id()}")
    yield opened
    opened.pool.close()


@pytest.fixture
def agents(world: World) -> Callable[..., StoredAgents]:
    def made(**given: object) -> StoredAgents:
        planner = ScriptedPlanner([search("locked"), act("accounts.unlock", evidence=(DOC,))])
        planner.at = lambda question: (
            len(question.memory.queries) + len(question.memory.observations)
        )
        found = StoredAgents(
            transactions=StoreTransactions(world.pool),
            workspace_id=world.workspace_id,
            planner=planner,
            **given,  # type: ignore[arg-type]
        )
        found.host.add("accounts.unlock", Lane.WRITE)
        return found

    return made


def approve(agents: Agents) -> None:
    asked = agents.pending()
    agents.approvals.approve(agents.admin, asked.id, binding=asked.binding)


def test_a_ticket_is_answered_with_a_person_s_yes(agents: Callable[..., StoredAgents]) -> None:
    made = agents(persona=PROPOSES)
    one = made.begin("I am ada@acme.test.")
    assert made.work(one).state is State.WAITING_APPROVAL
    made.wait(made.workspace_id, one, token="t")
    approve(made)
    with pytest.raises(AlreadyDecided):
        approve(made)
    assert made.work(one).state is State.DONE
    found = made.found_(one)
    assert (found.verdict, found.ended_at is None) == (Verdict.AUTO_RESOLVED, False)
    assert [row.state for row in made.actions()] == [ActionState.APPLIED]
    assert [row.state for row in made.questions()] == [ApprovalState.USED]
    assert made.slots() == 0
    entries = made.entries()
    assert verify(entries, workspace_id=made.workspace_id).ok
    with made.transactions.reading(made.admin) as stores:
        lines = stores.investigations.steps(one, after=0, limit=100)
    told = {entry.position: made.body(entry) for entry in entries if entry.body}
    assert all(told[line.position]["lines"][line.line]["system"] == line.system for line in lines)
    assert [line.seq for line in lines] == list(range(1, len(lines) + 1))


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_death_at_every_commit_repeats_nothing(
    agents: Callable[..., StoredAgents], moment: str
) -> None:
    made = agents(persona=PROPOSES)
    for commit in range(1, 14):
        effects = len(made.host.effects)
        one = made.begin()
        made.commits.arm(**{moment: commit})
        for _ in range(9):
            try:
                if made.work(one).state is not State.WAITING_APPROVAL:
                    break
                approve(made)
            except Killed:
                if made.found_(one).ended_at is not None:
                    break
                made.resume.one(made.admin, one)
        assert made.found_(one).verdict is Verdict.AUTO_RESOLVED
        assert len(made.host.effects) == effects + 1
    assert made.slots() == 0
    assert verify(made.entries(), workspace_id=made.workspace_id).ok


def test_recent_results_are_of_reads_for_the_same_customer_alone(
    agents: Callable[..., StoredAgents],
) -> None:
    made = agents(envelope=lambda _: EnvelopeSettings(connector_recent_seconds=1_800))
    made.planner.at = lambda question: len(question.memory.observations)
    made.host.add("accounts.find", Lane.READ, "found")
    acme, harbour, ada = (Subject(id=new_id(), kind=kind, natural_key=key) for kind, key in OWNERS)
    with made.transactions.writing(made.admin) as stores:
        for one in (acme, harbour, ada):
            stores.subjects.add(one, 1)

    def told(customer: str, *about: Subject) -> int:
        """How many results of others an investigation has, which looks somebody up then."""
        user = str(new_id())
        made.planner.script[:] = [act("accounts.find", user), act("accounts.unlock", user)]
        one = made.begin(customer=customer, data_subjects=tuple(each.id for each in about))
        made.work(one)
        assert len(made.memory(one).observations) == 2
        return len(made.memory(one).recent)

    assert [told("Acme", acme, ada) for _ in range(5)] == [0, 1, 2, 3, 3]
    assert [told("Harbour", harbour, ada) for _ in range(2)] == [0, 1]
    assert [told("", ada) for _ in range(2)] == [0, 1]
    assert [told("Nobody knows them") for _ in range(2)] == [0, 0]
    made.clock.now += timedelta(minutes=30)
    assert told("Acme", acme) == 0


def test_many_admit_at_once_and_no_ticket_is_taken_twice(
    agents: Callable[..., StoredAgents],
) -> None:
    made = agents(at_once=4)
    tickets = [made.ticket() for _ in range(10)]

    def admit(_: int) -> int:
        for _ in range(20):
            try:
                return made.admit(made.workspace_id)
            except Unavailable:
                continue
        raise AssertionError("never got the lock")

    with ThreadPoolExecutor(3) as pool:
        started = sum(pool.map(admit, range(6)))
    assert started == made.slots() == 4
    rows = [row.reference for row in made.woken(Topic.INVESTIGATION)]
    assert len(rows) == len(set(rows)) == 4
    for item in rows:
        made.work(item)
    done = [row.reference for row in made.woken(Topic.INVESTIGATION)]
    for item in done[4:]:
        made.work(item)
    assert len({*tickets}) == 10
    assert made.slots() <= 4


def test_what_expires_and_what_stands_still_is_found(
    agents: Callable[..., StoredAgents],
) -> None:
    made = agents(persona=PROPOSES)
    waiting, still = made.begin(), made.begin()
    made.work(waiting)
    made.step(still)
    made.clock.now += timedelta(hours=25)
    assert [now.investigation_id for now in made.expire.due(made.workspace_id)] == [waiting]
    stale = {now.investigation_id for now in made.resume.stale(made.admin)}
    assert stale == {still}
    assert made.found_(waiting).state is State.HALTED
