"""Conversations, reports and subscriptions over PostgreSQL."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.remembering import admin_of
from tests.support.talking import Talking, message, public_of
from tests.support.world import MORNING

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.conversations.messages import Channel, GateReason, MessageRole
from cairn.conversations.record import MAX_PENDING
from cairn.graph.edge import Relation, View
from cairn.kernel.access import Role, Scope
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Conflict, Denied, NotFound, TooLarge, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.ledger.entry import Entry
from cairn.ledger.keys import BodyCipher, key_subjects
from cairn.recall.subscriptions import changed_subscription
from cairn.writing.items import IdempotencyKey

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@pytest.fixture
def talk(database: "Database") -> Iterator[Talking]:
    name = f"contract-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    pool = Pool(database.app_url, size=2)
    stores = StoreTransactions(pool)
    yield Talking(transactions=stores, admin=admin_of(workspace_id))
    pool.close()


def entries(talk: Talking, prefix: str = "") -> list[Entry]:
    with talk.transactions.reading(talk.admin) as stores:
        every: list[Entry] = stores.ledger.page(after=0, limit=1000)
    return [entry for entry in every if entry.type.startswith(prefix)]


def test_a_web_chat_waits_for_its_users_second_message(talk: Talking) -> None:
    first = talk.say("one")
    answer = talk.say("answer", role=MessageRole.ASSISTANT)
    assert (first.persisted, answer.persisted, answer.pending) == (False, False, 2)
    assert entries(talk, "message") == []
    second = talk.say("two")
    assert second.written == (first.message_id, answer.message_id, second.message_id)
    third = talk.say("three")
    assert third.written == (third.message_id,)
    assert third.conversation_id == first.conversation_id
    assert [entry.meta["sequence"] for entry in entries(talk, "message")] == [1, 2, 3, 4]
    assert len(entries(talk, "conversation.opened")) == 1


def test_sessions_and_channels_do_not_mix(talk: Talking) -> None:
    assert not talk.say("one").persisted
    assert not talk.say("one", session_id="s2").persisted
    assert talk.say("one", channel=Channel.SLACK).persisted
    assert talk.say("two").persisted


def test_what_waited_too_long_is_not_written(talk: Talking) -> None:
    first = talk.say("one")
    talk.later(hours=24)
    again = talk.say("again")
    assert (again.persisted, again.pending) == (False, 1)
    assert again.conversation_id != first.conversation_id
    assert talk.say("and again").written[0] == again.message_id


def test_a_silent_user_cannot_pile_up_messages(talk: Talking) -> None:
    talk.say("one")
    for _ in range(MAX_PENDING - 1):
        talk.say("hm", role=MessageRole.TOOL)
    with pytest.raises(Conflict) as full:
        talk.say("hm", role=MessageRole.TOOL)
    assert full.value.reason == "too-many-pending"
    assert talk.say("two").persisted


def test_what_a_forgotten_person_wrote_while_waiting_is_dropped(talk: Talking) -> None:
    talk.say("mine", sender="ada")
    talk.say("yours", sender="bo", role=MessageRole.ASSISTANT)
    (ada,) = {entry.data_subjects for entry in entries(talk, "data_subject")}
    talk.keys.destroy(talk.admin.workspace_id, ada[0])
    done = talk.say("and mine", sender="cy")
    assert done.written == (done.message_id,)


def test_an_answer_is_about_whom_it_answers(talk: Talking) -> None:
    talk.say("hello", channel=Channel.API, sender="ada")
    talk.say("hello Ada", channel=Channel.API, role=MessageRole.ASSISTANT)
    said = entries(talk, "message")
    assert said[0].data_subjects == said[1].data_subjects != ()
    assert said[1].meta["context"] == [said[0].meta["message_id"]]


def test_the_same_delivery_twice_is_one_message(talk: Talking) -> None:
    once = IdempotencyKey(key="k", body_hash=b"h" * 32)
    given = message("one", channel=Channel.WHATSAPP)
    first = talk.record(talk.admin, given, idempotency=once)
    again = talk.record(talk.admin, given, idempotency=once)
    assert (again.message_id, again.replayed) == (first.message_id, True)
    waits = IdempotencyKey(key="w", body_hash=b"h" * 32)
    waiting = talk.record(talk.admin, message("one"), idempotency=waits)
    repeated = talk.record(talk.admin, message("one"), idempotency=waits)
    assert (repeated.pending, repeated.expires_at) == (1, waiting.expires_at)
    other = IdempotencyKey(key="k", body_hash=b"x" * 32)
    with pytest.raises(ValidationFailed):
        talk.record(talk.admin, given, idempotency=other)


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"text": ""}, ValidationFailed),
        ({"text": "a\x00"}, ValidationFailed),
        ({"text": "\udfff"}, ValidationFailed),
        ({"text": "x" * 32_001}, TooLarge),
        ({"session_id": " "}, ValidationFailed),
        ({"sender": "x" * 257}, TooLarge),
        ({"gate_reason": GateReason.OTHER}, ValidationFailed),
        ({"metadata": {"a": float("nan")}}, ValidationFailed),
        ({"metadata": {"cairn": 1}}, ValidationFailed),
        ({"occurred_at": MORNING.replace(year=1800)}, ValidationFailed),
    ],
)
def test_a_bad_message_is_refused_and_leaves_nothing(
    talk: Talking, wrong: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        talk.say(wrong.get("text", "x"), **{n: v for n, v in wrong.items() if n != "text"})
    assert entries(talk) == entries(talk, "workspace") + entries(talk, "key")


def test_who_may_not_write_or_not_for_that_scope_is_refused(talk: Talking) -> None:
    with pytest.raises(Denied):
        talk.say("x", public_of(talk.admin))
    narrow = replace(talk.admin, role=Role.AGENT, allowed_scopes=frozenset({Scope.PUBLIC}))
    with pytest.raises(Denied):
        talk.say("x", narrow, scope=Scope.ADMIN)
    with pytest.raises(Denied):
        talk.say("x", replace(talk.admin, agent_slug="bot"), agents=("other",))


def test_a_secret_in_a_message_is_scrubbed(talk: Talking) -> None:
    talk.say("key AKIAIOSFODNN7EXAMPLE here", channel=Channel.API)
    (said,) = entries(talk, "message")
    with talk.transactions.reading(talk.admin) as stores:
        found = stores.conversations.find(found_identity(talk))
    assert found is not None
    assert str(found.last[0].id) == said.meta["message_id"]
    assert "AKIAIOSFODNN7EXAMPLE" not in found.last[0].text


def found_identity(talk: Talking) -> str:
    from cairn.conversations.messages import draft_message

    return draft_message(message("x", channel=Channel.API), talk.admin, MORNING).identity()


def test_a_key_is_bound_to_a_visible_conversation_only(talk: Talking) -> None:
    with pytest.raises(NotFound):
        talk.bind(talk.admin, new_id(), new_id())
    waiting = talk.say("one")
    with pytest.raises(ValidationFailed):
        talk.bind(talk.admin, waiting.conversation_id, new_id())
    with pytest.raises(Denied):
        talk.bind(replace(talk.admin, role=Role.AGENT), waiting.conversation_id, new_id())


def test_a_report_is_written_once_a_minute(talk: Talking) -> None:
    first = talk.report("Daily")
    again = talk.report("Daily", occurred_at=MORNING + timedelta(seconds=30))
    later = talk.report("Daily", occurred_at=MORNING + timedelta(minutes=1))
    assert (first.created, again.created, later.created) == (True, False, True)
    assert (again.id, again.position, again.parent_id) == (
        first.id,
        first.position,
        first.parent_id,
    )
    assert len(entries(talk, "report.written")) == 2


def test_a_report_hangs_under_its_conversation_or_the_admin(talk: Talking) -> None:
    said = talk.say("brief me", channel=Channel.API)
    assert talk.report("A", conversation_id=said.conversation_id).parent_id == said.conversation_id
    assert talk.report("B", session_id="s1").parent_id == said.conversation_id
    alone = talk.report("C")
    assert alone.parent_id == talk.report("D").parent_id != said.conversation_id
    with pytest.raises(NotFound):
        talk.report("E", conversation_id=new_id())


def test_a_replayed_report_is_the_first_ones(talk: Talking) -> None:
    once = IdempotencyKey(key="r", body_hash=b"h" * 32)
    from cairn.reports.write import NewReport

    first = talk.write_report(talk.admin, NewReport(title="T", body="b"), idempotency=once)
    talk.later(hours=2)
    again = talk.write_report(talk.admin, NewReport(title="T", body="b"), idempotency=once)
    assert (again.id, again.replayed) == (first.id, True)


def test_subscriptions_are_cleaned_replaced_and_cleared(talk: Talking) -> None:
    put = talk.subscriptions.put(talk.admin, "bot", ["  Solar  Panels ", "STRASSE", "straße"])
    assert put.keywords == ("solar panels", "strasse")
    assert talk.subscriptions.get(talk.admin, "bot") == (put,)
    same = talk.subscriptions.put(talk.admin, "bot", ["solar panels", "strasse"])
    assert same == put
    other = talk.subscriptions.put(talk.admin, "ant", ["x"])
    assert talk.subscriptions.get(talk.admin) == (other, put)
    assert talk.subscriptions.clear(talk.admin, "bot").keywords == ()
    assert talk.subscriptions.get(talk.admin, "bot") == ()
    assert len(entries(talk, "subscription.changed")) == 3
    assert {entry.meta_text for entry in entries(talk, "subscription")} == {
        '{"keywords":2}',
        '{"keywords":1}',
        '{"keywords":0}',
    }


def test_an_agent_subscribes_for_itself_only(talk: Talking) -> None:
    bot = replace(talk.admin, role=Role.AGENT, agent_slug="bot")
    mine = talk.subscriptions.put(bot, None, ["x"])
    assert mine.agent == "bot"
    assert talk.subscriptions.get(bot) == (mine,)
    for attempt in (
        lambda: talk.subscriptions.put(bot, "other", ["x"]),
        lambda: talk.subscriptions.get(bot, "other"),
        lambda: talk.subscriptions.clear(replace(bot, agent_slug=None), None),
        lambda: talk.subscriptions.put(public_of(talk.admin), None, ["x"]),
    ):
        with pytest.raises(Denied):
            attempt()
    with pytest.raises(ValidationFailed):
        talk.subscriptions.put(talk.admin, None, ["x"])
    with pytest.raises(ValidationFailed):
        talk.subscriptions.put(talk.admin, "Not a slug", ["x"])


@pytest.mark.parametrize(
    "keywords",
    [[], [""], [" "], ["a\x00"], ["\ud800"], ["x" * 65], ["ß" * 40], list("abcdef")],
    ids=["none", "empty", "blank", "nul", "half", "long", "folded", "six"],
)
def test_bad_keywords_are_refused(talk: Talking, keywords: list[str]) -> None:
    with pytest.raises(ValidationFailed):
        talk.subscriptions.put(talk.admin, "bot", keywords)
    assert talk.subscriptions.get(talk.admin) == ()


def test_the_edges_are_those_of_the_conversation_and_of_what_it_produced(talk: Talking) -> None:
    first, second = (talk.say(text, channel=Channel.API) for text in ("one", "two"))
    report = talk.report("A", conversation_id=first.conversation_id)
    conversation = first.conversation_id
    with talk.transactions.reading(talk.admin) as stores:
        found = {
            (edge.view, edge.relation, edge.source_id, edge.target_id)
            for node_id in (conversation, first.message_id, second.message_id, report.id)
            for edge in stores.graph_nodes.edges_of(node_id, limit=10)
        }
    assert found == {
        (View.DOCUMENT, Relation.PART_OF, first.message_id, conversation),
        (View.DOCUMENT, Relation.PART_OF, second.message_id, conversation),
        (View.TEMPORAL, Relation.FOLLOWS, second.message_id, first.message_id),
        (View.PROVENANCE, Relation.PRODUCED, conversation, report.id),
    }


def test_a_message_carries_what_was_said_of_it_beside_its_own_metadata(talk: Talking) -> None:
    said = talk.say("x", channel=Channel.EMAIL, sender="ada", metadata={"id": 2})
    with talk.transactions.reading(talk.admin) as stores:
        found = stores.conversation_views.messages(said.conversation_id, limit=10, after=0)
    (message,) = found
    assert (message.sender, message.accepted, message.metadata) == ("ada", True, {"id": 2})


def test_a_subscription_is_a_row_of_its_entry(talk: Talking) -> None:
    kept = talk.subscriptions.put(talk.admin, "bot", ["Solar"])
    (entry,) = entries(talk, "subscription.changed")
    subjects = key_subjects(entry.workspace_id, entry.data_subjects)
    keys = talk.keys.get(entry.workspace_id, subjects)
    body = BodyCipher().open(entry.id, entry.workspace_id, subjects, keys, entry.body)
    assert changed_subscription(entry, body) == kept
