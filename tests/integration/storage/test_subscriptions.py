"""The subscription leg over PostgreSQL: past the agent's tag, and past nothing else."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.support.talking import PostgresTalking, public_of, talking_in
from tests.support.world import MORNING, World, memory, open_world

from cairn.adapters.postgres.memory.subscriptions import (
    PostgresSubscribedKeywords,
    PostgresSubscriptionLeg,
)
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.conversations.messages import Channel
from cairn.kernel.access import ALL_SCOPES, Principal, Scope
from cairn.kernel.ids import new_id
from cairn.recall.records import Filters
from cairn.recall.subscriptions import SubscriptionView

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

ALL = Filters()


@pytest.fixture
def world(database: "Database") -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, f"subscribed-{new_id()}")
    yield world
    world.pool.close()


@pytest.fixture
def talk(world: World) -> PostgresTalking:
    return talking_in(world.pool, world.admin)


def told(world: World, text: str, **changes: Any) -> UUID:
    (outcome,) = world.tell(memory(text, **changes)).outcomes
    assert outcome.id is not None
    return outcome.id


def tagged(database: "Database", node_id: UUID, *keywords: str) -> None:
    with database.connect_as_superuser() as connection:
        for table in ("node", "node_version"):
            statement = f"UPDATE {table} SET keywords = %s WHERE id = %s"  # noqa: S608
            connection.execute(statement.encode(), [list(keywords), node_id])


def found(
    world: World, principal: Principal, *keywords: str, filters: Filters = ALL, limit: int = 50
) -> dict[UUID, float]:
    leg = PostgresSubscriptionLeg(world.pool)
    return dict(leg.search(principal, keywords, filters, limit=limit, timeout_ms=2000))


def read(world: World, principal: Principal, *ids: UUID, subscribed: bool = True) -> set[UUID]:
    with StoreTransactions(world.pool).reading(principal) as stores:
        nodes = stores.node_reader.read(ids, ALL, subscribed=ids if subscribed else ())
    return {node.id for node in nodes}


def bot(world: World, **changes: Any) -> Principal:
    return world.as_other(**({"agent_slug": "bot", "allowed_scopes": ALL_SCOPES} | changes))


def test_it_finds_what_is_tagged_for_nobody_or_for_others(
    world: World, talk: PostgresTalking
) -> None:
    untagged = told(world, "the solar panels face south")
    of_another = told(world, "two solar panels broke", agents=("other",))
    own = told(world, "clean the solar panels in May", agents=("bot",))
    told(world, "the heat pump is loud")
    talk.subscriptions.put(world.admin, "bot", ["Solar  Panels"])
    seen = found(world, bot(world), "solar panels")
    assert set(seen) == {untagged, of_another, own}
    assert all(0 <= score <= 1 for score in seen.values())
    assert read(world, bot(world), *seen) == set(seen)
    assert read(world, bot(world), *seen, subscribed=False) == {own}


def test_a_node_that_carries_the_keyword_scores_highest(
    database: "Database", world: World, talk: PostgresTalking
) -> None:
    carrying = told(world, "nothing of it in the words")
    weak = told(world, "solar was never mentioned again after that long evening by the lake")
    strong = told(world, "solar, solar and solar")
    tagged(database, carrying, "solar")
    talk.subscriptions.put(world.admin, "bot", ["SOLAR"])
    seen = found(world, bot(world), "solar")
    assert seen[carrying] == 1.0
    assert seen[strong] == 1.0
    assert seen[weak] < 1.0


def test_what_the_agent_does_not_subscribe_to_finds_nothing(
    world: World, talk: PostgresTalking
) -> None:
    told(world, "the heat pump is loud")
    assert found(world, bot(world), "heat pump") == {}
    talk.subscriptions.put(world.admin, "other", ["heat pump"])
    assert found(world, bot(world), "heat pump") == {}
    assert found(world, world.admin, "heat pump") == {}
    talk.subscriptions.put(world.admin, "bot", ["heat pump"])
    assert len(found(world, bot(world), "heat pump")) == 1
    talk.subscriptions.clear(world.admin, "bot")
    assert found(world, bot(world), "heat pump") == {}


def test_another_workspace_is_not_reached(
    database: "Database", world: World, talk: PostgresTalking
) -> None:
    other = open_world(database.owner_url, database.app_url, "elsewhere")
    try:
        theirs = told(other, "solar panels elsewhere")
        talk.subscriptions.put(world.admin, "bot", ["solar panels"])
        assert found(world, bot(world), "solar panels") == {}
        assert read(world, bot(world), theirs) == set()
        assert found(other, bot(other), "solar panels") == {}
    finally:
        other.pool.close()


def test_a_scope_that_is_not_the_principals_stays_hidden(
    world: World, talk: PostgresTalking
) -> None:
    hidden = told(world, "the solar safe opens with 1234")
    public = told(world, "solar tours on Sundays", scope=Scope.PUBLIC)
    talk.subscriptions.put(world.admin, "bot", ["solar"])
    visitor = public_of(world.admin)
    assert set(found(world, visitor, "solar")) == {public}
    assert read(world, visitor, hidden, public) == {public}
    narrowed = Filters(scopes=("public",))
    assert set(found(world, bot(world), "solar", filters=narrowed)) == {public}


def test_states_and_filters_hold(database: "Database", world: World, talk: PostgresTalking) -> None:
    old = told(world, "solar price is 1", key="price", valid_from=MORNING)
    new = told(world, "solar price is 2", key="price", valid_from=MORNING + timedelta(days=1))
    gone = told(world, "solar is gone")
    with database.connect_as_superuser() as connection:
        connection.execute("UPDATE node SET state = 'deleted' WHERE id = %s", [gone])
    talk.subscriptions.put(world.admin, "bot", ["solar"])
    agent = bot(world)
    assert set(found(world, agent, "solar")) == {new}
    assert set(found(world, agent, "solar", filters=Filters(include_superseded=True))) == {old, new}
    assert set(found(world, agent, "solar", filters=Filters(valid_at=MORNING))) == {old}
    assert found(world, agent, "solar", filters=Filters(client_id="acme")) == {}
    assert found(world, agent, "solar", filters=Filters(kinds=("event",))) == {}
    assert found(world, agent, "solar", filters=Filters(labels=("Document",))) == {}
    later = Filters(occurred_from=MORNING + timedelta(days=400))
    assert found(world, agent, "solar", filters=later) == {}


def test_messages_are_found_when_their_label_is_asked_for_only(
    world: World, talk: PostgresTalking
) -> None:
    said = talk.say("what of the solar panels?", channel=Channel.API)
    talk.subscriptions.put(world.admin, "bot", ["solar panels"])
    assert found(world, bot(world), "solar panels") == {}
    asked = Filters(labels=("Message",))
    assert set(found(world, bot(world), "solar panels", filters=asked)) == {said.message_id}


def test_the_past_is_searched_as_it_was(world: World, talk: PostgresTalking) -> None:
    first = told(world, "solar was here")
    with StoreTransactions(world.pool).reading(world.admin) as stores:
        row = stores.nodes.connection.execute("SELECT position FROM ledger_head").fetchone()
    assert row is not None
    told(world, "solar came later")
    talk.subscriptions.put(world.admin, "bot", ["solar"])
    then = Filters(as_of_position=row[0])
    assert set(found(world, bot(world), "solar", filters=then)) == {first}


def test_no_more_than_the_limit_and_no_word_that_is_an_operator(
    world: World, talk: PostgresTalking
) -> None:
    for number in range(5):
        told(world, f"solar {number}")
    talk.subscriptions.put(world.admin, "bot", ["solar", "the & ! | ' :*"])
    assert len(found(world, bot(world), "solar", limit=3)) == 3
    assert found(world, bot(world), "the & ! | ' :*") == {}


def test_the_keywords_of_an_agent_are_read_for_its_principals(
    world: World, talk: PostgresTalking
) -> None:
    keywords = PostgresSubscribedKeywords(world.pool)
    assert keywords(bot(world), 2000) == ()
    talk.subscriptions.put(world.admin, "bot", ["Solar", "Heat  Pump", "solar"])
    assert keywords(bot(world), 2000) == ("solar", "heat pump")
    assert keywords(public_of(world.admin), 2000) == ("solar", "heat pump")
    assert keywords(world.admin, timeout_ms=2000) == ()


def test_changes_at_once_leave_one_of_them_and_the_ledger_says_which(
    world: World, talk: PostgresTalking
) -> None:
    def put(word: str) -> SubscriptionView:
        return talk.subscriptions.put(world.admin, "bot", [word])

    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(put, "abc"))
    (kept,) = talk.subscriptions.get(world.admin, "bot")
    assert kept == max(done, key=lambda item: item.position)
