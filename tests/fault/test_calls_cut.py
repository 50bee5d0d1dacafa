"""Kill -9 between `action.started` and the call, and between the call and `action.applied`.

A connector that knows keys is asked again under the same one; of a connector that does not, a
person is told that nobody knows. Either way nothing happens twice.
"""

from typing import Any

import pytest
from tests.fault.office import SECONDS, Office
from tests.plugins.waiting import eventually

from cairn.investigations.state import State


def cut(office: Office, where: str) -> dict[str, Any]:
    """Kill the worker whose call waits there; its investigation once it is over."""
    office.hold(where)
    ticket = office.ticket()
    office.reaches(ticket, State.WAITING_APPROVAL)
    office.approve()
    eventually(office.held, seconds=SECONDS, what="the call")
    row = office.row(ticket)
    assert row is not None
    assert office.calls(row["id"], "started") == 1
    office.kill_worker(State.ACTING)
    office.release()
    return office.over(ticket)


@pytest.mark.parametrize("where", ["before", "after"])
def test_a_call_cut_off_is_repeated_under_its_key_where_the_connector_knows_keys(
    office: Office, where: str
) -> None:
    ended = cut(office, where)
    assert (ended["state"], ended["verdict"]) == ("DONE", "auto_resolved")
    assert len(office.effects()) == 1
    assert office.calls(ended["id"], "applied") == 1
    office.is_whole(ended["id"])


@pytest.mark.parametrize(("where", "effects"), [("before", 0), ("after", 1)])
def test_a_call_cut_off_is_left_to_a_person_where_the_connector_knows_no_keys(
    forgetful_office: Office, where: str, effects: int
) -> None:
    office = forgetful_office
    ended = cut(office, where)
    assert (ended["state"], ended["verdict"]) == ("DONE", "needs_tech")
    assert len(office.effects()) == effects
    assert office.calls(ended["id"], "unknown") == 1
    office.is_whole(ended["id"])
