"""What the graph holds of people, over PostgreSQL: derived of what they said and did."""

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.chat_wire import ChatServer, Say, chat_server
from tests.support.conversing import Conversing
from tests.support.embedding import HASHING, HashingEmbedder
from tests.support.observing import event
from tests.support.platform import platform_of
from tests.support.talking import talking_in
from tests.support.thinking import gateway
from tests.support.world import open_world

from cairn.adapters.postgres.ledger.replay import PostgresReplays
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.enrichment.enrich import Enrich
from cairn.events.observe import Observe
from cairn.kernel.ids import new_id
from cairn.llm.anthropic_chat import AnthropicChat
from cairn.memories.delete import DeleteMemory
from cairn.profiles.ask import AskOfPeople
from cairn.profiles.derive import Profile
from cairn.profiles.keep import KeepProfiles
from cairn.profiles.read import ReadProfile
from cairn.rebuild.rebuild import Rebuild
from cairn.writing.platform import Platform

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

ADA: dict[str, Any] = {"sender": "Ada", "client_id": "ada"}
EDGES = """SELECT e.relation, coalesce(s.canonical_name, s.text) AS source,
    coalesce(t.canonical_name, t.text) AS target, e.view
    FROM edge e JOIN node s ON s.id = e.source_id JOIN node t ON t.id = e.target_id
   WHERE e.superseded_at IS NULL AND e.properties ? 'profile' ORDER BY 1, 2, 3"""
PROFILE, BOOKS = "Profile of ada", "ada: tool.execute with book_table, again and again"


class Person(Conversing):
    """A client who says and does things, and whose profile is kept."""

    @property
    def platform(self) -> Platform:
        return platform_of(
            StoreTransactions(self.world.pool),
            keys=self.talk.keys,
            dispatcher=self.talk.sent,
            clock=lambda: self.talk.now,
        )

    def book(self, times: int = 3) -> None:
        """Book a table in so many sessions."""
        observe = Observe(self.platform)
        for each in range(times):
            done = event(
                tool_name="book_table",
                client_id="ada",
                session_id=f"visit-{each}",
                occurred_at=self.talk.now - timedelta(days=each),
            )
            observe(self.world.admin, [done])
        self.embed()

    def keep(self, model: AnthropicChat | None = None) -> dict[str, Any]:
        """Run the step, with a model or by rules; return the counts that are not 0."""
        self.talk.later(minutes=1)
        ask = AskOfPeople(gateway(model, new_ids=new_id)) if model else None
        counts = KeepProfiles(self.platform, ask)(self.world.workspace_id, seconds=60)
        self.embed()
        return {name: count for name, count in counts.items() if count}

    def profile(self) -> Profile:
        """Return the profile as it is read."""
        read = ReadProfile(transactions=self.platform.transactions, clock=lambda: self.talk.now)
        return read(self.world.admin, "ada")

    def edges(self) -> dict[str, list[tuple[str, str]]]:
        """Return the ends of what is derived, by relation."""
        found: dict[str, list[tuple[str, str]]] = {}
        for relation, source, target, _ in self.rows(EDGES):
            found.setdefault(relation, []).append((source, target))
        return found

    def memory(self, text: str) -> Any:
        """Return the id of an active memory."""
        ((id_,),) = self.rows("SELECT id FROM node WHERE state = 'active' AND text = %s", text)
        return id_


@pytest.fixture
def person(database: "Database") -> Iterator[Person]:
    with database.connect_as_superuser() as root:
        root.execute(
            "INSERT INTO embedding_model (id, name, dimensions) VALUES (%s, %s, %s)"
            " ON CONFLICT DO NOTHING",
            (HASHING.id, HASHING.name, HASHING.dimensions),
        )
    world = open_world(database.owner_url, database.app_url, f"people-{new_id()}")
    talk = talking_in(world.pool, world.admin)
    platform = platform_of(StoreTransactions(world.pool), keys=talk.keys, dispatcher=talk.sent)
    yield Person(world, talk, Enrich(platform=platform, embedder=HashingEmbedder()))
    world.pool.close()


