"""Tickets, sources, write-backs and personas: the same stores over the fake and PostgreSQL."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any
from uuid import UUID

import pytest
from tests.fakes.stores import InMemoryTransactions
from tests.support.remembering import admin_of

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.connectors.connector import Connector, Transport
from cairn.kernel.access import Principal
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import NotFound
from cairn.kernel.ids import new_id
from cairn.safety.tools import Autonomy
from cairn.tickets.personas import Persona
from cairn.tickets.ticket import (
    PersonaVersion,
    Priority,
    ReplyRow,
    SourceKind,
    SourceState,
    TicketRow,
    TicketSource,
    TicketStatus,
)

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

NOW = datetime(2026, 5, 4, 9, tzinfo=UTC)
MINUTE = timedelta(minutes=1)


@dataclass(frozen=True)
class Desk:
    """A workspace's stores, a transaction a call."""

    transactions: Any
    principal: Principal

    def do(self, store: str, method: str, *arguments: Any, **named: Any) -> Any:
        """Call one method of a store in a writing transaction."""
        with self.transactions.writing(self.principal) as stores:
            return getattr(getattr(stores, store), method)(*arguments, **named)

    def tickets(self, method: str, *arguments: Any, **named: Any) -> Any:
        return self.do("tickets", method, *arguments, **named)

    def sources(self, method: str, *arguments: Any, **named: Any) -> Any:
        return self.do("ticket_sources", method, *arguments, **named)

    def queued(self, **changes: Any) -> UUID:
        """Keep a ticket that was screened and waits."""
        row = ticket(**changes)
        self.tickets("add", row)
        self.tickets("screened", row.id, {"verdict": "CLEAN"}, TicketStatus.QUEUED, NOW)
        return row.id

    def found(self, ticket_id: UUID) -> TicketRow:
        return self.tickets("find", ticket_id)


@pytest.fixture(params=["in memory", "postgres"])
def desk(request: pytest.FixtureRequest) -> Iterator[Desk]:
    if request.param == "in memory":
        transactions, principal = InMemoryTransactions(), admin_of(new_id())
        transactions.create_workspace(principal.workspace_id)
        yield Desk(transactions, principal)
        return
    yield from in_postgres(request.getfixturevalue("database"))


def in_postgres(database: "Database") -> Iterator[Desk]:
    name = f"tickets-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    pool = Pool(database.app_url, size=2)
    yield Desk(StoreTransactions(pool), admin_of(workspace_id))
    pool.close()


def ticket(**changes: Any) -> TicketRow:
    ticket_id = new_id()
    given: dict[str, Any] = {
        "id": ticket_id,
        "source": "desk",
        "external_id": str(ticket_id),
        "status": TicketStatus.NEW,
        "priority": Priority.MEDIUM,
        "persona": "default",
        "sealed": b"sealed",
        "mark": b"mark",
        "data_subjects": (new_id(),),
        "position": 7,
        "received_at": NOW,
    }
    return TicketRow(**(given | changes))


def source(name: str = "desk", **changes: Any) -> TicketSource:
    given: dict[str, Any] = {
        "id": new_id(),
        "name": name,
        "kind": SourceKind.ZOHO_DESK,
        "config": {"organisation_id": "7"},
        "created_at": NOW,
    }
    return TicketSource(**(given | changes))


def persona(name: str = "night", version: int = 1, **changes: Any) -> PersonaVersion:
    return PersonaVersion(
        id=new_id(),
        persona=Persona(name=name, version=version, **changes),
        changed_at=NOW,
        changed_by=new_id(),
    )


def test_a_ticket_is_kept_as_it_was_given(desk: Desk) -> None:
    row = ticket(sla_at=NOW + MINUTE, modified_at=NOW, screening={"advisory": True})
    assert desk.tickets("add", row)
    assert desk.found(row.id) == row
    assert desk.tickets("known", "desk", [row.external_id, "other"]) == {row.external_id: row}
    assert desk.tickets("find", new_id()) is None


def test_one_ticket_for_each_external_id_of_a_source(desk: Desk) -> None:
    desk.tickets("add", ticket(external_id="ZD-1"))
    assert not desk.tickets("add", ticket(external_id="ZD-1"))
    assert desk.tickets("add", ticket(external_id="ZD-1", source="other"))


def test_a_change_replaces_what_is_said_and_not_where_it_stands(desk: Desk) -> None:
    ticket_id = desk.queued()
    before = desk.found(ticket_id)
    said = {
        "sealed": b"new",
        "mark": b"other",
        "priority": Priority.HIGH,
        "data_subjects": (new_id(),),
        "position": 9,
        "modified_at": NOW + MINUTE,
        "sla_at": NOW,
    }
    desk.tickets("change", replace(before, status=TicketStatus.FAILED, **said))
    assert desk.found(ticket_id) == replace(before, **said)


