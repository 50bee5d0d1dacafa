"""The rows of conversations and reports come of the ledger alone."""

from typing import Any
from uuid import UUID

from tests.fakes.stores import InMemoryNodes, InMemoryTransactions, Tables
from tests.support.remembering import admin_of
from tests.support.talking import Talking

from cairn.conversations.messages import Channel, MessageRole
from cairn.graph.edge import Relation, View
from cairn.graph.node import Label
from cairn.kernel.ids import new_id
from cairn.ledger.chain import empty_head
from cairn.ledger.entry import Entry
from cairn.ledger.keys import BodyCipher, key_subjects
from cairn.recall.subscriptions import changed_subscription
from cairn.writing.projectors import project


def talking() -> Talking:
    transactions, admin = InMemoryTransactions(), admin_of(new_id())
    transactions.create_workspace(admin.workspace_id)
    return Talking(transactions=transactions, admin=admin)


def tables_of(talk: Talking) -> Tables:
    return talk.transactions.workspaces[talk.admin.workspace_id]


def body_of(talk: Talking, entry: Entry) -> dict[str, Any]:
    subjects = key_subjects(entry.workspace_id, entry.data_subjects)
    keys = talk.keys.get(entry.workspace_id, subjects)
    return BodyCipher().open(entry.id, entry.workspace_id, subjects, keys, entry.body)


def test_replaying_the_ledger_gives_the_same_rows() -> None:
    talk = talking()
    talk.say("one", sender="ada")
    talk.say("answer", role=MessageRole.ASSISTANT)
    said = talk.say("two", sender="ada", metadata={"id": 7})
    talk.say("odd", channel=Channel.SLACK, accepted=False, agents=("bot",))
    talk.report("A", keywords=("K",), conversation_id=said.conversation_id)
    talk.report("B", source_workflow="dream")
    known = tables_of(talk)
    again = Tables(head=empty_head(talk.admin.workspace_id))
    for entry in known.entries:
        texts = {node.id: node.text for node in again.nodes.values()}
        InMemoryNodes(again).apply([project(entry, body_of(talk, entry), texts)])
    assert again.nodes == known.nodes
    assert again.edges == known.edges
    assert {node.label for node in again.nodes.values()} == {
        Label.CONVERSATION,
        Label.MESSAGE,
        Label.REPORT,
        Label.ENTITY,
    }


def test_the_edges_are_those_of_the_conversation_and_of_what_it_produced() -> None:
    talk = talking()
    first, second = (talk.say(text, channel=Channel.API) for text in ("one", "two"))
    report = talk.report("A", conversation_id=first.conversation_id)
    found = {
        (edge.view, edge.relation, edge.source_id, edge.target_id)
        for edge in tables_of(talk).edges.values()
    }
    conversation = first.conversation_id
    assert found == {
        (View.DOCUMENT, Relation.PART_OF, first.message_id, conversation),
        (View.DOCUMENT, Relation.PART_OF, second.message_id, conversation),
        (View.TEMPORAL, Relation.FOLLOWS, second.message_id, first.message_id),
        (View.PROVENANCE, Relation.PRODUCED, conversation, report.id),
    }


def test_a_message_carries_what_was_said_of_it_beside_its_own_metadata() -> None:
    talk = talking()
    said = talk.say("x", channel=Channel.EMAIL, sender="ada", metadata={"id": 2})
    node = tables_of(talk).nodes[said.message_id]
    told = {"channel": "email", "accepted": True, "sender": "ada"}
    assert node.metadata == {"cairn": told, "id": 2}


def test_a_subscription_is_a_row_of_its_entry() -> None:
    talk = talking()
    kept = talk.subscriptions.put(talk.admin, "bot", ["Solar"])
    (entry,) = [entry for entry in tables_of(talk).entries if entry.type == "subscription.changed"]
    assert changed_subscription(entry, body_of(talk, entry)) == kept
    assert isinstance(entry.id, UUID)
