"""Taints from the console: what would be held back, the act, one of them, and letting it out."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.integration.console import test_memories
from tests.integration.console.test_memories import HOSTILE, follow, tell
from tests.support.console import signed_in
from tests.support.world import open_world

from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from tests.integration.storage.test_console import Deployed
    from tests.plugins.postgres import Database

deployed = test_memories.deployed
PAGE = "/console/ledger/taints"


def test_what_would_go_is_shown_before_it_does_and_comes_back_when_it_is_lifted(
    deployed: Deployed,
) -> None:
    admin = deployed.person(f"taints-{new_id()}", PersonRole.ADMIN)
    session = f"talk {HOSTILE}"
    memory = tell(deployed, "The bridge is closed.", session_id=session)
    deployed.front.call("POST", "/v1/search", json={"query": "Is the bridge closed?"})
    form = {"kind": "session", "value": session, "reason": f"Forged. {HOSTILE}"}
    shown = admin.submit(PAGE, **form)
    assert shown.status_code == 200
    assert "1 thing. Nothing was changed yet." in shown.text
    assert memory in shown.text
    assert "/console/searches/" in shown.text.partition('id="new"')[0]
    assert "<b onclick" not in shown.text
    assert deployed.front.call("GET", f"/v1/memories/{memory}")["state"] == "active"
    answer = admin.submit(PAGE, **form, hold="yes")
    page = follow(admin, answer)
    assert "It is held back" in page
    assert "1 of 1 are out of recall" in page
    assert "&lt;script&gt;" in page
    assert "<b onclick" not in page
    taint = answer.headers["location"].partition("?")[0]
    assert deployed.front.call("GET", f"/v1/memories/{memory}")["state"] == "quarantined"
    again = admin.submit(PAGE, **form, hold="yes")  # a second press goes on with the same one
    assert again.headers["location"].partition("?")[0] == taint
    assert f'href="{taint}"' in admin.get(PAGE).text
    assert admin.submit(f"{taint}/lift").status_code == 422  # nobody said that it is meant
    assert "stands" in admin.get(taint).text
    page = follow(admin, admin.submit(f"{taint}/lift", meant="yes"))
    assert "It is lifted" in page
    assert "Lift it</button>" not in page
    assert deployed.front.call("GET", f"/v1/memories/{memory}")["state"] == "active"


def test_a_node_is_held_back_from_its_page_and_what_is_not_there_is_told(
    deployed: Deployed,
) -> None:
    admin = deployed.person(f"asks-{new_id()}", PersonRole.OWNER)
    memory = tell(deployed, "The well is dry.")
    link = f"{PAGE}?kind=node&amp;value={memory}"
    assert link in admin.get(f"/console/memories/{memory}").text
    asked = admin.get(link.replace("&amp;", "&")).text
    assert f'value="{memory}"' in asked
    assert '<option value="node" selected>' in asked
    for kind, value, reason in (
        ("node", str(new_id()), "So."), ("node", "no-id", "So."), ("source", "nowhere.md", "So."),
        ("agent", "", "So."), ("agent", "scout", ""), ("agent", "scout", "x" * 1_001),
    ):  # fmt: skip
        answer = admin.submit(PAGE, kind=kind, value=value, reason=reason)
        assert answer.status_code == 422, (kind, value)
        assert '-wrong" role="alert"' in answer.text
        assert f'value="{value}"' in answer.text
    assert admin.submit(PAGE, kind="moon", value="x", reason="So.").status_code == 422
    held = admin.submit(PAGE, kind="node", value=memory, reason="So.", hold="yes")
    assert held.status_code == 303
    assert "The well is dry" not in admin.get("/console/memories").text


def test_taints_are_for_owners_and_admins_of_their_workspace(
    deployed: Deployed, database: Database
) -> None:
    tell(deployed, "The road is long.", session_id="road")
    form = {"session": "road", "reason": "So."}
    taint = deployed.front.call("POST", "/v1/taint", json=form)["taint_id"]
    typed = {"kind": "session", "value": "road", "reason": "So.", "hold": "yes"}
    for role in (PersonRole.OPERATOR, PersonRole.REVIEWER, PersonRole.READER):
        browser = deployed.person(f"no-{new_id()}", role)
        for answer in (
            browser.get(f"{PAGE}/{taint}"),
            browser.submit(PAGE, **typed),
            browser.submit(f"{PAGE}/{taint}/lift", meant="yes"),
        ):
            assert answer.status_code == 403
    apart = open_world(database.owner_url, database.app_url, f"other {new_id()}")
    try:
        stranger = signed_in(deployed.app, apart.workspace_id, f"stranger-{new_id()}")
        assert stranger.get(f"{PAGE}/{taint}").status_code == 404
        assert stranger.submit(f"{PAGE}/{taint}/lift", meant="yes").status_code == 404
        assert "Nothing is tainted" in stranger.get(PAGE).text
    finally:
        apart.pool.close()
    assert deployed.front.call("GET", f"/v1/taints/{taint}")["taint"]["lifted_at"] is None