def test_screening_moves_a_new_ticket_once(desk: Desk) -> None:
    row = ticket(screening={"advisory": True})
    desk.tickets("add", row)
    assert desk.tickets("unscreened", 10) == [row.id]
    screening = {"verdict": "CLEAN"}
    assert desk.tickets("screened", row.id, screening, TicketStatus.QUEUED, NOW)
    assert not desk.tickets("screened", row.id, {}, TicketStatus.DISCARDED, NOW)
    found = desk.found(row.id)
    assert (found.status, found.queued_at) == (TicketStatus.QUEUED, NOW)
    assert dict(found.screening) == {"advisory": True, "verdict": "CLEAN"}
    assert desk.tickets("unscreened", 10) == []


def test_the_most_urgent_is_claimed_first_then_the_oldest(desk: Desk) -> None:
    young = desk.queued(received_at=NOW + MINUTE)
    old = desk.queued()
    urgent = desk.queued(priority=Priority.CRITICAL, received_at=NOW + 2 * MINUTE)
    low = desk.queued(priority=Priority.LOW, received_at=NOW - MINUTE)
    claimed = [desk.tickets("claim", new_id(), NOW).id for _ in range(4)]
    assert claimed == [urgent, old, young, low]
    assert desk.tickets("claim", new_id(), NOW) is None


def test_a_claimed_ticket_names_its_investigation(desk: Desk) -> None:
    ticket_id, investigation_id = desk.queued(), new_id()
    claimed = desk.tickets("claim", investigation_id, NOW)
    assert claimed == desk.found(ticket_id)
    assert (claimed.status, claimed.claimed_at) == (TicketStatus.INVESTIGATING, NOW)
    assert claimed.investigation_id == investigation_id


def test_new_and_discarded_tickets_are_not_claimed(desk: Desk) -> None:
    desk.tickets("add", ticket())
    worthless = ticket()
    desk.tickets("add", worthless)
    desk.tickets("screened", worthless.id, {}, TicketStatus.DISCARDED, NOW)
    assert desk.tickets("claim", new_id(), NOW) is None


def test_only_the_investigation_that_has_a_ticket_settles_it(desk: Desk) -> None:
    ticket_id, investigation_id = desk.queued(), new_id()
    desk.tickets("claim", investigation_id, NOW)
    assert not desk.tickets("settle", ticket_id, new_id(), TicketStatus.FAILED, NOW)
    assert desk.tickets("settle", ticket_id, investigation_id, TicketStatus.NEEDS_TECH, NOW)
    assert not desk.tickets("settle", ticket_id, investigation_id, TicketStatus.FAILED, NOW)
    found = desk.found(ticket_id)
    assert (found.status, found.ended_at) == (TicketStatus.NEEDS_TECH, NOW)


def test_a_ticket_that_is_given_back_is_claimed_again(desk: Desk) -> None:
    ticket_id, investigation_id = desk.queued(), new_id()
    desk.tickets("claim", investigation_id, NOW)
    desk.tickets("settle", ticket_id, investigation_id, TicketStatus.QUEUED, NOW + MINUTE)
    assert desk.found(ticket_id).ended_at is None
    assert desk.tickets("claim", new_id(), NOW).id == ticket_id


def test_what_has_ended_or_was_discarded_can_be_requeued(desk: Desk) -> None:
    ticket_id, investigation_id = desk.queued(), new_id()
    assert not desk.tickets("requeue", ticket_id, NOW)
    desk.tickets("claim", investigation_id, NOW)
    assert not desk.tickets("requeue", ticket_id, NOW)
    desk.tickets("settle", ticket_id, investigation_id, TicketStatus.FAILED, NOW)
    assert desk.tickets("requeue", ticket_id, NOW + MINUTE)
    found = desk.found(ticket_id)
    assert (found.status, found.queued_at) == (TicketStatus.QUEUED, NOW + MINUTE)
    assert found.ended_at is None


