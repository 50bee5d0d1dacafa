"""People around investigations over PostgreSQL: called, judged, learned from, remembered."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from tests.support.agent import Agents, Killed, ScriptedPlanner, act
from tests.support.memory_graphs import graph_writer
from tests.support.people import People
from tests.support.platform import platform_of
from tests.support.world import open_world

from cairn.adapters.postgres.memory.recall import PostgresKeywordLeg
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.investigations.people.delivering import DeliverEscalation
from cairn.investigations.people.proposing import Proposals, ProposeObservations, RememberStep
from cairn.investigations.planning.surrounds import TicketSurrounds
from cairn.investigations.ports import CandidateState, EscalationState, Ruling
from cairn.investigations.state import Verdict
from cairn.kernel.errors import Conflict, NotFound
from cairn.kernel.ids import new_id
from cairn.ledger.keys import BodyCipher
from cairn.ledger.verify import verify
from cairn.memory_graph.ledger_graph import LedgerGraph
from cairn.recall.records import Filters
from cairn.safety.tools import Lane
from cairn.tickets.adapter import PlainAdapter
from cairn.tickets.sealing import Sealed
from cairn.tickets.write_back import Desk
from cairn.workspace.settings import EnvelopeSettings
from cairn.writing.ports import Subject

if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any
    from uuid import UUID

    from tests.plugins.postgres import Database
    from tests.support.world import World

WEEK = timedelta(days=7, minutes=1)


@pytest.fixture
def world(database: Database) -> Iterator[World]:
    opened = open_world(database.owner_url, database.app_url, f"people-{new_id()}")
    yield opened
    opened.pool.close()


@pytest.fixture
def people(world: World) -> People:
    planner = ScriptedPlanner([act("accounts.unlock")])
    planner.at = lambda question: len(question.memory.observations)
    seeing = StoreTransactions(world.pool)
    agents = Agents(transactions=seeing, workspace_id=world.workspace_id, planner=planner)
    agents.host.add("accounts.unlock", Lane.WRITE)
    documents = StoreTransactions(world.pool)
    made = People(agents, seeing, document_transactions=documents)
    agents.close = replace(agents.close, escalate=made.queue)
    agents.loop = replace(agents.loop, close=agents.close)
    return made


def graph_of(people: People, world: World) -> LedgerGraph:
    def nothing(*_: Any) -> Any:
        raise AssertionError("nobody is forgotten here")

    return LedgerGraph(
        writer=graph_writer(world.pool, people.agents.keys, people.agents.sent), forget=nothing
    )


def found_by(people: People, world: World, *words: str) -> int:
    leg = PostgresKeywordLeg(world.pool)
    return len(leg.search(people.agents.admin, words, Filters(), limit=10, timeout_ms=2000))


def test_a_rated_resolution_is_staged_accepted_and_found(people: People, world: World) -> None:
    made = people.agents
    one = people.resolved("The walrus cannot sign in to the lighthouse.")
    assert found_by(people, world, "walrus") == 0
    people.opinions.rate(made.admin, one, rating=5)
    (staged,) = people.staged()
    assert found_by(people, world, "walrus") == 0
    accepted = people.candidates.accept(made.admin, staged.id)
    assert accepted.ingestion_id is not None
    ids = made.workspace_id, accepted.ingestion_id
    people.documents.steps.parse(*ids)
    people.documents.steps.chunk(*ids)
    people.documents.steps.store(*ids)
    assert found_by(people, world, "walrus") > 0
    with made.transactions.reading(made.admin) as stores:
        entries = list(stores.entries.at(range(1, stores.ledger.head().position + 1)))
    assert verify(entries, workspace_id=made.workspace_id).ok


def test_a_disputed_resolution_is_never_staged(people: People) -> None:
    made, one = people.agents, people.resolved()
    people.opinions.dispute(made.admin, one, reason="It broke again.")
    assert people.stage.due(made.workspace_id, made.clock.now + WEEK) == 0
    assert people.staged() == []


def test_seven_days_undisputed_stage_and_thirty_more_archive(people: People) -> None:
    made, one = people.agents, people.resolved()
    assert people.stage.due(made.workspace_id, made.clock.now + timedelta(days=6)) == 0
    assert people.stage.due(made.workspace_id, made.clock.now + WEEK) == 1
    assert people.stage.due(made.workspace_id, made.clock.now + WEEK) == 0
    (staged,) = people.staged()
    assert (staged.investigation_id, staged.cause) == (one, "undisputed")
    later = made.clock.now + timedelta(days=31)
    assert people.stage.archive(made.workspace_id, later) == 1
    assert people.candidates.show(made.admin, staged.id).state is CandidateState.ARCHIVED
    with pytest.raises(Conflict):
        people.candidates.accept(made.admin, staged.id)


@pytest.mark.parametrize("moment", ["before", "after"])
def test_a_death_around_the_commit_of_a_call_leaves_one_note(
    people: People, world: World, moment: str
) -> None:
    made = people.agents
    made.planner.ruling = Ruling(verdict=Verdict.NEEDS_TECH, reason="Nobody may do this.")
    one = made.begin()
    made.work(one)
    desk = Desk(
        platform=platform_of(StoreTransactions(world.pool), dispatcher=made.sent, clock=made.clock),
        sealed=Sealed(keys=made.keys, cipher=BodyCipher()),
        adapter_of=lambda workspace_id, source: PlainAdapter(),
        graph=lambda workspace_id, records: None,
    )
    people.deliver = DeliverEscalation(
        journal=made.journal, desk=desk, hiding=made.hiding, sender=people.sender
    )
    made.commits.arm(**{moment: 1})
    with pytest.raises(Killed):
        people.call(one)
    made.commits.arm()
    people.call(one)
    assert people.called(one).state is EscalationState.DELIVERED
    ticket_id = made.found_(one).ticket_id
    with made.transactions.reading(made.admin) as stores:
        replies = stores.write_backs.replies(ticket_id)
    assert [reply.private for reply in replies] == [True]
    shown = people.escalations.show(made.admin, people.called(one).id)
    assert shown.escalation.why == "Nobody may do this."
    assert shown.transcript
    assert shown.memory is not None
    assert "vault" not in shown.memory


def test_a_step_is_remembered_as_an_active_node_that_planners_are_shown(
    people: People, world: World
) -> None:
    made, one = people.agents, people.resolved()
    graph = graph_of(people, world)
    remember = RememberStep(
        browse=people.browse,
        desk=made.desk,
        graph=graph.bound_to,
        redact=lambda workspace_id, text: text.replace("ada@acme.test", "<EMAIL>"),
        clock=made.clock,
    )
    done = remember(made.admin, one, 2, text="ada@acme.test forgets passwords.")
    again = remember(made.admin, one, 2, text="ada@acme.test forgets passwords.")
    assert again == done
    node = graph.node(made.workspace_id, done.node_id)
    assert node is not None
    assert (node.dump.status, node.dump.provenance) == ("active", "operator")
    assert node.dump.properties["text"] == "<EMAIL> forgets passwords."
    around = graph.neighbors(made.workspace_id, done.node_id, depth=1)
    assert {each.dump.label for each, _ in around} == {"investigation", "customer"}
    surrounds = TicketSurrounds(
        graph=graph, recent=lambda *_: [], bounds=lambda _: EnvelopeSettings(), clock=made.clock
    )
    ticket = made.desk.tickets[made.found_(one).ticket_id]
    facts, _, _ = surrounds(made.workspace_id, ticket)
    assert "forgets passwords" in facts[0].text
    with pytest.raises(NotFound):
        remember(made.admin, one, 999)


def test_three_of_the_same_are_proposed_and_only_a_person_makes_them_active(
    people: People, world: World
) -> None:
    made, graph = people.agents, graph_of(people, world)
    customer = new_id()
    with made.transactions.writing(made.admin) as stores:
        stores.subjects.add(Subject(id=customer, kind="client", natural_key="acme"), 1)
    propose = ProposeObservations(journal=made.journal, graph=graph)
    proposals = Proposals(graph=graph.bound_to, clock=made.clock)

    def resolve() -> UUID:
        return people.resolved(data_subjects=(customer,))

    resolve(), resolve()
    assert propose(made.workspace_id, made.clock.now) == 0
    resolve()
    assert propose(made.workspace_id, made.clock.now) == 1
    assert propose(made.workspace_id, made.clock.now) == 0
    (one,) = [each for each in proposals.page(made.admin) if each.label == "observation"]
    assert (one.provenance, one.status) == ("proposed", "provisional")
    assert one.properties["times"] == 3
    surrounds = TicketSurrounds(
        graph=graph, recent=lambda *_: [], bounds=lambda _: EnvelopeSettings(), clock=made.clock
    )
    ticket = made.desk.tickets[made.ticket()]
    assert surrounds(made.workspace_id, ticket)[0] == []
    accepted = proposals.accept(made.admin, one.id)
    assert (accepted.status, accepted.provenance) == ("active", "proposed")
    assert "unlock applied in 3 investigations" in surrounds(made.workspace_id, ticket)[0][0].text
    with pytest.raises(Conflict):
        proposals.reject(made.admin, one.id)
    resolve()
    assert propose(made.workspace_id, made.clock.now) == 0
