"""A ticket of each help desk from its first text to its end, against servers as documented."""

import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import pytest
from tests.fakes.stores import InMemoryTransactions
from tests.support import connectwise_replay
from tests.support.desks import (
    KINDS,
    WEBHOOK_SECRET,
    Desk,
    desk_of,
    intercom_signed,
    signed,
    zendesk_signed,
)
from tests.support.helpdesk import Clock, Helpdesk
from tests.support.remembering import admin_of
from tests.support.replaying import Fault

from cairn.adapters.http.help_desks import OpenHelpDesk
from cairn.kernel.errors import Unavailable
from cairn.kernel.ids import new_id
from cairn.tickets.adapter import Delivered, NeedsAuth
from cairn.tickets.polling import PollResult
from cairn.tickets.sources import NewSource, SourceChange
from cairn.tickets.ticket import SourceKind, SourceState, TicketStatus


@dataclass
class Office:
    """A workspace whose help desk is one of them."""

    remote: Desk
    desk: Helpdesk
    source_id: UUID

    def move(self, **by: float) -> None:
        self.remote.move(**by)
        self.desk.clock.move(**by)

    def poll(self) -> PollResult:
        return self.desk.poll(self.desk.principal, self.source_id)

    def claim(self) -> tuple[UUID, UUID]:
        """Take the ticket that waits; return it and its investigation."""
        self.desk.sweep()
        investigation_id = new_id()
        with self.desk.transactions.writing(self.desk.principal) as stores:
            ticket_id = stores.tickets.claim(investigation_id, self.desk.clock()).id
        return ticket_id, investigation_id

    def end(self, ticket_id: UUID, investigation_id: UUID, **more: Any) -> dict[str, str]:
        done = {"verdict": "needs_client", "summary": "Which door?", "private": False, **more}
        became = self.desk.desk.write_back(
            self.desk.workspace_id,
            ticket_id,
            investigation_id=investigation_id,
            minutes=15,
            data_subjects=(),
            **done,
        )
        self.desk.desk.ended(self.desk.workspace_id, ticket_id, investigation_id, done["verdict"])
        return dict(became)


@pytest.fixture(params=KINDS)
def office(request: pytest.FixtureRequest) -> Iterator[Office]:
    with desk_of(request.param) as remote:
        transactions, principal = InMemoryTransactions(), admin_of(new_id())
        transactions.create_workspace(principal.workspace_id)
        desk = Helpdesk(transactions, principal, clock=Clock(now=remote.replay.now))
        opening = OpenHelpDesk(allow_private=True, clock=desk.clock)
        desk.sources = replace(desk.sources, open_adapter=opening)
        desk.poll = replace(desk.poll, adapter=desk.sources.adapter)
        desk.receive = replace(desk.receive, adapter=desk.sources.adapter)
        desk.desk = replace(desk.desk, adapter_of=desk.sources.adapter_of)
        new = NewSource(
            name="desk", kind=SourceKind(remote.kind), config=remote.config, secrets=remote.secrets
        )
        source = desk.sources.create(principal, new)
        yield Office(remote=remote, desk=desk, source_id=source.id)


def test_a_ticket_is_fetched_answered_and_taken_up_again_with_the_customers_answer(
    office: Office,
) -> None:
    remote = office.remote
    ticket = remote.ask("The door rattles", "Since Monday the door does not lock any more.")
    assert office.poll().new == 1
    assert office.poll() == PollResult()
    ticket_id, investigation_id = office.claim()
    times = remote.kind not in ("linear", "zendesk", "intercom")
    statuses = {"needs_client": remote.own_status}
    change = SourceChange(config={**remote.config, "statuses": statuses})
    office.desk.sources.change(office.desk.principal, office.source_id, change)
    became = office.end(ticket_id, investigation_id)
    assert became == {
        "reply": "done",
        "status": "done",
        "time": "done" if times else "not-supported",
    }
    ((answer, private),) = remote.answers(ticket)[:1]
    assert (answer.partition("\n")[0], private) == ("Which door?", False)
    assert remote.status(ticket) == remote.own_status
    if times:
        assert remote.minutes(ticket) == [15]
    office.move(minutes=10)
    remote.write(ticket, "The left one of the two.")
    polled = office.poll()
    assert (polled.new, polled.messages) == (0, 1)
    assert office.desk.row(ticket_id).status is TicketStatus.NEW
    words = office.desk.desk.ticket(office.desk.workspace_id, ticket_id).words
    assert words.startswith("The left one of the two.\n")
    office.move(minutes=10)
    assert office.poll().messages == 0


