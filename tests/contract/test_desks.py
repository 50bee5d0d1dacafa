"""Every help desk asked over JSON keeps the same contract, against a server of its own."""

import json
import re
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from tests.support.desks import KINDS, MARA, Desk, desk_of
from tests.support.replaying import Asked, Fault

from cairn.adapters.http.help_desks import OpenHelpDesk
from cairn.adapters.http.rest import MAX_ANSWER_BYTES
from cairn.kernel.errors import Conflict, NotFound, Unavailable, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.tickets.adapter import Delivered, NeedsAuth, TicketAdapter
from cairn.tickets.desks.walking import mark
from cairn.tickets.write_back import STATUS_OF

KEY = f"{new_id()}-reply"


@pytest.fixture(params=KINDS)
def desk(request: pytest.FixtureRequest) -> Iterator[Desk]:
    with desk_of(request.param) as opened:
        yield opened


def polled(
    adapter: TicketAdapter, cursor: str | None = None
) -> tuple[list[str], list[str], str | None]:
    """Poll until nothing is left; return the tickets' ids, the messages' texts, the cursor."""
    tickets: list[str] = []
    texts: list[str] = []
    for _ in range(50):
        page = adapter.poll(cursor, 2)
        tickets += [ticket.external_id for ticket in page.tickets]
        texts += [message.text for message in page.messages]
        cursor = page.cursor
        if not page.more:
            return tickets, texts, cursor
    raise AssertionError("polling does not end")


def test_a_ticket_is_read_whole(desk: Desk) -> None:
    ticket_id = desk.ask("The tide table is empty", "Since Monday.\n\nWhat now?")
    (ticket,) = desk.open().poll(None, 50).tickets
    assert (ticket.external_id, ticket.title) == (ticket_id, "The tide table is empty")
    assert ticket.body == "Since Monday.\n\nWhat now?"
    assert ticket.requester_email == MARA
    assert ticket.received_at == ticket.modified_at == desk.replay.now
    assert not ticket.closed


def test_who_the_customer_is_says_the_desk_or_the_setting(desk: Desk) -> None:
    desk.ask("Help", "x")
    (ticket,) = desk.open(customer="Harbour Lane").poll(None, 50).tickets
    assert ticket.customer == "Harbour Lane"
    (ticket,) = desk.open().poll(None, 50).tickets
    assert ticket.customer == ("" if desk.kind in ("jira", "linear", "intercom") else "Northwind")


def test_nothing_is_missed_or_read_twice(desk: Desk) -> None:
    adapter = desk.open()
    asked = [desk.ask(f"Same moment {number}", "x") for number in range(5)]
    desk.move(minutes=1)
    asked.append(desk.ask("Later", "x"))
    tickets, _, cursor = polled(adapter)
    assert sorted(tickets) == sorted(asked)
    assert polled(adapter, cursor)[0] == []
    desk.move(minutes=10)
    desk.touch(asked[1])
    tickets, _, cursor = polled(adapter, cursor)
    assert tickets == [asked[1]]
    desk.move(days=3)
    assert polled(adapter, cursor)[0] == []


def test_what_changes_while_its_list_is_walked_is_read_and_shifts_nothing_past_us(
    desk: Desk,
) -> None:
    adapter = desk.open()
    asked = []
    for number in range(6):
        asked.append(desk.ask(f"Number {number}", "x"))
        desk.move(minutes=1)
    page = adapter.poll(None, 2)
    tickets = [ticket.external_id for ticket in page.tickets]
    desk.move(minutes=1)
    changed = tickets[0]
    desk.touch(changed)
    rest, _, cursor = polled(adapter, page.cursor)
    again, _, _ = polled(adapter, cursor)
    assert set(tickets + rest + again) == set(asked)
    assert changed in rest + again


def test_a_poll_goes_back_no_further_than_it_should(desk: Desk) -> None:
    desk.ask("Of last week", "x")
    desk.move(days=7)
    ticket = desk.ask("Of today", "x")
    assert polled(desk.open())[0] == [ticket]
    assert len(polled(desk.open(backfill_hours=24 * 8))[0]) == 2


