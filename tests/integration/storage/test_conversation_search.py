"""Searching what was said, over PostgreSQL: who finds what, in all conversations and in one."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np
import pytest
from tests.support.talking import PostgresTalking, public_of, talking_in
from tests.support.world import MORNING, World, memory, open_world

from cairn.adapters.postgres.memory.conversations import PostgresOneConversation
from cairn.adapters.postgres.memory.recall import PostgresKeywordLeg, PostgresVectorLeg
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.conversations.messages import Channel, MessageRole
from cairn.conversations.search import ConversationQuery, SearchConversations
from cairn.embedding.port import EmbeddingModel
from cairn.kernel.access import Principal, Scope
from cairn.kernel.errors import Denied, NotFound, Unavailable, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.recall.records import Filters

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

PUBLIC: dict[str, Any] = {"channel": Channel.API, "scope": Scope.PUBLIC, "agents": ("bot",)}


class Directions:
    """An embedder whose vector of a text is the axis of its length; it may be down."""

    model = EmbeddingModel(id=1, name="all-MiniLM-L6-v2-int8", dimensions=384, max_tokens=256)
    down = False

    def load(self) -> None:
        pass

    def embed(self, texts: Any) -> Any:
        if self.down:
            raise Unavailable("The embedder is down.", reason="embedder-down")
        vectors = np.zeros((len(texts), 384), dtype=np.float32)
        for row, text in enumerate(texts):
            vectors[row, len(text)] = 1.0
        return vectors

    def windows(self, text: str, *, whole_up_to: int | None = None) -> list[str]:
        return [text]

    def count_tokens(self, text: str) -> int:
        return len(text.split())


@pytest.fixture
def world(database: "Database") -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, f"searched-{new_id()}")
    yield world
    world.pool.close()


@pytest.fixture
def talk(world: World) -> PostgresTalking:
    return talking_in(world.pool, world.admin)


@pytest.fixture
def embedder() -> Directions:
    return Directions()


@pytest.fixture
def search(world: World, embedder: Directions) -> Iterator[SearchConversations]:
    with ThreadPoolExecutor(2) as pool:
        yield SearchConversations(
            embedder=embedder,
            vector_leg=PostgresVectorLeg(world.pool),
            keyword_leg=PostgresKeywordLeg(world.pool),
            one=lambda item: PostgresOneConversation(world.pool, item),
            transactions=StoreTransactions(world.pool),
            pool=pool,
            clock=lambda: MORNING,
            stopwatch=lambda: 0.0,
        )


def found(
    search: SearchConversations, principal: Principal, query: str, **changes: Any
) -> list[str]:
    answer = search(principal, ConversationQuery(query=query, **changes))
    assert all(message.relevance_score > 0 for message in answer.messages)
    return [message.message.content for message in answer.messages]


def embedded(database: "Database", node_id: UUID, text: str) -> None:
    vector = "[" + ",".join("1" if n == len(text) else "0" for n in range(384)) + "]"
    with database.connect_as_superuser() as connection:
        connection.execute(
            """INSERT INTO embedding (workspace_id, node_id, model_id, v, position, label, kind,
                 scope, agents, client_id, state, occurred_at, valid_from)
               SELECT workspace_id, id, 1, %s::halfvec, position, label, kind, scope, agents,
                 client_id, state, occurred_at, valid_from FROM node WHERE id = %s""",
            [vector, node_id],
        )


def bound_visitor(database: "Database", world: World, conversation_id: UUID) -> Principal:
    visitor = public_of(world.admin)
    with database.connect_as_superuser() as connection:
        connection.execute(
            "INSERT INTO key_conversation VALUES (%s, %s, %s, 1)",
            [world.workspace_id, visitor.key_id, conversation_id],
        )
    return visitor


def test_an_admin_finds_what_was_said_anywhere(
    world: World, talk: PostgresTalking, search: SearchConversations
) -> None:
    talk.say("the boiler leaks", channel=Channel.API, session_id="a")
    talk.say("our boiler is fine", channel=Channel.SLACK, session_id="b")
    talk.say("the weather is fine", channel=Channel.SLACK, session_id="c")
    assert set(found(search, world.admin, "boiler")) == {"the boiler leaks", "our boiler is fine"}


def test_meaning_is_found_without_the_words(
    database: "Database", world: World, talk: PostgresTalking, search: SearchConversations
) -> None:
    said = talk.say("qq ww", channel=Channel.API)
    embedded(database, said.message_id, "12345")
    assert found(search, world.admin, "abcde") == ["qq ww"]
    assert found(search, world.admin, "abcde", conversation_id=said.conversation_id) == ["qq ww"]
    assert found(search, world.admin, "abcdef") == []


def test_one_conversation_role_and_time_may_be_asked_for(
    world: World, talk: PostgresTalking, search: SearchConversations
) -> None:
    first = talk.say("boiler one", channel=Channel.API, session_id="a", occurred_at=MORNING)
    talk.later(hours=1)
    talk.say("boiler two", channel=Channel.API, session_id="a", role=MessageRole.ASSISTANT)
    talk.say("boiler three", channel=Channel.API, session_id="b")
    within = {"conversation_id": first.conversation_id}
    assert set(found(search, world.admin, "boiler", **within)) == {"boiler one", "boiler two"}
    assert found(search, world.admin, "boiler", **within, role="assistant") == ["boiler two"]
    assert found(search, world.admin, "boiler", role="assistant") == ["boiler two"]
    assert found(search, world.admin, "boiler", **within, occurred_to=talk.now) == ["boiler one"]
    assert len(found(search, world.admin, "boiler", limit=1)) == 1


def test_memories_and_conversations_are_not_messages(
    world: World, talk: PostgresTalking, search: SearchConversations
) -> None:
    talk.say("hello", channel=Channel.API)
    talk.report("api conversation", body="hello")
    assert found(search, world.admin, "hello api conversation") == ["hello"]


def test_a_public_key_searches_its_own_conversation_whatever_it_asks(
    database: "Database", world: World, talk: PostgresTalking, search: SearchConversations
) -> None:
    mine = talk.say("my boiler leaks", **PUBLIC, session_id="mine")
    yours = talk.say("your boiler leaks", **PUBLIC, session_id="yours")
    for said in (mine, yours):
        embedded(database, said.message_id, "boiler")
    visitor = bound_visitor(database, world, mine.conversation_id)
    assert found(search, visitor, "boiler") == ["my boiler leaks"]
    asked = {"conversation_id": mine.conversation_id}
    assert found(search, visitor, "boiler", **asked) == ["my boiler leaks"]
    with pytest.raises(NotFound):
        found(search, visitor, "boiler", conversation_id=yours.conversation_id)
    with pytest.raises(Denied) as refused:
        found(search, public_of(world.admin), "boiler")
    assert refused.value.reason == "no-conversation"


def test_a_public_key_sees_no_message_of_its_conversation_that_is_not_public(
    database: "Database", world: World, talk: PostgresTalking, search: SearchConversations
) -> None:
    hidden = talk.say("the admin's boiler", channel=Channel.API)
    visitor = bound_visitor(database, world, hidden.conversation_id)
    assert found(search, visitor, "boiler") == []


def test_no_leg_of_recall_shows_a_public_key_another_visitors_message(
    database: "Database", world: World, talk: PostgresTalking
) -> None:
    yours = talk.say("your boiler leaks", **PUBLIC, session_id="yours")
    visitor = public_of(world.admin)
    with StoreTransactions(world.pool).reading(visitor) as stores:
        ids = [yours.message_id, yours.conversation_id]
        assert stores.node_reader.read(ids, Filters(), subscribed=ids) == []
        assert stores.node_reader.sketch(ids, Filters()) == []
        past = Filters(as_of_position=yours.position)
        assert stores.node_reader.read(ids, past, subscribed=ids) == []


def test_an_agent_finds_what_is_tagged_for_it(
    world: World, talk: PostgresTalking, search: SearchConversations
) -> None:
    talk.say("the boiler of nobody", channel=Channel.API, session_id="a")
    ours = talk.say("the boiler of the bot", channel=Channel.API, session_id="b", agents=("bot",))
    bot = world.as_other(agent_slug="bot")
    assert found(search, bot, "boiler") == ["the boiler of the bot"]
    within = {"conversation_id": ours.conversation_id}
    assert found(search, bot, "boiler", **within) == ["the boiler of the bot"]


def test_another_workspace_finds_nothing(
    database: "Database", world: World, talk: PostgresTalking, search: SearchConversations
) -> None:
    said = talk.say("boiler", channel=Channel.API)
    other = open_world(database.owner_url, database.app_url, "elsewhere")
    try:
        assert found(search, other.admin, "boiler") == []
        with pytest.raises(NotFound):
            found(search, other.admin, "boiler", conversation_id=said.conversation_id)
    finally:
        other.pool.close()


def test_without_the_embedder_the_words_answer(
    world: World, talk: PostgresTalking, search: SearchConversations, embedder: Directions
) -> None:
    talk.say("the boiler leaks", channel=Channel.API)
    embedder.down = True
    answer = search(world.admin, ConversationQuery(query="boiler"))
    assert [message.message.content for message in answer.messages] == ["the boiler leaks"]
    assert answer.degraded == ("vector: embedder-down",)


@pytest.mark.parametrize(
    "query",
    ["", " ", "x" * 4001, "a\x00b", "\ud800"],
    ids=["empty", "blank", "long", "nul", "half"],
)
def test_a_bad_query_is_refused(world: World, search: SearchConversations, query: str) -> None:
    with pytest.raises(ValidationFailed):
        search(world.admin, ConversationQuery(query=query))


@pytest.mark.parametrize("query", ["the of and", "a & b | !c :*", "'; DROP TABLE node; --", "🛖"])
def test_an_odd_query_finds_what_it_finds(
    world: World, talk: PostgresTalking, search: SearchConversations, query: str
) -> None:
    said = talk.say("hello", channel=Channel.API)
    assert found(search, world.admin, query) == []
    assert found(search, world.admin, query, conversation_id=said.conversation_id) == []


def test_recall_finds_what_people_and_agents_said_and_by_label_what_tools_put_between(
    database: "Database", world: World, talk: PostgresTalking
) -> None:
    said = talk.say("the boiler leaks", channel=Channel.API)
    put = talk.say("boiler: 99 C", channel=Channel.API, role=MessageRole.TOOL)
    embedded(database, said.message_id, "boiler")
    embedded(database, put.message_id, "boiler")
    told = world.tell(memory("a boiler is a heater")).outcomes[0]
    for past in (None, told.position):
        plain = Filters(as_of_position=past)
        messages = Filters(labels=("Message",), as_of_position=past)
        by_words, near = candidates(world, world.admin, plain)
        assert by_words == {told.id, said.message_id}
        assert near == {said.message_id}
        by_label, near_by_label = candidates(world, world.admin, messages)
        assert by_label == near_by_label == {said.message_id, put.message_id}


@pytest.mark.parametrize("labels", [(), ("Message",)])
def test_another_conversation_takes_no_candidates_place_of_a_public_key(
    database: "Database", world: World, talk: PostgresTalking, labels: tuple[str, ...]
) -> None:
    own = talk.say("my boiler leaks", session_id="mine", **PUBLIC)
    other = talk.say("my boiler is fine", session_id="theirs", **PUBLIC)
    for message in (own, other):
        embedded(database, message.message_id, "boiler")
    visitor = bound_visitor(database, world, own.conversation_id)
    for past in (None, other.position):
        asked = Filters(labels=labels, as_of_position=past)
        assert candidates(world, visitor, asked) == ({own.message_id}, {own.message_id})
        assert candidates(world, public_of(world.admin), asked) == (set(), set())


def candidates(world: World, principal: Principal, filters: Filters) -> tuple[set[UUID], set[UUID]]:
    """What the legs find of boilers, by words and by vector."""
    asked: dict[str, Any] = {"limit": 10, "timeout_ms": 2000}
    near = Directions().embed(["boiler"])[0]
    by_words = PostgresKeywordLeg(world.pool).search(principal, ["boiler"], filters, **asked)
    by_vector = PostgresVectorLeg(world.pool).search(
        principal, near, filters, model_id=1, minimum=0.3, **asked
    )
    return {item.node_id for item in by_words}, {item.node_id for item in by_vector}
