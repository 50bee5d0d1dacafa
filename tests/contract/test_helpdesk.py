"""Tickets from their source to the write-back: the same over the fake stores and PostgreSQL."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.fakes.stores import InMemoryTransactions
from tests.support.helpdesk import (
    API,
    ATTACK,
    DESK,
    MONDAY,
    SIGNED_OUT,
    Clock,
    Helpdesk,
    incoming,
)
from tests.support.remembering import admin_of

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.graph.memory_records import EdgeDump, NodeDump
from cairn.kernel.access import Role
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import (
    Conflict,
    Denied,
    NotFound,
    RateLimited,
    TooLarge,
    Unauthenticated,
    Unavailable,
    ValidationFailed,
)
from cairn.kernel.ids import new_id
from cairn.ledger.keys import BodyUnreadable
from cairn.safety.tools import Autonomy
from cairn.tickets.adapter import Capabilities, Delivered, Polled, TicketAdapter
from cairn.tickets.intake import From, Intake, Outcome
from cairn.tickets.personas import DEFAULT, Persona
from cairn.tickets.polling import RateLimiter
from cairn.tickets.sealing import MAX_STORED_CHARS
from cairn.tickets.sources import SourceChange
from cairn.tickets.ticket import MAX_BODY_CHARS, Priority, SourceState, TicketStatus
from cairn.writing.items import IdempotencyKey

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


@pytest.fixture(params=["in memory", "postgres"])
def helpdesk(request: pytest.FixtureRequest) -> Iterator[Helpdesk]:
    if request.param == "in memory":
        transactions, principal = InMemoryTransactions(), admin_of(new_id())
        transactions.create_workspace(principal.workspace_id)
        yield Helpdesk(transactions, principal)
        return
    yield from in_postgres(request.getfixturevalue("database"))


def in_postgres(database: "Database") -> Iterator[Helpdesk]:
    name = f"helpdesk-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    pool = Pool(database.app_url, size=2)
    yield Helpdesk(
        StoreTransactions(pool),
        admin_of(workspace_id),
        clock=Clock(utc_now().replace(microsecond=0)),
    )
    pool.close()


def write_back(
    helpdesk: Helpdesk, ticket_id: UUID, investigation_id: UUID, **changes: Any
) -> dict[str, str]:
    asked: dict[str, Any] = {
        "investigation_id": investigation_id,
        "verdict": "auto_resolved",
        "summary": "Your account is unlocked. [tool:x]",
        "minutes": 3,
        "private": False,
        "data_subjects": (),
    }
    return dict(helpdesk.desk.write_back(helpdesk.workspace_id, ticket_id, **(asked | changes)))


def test_a_ticket_is_taken_in_with_its_raw_text_sealed(helpdesk: Helpdesk) -> None:
    received = helpdesk.add(incoming())
    assert received.outcome is Outcome.NEW
    assert received.id is not None
    row = helpdesk.row(received.id)
    assert (row.status, row.external_id, len(row.data_subjects)) == (TicketStatus.NEW, "ZD-1", 2)
    ticket = helpdesk.sealed.ticket(helpdesk.workspace_id, row)
    assert (ticket.title, ticket.body) == (incoming().title, incoming().body)
    (entry,) = helpdesk.entries()
    assert (entry.type, entry.position) == ("ticket.received", received.position)
    assert entry.data_subjects == row.data_subjects
    assert helpdesk.body(entry)["body"] == incoming().body
    clear = entry.meta_text + repr(entry.body) + repr(row.sealed)
    for word in ("password", "Hartwell", "hartwell", "ZD-1"):
        assert word not in clear
    (waking,) = helpdesk.waking()
    assert (waking.reference, waking.position) == (received.id, received.position)


def test_the_same_ticket_again_changes_nothing(helpdesk: Helpdesk) -> None:
    first = helpdesk.add(incoming())
    again = helpdesk.add(incoming(title="Something else"))
    assert (again.outcome, again.id) == (Outcome.KNOWN, first.id)
    assert len(helpdesk.entries()) == 1
    assert len(helpdesk.waking()) == 1


def test_a_later_form_of_a_ticket_is_kept_and_an_earlier_one_is_not(helpdesk: Helpdesk) -> None:
    first = helpdesk.add(incoming())
    later = incoming(
        body="It works again.",
        priority=Priority.LOW,
        modified_at=MONDAY + timedelta(minutes=2),
    )
    assert helpdesk.add(later).outcome is Outcome.CHANGED
    between = incoming(body="Between.", modified_at=MONDAY + timedelta(minutes=1))
    assert helpdesk.add(between).outcome is Outcome.KNOWN
    assert first.id is not None
    row = helpdesk.row(first.id)
    assert helpdesk.sealed.text(helpdesk.workspace_id, row).body == "It works again."
    assert row.priority is Priority.LOW
    assert [entry.type for entry in helpdesk.entries()] == ["ticket.received", "ticket.changed"]
    assert len(helpdesk.waking()) == 1


def test_a_later_form_that_says_the_same_is_no_entry(helpdesk: Helpdesk) -> None:
    first = helpdesk.add(incoming())
    touched = incoming(modified_at=MONDAY + timedelta(minutes=1))
    assert helpdesk.add(touched).outcome is Outcome.KNOWN
    assert len(helpdesk.entries()) == 1
    assert first.id is not None
    assert helpdesk.row(first.id).modified_at == touched.modified_at


def test_tickets_of_one_name_from_two_sources_are_two(helpdesk: Helpdesk) -> None:
    assert helpdesk.add(incoming(), API).outcome is Outcome.NEW
    assert helpdesk.add(incoming(), DESK).outcome is Outcome.NEW


def test_a_ticket_that_was_closed_before_it_came_is_left_alone(helpdesk: Helpdesk) -> None:
    received = helpdesk.intake.receive(helpdesk.principal, DESK, [incoming(closed=True)])
    assert [(item.outcome, item.id) for item in received] == [(Outcome.CLOSED, None)]
    assert helpdesk.entries() == []


def test_an_idempotency_key_adds_one_ticket(helpdesk: Helpdesk) -> None:
    key = IdempotencyKey(key="k", body_hash=b"h")
    first = helpdesk.add(incoming(), idempotency=key)
    again = helpdesk.add(incoming(external_id="ZD-2"), idempotency=key)
    assert (again.id, again.position) == (first.id, first.position)
    assert len(helpdesk.entries()) == 1


def test_a_ticket_about_nobody_known_is_sealed_for_the_workspace(helpdesk: Helpdesk) -> None:
    received = helpdesk.add(incoming(customer="", requester_email=None))
    assert received.id is not None
    row = helpdesk.row(received.id)
    assert row.data_subjects == ()
    assert helpdesk.sealed.text(helpdesk.workspace_id, row).title == "Cannot sign in"


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"external_id": ""}, "external_id"),
        ({"external_id": "x" * 201}, "external_id"),
        ({"title": " "}, "title"),
        ({"title": "x" * 501}, "title"),
        ({"body": "a\x00b"}, "body"),
        ({"body": "a\ud800b"}, "body"),
        ({"body": "x" * (MAX_STORED_CHARS + 1)}, "body"),
        ({"customer": "x" * 201}, "customer"),
        ({"requester_email": "a\x00@b"}, "requester_email"),
        ({"received_at": MONDAY.replace(tzinfo=None)}, "received_at"),
        ({"source_metadata": {"a": "x" * 20_000}}, "source_metadata"),
        ({"source_metadata": {"a": float("nan")}}, "source_metadata"),
    ],
)
def test_what_cannot_be_kept_is_refused_by_its_field(
    helpdesk: Helpdesk, changes: dict[str, Any], field: str
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        helpdesk.add(incoming(**changes))
    assert refused.value.errors[0].location.startswith(field)
    assert helpdesk.entries() == []


def test_a_million_characters_are_kept_whole_and_cut_for_models(helpdesk: Helpdesk) -> None:
    long = "line of a log\n" * (MAX_STORED_CHARS // 14)
    received = helpdesk.add(incoming(body=long))
    assert received.id is not None
    text = helpdesk.sealed.text(helpdesk.workspace_id, helpdesk.row(received.id))
    assert len(text.body) == MAX_BODY_CHARS
    assert text.body.endswith(f"[cut by cairn: {len(long)} characters in all]")
    assert text.cut
    assert helpdesk.body(helpdesk.entries()[0])["body"] == long
    with pytest.raises(TooLarge):
        helpdesk.add(incoming(external_id="ZD-2", body=long + "x" * 20))


def test_what_a_source_sends_is_mended_and_never_lost(helpdesk: Helpdesk) -> None:
    strange = incoming(
        title="  ",
        body="a\x00b\ud800" + "x" * (MAX_STORED_CHARS + 10),
        customer="c" * 400,
        source_metadata={"a": "x" * 20_000},
        received_at=MONDAY.replace(year=1),
        requester_email="no address",
    )
    (received,) = helpdesk.intake.receive(helpdesk.principal, DESK, [strange])
    assert received.outcome is Outcome.NEW
    assert received.id is not None
    ticket = helpdesk.desk.ticket(helpdesk.workspace_id, received.id)
    assert (ticket.title, ticket.body[:4]) == ("(no title)", "a\ufffdb\ufffd")
    assert dict(ticket.source_metadata) == {"left_out": "too-large"}
    assert len(helpdesk.body(helpdesk.entries()[0])["body"]) == MAX_STORED_CHARS


def test_of_one_ticket_twice_in_a_page_the_last_form_counts(helpdesk: Helpdesk) -> None:
    pair = [incoming(body="one"), incoming(body="two")]
    (received,) = helpdesk.intake.receive(helpdesk.principal, DESK, pair)
    assert received.id is not None
    assert helpdesk.desk.ticket(helpdesk.workspace_id, received.id).body == "two"


def test_a_ticket_is_screened_remembered_and_queued(helpdesk: Helpdesk) -> None:
    ticket_id = helpdesk.taken(incoming())
    row = helpdesk.row(ticket_id)
    assert row.status is TicketStatus.QUEUED
    assert row.screening["verdict"] == "CLEAN"
    assert row.screening["language"] == "en"
    assert helpdesk.asked == [helpdesk.workspace_id]
    assert [entry.type for entry in helpdesk.entries()] == ["ticket.received", "ticket.screened"]
    nodes = {
        record.natural_key: record for record in helpdesk.records if isinstance(record, NodeDump)
    }
    assert set(nodes) == {
        "customer:hartwell-law",
        "user:kevin@hartwell.example",
        "ticket:api:ZD-1",
    }
    ticket = nodes["ticket:api:ZD-1"]
    assert (ticket.provenance, ticket.status) == ("proposed", "provisional")
    assert "<EMAIL_1>" in ticket.properties["text"]
    assert "kevin@" not in ticket.properties["text"]
    edges = [record for record in helpdesk.records if isinstance(record, EdgeDump)]
    assert {(edge.source[0], edge.relation, edge.target[0]) for edge in edges} == {
        ("ticket", "APPLIES_TO", "customer"),
        ("ticket", "REFERENCES", "user"),
        ("user", "WORKS_WITH", "customer"),
    }


def test_taking_a_ticket_up_twice_screens_it_once(helpdesk: Helpdesk) -> None:
    ticket_id = helpdesk.taken(incoming())
    assert helpdesk.take(helpdesk.workspace_id, ticket_id) == "queued"
    assert len(helpdesk.entries()) == 2
    assert len(helpdesk.asked) == 2
    with pytest.raises(NotFound):
        helpdesk.take(helpdesk.workspace_id, new_id())


def test_the_message_of_a_ticket_is_done_with_it(helpdesk: Helpdesk) -> None:
    received = helpdesk.add(incoming())
    (waking,) = helpdesk.waking()
    assert received.id is not None
    helpdesk.take(helpdesk.workspace_id, received.id, [waking.id])
    with helpdesk.transactions.reading(helpdesk.principal) as stores:
        assert list(stores.outbox.find([waking.id])) == []


def test_an_attack_from_outside_is_kept_shown_and_not_investigated(helpdesk: Helpdesk) -> None:
    ticket_id = helpdesk.taken(incoming(body=ATTACK), DESK)
    row = helpdesk.row(ticket_id)
    assert (row.status, row.screening["injection"]) == (TicketStatus.DISCARDED, True)
    assert helpdesk.records == []
    with helpdesk.transactions.writing(helpdesk.principal) as stores:
        assert stores.tickets.claim(new_id(), helpdesk.clock()) is None
    assert helpdesk.requeue(helpdesk.principal, ticket_id) is TicketStatus.QUEUED
    helpdesk.take(helpdesk.workspace_id, ticket_id)
    assert helpdesk.row(ticket_id).status is TicketStatus.QUEUED


def test_what_an_administrator_says_is_only_labelled(helpdesk: Helpdesk) -> None:
    ticket_id = helpdesk.taken(incoming(body=ATTACK), replace(API, advisory=True))
    row = helpdesk.row(ticket_id)
    assert (row.status, row.screening["verdict"]) == (TicketStatus.QUEUED, "DISCARD")


def test_screening_is_told_in_labels_alone(helpdesk: Helpdesk) -> None:
    helpdesk.taken(incoming())
    (told,) = [fields for event, fields in helpdesk.told if event == "inbound_gateway"]
    assert set(told) == {
        "verdict",
        "injection",
        "patterns",
        "intent",
        "language",
        "complexity",
        "provider",
        "fallthrough",
        "ms",
        "channel",
    }
    assert "password" not in repr(told)


def test_a_graph_out_of_reach_leaves_the_ticket_for_the_next_try(helpdesk: Helpdesk) -> None:
    received = helpdesk.add(incoming())
    helpdesk.graph_fails = Unavailable("Busy.")
    assert received.id is not None
    with pytest.raises(Unavailable):
        helpdesk.take(helpdesk.workspace_id, received.id)
    assert helpdesk.row(received.id).status is TicketStatus.NEW
    helpdesk.graph_fails = None
    assert helpdesk.sweep() == 1
    assert helpdesk.row(received.id).status is TicketStatus.QUEUED


def test_what_the_graph_refuses_holds_no_ticket_up(helpdesk: Helpdesk) -> None:
    helpdesk.graph_fails = Conflict("This node is quarantined.", reason="node-state")
    ticket_id = helpdesk.taken(incoming())
    assert helpdesk.row(ticket_id).status is TicketStatus.QUEUED
    assert ("ticket.not_remembered", {"ticket_id": str(ticket_id), "reason": "node-state"}) in (
        helpdesk.told
    )


def test_the_sweep_offers_what_waits_when_nothing_is_new(helpdesk: Helpdesk) -> None:
    helpdesk.taken(incoming())
    helpdesk.asked.clear()
    assert helpdesk.sweep() == 0
    assert helpdesk.asked == [helpdesk.workspace_id]


def test_the_queue_says_how_long_it_will_take(helpdesk: Helpdesk) -> None:
    ticket_id, investigation_id = helpdesk.claimed(incoming())
    helpdesk.clock.move(seconds=240)
    helpdesk.desk.ended(helpdesk.workspace_id, ticket_id, investigation_id, "auto_resolved")
    for number in range(4):
        helpdesk.taken(incoming(external_id=f"ZD-{number + 2}"))
    view = helpdesk.queue(helpdesk.principal)
    assert (view.depth, view.average_s, view.expected_wait_s) == (4, 240.0, 120.0)
    assert not view.degraded
    assert replace(helpdesk.queue, above=3).degraded(helpdesk.workspace_id)


def test_requeueing_is_an_admins_and_only_of_what_has_ended(helpdesk: Helpdesk) -> None:
    ticket_id, investigation_id = helpdesk.claimed(incoming())
    with pytest.raises(Conflict):
        helpdesk.requeue(helpdesk.principal, ticket_id)
    helpdesk.desk.ended(helpdesk.workspace_id, ticket_id, investigation_id, "failed")
    with pytest.raises(Denied):
        helpdesk.requeue(replace(helpdesk.principal, role=Role.AGENT), ticket_id)
    before = len(helpdesk.waking())
    assert helpdesk.requeue(helpdesk.principal, ticket_id) is TicketStatus.QUEUED
    assert helpdesk.requeue(helpdesk.principal, ticket_id) is TicketStatus.QUEUED
    assert len(helpdesk.waking()) == before + 1
    assert [entry.type for entry in helpdesk.entries()][-1] == "ticket.requeued"
    with pytest.raises(NotFound):
        helpdesk.requeue(helpdesk.principal, new_id())


def test_what_waits_for_a_connector_is_queued_when_it_is_mended(helpdesk: Helpdesk) -> None:
    ticket_id, investigation_id = helpdesk.claimed(incoming())
    with helpdesk.transactions.writing(helpdesk.principal) as stores:
        stores.tickets.park(ticket_id, "connector:crm")
    helpdesk.desk.ended(helpdesk.workspace_id, ticket_id, investigation_id, "needs_tech")
    assert helpdesk.requeue.mended(helpdesk.workspace_id, "connector:other") == 0
    assert helpdesk.requeue.mended(helpdesk.workspace_id, "connector:crm") == 1
    assert helpdesk.row(ticket_id).status is TicketStatus.QUEUED
    assert helpdesk.requeue.mended(helpdesk.workspace_id, "connector:crm") == 0


@pytest.mark.parametrize(
    ("verdict", "status"),
    [
        ("auto_resolved", TicketStatus.AUTO_RESOLVED),
        ("needs_client", TicketStatus.NEEDS_CLIENT),
        ("skipped", TicketStatus.NEEDS_TECH),
        ("failed_budget", TicketStatus.FAILED),
    ],
)
def test_a_verdict_gives_the_ticket_its_status(
    helpdesk: Helpdesk, verdict: str, status: TicketStatus
) -> None:
    ticket_id, investigation_id = helpdesk.claimed(incoming())
    for _ in range(2):
        helpdesk.desk.ended(helpdesk.workspace_id, ticket_id, investigation_id, verdict)
    assert helpdesk.row(ticket_id).status is status
    keys = [record.natural_key for record in helpdesk.records if isinstance(record, NodeDump)]
    assert f"investigation:{investigation_id}" in keys


def test_a_write_back_has_its_parts_once(helpdesk: Helpdesk) -> None:
    helpdesk.source()
    ticket_id, investigation_id = helpdesk.claimed(incoming(), DESK)
    for _ in range(2):
        became = write_back(helpdesk, ticket_id, investigation_id)
        assert became == {"reply": "done", "status": "done", "time": "done"}
    answers = list(helpdesk.remote.answers.values())
    assert answers == [("ZD-1", "Your account is unlocked. [tool:x]", False)]
    assert helpdesk.remote.statuses == [("ZD-1", "auto_resolved")]
    assert list(helpdesk.remote.times.values()) == [3]
    types = [entry.type for entry in helpdesk.entries()][2:]
    assert types == ["ticket.replied", "ticket.status_set", "ticket.time_logged"]
    texts = "".join(entry.meta_text for entry in helpdesk.entries())
    assert "unlocked" not in texts


def test_a_part_that_did_not_get_through_is_sent_again_and_the_others_not(
    helpdesk: Helpdesk,
) -> None:
    helpdesk.source()
    ticket_id, investigation_id = helpdesk.claimed(incoming(), DESK)
    helpdesk.remote.failing["status"] = Unavailable("Late.", reason="timeout")
    with pytest.raises(Unavailable):
        write_back(helpdesk, ticket_id, investigation_id)
    assert (len(helpdesk.remote.answers), helpdesk.remote.statuses) == (1, [])
    assert list(helpdesk.remote.times.values()) == [3]
    helpdesk.remote.failing.clear()
    write_back(helpdesk, ticket_id, investigation_id)
    assert (len(helpdesk.remote.answers), len(helpdesk.remote.statuses)) == (1, 1)


def test_a_reply_whose_answer_was_lost_is_not_posted_twice(helpdesk: Helpdesk) -> None:
    helpdesk.source()
    ticket_id, investigation_id = helpdesk.claimed(incoming(), DESK)
    helpdesk.remote.failing["reply"] = Unavailable("Cut off.", reason="timeout")
    with pytest.raises(Unavailable):
        write_back(helpdesk, ticket_id, investigation_id)
    helpdesk.remote.failing.clear()
    assert write_back(helpdesk, ticket_id, investigation_id)["reply"] == "done"
    assert len(helpdesk.remote.answers) == 1


def test_of_two_that_write_back_at_once_one_sends(helpdesk: Helpdesk) -> None:
    helpdesk.source()
    ticket_id, investigation_id = helpdesk.claimed(incoming(), DESK)
    sent: list[str] = []

    def reply(external_id: str, text: str, *, private: bool, key: str) -> str:
        sent.append(text)
        if len(sent) == 1:
            with pytest.raises(Unavailable) as refused:
                write_back(helpdesk, ticket_id, investigation_id, summary="Again.")
            assert refused.value.reason == "write-back-under-way"
        return "r-1"

    helpdesk.remote.reply = reply  # type: ignore[method-assign]
    assert write_back(helpdesk, ticket_id, investigation_id)["reply"] == "done"
    assert sent == ["Your account is unlocked. [tool:x]"]


def test_what_a_crash_left_begun_is_sent_once_its_time_is_over(helpdesk: Helpdesk) -> None:
    helpdesk.source()
    ticket_id, investigation_id = helpdesk.claimed(incoming(), DESK)
    helpdesk.remote.failing["reply"] = MemoryError()
    with pytest.raises(MemoryError):
        write_back(helpdesk, ticket_id, investigation_id)
    helpdesk.remote.failing.clear()
    with pytest.raises(Unavailable):
        write_back(helpdesk, ticket_id, investigation_id)
    helpdesk.clock.move(minutes=3)
    assert write_back(helpdesk, ticket_id, investigation_id)["reply"] == "done"
    assert len(helpdesk.remote.answers) == 1


def test_a_private_answer_is_a_note_or_nothing(helpdesk: Helpdesk) -> None:
    helpdesk.source()
    ticket_id, investigation_id = helpdesk.claimed(incoming(), DESK)
    helpdesk.remote.can = Capabilities(private_notes=False, time_entries=False)
    became = write_back(helpdesk, ticket_id, investigation_id, private=True)
    assert became == {"reply": "not-supported", "status": "done", "time": "not-supported"}
    assert helpdesk.remote.answers == {}


def test_a_source_that_was_removed_takes_nothing_back(helpdesk: Helpdesk) -> None:
    ticket_id, investigation_id = helpdesk.claimed(incoming(), DESK)
    became = write_back(helpdesk, ticket_id, investigation_id)
    assert set(became.values()) == {"refused"}


def test_a_ticket_the_help_desk_no_longer_has_is_refused_for_good(helpdesk: Helpdesk) -> None:
    helpdesk.source()
    ticket_id, investigation_id = helpdesk.claimed(incoming(), DESK)
    helpdesk.remote.failing["reply"] = NotFound("No such ticket.")
    became = write_back(helpdesk, ticket_id, investigation_id)
    assert became == {"reply": "refused", "status": "done", "time": "done"}


def test_a_help_desk_that_refuses_its_keys_parks_the_ticket_until_they_are_renewed(
    helpdesk: Helpdesk,
) -> None:
    source = helpdesk.source()
    ticket_id, investigation_id = helpdesk.claimed(incoming(), DESK)
    helpdesk.remote.failing |= dict.fromkeys(("reply", "status", "time"), SIGNED_OUT)
    became = write_back(helpdesk, ticket_id, investigation_id, verdict="needs_tech")
    assert set(became.values()) == {"needs-auth"}
    helpdesk.desk.ended(helpdesk.workspace_id, ticket_id, investigation_id, "needs_tech")
    assert helpdesk.sources.get(helpdesk.principal, source.id).state is SourceState.NEEDS_AUTH
    helpdesk.remote.failing.clear()
    change = SourceChange(secrets={"token": "new"})
    mended = helpdesk.sources.change(helpdesk.principal, source.id, change)
    assert (mended.state, mended.error) == (SourceState.ACTIVE, None)
    assert helpdesk.row(ticket_id).status is TicketStatus.QUEUED


def test_one_secret_of_a_help_desk_is_renewed_and_the_others_stay(helpdesk: Helpdesk) -> None:
    source = helpdesk.source(secrets={"token": "old", "webhook_secret": "kept"})
    opened: list[dict[str, str]] = []

    def open_adapter(kind: str, config: Any, secrets: Any) -> Any:
        opened.append(dict(secrets))
        return helpdesk.remote

    sources = replace(helpdesk.sources, open_adapter=open_adapter)
    sources.change(helpdesk.principal, source.id, SourceChange(secrets={"token": "new"}))
    sources.change(helpdesk.principal, source.id, SourceChange(secrets={"webhook_secret": None}))
    sources.adapter_of(helpdesk.workspace_id, "desk")
    both = {"token": "new", "webhook_secret": "kept"}
    assert opened == [both, {"token": "new"}, {"token": "new"}]


def test_kept_secrets_of_a_help_desk_follow_to_no_other_address(helpdesk: Helpdesk) -> None:
    source = helpdesk.source()
    moved = {"a": 1, "accounts_url": "https://evil.example.org"}
    with pytest.raises(ValidationFailed) as refused:
        helpdesk.sources.change(helpdesk.principal, source.id, SourceChange(config=moved))
    assert refused.value.reason == "secrets-needed"
    assert refused.value.errors[0].location == "secrets"
    assert helpdesk.sources.get(helpdesk.principal, source.id).config == {"a": 1}
    anew = SourceChange(config=moved, secrets={"token": "other"})
    assert helpdesk.sources.change(helpdesk.principal, source.id, anew).config == moved


def test_the_plain_source_keeps_answers_as_rows(helpdesk: Helpdesk) -> None:
    ticket_id, investigation_id = helpdesk.claimed(incoming())
    for _ in range(2):
        write_back(helpdesk, ticket_id, investigation_id)
    with helpdesk.transactions.reading(helpdesk.principal) as stores:
        (reply,) = stores.write_backs.replies(ticket_id)
    assert helpdesk.sealed.said(helpdesk.workspace_id, reply) == (
        "Your account is unlocked. [tool:x]"
    )
    assert b"unlocked" not in reply.sealed


def test_an_answer_is_sealed_for_everyone_it_may_speak_of(helpdesk: Helpdesk) -> None:
    ticket_id, investigation_id = helpdesk.claimed(incoming())
    beside = new_id()
    write_back(helpdesk, ticket_id, investigation_id, data_subjects=(beside,))
    with helpdesk.transactions.reading(helpdesk.principal) as stores:
        (reply,) = stores.write_backs.replies(ticket_id)
    (entry,) = [entry for entry in helpdesk.entries() if entry.type == "ticket.replied"]
    about = tuple(sorted((*helpdesk.row(ticket_id).data_subjects, beside)))
    assert (reply.data_subjects, entry.data_subjects) == (about, about)
    helpdesk.keys.destroy(helpdesk.workspace_id, beside)
    assert helpdesk.sealed.said(helpdesk.workspace_id, reply) is None
    with pytest.raises(BodyUnreadable):
        helpdesk.body(entry)


def test_a_ticket_of_somebody_forgotten_is_read_no_more(helpdesk: Helpdesk) -> None:
    ticket_id = helpdesk.taken(incoming())
    row = helpdesk.row(ticket_id)
    helpdesk.keys.destroy(helpdesk.workspace_id, row.data_subjects[0])
    with pytest.raises(BodyUnreadable):
        helpdesk.desk.ticket(helpdesk.workspace_id, ticket_id)
    assert helpdesk.sealed.tickets(helpdesk.workspace_id, [row]) == {}


def test_polling_goes_on_where_it_left_off(helpdesk: Helpdesk) -> None:
    source = helpdesk.source()
    helpdesk.remote.pages = [[incoming()], [incoming(external_id="ZD-2")]]
    done = helpdesk.poll(helpdesk.principal, source.id)
    assert (done.new, done.complete) == (2, True)
    helpdesk.remote.pages.append([incoming(external_id="ZD-3"), incoming()])
    done = helpdesk.poll(helpdesk.principal, source.id)
    assert (done.new, done.known) == (1, 1)
    with helpdesk.transactions.reading(helpdesk.principal) as stores:
        assert stores.ticket_sources.cursor(source.id) == "3"


def test_webhooks_that_come_too_often_are_turned_away_before_their_signature_is_read(
    helpdesk: Helpdesk,
) -> None:
    source, other = helpdesk.source(), helpdesk.source("other")
    receive = replace(helpdesk.receive, limiter=RateLimiter(most=2))
    forged = Delivered(body=b"", headers={"x-signature": "bad", "x-id": "d"})
    for _ in range(2):
        with pytest.raises(Unauthenticated):
            receive(source.id, forged)
    with pytest.raises(RateLimited) as refused:
        receive(source.id, forged)
    assert refused.value.reason == "too-many-deliveries"
    assert 0 < refused.value.retry_after <= 60
    with pytest.raises(RateLimited):
        receive.check(source.id)
    receive.check(other.id)
    helpdesk.clock.move(minutes=1)
    receive.check(source.id)


class Failing:
    """Takes the first page in, and no other."""

    def __init__(self, intake: Intake) -> None:
        self.intake, self.pages = intake, 0

    def receive(self, *given: Any) -> Any:
        self.pages += 1
        if self.pages > 1:
            raise Unavailable("The key store does not answer.", reason="keys")
        return self.intake.receive(*given)


def test_the_cursor_stays_before_tickets_that_could_not_be_kept(helpdesk: Helpdesk) -> None:
    source = helpdesk.source()
    helpdesk.remote.pages = [[incoming()], [incoming(external_id="ZD-2")]]
    failing: Any = Failing(helpdesk.intake)
    with pytest.raises(Unavailable):
        replace(helpdesk.poll, intake=failing)(helpdesk.principal, source.id)
    with helpdesk.transactions.reading(helpdesk.principal) as stores:
        assert stores.ticket_sources.cursor(source.id) == "1"
    assert helpdesk.sources.get(helpdesk.principal, source.id).error == "keys"
    assert helpdesk.poll(helpdesk.principal, source.id).new == 1


def test_a_ticket_without_an_id_holds_up_no_other(helpdesk: Helpdesk) -> None:
    source = helpdesk.source()
    helpdesk.remote.pages = [[incoming(external_id=""), incoming(), incoming(external_id="\x00")]]
    done = helpdesk.poll(helpdesk.principal, source.id)
    assert (done.new, done.nameless, done.complete) == (1, 2, True)
    taken = helpdesk.receive(source.id, signed(0))
    assert (taken.known, taken.nameless) == (1, 2)


def test_a_help_desk_that_answers_again_is_mended_by_that(helpdesk: Helpdesk) -> None:
    source = helpdesk.source()
    ticket_id, investigation_id = helpdesk.claimed(incoming(), DESK)
    helpdesk.remote.failing |= dict.fromkeys(("reply", "status", "time"), SIGNED_OUT)
    write_back(helpdesk, ticket_id, investigation_id, verdict="needs_tech")
    helpdesk.desk.ended(helpdesk.workspace_id, ticket_id, investigation_id, "needs_tech")
    helpdesk.poll(helpdesk.principal, source.id)
    assert helpdesk.sources.get(helpdesk.principal, source.id).state is SourceState.ACTIVE
    assert helpdesk.row(ticket_id).status is TicketStatus.QUEUED


def test_a_poll_that_is_refused_says_that_somebody_must_sign_in(helpdesk: Helpdesk) -> None:
    source = helpdesk.source()
    helpdesk.remote.failing["poll"] = SIGNED_OUT
    assert helpdesk.poll_due(seconds=10)["failed"] == 1
    kept = helpdesk.sources.get(helpdesk.principal, source.id)
    assert (kept.state, kept.error, kept.failures) == (SourceState.NEEDS_AUTH, "needs-auth", 1)
    assert helpdesk.told[-1][1]["reason"] == "needs-auth"


def test_a_help_desk_out_of_reach_is_asked_again(helpdesk: Helpdesk) -> None:
    source = helpdesk.source()
    helpdesk.remote.failing["poll"] = Unavailable("Down.", reason="unreachable")
    helpdesk.remote.pages = [[incoming()]]
    assert helpdesk.poll_due(seconds=10) == {"sources": 1, "failed": 1, "new": 0, "changed": 0}
    assert helpdesk.sources.get(helpdesk.principal, source.id).state is SourceState.ACTIVE
    helpdesk.remote.failing.clear()
    assert helpdesk.poll_due(seconds=10)["new"] == 1


def test_an_answer_that_nobody_thought_of_holds_up_no_other_source(helpdesk: Helpdesk) -> None:
    first, _ = helpdesk.source(name="a"), helpdesk.source(name="b")
    helpdesk.remote.pages = [[incoming()]]
    poll, wrong = helpdesk.remote.poll, [ValueError("what is this")]

    def polled(cursor: str | None, limit: int) -> Polled:
        if wrong:
            raise wrong.pop()
        return poll(cursor, limit)

    helpdesk.remote.poll = polled  # pyright: ignore[reportAttributeAccessIssue]
    assert helpdesk.poll_due(seconds=10) == {"sources": 2, "failed": 1, "new": 1, "changed": 0}
    assert helpdesk.sources.get(helpdesk.principal, first.id).error == "unreadable"
    (told,) = [fields for event, fields in helpdesk.told if event == "ticket_source.not_polled"]
    assert (told["reason"], told["error"]) == ("unreadable", "ValueError")


def signed(page: int, **headers: str) -> Delivered:
    given = {"x-signature": "good", "x-id": "d-1"}
    return Delivered(body=str(page).encode(), headers=given | headers)


def test_a_signed_delivery_brings_its_ticket(helpdesk: Helpdesk) -> None:
    source = helpdesk.source()
    helpdesk.remote.pages = [[incoming()]]
    taken = helpdesk.receive(source.id, signed(0))
    assert (taken.new, taken.duplicate) == (1, False)


@pytest.mark.parametrize("signature", ["", "bad"])
def test_an_unsigned_or_forged_delivery_brings_nothing(helpdesk: Helpdesk, signature: str) -> None:
    source = helpdesk.source()
    helpdesk.remote.pages = [[incoming()]]
    delivered = Delivered(body=b"0", headers={"x-signature": signature, "x-id": "d"})
    with pytest.raises(Unauthenticated):
        helpdesk.receive(source.id, delivered)
    assert helpdesk.entries("ticket.received") == []


def test_a_delivery_that_comes_again_or_out_of_order_changes_nothing(helpdesk: Helpdesk) -> None:
    source = helpdesk.source()
    later = incoming(body="later", modified_at=MONDAY + timedelta(hours=1))
    helpdesk.remote.pages = [[incoming()], [later]]
    helpdesk.receive(source.id, signed(1))
    again = helpdesk.receive(source.id, signed(1))
    assert (again.known, again.duplicate) == (1, True)
    late = helpdesk.receive(source.id, signed(0, **{"x-id": "d-0"}))
    assert (late.known, late.changed, late.duplicate) == (1, 0, False)
    assert len(helpdesk.entries("ticket.received") + helpdesk.entries("ticket.changed")) == 1


def test_a_delivery_to_no_source_or_a_paused_one_is_refused(helpdesk: Helpdesk) -> None:
    with pytest.raises(NotFound):
        helpdesk.receive(new_id(), signed(0))
    source = helpdesk.source()
    helpdesk.sources.change(helpdesk.principal, source.id, SourceChange(paused=True))
    with pytest.raises(Conflict):
        helpdesk.receive(source.id, signed(0))


def test_sources_are_kept_without_showing_their_secrets(helpdesk: Helpdesk) -> None:
    source = helpdesk.source()
    with pytest.raises(Conflict):
        helpdesk.source()
    with helpdesk.transactions.reading(helpdesk.principal) as stores:
        assert b"s3cret" not in stores.ticket_sources.secrets(source.id)
    helpdesk.sources.remove(helpdesk.principal, source.id)
    with pytest.raises(NotFound):
        helpdesk.sources.get(helpdesk.principal, source.id)
    entries = helpdesk.entries("ticket_source.")
    assert [entry.type for entry in entries] == [
        "ticket_source.registered",
        "ticket_source.removed",
    ]
    shown = "".join(entry.meta_text + repr(helpdesk.body(entry)) for entry in entries)
    assert "s3cret" not in shown


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "api"},
        {"name": "Has Spaces"},
        {"name": ""},
        {"poll_seconds": 10},
        {"config": {"a": float("inf")}},
        {"secrets": {"token": ""}},
        {"secrets": {"token": "a\x00"}},
        {"secrets": {str(number): "x" for number in range(11)}},
    ],
)
def test_a_bad_source_is_refused(helpdesk: Helpdesk, changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed):
        helpdesk.source(**changes)
    assert list(helpdesk.sources.all(helpdesk.principal)) == []


def test_sources_are_an_admins(helpdesk: Helpdesk) -> None:
    agent = replace(helpdesk.principal, role=Role.AGENT)
    with pytest.raises(Denied):
        helpdesk.sources.all(agent)


def test_a_persona_has_versions_and_entries(helpdesk: Helpdesk) -> None:
    night = Persona(name="night", instructions="Wake nobody.", autonomy=Autonomy.INVESTIGATE)
    assert helpdesk.personas.put(helpdesk.principal, night).version == 1
    assert helpdesk.personas.put(helpdesk.principal, night).version == 1
    changed = replace(night, max_usd=Decimal("2.50"))
    assert helpdesk.personas.put(helpdesk.principal, changed).version == 2
    assert helpdesk.desk.persona(helpdesk.workspace_id, "night").max_usd == Decimal("2.50")
    assert helpdesk.desk.persona(helpdesk.workspace_id, "nobody") == DEFAULT
    names = [item.name for item in helpdesk.personas.all(helpdesk.principal)]
    assert names == ["default", "night"]
    entries = helpdesk.entries("persona.")
    assert [entry.meta["version"] for entry in entries] == [1, 2]
    assert helpdesk.body(entries[0])["instructions"] == "Wake nobody."
    assert "night" not in entries[0].meta_text


def test_a_removed_persona_gives_way_to_the_default_one(helpdesk: Helpdesk) -> None:
    helpdesk.personas.put(helpdesk.principal, Persona(name="night"))
    helpdesk.personas.remove(helpdesk.principal, "night")
    assert helpdesk.desk.persona(helpdesk.workspace_id, "night") == DEFAULT
    assert len(helpdesk.personas.versions(helpdesk.principal, "night")) == 2
    with pytest.raises(NotFound):
        helpdesk.personas.remove(helpdesk.principal, "night")
    with pytest.raises(Conflict):
        helpdesk.personas.remove(helpdesk.principal, "default")
    back = helpdesk.personas.put(helpdesk.principal, Persona(name="night"))
    assert back.version == 3


@pytest.mark.parametrize("autonomy", [Autonomy.OFF, Autonomy.INVESTIGATE, Autonomy.ACT])
def test_removing_a_persona_raises_nothing_that_runs(
    helpdesk: Helpdesk, autonomy: Autonomy
) -> None:
    helpdesk.personas.put(helpdesk.principal, Persona(name="night", autonomy=autonomy))
    before = helpdesk.clock()
    helpdesk.clock.move(seconds=1)
    helpdesk.personas.remove(helpdesk.principal, "night")
    goes_on = helpdesk.desk.persona(helpdesk.workspace_id, "night", began=before)
    assert goes_on == replace(DEFAULT, autonomy=autonomy.capped(DEFAULT.autonomy))
    helpdesk.clock.move(seconds=1)
    later = helpdesk.desk.persona(helpdesk.workspace_id, "night", began=helpdesk.clock())
    assert later == DEFAULT


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "Nacht"},
        {"name": ""},
        {"instructions": "x" * 8_001},
        {"instructions": "a\x00"},
        {"escalation": "mailto:me"},
        {"max_tokens": 0},
        {"max_usd": Decimal(0)},
        {"max_usd": Decimal("NaN")},
        {"max_seconds": 100_000},
        {"max_iterations": -1},
        {"redaction": "secret"},
    ],
)
def test_a_bad_persona_is_refused(helpdesk: Helpdesk, changes: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed):
        helpdesk.personas.put(helpdesk.principal, replace(Persona(name="night"), **changes))
    assert helpdesk.entries("persona.") == []


def test_the_default_persona_can_be_off_and_tickets_still_come_in(helpdesk: Helpdesk) -> None:
    helpdesk.personas.put(helpdesk.principal, replace(DEFAULT, autonomy=Autonomy.OFF))
    helpdesk.taken(incoming(), From(source="api", persona="default"))
    view = helpdesk.queue(helpdesk.principal)
    assert (view.depth, view.held) == (0, 1)


def test_a_help_desk_that_may_not_be_asked_from_here_takes_nothing_back(
    helpdesk: Helpdesk,
) -> None:
    helpdesk.source()
    ticket_id, investigation_id = helpdesk.claimed(incoming(), DESK)

    def refuse(*_: object) -> TicketAdapter:
        raise ValidationFailed("Nothing may leave.", reason="webhooks-off")

    helpdesk.desk = replace(helpdesk.desk, adapter_of=refuse)
    became = write_back(helpdesk, ticket_id, investigation_id)
    assert set(became.values()) == {"refused"}
    assert helpdesk.told[-1][1]["reason"] == "webhooks-off"
