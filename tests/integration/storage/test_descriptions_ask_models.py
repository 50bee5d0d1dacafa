"""Documents summed up by a chat model over HTTP, and PostgreSQL: what is asked, kept, replayed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.support.chat_wire import ChatServer, Say, chat_server
from tests.support.embedding import HASHING, HashingEmbedder
from tests.support.ingesting import Documents
from tests.support.remembering import Remembering, admin_of
from tests.support.summarising import Summarising
from tests.support.thinking import gateway

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.agents.model_calls import PostgresCallLog
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.database import bound
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.bootstrap.consolidate import summarise_workspace
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.llm.anthropic_chat import AnthropicChat
from cairn.llm.budget import Terms, allowance_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.plugins.postgres import Database

PUMPS = " ".join(f"Pump {n} of the hut drinks from spring {n} at dawn." for n in range(30))
BEDS = " ".join(f"Bed {n} of the hut stands by window {n} upstairs." for n in range(30))
HUT = f"# Hut\n\n{PUMPS}\n\n# Beds\n\n{BEDS}\n"
SAID = {"Pump 0": "Pumps of the hut drink at dawn.", "Bed 0": "Beds of the hut stand upstairs."}
WHOLE = "The hut has pumps that drink at dawn and beds upstairs."
ROWS = """SELECT id, text, summary, metadata FROM node
    WHERE workspace_id = %s AND label IN ('Document', 'Section') ORDER BY id"""
CALLS = "SELECT purpose, outcome FROM llm_call WHERE workspace_id = %s"


def said(asked: dict[str, Any]) -> str:
    """Answer a section by what it begins with, and a document made of the two."""
    text = asked["messages"][-1]["content"]
    return next((one for start, one in SAID.items() if text.startswith(start)), WHOLE)


class Hut:
    """A workspace with one document, and a model that may sum it up."""

    def __init__(self, pool: Pool, name: str, owner_url: str) -> None:
        workspace_id, _ = create_workspace(owner_url, name, clock=utc_now, new_id=new_id)
        self.pool = pool
        self.documents = Documents(
            transactions=StoreTransactions(pool),
            principal=admin_of(workspace_id),
            embedder=HashingEmbedder(),
        )
        self.documents.ingest(HUT)

    def summarise(self, model: AnthropicChat, limits: str = "") -> dict[str, Any]:
        """Run the step as the machine's stage wires it, and return the counts that are not 0."""
        models = gateway(
            model,
            terms=Terms(allowance=allowance_of(limits)),
            calls=PostgresCallLog(self.pool),
            new_ids=new_id,
        )
        use = summarise_workspace(self.documents.enrich.platform, models)
        counts = use(self.documents.workspace_id, seconds=60, run_id=new_id())
        return {name: value for name, value in counts.items() if value}

    def rows(self, query: str = ROWS) -> list[tuple[Any, ...]]:
        """Return rows of the workspace, as PostgreSQL has them."""
        with bound(self.pool, self.documents.principal) as connection:
            asked = [self.documents.workspace_id]
            return connection.execute(query.encode(), asked).fetchall()

    def replayed(self) -> list[tuple[Any, ...]]:
        """Return the same rows of documents and sections, made of the ledger alone."""
        system = Remembering(
            transactions=self.documents.transactions,
            principal=self.documents.principal,
            keys=self.documents.keys,
        )
        nodes = Summarising(system).nodes().values()
        kept = [node for node in nodes if node.label in ("Document", "Section")]
        found = [(item.id, item.text, item.summary, item.metadata) for item in kept]
        return sorted(found, key=lambda row: row[0])


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as running:
        running.answers = said
        yield running


@pytest.fixture
def model(server: ChatServer) -> Iterator[AnthropicChat]:
    chat = AnthropicChat(api_key="k", base_url=server.url)
    yield chat
    chat.close()


@pytest.fixture
def hut(database: Database) -> Iterator[Hut]:
    with database.connect_as_superuser() as root:
        root.execute(
            "INSERT INTO embedding_model (id, name, dimensions) VALUES (%s, %s, %s)"
            " ON CONFLICT DO NOTHING",
            (HASHING.id, HASHING.name, HASHING.dimensions),
        )
    pool = Pool(database.app_url, size=2)
    yield Hut(pool, f"described-{new_id()}", database.owner_url)
    pool.close()


def test_a_model_sums_up_sections_and_the_document_once_and_a_replay_gives_the_same(
    hut: Hut, server: ChatServer, model: AnthropicChat
) -> None:
    assert hut.summarise(model) == {"sections": 2, "documents": 1}
    assert {row[2] for row in hut.rows()} == {*SAID.values(), WHOLE}
    assert all(row[1] == row[2] for row in hut.rows())
    assert hut.replayed() == hut.rows()
    assert [request["max_tokens"] for request in server.requests] == [120, 120, 200]
    assert hut.rows(CALLS) == [("summary", "answered")] * 3
    assert hut.summarise(model) == {}
    assert len(server.requests) == 3


def test_an_invented_number_is_not_taken_and_not_asked_for_again(
    hut: Hut, server: ChatServer, model: AnthropicChat
) -> None:
    before = {row[0]: row[2] for row in hut.rows()}
    server.answers = lambda asked: "The hut has 4711 pumps."
    assert hut.summarise(model) == {"refused": 3, "left": 3}
    assert {row[0]: row[2] for row in hut.rows()} == before
    assert {row[3]["cairn"]["summary"]["refused"] for row in hut.rows()} == {"invents"}
    assert hut.replayed() == hut.rows()
    assert hut.summarise(model) == {}


def test_while_the_provider_is_down_the_extracts_stand_until_it_answers(
    hut: Hut, server: ChatServer, model: AnthropicChat
) -> None:
    before = hut.rows()
    server.says.extend([Say(status=529, text="Overloaded")] * 9)
    assert hut.summarise(model) == {"unanswered": 3}
    assert hut.rows() == before
    server.says.clear()
    assert hut.summarise(model) == {"sections": 2, "documents": 1}


def test_what_may_not_be_spent_is_not_and_the_run_ends_well(
    hut: Hut, server: ChatServer, model: AnthropicChat
) -> None:
    before = hut.rows()
    assert hut.summarise(model, "run_usd=0.000001") == {"over_budget": 1}
    assert (hut.rows(), server.requests) == (before, [])
