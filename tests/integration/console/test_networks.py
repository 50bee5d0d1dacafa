"""The discovery network in the console: for owners and admins, and nothing of what members keep."""

# pyright: basic

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

import pytest
from tests.integration.console.test_connectors import person
from tests.integration.console.test_in_a_browser import CHROMIUM, HOSTILE, looks_well

from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.integration.console.test_in_a_browser import Site

NETWORKS = "/console/networks"


def network_of(site: Site, **more: str) -> str:
    body = {"name": f"Quay {new_id()}", "join_policy": "anyone", **more}
    return site.front.call("POST", "/v1/networks", json=body)["id"]


def member_of(site: Site, network_id: str) -> tuple[str, str]:
    """Let somebody join; return their client and their member's id."""
    client = f"ada-{new_id()}"
    path = f"/v1/networks/{network_id}"
    site.front.call("POST", f"{path}/join", json={"client_id": client})
    return client, site.front.call("GET", f"{path}/members")["items"][0]["id"]


def test_an_admin_makes_changes_and_removes_a_network_and_lets_somebody_go(site: Site) -> None:
    browser = person(site, PersonRole.ADMIN)
    made = browser.submit(NETWORKS, name=HOSTILE, prompt=HOSTILE, join_policy="anyone")
    path = made.headers["location"].partition("?")[0]
    for page in (NETWORKS, path):
        assert HOSTILE not in browser.get(page).text
    network_id = path.rpartition("/")[2]
    assert browser.submit(
        f"{path}/change", name="Quayside", prompt="Boats.", join_policy="invite_only"
    ).status_code == 303  # fmt: skip
    shown = site.front.call("GET", f"/v1/networks/{network_id}")
    assert (shown["name"], shown["prompt"], shown["join_policy"]) == (
        "Quayside", "Boats.", "invite_only",
    )  # fmt: skip
    for wrong in ({"name": ""}, {"name": "x" * 300}, {"join_policy": "all"}):
        form = {"name": "Quay", "prompt": "", "join_policy": "anyone", **wrong}
        assert browser.submit(NETWORKS, **form).status_code == 422
        assert browser.submit(f"{path}/change", **form).status_code == 422
    browser.submit(f"{path}/change", name="Quayside", prompt="", join_policy="anyone")
    _, member_id = member_of(site, network_id)
    assert member_id in browser.get(path).text
    assert browser.submit(f"{path}/remove", meant="yes").status_code == 409  # somebody is in it
    assert browser.submit(f"{path}/members/{member_id}/let-go").status_code == 422
    assert browser.submit(f"{path}/members/{member_id}/let-go", meant="yes").status_code == 303
    assert browser.submit(f"{path}/members/{member_id}/let-go", meant="yes").status_code == 404
    assert browser.submit(f"{path}/remove", meant="yes").status_code == 303
    assert browser.get(path).status_code == 404


def test_an_invite_is_shown_once_lets_one_in_and_is_withdrawn(site: Site) -> None:
    browser, network_id = person(site), network_of(site, join_policy="invite_only")
    path = f"{NETWORKS}/{network_id}"
    for days in ("", "0", "31", "soon", "1000"):
        assert browser.submit(f"{path}/invites", days=days).status_code == 422
    made = browser.submit(f"{path}/invites", days="3")
    assert made.status_code == 201
    token = re.search(r"/v1/networks/join#([A-Za-z0-9_\-]+)", made.text)[1]
    assert token not in browser.get(path).text
    body = {"token": token, "client_id": f"ben-{new_id()}"}
    assert site.front.answer("POST", "/v1/networks/join", json=body).status_code == 200
    second = browser.submit(f"{path}/invites", days="3").text
    token = re.search(r"/v1/networks/join#([A-Za-z0-9_\-]+)", second)[1]
    page = browser.get(path).text
    assert page.count("/revoke") == 1  # the used one is not withdrawn
    revoke = re.search(rf"{path}/invites/[0-9a-f\-]+/revoke", page)[0]
    assert browser.submit(revoke).status_code == 303
    assert browser.submit(revoke).status_code == 404
    late = site.front.answer("POST", "/v1/networks/join", json={**body, "token": token})
    assert late.status_code in (404, 409)


def test_no_page_shows_what_a_member_keeps_to_themselves(site: Site) -> None:
    network_id = network_of(site)
    client, _ = member_of(site, network_id)
    secret = f"canary{new_id().hex}"
    intent = {"text": f"I seek a carpenter for a boat called {secret}.", "client_id": client}
    made = site.front.answer("POST", "/v1/intents", json=intent)
    assert made.is_success, made.text
    for role in (PersonRole.OWNER, PersonRole.ADMIN):
        browser = person(site, role)
        for page in (NETWORKS, f"{NETWORKS}/{network_id}", "/"):
            answer = browser.get(page)
            assert answer.status_code == 200
            assert secret not in answer.text, page


def test_only_owners_and_admins_see_networks_and_change_them(site: Site) -> None:
    network_id = network_of(site)
    path = f"{NETWORKS}/{network_id}"
    for role in (PersonRole.OPERATOR, PersonRole.REVIEWER, PersonRole.READER):
        browser = person(site, role)
        assert [browser.get(page).status_code for page in (NETWORKS, path)] == [403, 403]
        assert NETWORKS not in browser.get("/").text
        for deed, form in (
            ("change", {"name": "x", "join_policy": "anyone"}), ("remove", {"meant": "yes"}),
            ("invites", {"days": "3"}), (f"members/{new_id()}/let-go", {"meant": "yes"}),
            (f"invites/{new_id()}/revoke", {}),
        ):  # fmt: skip
            assert browser.submit(f"{path}/{deed}", **form).status_code == 403, deed
        assert browser.submit(f"{NETWORKS}/maintain").status_code == 403
    assert person(site).get(f"{NETWORKS}/{new_id()}").status_code == 404
    assert person(site).get(f"{NETWORKS}/nothing").status_code == 404


def test_feeds_are_looked_after_at_once(site: Site) -> None:
    answer = person(site).submit(f"{NETWORKS}/maintain")
    assert answer.status_code == 200
    assert "Looked after" in answer.text


@pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="there is no chromium on this machine"
)
def test_an_owner_makes_a_network_and_invites_somebody_in_a_browser(site: Site, page: Page) -> None:
    site.person(page, PersonRole.OWNER)
    page.get_by_role("link", name="Network", exact=True).click()
    page.get_by_role("heading", name="Discovery network").wait_for()
    looks_well(page)
    page.get_by_label("Name", exact=True).fill(HOSTILE)
    page.get_by_label("What belongs there").fill(HOSTILE)
    page.get_by_role("button", name="Make the network").press("Enter")
    page.get_by_text("It is there.").wait_for()
    looks_well(page)
    page.get_by_role("button", name="Make an invite").press("Enter")
    link = page.get_by_role("region", name="An invite for one person").locator("code").inner_text()
    looks_well(page)
    page.get_by_role("link", name="Discovery network").click()
    page.get_by_role("link", name=HOSTILE).click()
    page.get_by_text("open until").wait_for()
    assert link not in page.content()
    page.get_by_role("button", name="Withdraw").click()
    page.get_by_text("The invite lets nobody in.").wait_for()
    page.reload()
    page.go_back()
    page.go_forward()
    assert page.evaluate("window.hit") is None