def test_a_parked_ticket_waits_until_it_is_requeued(desk: Desk) -> None:
    ticket_id, investigation_id = desk.queued(), new_id()
    assert not desk.tickets("park", ticket_id, "connector:crm")
    desk.tickets("claim", investigation_id, NOW)
    assert desk.tickets("park", ticket_id, "connector:crm")
    assert desk.tickets("waiting", "connector:crm", 10) == []
    desk.tickets("settle", ticket_id, investigation_id, TicketStatus.NEEDS_TECH, NOW)
    assert desk.tickets("waiting", "connector:crm", 10) == [ticket_id]
    assert desk.tickets("waiting", "connector:other", 10) == []
    desk.tickets("requeue", ticket_id, NOW)
    assert desk.tickets("waiting", "connector:crm", 10) == []


def parked(desk: Desk, waits_for: str) -> UUID:
    """Keep a ticket that ended waiting for something to be mended."""
    ticket_id, investigation_id = desk.queued(), new_id()
    desk.tickets("claim", investigation_id, NOW)
    desk.tickets("park", ticket_id, waits_for)
    assert desk.tickets("mended") == []  # it is still being investigated
    desk.tickets("settle", ticket_id, investigation_id, TicketStatus.NEEDS_TECH, NOW + 2 * MINUTE)
    return ticket_id


@pytest.mark.parametrize(("minutes", "mended"), [(-1, []), (1, ["connector:crm"])])
def test_a_connector_that_was_changed_since_the_claim_is_mended(
    desk: Desk, minutes: int, mended: list[str]
) -> None:
    changed = NOW + minutes * MINUTE
    given = {"transport": Transport.IN_PROCESS, "builtin": "postgres", "created_at": changed}
    crm = Connector(id=new_id(), name="crm", changed_at=changed, **given)  # type: ignore[arg-type]
    desk.do("connectors", "add", crm, b"sealed")
    parked(desk, "connector:crm")
    assert desk.tickets("mended") == mended


@pytest.mark.parametrize(
    ("state", "mended"), [(SourceState.NEEDS_AUTH, []), (SourceState.ACTIVE, ["source:desk"])]
)
def test_a_source_that_is_active_is_mended(
    desk: Desk, state: SourceState, mended: list[str]
) -> None:
    made = source(state=SourceState.NEEDS_AUTH)
    desk.sources("add", made, b"sealed")
    ticket_id = parked(desk, "source:desk")
    desk.sources("change", replace(made, state=state), None, NOW)
    assert desk.tickets("mended") == mended
    desk.tickets("requeue", ticket_id, NOW)
    assert desk.tickets("mended") == []


def test_tickets_of_a_persona_that_is_off_stay_in_the_queue(desk: Desk) -> None:
    held = desk.queued(persona="night", priority=Priority.CRITICAL)
    other = desk.queued()
    desk.do("personas", "add", persona(autonomy=Autonomy.OFF))
    assert desk.tickets("claim", new_id(), NOW).id == other
    numbers = desk.tickets("numbers")
    assert (numbers.depth, numbers.held) == (0, 1)
    desk.do("personas", "add", persona(version=2, autonomy=Autonomy.PROPOSE))
    assert desk.tickets("claim", new_id(), NOW).id == held


def test_an_unknown_persona_is_off_when_the_default_one_is(desk: Desk) -> None:
    desk.queued(persona="nobody")
    desk.do("personas", "add", persona(name="default", autonomy=Autonomy.OFF))
    assert desk.tickets("claim", new_id(), NOW) is None
    assert (desk.tickets("depth", 5), desk.tickets("numbers").held) == (0, 1)


def test_a_persona_that_is_on_is_taken_though_the_default_one_is_off(desk: Desk) -> None:
    desk.do("personas", "add", persona(name="default", autonomy=Autonomy.OFF))
    desk.do("personas", "add", persona(name="night", autonomy=Autonomy.PROPOSE))
    mine = desk.queued(persona="night")
    desk.queued(persona="nobody")
    assert desk.tickets("depth", 5) == 1
    assert desk.tickets("claim", new_id(), NOW).id == mine


def test_the_queue_is_counted_as_far_as_it_matters(desk: Desk) -> None:
    assert desk.tickets("depth", 3) == 0
    for _ in range(4):
        desk.queued()
    desk.tickets("add", ticket())
    assert [desk.tickets("depth", most) for most in (1, 3, 4, 9)] == [1, 3, 4, 4]


def test_pages_are_the_newest_first_and_filtered(desk: Desk) -> None:
    one, two, three = desk.queued(), desk.queued(source="mail"), desk.queued()
    desk.tickets("add", ticket())

    def ids(**asked: Any) -> list[UUID]:
        given = {"status": TicketStatus.QUEUED, "source": None, "before": None, "limit": 10}
        return [row.id for row in desk.tickets("page", **(given | asked))]

    assert ids() == [three, two, one]
    assert ids(limit=2) == [three, two]
    assert ids(before=two) == [one]
    assert ids(source="mail") == [two]
    assert len(ids(status=None)) == 4


