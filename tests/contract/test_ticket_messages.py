"""What requesters write to their tickets later: the same over the fake stores and PostgreSQL."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.fakes.stores import InMemoryTransactions
from tests.support.helpdesk import API, ATTACK, DESK, MONDAY, Clock, Helpdesk, incoming
from tests.support.remembering import admin_of

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Conflict, NotFound, TooLarge, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.tickets.adapter import Delivered, Incoming, Message
from cairn.tickets.intake import From
from cairn.tickets.messages import MessageOutcome, new_ones
from cairn.tickets.queue import MOST_REOPENINGS
from cairn.tickets.sealing import MAX_STORED_CHARS
from cairn.tickets.ticket import MAX_BODY_CHARS, TicketStatus
from cairn.writing.items import IdempotencyKey

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

ADDRESS = "kevin@hartwell.example"


@pytest.fixture(params=["in memory", "postgres"])
def helpdesk(request: pytest.FixtureRequest) -> Iterator[Helpdesk]:
    if request.param == "in memory":
        transactions, principal = InMemoryTransactions(), admin_of(new_id())
        transactions.create_workspace(principal.workspace_id)
        yield Helpdesk(transactions, principal)
        return
    yield from in_postgres(request.getfixturevalue("database"))


def in_postgres(database: "Database") -> Iterator[Helpdesk]:
    name = f"messages-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    pool = Pool(database.app_url, size=2)
    yield Helpdesk(
        StoreTransactions(pool),
        admin_of(workspace_id),
        clock=Clock(utc_now().replace(microsecond=0)),
    )
    pool.close()


def answered(helpdesk: Helpdesk, ticket_id: UUID, investigation_id: UUID, verdict: str) -> None:
    """Write the answer of an investigation back, and end it a minute later."""
    helpdesk.desk.write_back(
        helpdesk.workspace_id,
        ticket_id,
        investigation_id=investigation_id,
        verdict=verdict,
        summary="Which address do you use?",
        minutes=1,
        private=False,
        data_subjects=(),
    )
    helpdesk.clock.move(minutes=1)
    helpdesk.desk.ended(helpdesk.workspace_id, ticket_id, investigation_id, verdict)
    helpdesk.clock.move(minutes=1)


def waiting(
    helpdesk: Helpdesk,
    verdict: str = "needs_client",
    *,
    origin: From = API,
    given: Incoming | None = None,
) -> UUID:
    """Return a ticket that was investigated to an end."""
    ticket_id, investigation_id = helpdesk.claimed(given or incoming(), origin)
    answered(helpdesk, ticket_id, investigation_id, verdict)
    return ticket_id


def again(helpdesk: Helpdesk, ticket_id: UUID, verdict: str = "needs_client") -> None:
    """Take up, claim and end a ticket that was put back."""
    helpdesk.take(helpdesk.workspace_id, ticket_id)
    investigation_id = new_id()
    with helpdesk.transactions.writing(helpdesk.principal) as stores:
        assert stores.tickets.claim(investigation_id, helpdesk.clock()).id == ticket_id
    answered(helpdesk, ticket_id, investigation_id, verdict)


def said(number: int = 1, **changes: Any) -> Message:
    """A message as a help desk would send it."""
    given = Message(
        ticket="ZD-1",
        id=f"thread:{number}",
        text=f"Message {number}.",
        author="Kevin@Hartwell.example",
    )
    return replace(given, **changes)


def from_desk(helpdesk: Helpdesk, *messages: Message) -> int:
    return new_ones(helpdesk.messages(helpdesk.principal, "desk", messages))


def kinds(helpdesk: Helpdesk) -> list[str]:
    return [entry.type for entry in helpdesk.entries()]


def words(helpdesk: Helpdesk, ticket_id: UUID) -> list[str]:
    """Return what was said later, the newest first."""
    ticket = helpdesk.desk.ticket(helpdesk.workspace_id, ticket_id)
    return [message.text for message in ticket.messages]


@pytest.mark.parametrize("verdict", ["needs_client", "auto_resolved"])
def test_an_answer_puts_a_ticket_back_and_the_next_investigation_reads_it(
    helpdesk: Helpdesk, verdict: str
) -> None:
    ticket_id = waiting(helpdesk, verdict)
    before = len(helpdesk.waking())
    taken = helpdesk.say(ticket_id, f"It is {ADDRESS}, of course.")
    assert taken.outcome is MessageOutcome.NEW
    row = helpdesk.row(ticket_id)
    assert (row.status, row.ended_at) == (TicketStatus.NEW, None)
    (waking,) = helpdesk.waking()[before:]
    assert waking.reference == ticket_id
    message, requeued = helpdesk.entries()[-2:]
    assert (message.type, message.position) == ("ticket.message_received", taken.position)
    assert message.data_subjects == row.data_subjects
    assert helpdesk.body(message)["text"] == f"It is {ADDRESS}, of course."
    assert (requeued.type, requeued.meta["why"]) == ("ticket.requeued", "answered")
    assert "hartwell" not in message.meta_text + requeued.meta_text
    helpdesk.take(helpdesk.workspace_id, ticket_id)
    assert helpdesk.row(ticket_id).status is TicketStatus.QUEUED
    ticket = helpdesk.desk.ticket(helpdesk.workspace_id, ticket_id)
    assert ticket.words == f"It is {ADDRESS}, of course.\n\n-----\n\n{incoming().body}"
    assert list(ticket.answers.values()) == ["Which address do you use?"]
    assert ticket.reopenings == 1


def test_thanks_do_not_reopen_what_is_done_and_a_question_behind_them_does(
    helpdesk: Helpdesk,
) -> None:
    ticket_id = waiting(helpdesk, "auto_resolved")
    thanks = "Thank you, it works now!\n\nBest regards,\nKevin\n\n> Your account is open again."
    helpdesk.say(ticket_id, thanks)
    assert helpdesk.row(ticket_id).status is TicketStatus.AUTO_RESOLVED
    assert words(helpdesk, ticket_id) == [thanks]
    helpdesk.clock.move(minutes=1)
    helpdesk.say(ticket_id, "Solved?")
    assert helpdesk.row(ticket_id).status is TicketStatus.NEW


def test_an_answer_with_thanks_after_it_is_not_overlooked(helpdesk: Helpdesk) -> None:
    ticket_id = waiting(helpdesk, "auto_resolved", origin=DESK)
    helpdesk.clock.move(minutes=1)
    at = helpdesk.clock()
    asked = said(1, text="It is locked again.", written_at=at - timedelta(seconds=9))
    from_desk(helpdesk, asked, said(2, text="Thanks!", written_at=at))
    assert helpdesk.row(ticket_id).status is TicketStatus.NEW


def test_a_yes_to_a_question_is_an_answer_and_no_small_talk(helpdesk: Helpdesk) -> None:
    ticket_id = waiting(helpdesk, "needs_client")
    helpdesk.say(ticket_id, "Ok, go ahead.")
    assert helpdesk.row(ticket_id).status is TicketStatus.NEW


@pytest.mark.parametrize(
    "verdict", ["needs_tech", "needs_l2", "failed", "failed_budget", "skipped"]
)
def test_a_ticket_that_people_have_keeps_the_message_and_stays_theirs(
    helpdesk: Helpdesk, verdict: str
) -> None:
    ticket_id = waiting(helpdesk, verdict)
    status = helpdesk.row(ticket_id).status
    helpdesk.say(ticket_id, "Any news?")
    assert helpdesk.row(ticket_id).status is status
    assert words(helpdesk, ticket_id) == ["Any news?"]
    assert kinds(helpdesk)[-1] == "ticket.message_received"


def test_a_ticket_that_waits_for_its_first_investigation_keeps_the_message(
    helpdesk: Helpdesk,
) -> None:
    ticket_id = helpdesk.taken(incoming())
    helpdesk.say(ticket_id, "One more thing.")
    assert helpdesk.row(ticket_id).status is TicketStatus.QUEUED
    assert words(helpdesk, ticket_id) == ["One more thing."]
    assert "ticket.requeued" not in kinds(helpdesk)


def test_a_message_by_webhook_and_by_poll_counts_once(helpdesk: Helpdesk) -> None:
    source = helpdesk.source()
    ticket_id = waiting(helpdesk, origin=DESK)
    helpdesk.remote.messages = [said(written_at=helpdesk.clock())]
    delivered = Delivered(body=b"", headers={"x-signature": "good", "x-id": "d-1"})
    assert helpdesk.receive(source.id, delivered).messages == 1
    assert helpdesk.receive(source.id, delivered).messages == 0
    assert helpdesk.poll(helpdesk.principal, source.id).messages == 0
    assert words(helpdesk, ticket_id) == ["Message 1."]
    assert kinds(helpdesk).count("ticket.message_received") == 1
    assert kinds(helpdesk).count("ticket.requeued") == 1
    again(helpdesk, ticket_id)
    assert helpdesk.poll(helpdesk.principal, source.id).messages == 0
    assert helpdesk.row(ticket_id).status is TicketStatus.NEEDS_CLIENT


def test_a_poll_says_how_many_messages_were_new(helpdesk: Helpdesk) -> None:
    source = helpdesk.source()
    waiting(helpdesk, origin=DESK)
    helpdesk.remote.messages = [said(number, written_at=helpdesk.clock()) for number in range(60)]
    assert helpdesk.poll(helpdesk.principal, source.id).messages == 60
    assert kinds(helpdesk).count("ticket.requeued") == 1


def test_messages_out_of_order_stand_in_the_order_they_were_written(helpdesk: Helpdesk) -> None:
    ticket_id = waiting(helpdesk, origin=DESK)
    helpdesk.clock.move(hours=1)
    now = helpdesk.clock()
    from_desk(helpdesk, said(2, written_at=now - timedelta(minutes=1)))
    from_desk(helpdesk, said(1, written_at=now - timedelta(minutes=2)))
    assert words(helpdesk, ticket_id) == ["Message 2.", "Message 1."]
    assert kinds(helpdesk).count("ticket.requeued") == 1


def test_a_message_from_before_our_answer_is_kept_and_puts_nothing_back(helpdesk: Helpdesk) -> None:
    ticket_id = waiting(helpdesk, origin=DESK)
    old = helpdesk.clock() - timedelta(minutes=3)
    assert from_desk(helpdesk, said(written_at=old)) == 1
    assert helpdesk.row(ticket_id).status is TicketStatus.NEEDS_CLIENT
    assert words(helpdesk, ticket_id) == ["Message 1."]


def test_an_answer_that_comes_before_the_investigation_has_ended_is_not_lost(
    helpdesk: Helpdesk,
) -> None:
    ticket_id, investigation_id = helpdesk.claimed(incoming())
    helpdesk.desk.write_back(
        helpdesk.workspace_id,
        ticket_id,
        investigation_id=investigation_id,
        verdict="needs_client",
        summary="Which address do you use?",
        minutes=1,
        private=False,
        data_subjects=(),
    )
    helpdesk.clock.move(seconds=5)
    helpdesk.say(ticket_id, "This one.")
    assert helpdesk.row(ticket_id).status is TicketStatus.INVESTIGATING
    before = len(helpdesk.waking())
    for _ in range(2):
        helpdesk.desk.ended(helpdesk.workspace_id, ticket_id, investigation_id, "needs_client")
    assert helpdesk.row(ticket_id).status is TicketStatus.NEW
    assert len(helpdesk.waking()) == before + 1
    assert kinds(helpdesk).count("ticket.requeued") == 1


def test_what_was_written_while_we_worked_does_not_answer_us(helpdesk: Helpdesk) -> None:
    ticket_id, investigation_id = helpdesk.claimed(incoming())
    helpdesk.say(ticket_id, "Hurry.")
    helpdesk.clock.move(seconds=5)
    answered(helpdesk, ticket_id, investigation_id, "needs_client")
    assert helpdesk.row(ticket_id).status is TicketStatus.NEEDS_CLIENT


@pytest.mark.parametrize(
    "changes",
    [
        {"author": "colleague@hartwell.example"},
        {"author": ""},
        {"ticket": "ZD-2"},
        {"id": " "},
        {"id": "x" * 201},
        {"id": "a\x00b"},
    ],
)
def test_what_is_not_the_requesters_or_has_no_name_is_left_out(
    helpdesk: Helpdesk, changes: dict[str, Any]
) -> None:
    ticket_id = waiting(helpdesk, origin=DESK)
    assert from_desk(helpdesk, said(**changes)) == 0
    assert helpdesk.row(ticket_id).status is TicketStatus.NEEDS_CLIENT
    assert "ticket.message_received" not in kinds(helpdesk)


def test_a_message_to_a_ticket_of_nobody_known_is_the_customers(helpdesk: Helpdesk) -> None:
    ticket_id = waiting(helpdesk, origin=DESK, given=incoming(customer="", requester_email=None))
    assert from_desk(helpdesk, said(author="")) == 1
    assert helpdesk.row(ticket_id).status is TicketStatus.NEW


def test_a_message_of_one_sources_ticket_is_none_of_another_sources(helpdesk: Helpdesk) -> None:
    waiting(helpdesk, origin=replace(DESK, source="other"))
    assert from_desk(helpdesk, said()) == 0


def test_what_a_help_desk_sends_is_mended_and_kept(helpdesk: Helpdesk) -> None:
    ticket_id = waiting(helpdesk, origin=DESK)
    long = "x" * (MAX_STORED_CHARS + 5)
    strange = [
        said(1, text="a\x00b\ud800", written_at=MONDAY.replace(year=1)),
        said(2, text=" \n", written_at=helpdesk.clock() + timedelta(days=400)),
        said(3, text=long, written_at=MONDAY.replace(tzinfo=None)),
    ]
    for item in strange:
        assert from_desk(helpdesk, item) == 1
    texts = words(helpdesk, ticket_id)
    assert set(texts[1:] + texts[:1]) >= {"a\ufffdb\ufffd", "(no text)"}
    assert max(len(text) for text in texts) == MAX_BODY_CHARS
    bodies = [
        helpdesk.body(entry)["text"]
        for entry in helpdesk.entries()
        if entry.type == "ticket.message_received"
    ]
    assert max(len(body) for body in bodies) == MAX_STORED_CHARS
    with helpdesk.transactions.reading(helpdesk.principal) as stores:
        kept = stores.ticket_messages.newest(ticket_id, 10)
    assert all(item.written_at <= helpdesk.clock() for item in kept)


def test_the_whole_conversation_is_screened(helpdesk: Helpdesk) -> None:
    ticket_id = waiting(helpdesk, origin=DESK)
    records = len(helpdesk.records)
    from_desk(helpdesk, said(text=ATTACK))
    helpdesk.take(helpdesk.workspace_id, ticket_id)
    row = helpdesk.row(ticket_id)
    assert (row.status, row.screening["injection"]) == (TicketStatus.DISCARDED, True)
    assert words(helpdesk, ticket_id) == [ATTACK]
    assert len(helpdesk.records) == records


def test_what_somebody_put_back_in_spite_of_its_screening_is_not_held_back_again(
    helpdesk: Helpdesk,
) -> None:
    ticket_id = helpdesk.taken(incoming(body=ATTACK), DESK)
    helpdesk.requeue(helpdesk.principal, ticket_id)
    again(helpdesk, ticket_id)
    from_desk(helpdesk, said())
    helpdesk.take(helpdesk.workspace_id, ticket_id)
    assert helpdesk.row(ticket_id).status is TicketStatus.QUEUED


def test_who_does_not_stop_answering_is_counted_until_a_person_puts_the_ticket_back(
    helpdesk: Helpdesk,
) -> None:
    ticket_id = waiting(helpdesk)
    for number in range(MOST_REOPENINGS + 1):
        helpdesk.say(ticket_id, f"I am out of the office. {number}")
        counted = helpdesk.desk.ticket(helpdesk.workspace_id, ticket_id).reopenings
        assert counted == number + 1
        again(helpdesk, ticket_id, "needs_client" if number < MOST_REOPENINGS else "skipped")
    helpdesk.say(ticket_id, "Still out.")
    assert helpdesk.row(ticket_id).status is TicketStatus.NEEDS_TECH
    helpdesk.requeue(helpdesk.principal, ticket_id)
    assert helpdesk.desk.ticket(helpdesk.workspace_id, ticket_id).reopenings == 0


def test_a_ticket_that_waited_for_a_sign_in_as_well_is_taken_up_once(helpdesk: Helpdesk) -> None:
    ticket_id = waiting(helpdesk)
    with helpdesk.transactions.writing(helpdesk.principal) as stores:
        stores.tickets.park(ticket_id, "connector:crm")
    helpdesk.say(ticket_id, "Here I am.")
    assert helpdesk.row(ticket_id).waits_for is None
    assert helpdesk.requeue.mended(helpdesk.workspace_id, "connector:crm") == 0


def test_a_lost_message_of_the_queue_is_found_by_the_sweep(helpdesk: Helpdesk) -> None:
    ticket_id = waiting(helpdesk)
    helpdesk.say(ticket_id, "Here I am.")
    assert helpdesk.sweep() == 1
    assert helpdesk.row(ticket_id).status is TicketStatus.QUEUED


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"text": " "}, "text"),
        ({"text": "a\x00b"}, "text"),
        ({"text": "a\ud800b"}, "text"),
        ({"id": ""}, "external_id"),
        ({"id": "x" * 201}, "external_id"),
        ({"written_at": MONDAY.replace(tzinfo=None)}, "written_at"),
        ({"written_at": MONDAY.replace(year=1800)}, "written_at"),
    ],
)
def test_a_caller_is_told_what_cannot_be_kept(
    helpdesk: Helpdesk, changes: dict[str, Any], field: str
) -> None:
    ticket_id = waiting(helpdesk)
    with pytest.raises(ValidationFailed) as refused:
        helpdesk.say(ticket_id, **{"text": "Hello", **changes})
    assert refused.value.errors[0].location == field
    with pytest.raises(TooLarge):
        helpdesk.say(ticket_id, "x" * (MAX_STORED_CHARS + 1))
    assert helpdesk.row(ticket_id).status is TicketStatus.NEEDS_CLIENT


def test_the_same_message_of_a_caller_again_is_known(helpdesk: Helpdesk) -> None:
    ticket_id = waiting(helpdesk)
    first = helpdesk.say(ticket_id, "Once.", id="m-1")
    second = helpdesk.say(ticket_id, "Twice.", id="m-1")
    assert (second.outcome, second.id) == (MessageOutcome.KNOWN, first.id)
    key = IdempotencyKey(key="k", body_hash=b"h")
    add = helpdesk.messages.add
    one = add(helpdesk.principal, ticket_id, said(5, author=None), idempotency=key)
    other = add(helpdesk.principal, ticket_id, said(6, author=None), idempotency=key)
    assert one == other
    assert kinds(helpdesk).count("ticket.message_received") == 2


def test_a_help_desks_ticket_is_answered_at_its_help_desk(helpdesk: Helpdesk) -> None:
    ticket_id = waiting(helpdesk, origin=DESK)
    with pytest.raises(Conflict) as refused:
        helpdesk.say(ticket_id, "Hello")
    assert refused.value.reason == "other-source"
    with pytest.raises(NotFound):
        helpdesk.say(new_id(), "Hello")


def test_what_was_said_about_somebody_else_is_not_told_to_the_next_investigation(
    helpdesk: Helpdesk,
) -> None:
    ticket_id, investigation_id = helpdesk.claimed(incoming())
    helpdesk.desk.write_back(
        helpdesk.workspace_id,
        ticket_id,
        investigation_id=investigation_id,
        verdict="needs_client",
        summary="Is it Mara's account?",
        minutes=1,
        private=False,
        data_subjects=(new_id(),),
    )
    helpdesk.say(ticket_id, "It is mine.")
    later = incoming(
        requester_email="mara@hartwell.example", modified_at=MONDAY + timedelta(days=1)
    )
    helpdesk.add(later)
    ticket = helpdesk.desk.ticket(helpdesk.workspace_id, ticket_id)
    assert (dict(ticket.answers), ticket.messages) == ({}, ())


def test_another_workspaces_ticket_is_not_found(helpdesk: Helpdesk) -> None:
    ticket_id = waiting(helpdesk)
    stranger = admin_of(new_id())
    with pytest.raises(NotFound):
        helpdesk.messages.add(stranger, ticket_id, said(author=None))
    assert words(helpdesk, ticket_id) == []