def test_what_the_customer_writes_later_is_a_message_once(desk: Desk) -> None:
    adapter = desk.open()
    ticket = desk.ask("Door", "It rattles.")
    _, texts, cursor = polled(adapter)
    assert texts == []
    desk.move(minutes=10)
    adapter.reply(ticket, "Which door?", private=False, key=KEY)
    desk.colleague(ticket, "I look into it.")
    desk.move(minutes=1)
    desk.write(ticket, "The left one.")
    page = adapter.poll(cursor, 50)
    (message,) = page.messages
    assert (message.ticket, message.text, message.author) == (ticket, "The left one.", MARA)
    assert message.written_at == desk.replay.now
    desk.move(minutes=10)
    desk.touch(ticket)
    _, texts, cursor = polled(adapter, page.cursor)
    assert set(texts) <= {"The left one."}
    desk.move(minutes=10)
    desk.touch(ticket)
    _, texts, cursor = polled(adapter, cursor)
    desk.move(minutes=10)
    desk.touch(ticket)
    assert polled(adapter, cursor)[1] == []


def test_our_own_answer_is_no_message_even_of_an_account_that_also_asks(desk: Desk) -> None:
    adapter = desk.open()
    ticket = desk.ask("Door", "It rattles.")
    _, _, cursor = polled(adapter)
    desk.move(minutes=1)
    desk.write(ticket, f"Which door?\n\nReference: {mark(KEY)}")
    desk.write(ticket, f"The left one.\n\n> Which door?\n>\n> Reference: {mark(KEY)}")
    _, texts, _ = polled(adapter, cursor)
    assert [text.partition("\n")[0] for text in texts] == ["The left one."]


@pytest.mark.parametrize(
    "fault",
    [
        {"status": 502},
        {"status": 200, "body": b"<html>"},
        {"cut": True},
    ],
    ids=["failed", "garbled", "cut off"],
)
def test_an_answer_that_was_written_before_a_crash_is_not_written_again(
    desk: Desk, fault: dict[str, Any]
) -> None:
    ticket, adapter = desk.ask("Help", "x"), desk.open()
    desk.replay.faults.append(Fault(done=True, where=desk.writes, **fault))
    with pytest.raises(Unavailable):
        adapter.reply(ticket, "Done.", private=False, key=KEY)
    reference = adapter.reply(ticket, "Done.", private=False, key=KEY)
    assert reference == desk.open().reply(ticket, "Done.", private=False, key=KEY) != ""
    assert desk.answers(ticket) == [(f"Done.\n\nReference: {mark(KEY)}", False)]


def test_a_note_is_private_where_the_desk_has_notes(desk: Desk) -> None:
    ticket, adapter = desk.ask("Help", "x"), desk.open()
    private = adapter.capabilities().private_notes
    assert private is (desk.kind != "linear")
    adapter.reply(ticket, "To colleagues.", private=private, key=KEY)
    adapter.reply(ticket, "To the customer.", private=False, key=f"{new_id()}-reply")
    assert [hidden for _, hidden in desk.answers(ticket)] == [private, False]


def test_statuses_are_the_desks_own_by_name_or_number(desk: Desk) -> None:
    ticket, adapter = desk.ask("Help", "x"), desk.open()
    assert adapter.set_status(ticket, "auto_resolved") == desk.closed == desk.status(ticket)
    assert adapter.set_status(ticket, "auto_resolved") == desk.closed
    own = desk.open(statuses={"needs_client": desk.own_status.upper(), "failed": desk.numbered})
    if desk.kind != "connectwise":  # says itself what is the same
        own.set_status(ticket, "needs_client")
        assert desk.status(ticket) == desk.own_status
    own.set_status(ticket, "failed")
    assert desk.status(ticket) == desk.own_status
    with pytest.raises(ValidationFailed):
        desk.open(statuses={"failed": "Lost"}).set_status(ticket, "failed")


def test_every_verdict_has_a_status(desk: Desk) -> None:
    statuses = desk.open().adapter.statuses  # type: ignore[attr-defined]
    assert {status.value for status in STATUS_OF.values()} <= statuses.keys()