def test_the_window_holds_what_was_received_since(desk: Desk) -> None:
    desk.queued(received_at=NOW - timedelta(days=2))
    late, early = desk.queued(received_at=NOW), desk.queued(received_at=NOW - MINUTE)
    found = desk.tickets("since", NOW - timedelta(days=1), 10)
    assert [row.id for row in found] == [late, early]
    assert len(desk.tickets("since", NOW - timedelta(days=1), 1)) == 1


def test_the_numbers_of_an_empty_queue_are_none(desk: Desk) -> None:
    numbers = desk.tickets("numbers")
    assert (numbers.depth, numbers.new, numbers.average_s) == (0, 0, None)


def test_the_average_is_of_what_was_investigated_to_an_end(desk: Desk) -> None:
    for minutes in (1, 3):
        ticket_id, investigation_id = desk.queued(), new_id()
        desk.tickets("claim", investigation_id, NOW)
        end = NOW + minutes * MINUTE
        desk.tickets("settle", ticket_id, investigation_id, TicketStatus.AUTO_RESOLVED, end)
    desk.queued()
    desk.tickets("add", ticket())
    worthless = ticket()
    desk.tickets("add", worthless)
    desk.tickets("screened", worthless.id, {}, TicketStatus.DISCARDED, NOW)
    numbers = desk.tickets("numbers")
    assert (numbers.depth, numbers.new, numbers.discarded) == (1, 1, 1)
    assert numbers.average_s == pytest.approx(120.0)


def test_a_source_is_kept_under_its_name(desk: Desk) -> None:
    kept = source()
    assert desk.sources("add", kept, b"sealed")
    assert not desk.sources("add", source(), b"other")
    assert desk.sources("find", kept.id) == desk.sources("named", "desk") == kept
    assert desk.sources("named", "none") is None
    assert desk.sources("secrets", kept.id) == b"sealed"
    assert desk.sources("cursor", kept.id) is None
    with pytest.raises(NotFound):
        desk.sources("secrets", new_id())


def test_sources_are_listed_by_name(desk: Desk) -> None:
    for name in ("b", "a", "c"):
        desk.sources("add", source(name), b"")
    assert [source.name for source in desk.sources("all")] == ["a", "b", "c"]


def test_a_source_keeps_its_secrets_unless_it_is_given_others(desk: Desk) -> None:
    kept = source()
    desk.sources("add", kept, b"old")
    changed = replace(kept, config={"a": 1}, state=SourceState.PAUSED, poll_seconds=600)
    desk.sources("change", changed, None, NOW)
    assert desk.sources("find", kept.id) == changed
    assert desk.sources("secrets", kept.id) == b"old"
    desk.sources("change", changed, b"new", NOW)
    assert desk.sources("secrets", kept.id) == b"new"


def test_a_poll_that_worked_ends_failures(desk: Desk) -> None:
    kept = source()
    desk.sources("add", kept, b"")
    desk.sources("failed", kept.id, "unreachable", SourceState.NEEDS_AUTH, NOW)
    desk.sources("failed", kept.id, "unreachable", SourceState.ACTIVE, NOW)
    failed = desk.sources("find", kept.id)
    assert (failed.failures, failed.error, failed.state) == (2, "unreachable", SourceState.ACTIVE)
    desk.sources("failed", kept.id, "needs-auth", SourceState.NEEDS_AUTH, NOW)
    desk.sources("polled", kept.id, "cursor-2", NOW)
    polled = desk.sources("find", kept.id)
    assert polled.state is SourceState.ACTIVE
    assert (polled.failures, polled.error, polled.polled_at) == (0, None, NOW)
    assert desk.sources("cursor", kept.id) == "cursor-2"


def test_a_source_that_was_paused_meanwhile_stays_paused(desk: Desk) -> None:
    kept = source()
    desk.sources("add", kept, b"")
    desk.sources("change", replace(kept, state=SourceState.PAUSED), None, NOW)
    for state in (SourceState.ACTIVE, SourceState.NEEDS_AUTH):
        desk.sources("failed", kept.id, "unreachable", state, NOW)
        assert desk.sources("find", kept.id).state is SourceState.PAUSED


def test_a_delivery_is_taken_once_and_let_go_after_a_week(desk: Desk) -> None:
    one, other = source("one"), source("other")
    for kept in (one, other):
        desk.sources("add", kept, b"")
    assert desk.sources("event", one.id, "delivery", NOW)
    assert not desk.sources("event", one.id, "delivery", NOW + MINUTE)
    assert desk.sources("event", other.id, "delivery", NOW)
    later = NOW + timedelta(days=8)
    assert desk.sources("event", one.id, "next", later)
    assert desk.sources("event", one.id, "delivery", later)


