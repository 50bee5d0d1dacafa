"""We ask at a help desk, the requester answers there, and the ticket is taken up again."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from tests.fakes.stores import InMemoryTransactions
from tests.support.github_replay import TOKEN, GitHubReplay, github_replay
from tests.support.helpdesk import Helpdesk
from tests.support.remembering import admin_of
from tests.support.zoho_replay import (
    CLIENT_ID,
    CLIENT_SECRET,
    ORGANISATION,
    REFRESH_TOKEN,
    ZohoReplay,
    zoho_replay,
)

from cairn.adapters.http.help_desks import OpenHelpDesk
from cairn.kernel.ids import new_id
from cairn.tickets.sources import NewSource
from cairn.tickets.ticket import SourceKind, TicketStatus


@dataclass
class SameClock:
    """Shows a help desk's time: both are right."""

    replay: ZohoReplay | GitHubReplay

    def __call__(self) -> datetime:
        return self.replay.now

    def move(self, **by: float) -> None:
        self.replay.now += timedelta(**by)


def opened(replay: Any) -> Helpdesk:
    """Return a help desk whose sources are asked over HTTP."""
    transactions, principal = InMemoryTransactions(), admin_of(new_id())
    transactions.create_workspace(principal.workspace_id)
    clock: Any = SameClock(replay)
    made = Helpdesk(transactions, principal, clock=clock)
    adapters = OpenHelpDesk(allow_private=True, clock=clock)
    made.sources = replace(made.sources, open_adapter=adapters)
    made.poll = replace(made.poll, adapter=made.sources.adapter)
    made.desk = replace(made.desk, adapter_of=made.sources.adapter_of)
    return made


def asked(helpdesk: Helpdesk, source_id: UUID) -> UUID:
    """Fetch the one ticket, investigate it, ask its requester; return its id."""
    assert helpdesk.poll(helpdesk.principal, source_id).new == 1
    helpdesk.sweep()
    investigation_id = new_id()
    with helpdesk.transactions.writing(helpdesk.principal) as stores:
        ticket_id = stores.tickets.claim(investigation_id, helpdesk.clock()).id
    helpdesk.clock.move(minutes=3)
    helpdesk.desk.write_back(
        helpdesk.workspace_id,
        ticket_id,
        investigation_id=investigation_id,
        verdict="needs_client",
        summary="Which one?",
        minutes=1,
        private=False,
        data_subjects=(),
    )
    helpdesk.desk.ended(helpdesk.workspace_id, ticket_id, investigation_id, "needs_client")
    return ticket_id


def goes_round(
    helpdesk: Helpdesk,
    source_id: UUID,
    *,
    colleague: Callable[[], object],
    requester: Callable[[], object],
) -> None:
    """Hold that the requester's answer, and nothing else, takes the ticket up again, once."""
    ticket_id = asked(helpdesk, source_id)
    helpdesk.clock.move(minutes=3)
    colleague()
    assert helpdesk.poll(helpdesk.principal, source_id).messages == 0
    assert helpdesk.row(ticket_id).status is TicketStatus.NEEDS_CLIENT
    helpdesk.clock.move(minutes=3)
    requester()
    assert helpdesk.poll(helpdesk.principal, source_id).messages == 1
    assert helpdesk.poll(helpdesk.principal, source_id).messages == 0
    assert helpdesk.row(ticket_id).status is TicketStatus.NEW
    helpdesk.sweep()
    assert helpdesk.row(ticket_id).status is TicketStatus.QUEUED
    ticket = helpdesk.desk.ticket(helpdesk.workspace_id, ticket_id)
    assert ticket.words.startswith("The left one.\n")
    assert list(ticket.answers.values()) == ["Which one?"]


def test_a_zoho_tickets_requester_answers_by_mail() -> None:
    with zoho_replay() as replay:
        helpdesk = opened(replay)
        contact = replay.add_contact("mara@northwind.example", "Voss")
        made = replay.add_ticket("A door does not lock", contact=contact)
        config = {
            "organisation_id": ORGANISATION,
            "client_id": CLIENT_ID,
            "desk_url": replay.desk_url,
            "accounts_url": replay.url,
            "from_address": "support@harbourlane.example",
        }
        secrets = {"client_secret": CLIENT_SECRET, "refresh_token": REFRESH_TOKEN}
        new = NewSource(name="desk", kind=SourceKind.ZOHO_DESK, config=config, secrets=secrets)
        goes_round(
            helpdesk,
            helpdesk.sources.create(helpdesk.principal, new).id,
            colleague=lambda: replay.remark(
                made, "I look.", kind="AGENT", email="lena@harbourlane.example"
            ),
            requester=lambda: replay.write(made, "<div>The left one.</div>"),
        )


def test_an_issues_opener_answers_by_a_comment() -> None:
    with github_replay() as replay:
        helpdesk = opened(replay)
        replay.add_issue("A door does not lock")
        config = {"owner": "harbourlane", "repository": "booking", "api_url": replay.url}
        secrets = {"token": TOKEN}
        new = NewSource(name="desk", kind=SourceKind.GITHUB_ISSUES, config=config, secrets=secrets)
        goes_round(
            helpdesk,
            helpdesk.sources.create(helpdesk.principal, new).id,
            colleague=lambda: replay.write(1, "I look.", by="lena"),
            requester=lambda: replay.write(1, "The left one.", by="ines"),
        )
