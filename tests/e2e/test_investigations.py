"""Investigations on the running stack: a ticket worked, a person asked, an answer written back."""

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.e2e.tenant import superuser
from tests.fault.office import SECONDS, Office, open_office
from tests.plugins.waiting import eventually

from cairn.investigations.state import State

if TYPE_CHECKING:
    from tests.plugins.laptop import Laptop

TICKETS = 50
AT_ONCE = 8


@pytest.fixture
def office(laptop: "Laptop", tmp_path: Path) -> Office:
    return open_office(laptop, tmp_path, repeats=False)


def test_a_locked_account_is_looked_at_unlocked_with_a_yes_and_answered(office: Office) -> None:
    ticket = office.ticket()
    office.approve()
    ended = office.over(ticket)
    assert (ended["state"], ended["verdict"]) == ("DONE", "auto_resolved")
    steps = office.tenant.get(f"/v1/investigations/{ended['id']}/steps", limit=100)["items"]
    assert [step["seq"] for step in steps] == list(range(1, len(steps) + 1))
    assert {step["state"] for step in steps} == {state.value for state in State if not state.is_end}
    done = office.tenant.get("/v1/tool-calls", investigation_id=str(ended["id"]))["items"]
    assert {item["tool"]: item["state"] for item in done} == {
        "accounts.find_user": "applied",
        "accounts.sign_ins": "applied",
        "accounts.unlock_user": "applied",
    }
    assert office.effects() == [
        item["id"] for item in done if item["tool"] == "accounts.unlock_user"
    ]
    assert office.tenant.get(f"/v1/tickets/{ticket}")["status"] == "auto_resolved"
    office.is_whole(ended["id"])


def test_a_no_reaches_the_desk_and_nothing_happens(office: Office) -> None:
    ticket = office.ticket()
    asked = office.question()
    office.tenant.post(f"/v1/approvals/{asked['id']}/reject", {"reason": "She has left."})
    ended = office.over(ticket)
    assert (ended["state"], ended["verdict"]) == ("DONE", "needs_tech")
    assert office.effects() == []
    again = office.tenant.call(
        "POST",
        f"/v1/approvals/{asked['id']}/approve",
        json={"binding": asked["binding"], "reason": "After all."},
    )
    assert again.status_code == 409
    office.is_whole(ended["id"])


def test_fifty_tickets_at_once_are_all_worked_and_never_more_than_eight(office: Office) -> None:
    office.let_act()
    tickets = [office.ticket() for _ in range(TICKETS)]
    most = 0

    def all_over() -> bool:
        nonlocal most
        running, closed = progress(office)
        most = max(most, running)
        return closed == len(tickets)

    eventually(all_over, seconds=2 * SECONDS, what="the end of them all")
    assert 1 < most <= AT_ONCE
    assert len(office.effects()) >= 1
    with superuser(office.laptop) as root:
        not_done = root.execute(
            """SELECT state, verdict, error, count(*) FROM investigation
                WHERE workspace_id = %s AND state <> 'DONE' GROUP BY 1, 2, 3""",
            [office.tenant.id],
        ).fetchall()
        held = root.execute(
            """SELECT count(*) FROM investigation_slot
                WHERE workspace_id = %s AND investigation_id IS NOT NULL""",
            [office.tenant.id],
        ).fetchone()
    assert (not_done, held) == ([], (0,))
    assert office.tenant.chain_holds()


def progress(office: Office) -> tuple[int, int]:
    """How many of the workspace's investigations run, and how many are closed."""
    query = """SELECT count(*) FILTER (WHERE state NOT IN ('DONE', 'HALTED', 'WAITING_APPROVAL')),
        count(*) FILTER (WHERE ended_at IS NOT NULL) FROM investigation WHERE workspace_id = %s"""
    with superuser(office.laptop) as root:
        running, closed = root.execute(query, [office.tenant.id]).fetchone() or (0, 0)
    return running, closed