def test_what_a_client_says_and_does_again_and_again_stands_in_the_graph_with_its_evidence(
    person: Person,
) -> None:
    person.say("I love PostgreSQL.", "I speak German.", "I speak Swiss German.", **ADA)
    person.book()
    assert person.keep() == {"profiles": 2, "patterns": 1}
    edges = person.edges()
    assert edges["HAS_PROFILE"] == [("ada", PROFILE)] * 2, "what she says is of Ada too"
    assert edges["INTERESTED_IN"] == [("ada", "PostgreSQL")]
    assert edges["EXHIBITS_PATTERN"] == [("ada", BOOKS)]
    assert edges["ABOUT"] == [(BOOKS, "book_table")]
    assert edges["PARENT_SKILL"] == [("Ada: I speak Swiss German.", "Ada: I speak German.")]
    assert len(edges["ABSTRACTED_FROM"]) == 3
    assert [source for source, _ in edges["DERIVED_FROM"]].count(PROFILE) == 3
    assert [source for source, _ in edges["DERIVED_FROM"]].count(BOOKS) == 3
    assert person.keep() == {}, "nothing is due when nothing came"


def test_it_is_rebuilt_from_the_ledger_and_what_went_takes_with_it_what_rested_on_it(
    person: Person,
) -> None:
    person.say("I love PostgreSQL.", "I love Redis.", **ADA)
    person.book()
    person.keep()
    held = person.rows(EDGES)
    rebuild = Rebuild(platform=person.platform, replays=PostgresReplays(person.world.pool))
    assert rebuild(person.world.workspace_id, only_check=True).equal
    rebuild(person.world.workspace_id)
    assert person.rows(EDGES) == held
    DeleteMemory(person.platform)(person.world.admin, person.memory("Ada: I love Redis."))
    assert person.keep() == {"profiles": 2, "patterns": 1}
    assert person.edges()["INTERESTED_IN"] == [("ada", "PostgreSQL")]
    person.talk.later(days=200)
    person.say("I live in Ghent.", **ADA)
    person.keep()
    assert set(person.edges()) == {"HAS_PROFILE", "DERIVED_FROM"}, "the rest faded"


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as running:
        yield running


@pytest.fixture
def model(server: ChatServer) -> Iterator[AnthropicChat]:
    chat = AnthropicChat(api_key="k", base_url=server.url)
    yield chat
    chat.close()


def test_a_model_reads_more_in_what_was_said_once_and_only_as_long_as_it_stands(
    person: Person, server: ChatServer, model: AnthropicChat
) -> None:
    for text in ("I run before work.", "I have two cats.", "I still run before work."):
        person.talk.later(days=1)
        person.say(text, **ADA)
    person.talk.later(days=1)
    person.say("I run before work these days.", **ADA)
    answer = {
        "preferences": [],
        "skills": [{"memory": 3, "name": "cats"}, {"memory": 3, "name": "dogs"}],
        "interests": [],
        "habits": [{"memories": [1, 2, 4], "text": "Ada run before work."}],
    }
    server.answers = lambda asked: json.dumps(answer)
    assert person.keep(model) == {
        "profiles": 1,
        "patterns": 1,
        "profiles_asked": 1,
        "ungrounded": 1,
    }
    known = person.profile()
    assert [(one.type, one.text) for one in known.patterns] == [("habit", "Ada run before work.")]
    assert [one.name for one in known.skills] == ["cats"]
    edges = person.edges()
    assert edges["EXHIBITS_PATTERN"] == [("ada", "Ada run before work.")]
    assert edges["HAS_SKILL"] == [("ada", "Ada: I have two cats.")]
    person.say("I live in Ghent.", **ADA)
    server.says.extend([Say(status=529, text="Overloaded")] * 5)
    assert person.keep(model)["unanswered"] == 1, "what was read before stays"
    assert person.profile().patterns == known.patterns
    DeleteMemory(person.platform)(person.world.admin, person.memory("Ada: I run before work."))
    assert person.profile().patterns == (), "at once, without a run"
    person.keep()
    assert "EXHIBITS_PATTERN" not in person.edges()