def test_a_write_back_that_died_in_the_middle_says_everything_once(office: Office) -> None:
    remote = office.remote
    ticket = remote.ask("The door rattles", "Since Monday the door does not lock any more.")
    office.poll()
    ticket_id, investigation_id = office.claim()
    more = {"verdict": "auto_resolved", "summary": "Oiled."}
    remote.replay.faults.append(Fault(done=True, where=remote.writes, status=502))
    with pytest.raises(Unavailable):
        office.end(ticket_id, investigation_id, **more)
    became = office.end(ticket_id, investigation_id, **more)
    assert became["reply"] == became["status"] == "done"
    answers = [text for text, _ in remote.answers(ticket) if text.startswith("Oiled.")]
    assert len(answers) == 1
    assert remote.status(ticket) == remote.closed


def test_refused_credentials_are_renewed_and_the_source_goes_on(office: Office) -> None:
    remote, principal = office.remote, office.desk.principal
    name = next(iter(remote.secrets))
    change = SourceChange(secrets={name: "another"})
    office.desk.sources.change(principal, office.source_id, change)
    with pytest.raises(NeedsAuth):
        office.poll()
    (source,) = office.desk.sources.all(principal)
    assert (source.state, source.error) == (SourceState.NEEDS_AUTH, "needs-auth")
    change = SourceChange(secrets={name: remote.secrets[name]})
    office.desk.sources.change(principal, office.source_id, change)
    remote.ask("The door rattles", "x")
    assert office.poll().new == 1


def test_a_delivery_and_a_poll_of_the_same_ticket_are_one(office: Office) -> None:
    remote = office.remote
    if (
        not OpenHelpDesk(allow_private=True)(remote.kind, remote.config, remote.secrets)
        .capabilities()
        .webhooks
    ):
        return
    ticket = remote.ask("The door rattles", "Since Monday the door does not lock any more.")
    for times, new in ((1, 1), (2, 0)):
        taken = office.desk.receive(office.source_id, delivered(remote, ticket))
        assert (taken.new, taken.duplicate) == (new, times == 2)
    polled = office.poll()
    assert (polled.new, polled.changed, polled.known) == (0, 0, 1)


def delivered(remote: Any, ticket: str) -> Delivered:
    """The desk's delivery of a ticket that is new."""
    if remote.kind == "jira":
        document = {"webhookEvent": "jira:issue_created", "issue": remote.replay.issues[ticket]}
        return signed(document, "x-hub-signature", "sha256=")
    if remote.kind == "linear":
        sent_at = int(remote.replay.now.timestamp() * 1000)
        document = {
            "action": "create",
            "type": "Issue",
            "data": remote.replay.issues[ticket],
            "webhookTimestamp": sent_at,
        }
        return signed(document, "linear-signature")
    if remote.kind == "zendesk":
        return zendesk_signed({"detail": {"id": ticket}}, remote.replay.now)
    if remote.kind == "freshdesk":
        body = json.dumps({"ticket_id": ticket}).encode()
        return Delivered(body=body, headers={"x-cairn-secret": WEBHOOK_SECRET})
    if remote.kind == "intercom":
        return intercom_signed("conversation.user.created", ticket)
    body = remote.replay.callback(int(ticket), "added")
    return Delivered(body=body, headers=connectwise_replay.signed(body))