def test_time_is_booked_once_where_the_desk_has_it(desk: Desk) -> None:
    ticket, adapter = desk.ask("Help", "x"), desk.open()
    if not adapter.capabilities().time_entries:
        assert desk.kind in ("linear", "zendesk", "intercom")
        with pytest.raises(ValidationFailed):
            adapter.log_time(ticket, 75, "Worked on by Cairn", key=KEY)
        return
    desk.replay.faults.append(Fault(done=True, where=desk.writes, status=500))
    with pytest.raises(Unavailable):
        adapter.log_time(ticket, 75, "Worked on by Cairn", key=KEY)
    for _ in range(2):
        adapter.log_time(ticket, 75, "Worked on by Cairn", key=KEY)
    assert desk.minutes(ticket) == [75]


def test_a_sign_in_that_is_refused_needs_somebody(desk: Desk) -> None:
    another = desk.secrets | {next(iter(desk.secrets)): "another"}
    adapter = OpenHelpDesk(allow_private=True)(desk.kind, desk.config, another)
    with pytest.raises(NeedsAuth):
        adapter.poll(None, 50)
    with pytest.raises(NeedsAuth):
        adapter.reply(desk.absent, "x", private=False, key=KEY)


def test_a_desk_that_is_busy_is_asked_again_when_it_says(desk: Desk) -> None:
    busy = Fault(status=429, headers={"retry-after": "600"}, where=desk.lists)
    desk.replay.faults.append(busy)
    with pytest.raises(Unavailable) as refused:
        desk.open().poll(None, 50)
    assert (refused.value.reason, refused.value.retry_after) == ("help-desk-busy", 600)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        ({"status": 503, "headers": {"retry-after": "9"}}, "server-error"),
        ({"status": 200, "body": b"<html>"}, "not-json"),
        ({"status": 200, "body": b'"text"'}, "unknown-answer"),
    ],
    ids=["down", "not JSON", "another form"],
)
def test_a_desk_that_fails_is_unavailable_and_nothing_moves(
    desk: Desk, answer: dict[str, Any], reason: str
) -> None:
    desk.ask("Help", "x")
    desk.replay.faults.extend([Fault(where=desk.lists, **answer)] * 3)
    with pytest.raises(Unavailable) as refused:
        desk.open().poll(None, 50)
    assert refused.value.reason == reason
    desk.replay.faults.clear()
    assert len(polled(desk.open())[0]) == 1


def test_an_answer_that_is_too_large_is_refused(desk: Desk) -> None:
    desk.replay.faults.append(
        Fault(status=200, body=b" " * (MAX_ANSWER_BYTES + 1), where=desk.lists)
    )
    with pytest.raises(ValidationFailed) as refused:
        desk.open().poll(None, 50)
    assert refused.value.reason == "answer-too-large"


def test_a_ticket_that_is_none_is_not_found(desk: Desk) -> None:
    adapter = desk.open()
    for name in ("../1", "", "1/2", "x"):
        with pytest.raises(NotFound):
            adapter.reply(name, "Hello", private=False, key=KEY)
        with pytest.raises(NotFound):
            adapter.set_status(name, "failed")
    with pytest.raises((NotFound, ValidationFailed)):
        adapter.set_status(desk.absent, "auto_resolved")
    with pytest.raises((NotFound, ValidationFailed)):
        adapter.reply(desk.absent, "Hello", private=False, key=KEY)


def test_records_of_another_form_bring_nothing_and_break_nothing(desk: Desk) -> None:
    ticket = desk.ask("Help", "x")
    adapter = desk.open()
    for kept in list(vars(desk.replay).values()):
        if isinstance(kept, dict) and ticket in map(str, kept):
            record = next(value for name, value in kept.items() if str(name) == ticket)
            if isinstance(record, dict):
                record.update(title=None, summary=7, priority=["x"], priority_id={}, contactID=None)
    assert [item.external_id for item in adapter.poll(None, 50).tickets] == [ticket]


