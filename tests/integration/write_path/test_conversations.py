"""Conversations in the database: what is kept when, what races do, who sees what."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.support.platform import platform_of
from tests.support.talking import PostgresTalking, public_of, talking_in
from tests.support.world import World, open_world

from cairn.accounts.keys import CreateKey, RevokeKey
from cairn.adapters.postgres.database import bound
from cairn.adapters.postgres.memory.conversations import DropExpiredMessages
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.conversations.messages import Channel, GateReason, MessageRole
from cairn.conversations.read import ConversationFilter
from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.errors import Conflict, NotFound, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.reading.views import KeyView, NewKey

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

ALL = ConversationFilter()


@pytest.fixture
def world(database: "Database") -> Iterator[World]:
    world = open_world(database.owner_url, database.app_url, f"talk-{new_id()}")
    yield world
    world.pool.close()


@pytest.fixture
def talk(world: World) -> PostgresTalking:
    return talking_in(world.pool, world.admin)


def texts(talk: PostgresTalking, conversation_id: UUID, principal: Principal | None = None) -> Any:
    _, page = talk.browse.get(principal or talk.admin, conversation_id, limit=100, after=None)
    return [(item.role, item.content) for item in page.items]


def listed(talk: PostgresTalking, principal: Principal | None = None, **where: Any) -> list[UUID]:
    asked = ConversationFilter(**where)
    page = talk.browse.list(principal or talk.admin, asked, limit=100, after=None)
    return [item.id for item in page.items]


def rows(world: World, statement: str, *given: object) -> list[Any]:
    with bound(world.pool, world.admin) as connection:
        return connection.execute(statement.encode(), given).fetchall()


CONTEXT = "SELECT context_text FROM node WHERE id = %s"


def test_a_web_chat_is_kept_from_its_users_second_message_on(
    world: World, talk: PostgresTalking
) -> None:
    first = talk.say("Hello", sender="ada@example.org")
    answer = talk.say("Good morning, Ada", role=MessageRole.ASSISTANT)
    assert (first.persisted, answer.persisted, answer.pending) == (False, False, 2)
    assert listed(talk) == []
    assert rows(world, "SELECT id FROM node") == []
    second = talk.say("Is the hut open?", sender="ada@example.org")
    assert second.persisted
    assert second.conversation_id == first.conversation_id
    assert second.written == (first.message_id, answer.message_id, second.message_id)
    assert texts(talk, first.conversation_id) == [
        ("user", "Hello"),
        ("assistant", "Good morning, Ada"),
        ("user", "Is the hut open?"),
    ]
    assert rows(world, "SELECT id FROM pending_message") == []


def test_what_waits_is_not_readable_in_the_database(world: World, talk: PostgresTalking) -> None:
    talk.say("the secret of the hut", sender="ada@example.org")
    ((body, subjects),) = rows(world, "SELECT body, data_subjects FROM pending_message")
    assert b"secret" not in body
    assert len(subjects) == 1


def test_what_a_forgotten_person_wrote_is_not_written_when_the_second_message_comes(
    talk: PostgresTalking, world: World
) -> None:
    talk.say("Hello, it is me", sender="ada@example.org")
    ((subjects,),) = rows(world, "SELECT data_subjects FROM pending_message")
    talk.keys.destroy(world.workspace_id, subjects[0])
    second = talk.say("And me", sender="bo@example.org")
    assert texts(talk, second.conversation_id) == [("user", "And me")]


@pytest.mark.parametrize("channel", [item for item in Channel if item is not Channel.WEBCHAT])
def test_other_channels_keep_the_first_message_at_once(
    talk: PostgresTalking, channel: Channel
) -> None:
    first = talk.say("Hello", channel=channel)
    assert first.persisted
    assert listed(talk) == [first.conversation_id]


def test_a_message_that_was_turned_away_is_kept_and_says_so(talk: PostgresTalking) -> None:
    kept = talk.say(
        "Let me in",
        channel=Channel.WHATSAPP,
        sender="+4400000",
        accepted=False,
        gate_reason=GateReason.SENDER_NOT_ALLOWED,
    )
    _, page = talk.browse.get(talk.admin, kept.conversation_id, limit=10, after=None)
    (message,) = page.items
    assert (message.accepted, message.gated) == (False, "sender-not-allowed")
    assert message.sender == "+4400000"


def test_messages_are_part_of_their_conversation_and_follow_each_other(
    world: World, talk: PostgresTalking
) -> None:
    first = talk.say("Hello", channel=Channel.API)
    talk.later(seconds=5)
    second = talk.say("Still there?", channel=Channel.API)
    edges = rows(
        world, "SELECT relation, source_id, target_id, properties FROM edge ORDER BY relation, id"
    )
    assert ("FOLLOWS", second.message_id, first.message_id, {"delta_ms": 5000}) in edges
    parts = {edge[1]: edge[2] for edge in edges if edge[0] == "PART_OF"}
    assert parts == dict.fromkeys((first.message_id, second.message_id), first.conversation_id)


def test_a_message_is_indexed_with_the_two_before_it(world: World, talk: PostgresTalking) -> None:
    for text in ("one", "two", "three", "four"):
        last = talk.say(text, channel=Channel.API)
    found = rows(world, CONTEXT, last.message_id)
    assert found == [("two\nthree",)]
    assert {row.node_ids for row in talk.sent.rows[-1:]} == {(last.message_id,)}


def test_the_words_of_another_person_are_no_context(world: World, talk: PostgresTalking) -> None:
    talk.say("mine", channel=Channel.SLACK, sender="ada")
    second = talk.say("yours", channel=Channel.SLACK, sender="bo")
    found = rows(world, CONTEXT, second.message_id)
    assert found == [(None,)]


def test_nothing_said_and_no_session_stands_in_the_clear_part_of_the_ledger(
    world: World, talk: PostgresTalking
) -> None:
    talk.say("the secret", channel=Channel.WHATSAPP, session_id="+447700900", sender="+447700900")
    entries = rows(world, "SELECT type, session_id, actor_id, meta FROM ledger")
    assert "message.recorded" in {entry[0] for entry in entries}
    assert "447700900" not in str(entries)
    assert "secret" not in str(entries)


def test_two_second_messages_at_once_write_each_message_once(talk: PostgresTalking) -> None:
    talk.say("Hello")
    with ThreadPoolExecutor(2) as pool:
        done = list(pool.map(talk.say, ["Anybody?", "Somebody?"]))
    (conversation_id,) = {item.conversation_id for item in done}
    said = [text for _, text in texts(talk, conversation_id)]
    assert said[0] == "Hello"
    assert sorted(said) == ["Anybody?", "Hello", "Somebody?"]


def test_first_messages_at_once_make_one_conversation(talk: PostgresTalking) -> None:
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(talk.say, ["a", "b", "c"]))
    (conversation_id,) = {item.conversation_id for item in done}
    assert sorted(text for _, text in texts(talk, conversation_id)) == ["a", "b", "c"]


def test_a_write_that_dies_half_way_leaves_what_waited(
    world: World, talk: PostgresTalking, monkeypatch: pytest.MonkeyPatch
) -> None:
    talk.say("Hello")

    def die(*_: object) -> None:
        raise ZeroDivisionError

    with monkeypatch.context() as patched, pytest.raises(ZeroDivisionError):
        patched.setattr("cairn.adapters.postgres.stores.PostgresOutbox.add", die)
        talk.say("Anybody?")
    assert rows(world, "SELECT id FROM node") == []
    again = talk.say("Anybody?")
    assert texts(talk, again.conversation_id) == [("user", "Hello"), ("user", "Anybody?")]


def test_what_waited_a_day_is_swept_away(world: World, talk: PostgresTalking) -> None:
    first = talk.say("Hello")
    assert first.expires_at is not None
    talk.later(hours=25)
    again = talk.say("Hello again")
    assert not again.persisted
    assert again.conversation_id != first.conversation_id
    drop = DropExpiredMessages(world.pool, lambda: talk.now)
    drop()
    assert len(rows(world, "SELECT id FROM pending_message")) == 1
    talk.later(hours=24)
    assert drop() >= 1
    assert rows(world, "SELECT id FROM pending_message") == []


def test_a_session_of_another_audience_is_another_conversation(
    world: World, talk: PostgresTalking
) -> None:
    ours = talk.say("Hello", channel=Channel.API)
    agent = world.as_other(agent_slug="bot")
    theirs = talk.say("Hello", agent, channel=Channel.API)
    assert ours.conversation_id != theirs.conversation_id
    assert listed(talk, agent) == [theirs.conversation_id]
    with pytest.raises(NotFound):
        texts(talk, ours.conversation_id, agent)


def test_another_workspace_and_a_narrower_scope_see_nothing(
    database: "Database", world: World, talk: PostgresTalking
) -> None:
    kept = talk.say("Hello", channel=Channel.API, scope=Scope.SHARED)
    narrow = world.as_other(allowed_scopes=frozenset({Scope.ADMIN}))
    other = open_world(database.owner_url, database.app_url, "elsewhere")
    try:
        for stranger in (narrow, other.admin):
            assert listed(talk, stranger) == []
            with pytest.raises(NotFound):
                texts(talk, kept.conversation_id, stranger)
    finally:
        other.pool.close()


def test_a_public_key_sees_the_conversation_it_is_bound_to_and_no_other(
    world: World, talk: PostgresTalking
) -> None:
    public: dict[str, Any] = {"channel": Channel.API, "scope": Scope.PUBLIC, "agents": ("bot",)}
    mine = talk.say("my question", **public)
    yours = talk.say("your question", **public, session_id="s2")
    key = public_key(world)
    visitor = public_of(world.admin, key_id=key.id)
    assert listed(talk, visitor) == []
    talk.bind(world.admin, mine.conversation_id, key.id)
    talk.bind(world.admin, mine.conversation_id, key.id)
    assert listed(talk, visitor) == [mine.conversation_id]
    assert texts(talk, mine.conversation_id, visitor) == [("user", "my question")]
    with pytest.raises(NotFound):
        texts(talk, yours.conversation_id, visitor)
    with bound(world.pool, visitor) as connection:
        seen = connection.execute("SELECT text FROM node WHERE label = 'Message'").fetchall()
    assert seen == [("my question",)]


def test_a_key_is_bound_once_and_only_a_public_one(world: World, talk: PostgresTalking) -> None:
    first, second = (talk.say("x", channel=Channel.API, session_id=item) for item in ("a", "b"))
    key = public_key(world)
    talk.bind(world.admin, first.conversation_id, key.id)
    with pytest.raises(Conflict) as taken:
        talk.bind(world.admin, second.conversation_id, key.id)
    assert taken.value.reason == "key-bound"
    with pytest.raises(NotFound):
        talk.bind(world.admin, new_id(), key.id)
    with pytest.raises(ValidationFailed):
        talk.bind(world.admin, first.conversation_id, new_id())
    revoke = RevokeKey(platform=platform_of(StoreTransactions(world.pool), clock=lambda: talk.now))
    other = public_key(world)
    revoke(world.admin, other.id)
    with pytest.raises(ValidationFailed):
        talk.bind(world.admin, first.conversation_id, other.id)


def public_key(world: World) -> KeyView:
    platform = world.remember.platform
    create = CreateKey(platform=platform_of(StoreTransactions(world.pool), clock=platform.clock))
    return create(world.admin, NewKey(name="visitor", role=Role.PUBLIC, agent_slug="bot")).key


def test_a_list_is_paged_and_filtered(talk: PostgresTalking) -> None:
    made = [
        talk.say("x", channel=channel, session_id=f"s{number}").conversation_id
        for number, channel in enumerate((Channel.API, Channel.SLACK, Channel.API))
    ]
    page = talk.browse.list(talk.admin, ALL, limit=2, after=None)
    rest = talk.browse.list(talk.admin, ALL, limit=2, after=page.next_after)
    assert [item.id for item in (*page.items, *rest.items)] == made[::-1]
    assert rest.next_after is None
    assert listed(talk, channel="slack") == [made[1]]
    assert listed(talk, session_id="s2") == [made[2]]
    assert page.items[0].messages == 1


def test_messages_are_paged_in_their_order(talk: PostgresTalking) -> None:
    *_, kept = [talk.say(str(number), channel=Channel.API) for number in range(5)]
    _, page = talk.browse.get(talk.admin, kept.conversation_id, limit=3, after=None)
    _, rest = talk.browse.get(talk.admin, kept.conversation_id, limit=3, after=page.next_after)
    assert [item.content for item in (*page.items, *rest.items)] == list("01234")
    assert rest.next_after is None


def test_a_message_is_embedded_with_those_before_it_and_a_report_with_its_title(
    world: World, talk: PostgresTalking
) -> None:
    for text in ("one", "two", "three"):
        last = talk.say(text, channel=Channel.API)
    talk.say("two of Slack", channel=Channel.SLACK)
    report = talk.report("Briefing", body="All is well.")
    with talk.transactions.reading(world.admin) as stores:
        found = {
            item.id: item for item in stores.embeddings.enrichable([last.message_id, report.id])
        }
    assert set(found[last.message_id].context) == {"one", "two"}
    assert found[report.id].text == "Briefing\n\nAll is well."