def test_a_removed_source_leaves_its_tickets(desk: Desk) -> None:
    kept = source()
    desk.sources("add", kept, b"")
    desk.sources("event", kept.id, "delivery", NOW)
    ticket_id = desk.queued()
    assert desk.sources("remove", kept.id)
    assert not desk.sources("remove", kept.id)
    assert desk.found(ticket_id).source == "desk"


def test_a_part_is_begun_once_and_done_once(desk: Desk) -> None:
    investigation_id, ticket_id = new_id(), new_id()
    lease: dict[str, Any] = {"now": NOW, "until": NOW + timedelta(minutes=2)}
    ids = (ticket_id, investigation_id)
    assert desk.do("write_backs", "begin", *ids, "reply", **lease)
    assert not desk.do("write_backs", "begin", *ids, "reply", **lease)
    assert desk.do("write_backs", "done", investigation_id, "reply", "c-1", NOW)
    assert not desk.do("write_backs", "done", investigation_id, "reply", "c-2", NOW)
    assert not desk.do("write_backs", "begin", *ids, "reply", **later(lease, minutes=9))
    desk.do("write_backs", "begin", *ids, "status", **lease)
    parts = desk.do("write_backs", "parts", investigation_id)
    assert {name: (one.done, one.reference) for name, one in parts.items()} == {
        "reply": (True, "c-1"),
        "status": (False, None),
    }
    assert desk.do("write_backs", "parts", new_id()) == {}


def later(lease: dict[str, Any], **by: float) -> dict[str, Any]:
    return {name: at + timedelta(**by) for name, at in lease.items()}


def test_a_part_that_was_begun_is_anothers_to_send_once_its_time_is_over_or_it_is_given_back(
    desk: Desk,
) -> None:
    ids, part = (new_id(), new_id()), "reply"
    lease: dict[str, Any] = {"now": NOW, "until": NOW + timedelta(minutes=2)}
    assert desk.do("write_backs", "begin", *ids, part, **lease)
    assert not desk.do("write_backs", "begin", *ids, part, **later(lease, minutes=1))
    second = later(lease, minutes=2)
    assert desk.do("write_backs", "begin", *ids, part, **second)
    desk.do("write_backs", "release", ids[1], part, **lease)  # the first one's, too late
    assert not desk.do("write_backs", "begin", *ids, part, **later(second, seconds=1))
    desk.do("write_backs", "release", ids[1], part, **second)
    assert desk.do("write_backs", "begin", *ids, part, **later(second, seconds=1))


def test_replies_are_the_oldest_first_and_kept_once(desk: Desk) -> None:
    ticket_id = new_id()
    replies = [
        ReplyRow(
            id=new_id(),
            ticket_id=ticket_id,
            investigation_id=new_id(),
            private=private,
            sealed=b"text",
            data_subjects=(new_id(),),
            created_at=NOW + minutes * MINUTE,
        )
        for minutes, private in ((2, True), (1, False))
    ]
    for reply in (*replies, replies[0]):
        desk.do("write_backs", "add_reply", reply)
    assert list(desk.do("write_backs", "replies", ticket_id)) == replies[::-1]


def test_the_newest_version_of_a_persona_is_the_present_one(desk: Desk) -> None:
    first = persona(instructions="Be brief.")
    second = replace(
        persona(version=2, max_usd=Decimal("1.25"), autonomy=Autonomy.ACT), id=first.id
    )
    desk.do("personas", "add", first)
    desk.do("personas", "add", second)
    desk.do("personas", "add", persona("day"))
    assert desk.do("personas", "find", "night") == second
    assert [item.persona.name for item in desk.do("personas", "all")] == ["day", "night"]
    assert list(desk.do("personas", "versions", "night")) == [second, first]


def test_a_removed_persona_is_found_no_more_but_its_versions_are(desk: Desk) -> None:
    first = persona()
    gone = replace(persona(version=2), id=first.id, removed=True)
    for version in (first, gone):
        desk.do("personas", "add", version)
    assert desk.do("personas", "find", "night") is None
    assert list(desk.do("personas", "all")) == []
    back = replace(persona(version=3), id=first.id)
    desk.do("personas", "add", back)
    assert desk.do("personas", "find", "night") == back
    assert len(desk.do("personas", "versions", "night")) == 3