@pytest.mark.parametrize("cursor", ["", "[]", "null", "[1,2,3,4,5]", "x" * 1000, '{"a":1}'])
def test_a_cursor_that_is_none_of_ours_begins_anew(desk: Desk, cursor: str) -> None:
    ticket = desk.ask("Help", "x")
    assert polled(desk.open(), cursor)[0] == [ticket]


def test_a_page_that_the_desk_forgot_begins_the_list_anew(desk: Desk) -> None:
    adapter = desk.open()
    asked = [desk.ask(f"Number {number}", "x") for number in range(5)]
    page = adapter.poll(None, 2)
    assert page.more
    desk.replay.faults.append(Fault(status=400, where=desk.lists))
    rest, _, _ = polled(adapter, page.cursor)
    assert set(asked) == {ticket.external_id for ticket in page.tickets} | set(rest)


def test_a_listed_ticket_that_cannot_be_read_is_set_aside_and_holds_up_none_of_the_others(
    desk: Desk,
) -> None:
    hidden, shown = desk.ask("Hidden", "x"), desk.ask("Shown", "x")

    def reads_it(asked: Asked) -> bool:
        return not desk.lists(asked) and hidden in json.dumps([asked.path, asked.query, asked.body])

    desk.replay.faults.append(Fault(status=404, where=reads_it))
    page = desk.open().poll(None, 50)
    if desk.kind == "linear":  # lists have all there is
        assert len(page.tickets) == 2
        return
    assert [ticket.external_id for ticket in page.tickets] == [shown]
    assert page.set_aside == {"not-readable": 1}


def test_a_page_whose_name_has_no_end_is_not_kept(desk: Desk) -> None:
    endless = "9" * 5_000
    body = {
        "nextPageToken": endless,
        "issues": [],
        "data": {"issues": {"nodes": [], "pageInfo": {"hasNextPage": True, "endCursor": endless}}},
        "items": [],
        "tickets": [],
        "end_of_stream": False,
        "after_cursor": endless,
        "conversations": [],
        "pages": {"next": {"starting_after": endless}},
        "pageDetails": {"nextPageUrl": f"https://x.example/next?paging={endless}"},
    }
    if desk.kind in ("halopsa", "connectwise", "freshdesk"):  # pages have numbers
        return
    desk.replay.faults.append(Fault(status=200, body=body, where=desk.lists))
    with pytest.raises(Unavailable) as refused:
        desk.open().poll(None, 50)
    assert refused.value.reason == "unknown-answer"


def test_a_desk_that_signs_no_webhooks_says_so_and_takes_none(desk: Desk) -> None:
    adapter = desk.open()
    signs = adapter.capabilities().webhooks
    assert signs is (desk.kind not in ("halopsa", "autotask"))
    if not signs:
        with pytest.raises(Conflict):
            adapter.verify(Delivered(body=b"{}", headers={}), desk.replay.now)


def test_no_secret_shows_in_what_is_printed_or_sent_in_an_address(desk: Desk) -> None:
    ticket = desk.ask("Help", "x")
    adapter = desk.open()
    adapter.poll(None, 50)
    adapter.reply(ticket, "Done.", private=False, key=KEY)
    sent = repr([(item.path, item.query) for item in desk.replay.asked])
    for secret in desk.secrets.values():
        assert secret not in repr(adapter)
        assert secret not in sent


@pytest.mark.parametrize(
    ("name", "value"),
    [("statuses", {"won": "x"}), ("backfill_hours", -1), ("colour", "red"), ("customer", "")],
)
def test_a_setting_that_cannot_work_is_refused_by_its_name(
    desk: Desk, name: str, value: Any
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        desk.open(**{name: value})
    assert re.fullmatch(rf"(config\.)?{name}", refused.value.errors[0].location)


def test_a_walk_is_kept_within_what_a_source_keeps(desk: Desk) -> None:
    adapter = desk.open(backfill_hours=24 * 30)
    for number in range(30):
        desk.ask(f"Number {number}", "x")
        desk.move(hours=1)
    _, _, cursor = polled(adapter)
    assert cursor is not None
    assert len(cursor) < 1_000
    desk.replay.now += timedelta(hours=1)
    assert polled(adapter, cursor)[0] == []
