"""Resolved tickets as documents: which, how redacted, and gone with whom they were about."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.agent import Agents, ScriptedPlanner, act
from tests.support.people import People
from tests.support.sourcing import Sourcing, open_sourcing

from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.forgetting.forget import Target
from cairn.forgetting.ports import Reason
from cairn.kernel.clock import utc_now
from cairn.safety.tools import Lane

if TYPE_CHECKING:
    from collections.abc import Iterator
    from uuid import UUID

    from tests.plugins.postgres import Database

    from cairn.sources.source import KnowledgeSource

WALRUS = "The walrus cannot sign in to the lighthouse. I am ada@acme.test."


@pytest.fixture
def pool(database: Database) -> Iterator[Pool]:
    pool = Pool(database.app_url, size=4)
    yield pool
    pool.close()


@pytest.fixture
def desk(database: Database, pool: Pool) -> Sourcing:
    return open_sourcing(database, pool)


@pytest.fixture
def people(desk: Sourcing, pool: Pool) -> People:
    planner = ScriptedPlanner([act("accounts.unlock")])
    planner.at = lambda question: len(question.memory.observations)
    stores = StoreTransactions(pool)
    agents = Agents(
        transactions=stores,
        workspace_id=desk.stand.workspace_id,
        planner=planner,
        keys=desk.stand.keys,
    )
    agents.host.add("accounts.unlock", Lane.WRITE)
    return People(agents, stores, document_transactions=StoreTransactions(pool))


def person(desk: Sourcing, name: str) -> UUID:
    """Register a data subject by a memory about it; return its id."""
    desk.stand.tell(f"Something about {name}.", client="acme", data_subjects=(name,))
    with desk.platform.transactions.reading(desk.stand.principal) as stores:
        return stores.subjects.find([("person", name)])["person", name]


def past(desk: Sourcing, **config: Any) -> KnowledgeSource:
    source = desk.add("tickets", "past", config={"after_days": 0, **config})
    source = desk.work(source)
    desk.read()
    return source


def again(desk: Sourcing, source: KnowledgeSource, **given: Any) -> KnowledgeSource:
    source = desk.sync(source, **given)
    desk.read()
    return source


def texts(desk: Sourcing) -> str:
    with desk.platform.transactions.reading(desk.stand.principal) as stores:
        rows = stores.forgetting.connection.execute(
            "SELECT text FROM node WHERE workspace_id = %s AND label = 'Chunk'"
            " AND deleted_at IS NULL",
            (desk.stand.workspace_id,),
        ).fetchall()
    return "\n".join(row[0] for row in rows)


def uri(people: People, investigation_id: UUID) -> str:
    return f"source://past/{people.agents.found_(investigation_id).ticket_id}"


def test_a_resolved_ticket_becomes_a_document_without_what_was_hidden(
    desk: Sourcing, people: People
) -> None:
    one = people.resolved(WALRUS)
    people.agents.ticket("Nobody has looked at this one.")
    source = past(desk)
    assert (source.error, desk.documents().keys()) == (None, {uri(people, one)})
    said = texts(desk)
    for words in ("walrus cannot sign in", "account is unlocked", "accounts.unlock", "<EMAIL_1>"):
        assert words in said
    assert "ada@acme.test" not in said
    assert "Acme" not in said
    again_source = again(desk, source)
    assert again_source.last_sync is not None
    assert (again_source.last_sync.unchanged, again_source.last_sync.changed) == (1, 0)


def test_a_ticket_that_is_reopened_goes_and_comes_back_with_its_new_answer(
    desk: Sourcing, people: People
) -> None:
    one = people.resolved(WALRUS)
    source = past(desk)
    ticket_id = people.agents.found_(one).ticket_id
    with desk.platform.transactions.writing(desk.stand.principal) as stores:
        assert stores.tickets.reopen(ticket_id)
    assert (again(desk, source).documents, desk.documents()) == (0, {})
    with desk.platform.transactions.writing(desk.stand.principal) as stores:
        stores.forgetting.connection.execute(
            "UPDATE ticket SET status = 'auto_resolved', ended_at = now()"
            " WHERE workspace_id = %s AND id = %s",
            (desk.stand.workspace_id, ticket_id),
        )
    assert again(desk, source).documents == 1
    assert desk.documents().keys() == {uri(people, one)}


@pytest.mark.parametrize("said", ["disputed", "rated"])
def test_what_somebody_speaks_against_goes(desk: Sourcing, people: People, said: str) -> None:
    one = people.resolved(WALRUS)
    source = past(desk)
    if said == "disputed":
        people.opinions.dispute(people.agents.admin, one, reason="It broke again.")
    else:
        people.opinions.rate(people.agents.admin, one, rating=2)
    assert (again(desk, source).documents, desk.documents()) == (0, {})


def test_a_ticket_has_to_stand_resolved_for_some_days(desk: Sourcing, people: People) -> None:
    people.agents.clock.now = utc_now()
    people.resolved(WALRUS)
    source = past(desk, after_days=7)
    assert source.documents == 0
    desk.clock.ahead = timedelta(days=8)
    assert again(desk, source).documents == 1


def test_only_tickets_of_the_sources_that_are_named_are_read(
    desk: Sourcing, people: People
) -> None:
    people.resolved(WALRUS)
    assert past(desk, sources=["zoho"]).documents == 0
    assert (
        desk.work(
            desk.add("tickets", "api", config={"sources": ["api"], "after_days": 0})
        ).documents
        == 1
    )


def test_a_source_of_tickets_stops_at_its_quota(desk: Sourcing, people: People) -> None:
    people.resolved(WALRUS)
    people.resolved(WALRUS)
    source = desk.work(desk.add("tickets", config={"after_days": 0}, max_items=1))
    assert (source.error, source.documents) == ("quota-items", 1)


def test_whom_a_ticket_was_about_takes_its_document_along(desk: Sourcing, people: People) -> None:
    stand, name = desk.stand, "quokka@acme.test"
    subject = person(desk, name)
    one = people.resolved("The zanzibarwalrus cannot sign in.", data_subjects=(subject,))
    others = people.resolved("The lighthouse is dark.", data_subjects=(person(desk, "bob"),))
    source = past(desk)
    assert source.documents == 2
    proof = stand.proof(stand.forgets(name, "person"), "zanzibarwalrus")
    assert proof.clean, [place for place in proof.places if place.found]
    assert desk.documents().keys() == {uri(people, others)}
    source = again(desk, source)
    assert (source.error, source.documents) == (None, 1)
    assert "zanzibarwalrus" not in texts(desk)
    assert uri(people, one) not in desk.documents()


def test_a_customer_that_is_forgotten_takes_its_tickets_along(
    desk: Sourcing, people: People
) -> None:
    stand = desk.stand
    stand.tell("Something about hartwell.", client="hartwell")
    with desk.platform.transactions.reading(stand.principal) as stores:
        client = stores.subjects.find([("client", "hartwell")])["client", "hartwell"]
    people.resolved("The zanzibarwalrus cannot sign in.", data_subjects=(client,))
    source = past(desk)
    assert source.documents == 1
    proof = stand.proof(stand.forgets("hartwell"), "zanzibarwalrus")
    assert proof.clean, [place for place in proof.places if place.found]
    assert (again(desk, source).documents, desk.documents()) == (0, {})


def test_a_ticket_whose_document_was_forgotten_does_not_come_back(
    desk: Sourcing, people: People
) -> None:
    one = people.resolved(WALRUS)
    source = past(desk)
    stand, target = desk.stand, Target(source=uri(people, one))
    proof = stand.proof(stand.forget(stand.principal, target, Reason.REQUEST), uri(people, one))
    assert proof.clean, [place for place in proof.places if place.found]
    source = again(desk, source)
    assert (desk.documents(), source.refused) == ({}, 1)
