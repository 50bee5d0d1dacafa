"""People as an owner invites, changes and signs them out: a real browser, wide and narrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest
from tests.integration.console import test_in_a_browser
from tests.integration.console.test_in_a_browser import HOSTILE, NARROW, WIDE, go_to, looks_well

from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.integration.console.test_in_a_browser import Site

pytestmark = test_in_a_browser.pytestmark


def enter(site: Site, page: Page, role: str = "owner") -> str:
    """Sign in somebody new by the link that an admin gives them; returns their login."""
    body = {"login": f"eve-{new_id()}", "name": "Eve", "role": role}
    headers = {"authorization": f"Bearer {site.front.key}"}
    answer = httpx.post(f"{site.url}/v1/people", json=body, headers=headers)
    assert answer.is_success, answer.text
    page.goto(site.url + answer.json()["path"])
    page.get_by_role("button", name="Sign in").press("Enter")
    page.get_by_role("heading", name="Your account").wait_for()
    return body["login"]


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_an_owner_invites_somebody_who_comes_in_changes_them_and_lets_them_go(
    site: Site, page: Page, size: dict[str, int]
) -> None:
    enter(site, page)
    page.set_viewport_size({"width": size["width"], "height": size["height"]})
    go_to(page, "Administration")
    page.get_by_role("heading", name="People", exact=True).wait_for()
    looks_well(page)
    page.set_viewport_size({"width": size["width"], "height": size["height"]})
    login = f"ada-{new_id()}"
    page.get_by_label("Name", exact=True).fill(HOSTILE)
    page.get_by_label("Signs in as").fill(login)
    page.get_by_role("button", name="Invite by a link").press("Enter")
    link = page.get_by_role("region", name="A link for").locator("code").inner_text()
    looks_well(page)
    assert page.evaluate("window.hit") is None
    other = page.context.browser
    assert other is not None
    theirs = other.new_context().new_page()  # another person, another browser
    theirs.goto(link)
    theirs.get_by_role("button", name="Sign in").click()
    theirs.get_by_role("heading", name="Your account").wait_for()

    page.goto(f"{site.url}/console/people")
    assert link not in page.content()
    row = page.get_by_role("row").filter(has_text=login)
    row.get_by_text("Change", exact=False).first.click()
    row.get_by_label("Role").select_option("operator")
    row.get_by_role("button", name="Set the role").click()
    page.get_by_text("The change holds from now on.").wait_for()
    theirs.reload()
    theirs.get_by_text("operator", exact=True).wait_for()
    row.get_by_text("Change", exact=False).first.click()
    looks_well(page)
    row.get_by_role("button", name="Sign out everywhere").click()
    page.get_by_text("They are signed out everywhere.").wait_for()
    theirs.reload()
    theirs.get_by_role("heading", name="Sign in").wait_for()
    row.get_by_text("Change", exact=False).first.click()
    row.get_by_role("checkbox").check()
    row.get_by_role("button", name="Remove").click()
    page.get_by_text("They are gone").wait_for()
    assert login not in page.content()
    page.reload()
    page.go_back()


def test_a_wrong_invitation_is_shown_at_its_field_with_what_was_typed(
    site: Site, page: Page
) -> None:
    enter(site, page)
    browser = page.context.browser
    assert browser is not None
    refused = browser.new_context()  # a refusal is an error in a browser's console, so not `page`
    refused.add_cookies(page.context.cookies())  # type: ignore[arg-type]
    form = refused.new_page()
    form.goto(f"{site.url}/console/people")
    form.get_by_label("Signs in as").fill("not a login")
    form.get_by_label("Name", exact=True).fill(HOSTILE)
    form.get_by_role("button", name="Invite by a link").press("Enter")
    form.get_by_text("is 1 to 254 letters, digits").wait_for()
    assert form.get_by_label("Name", exact=True).input_value() == HOSTILE
    looks_well(form)
    assert form.evaluate("window.hit") is None


def test_a_reader_is_shown_no_administration(site: Site, page: Page) -> None:
    enter(site, page, "reader")
    go_to(page, "Home")
    page.get_by_role("heading", name="Home", exact=True).wait_for()
    assert page.get_by_role("link", name="Administration").count() == 0


def test_an_owner_lets_a_directory_in_and_gives_its_group_a_role(site: Site, page: Page) -> None:
    enter(site, page)
    go_to(page, "Administration")
    page.get_by_role("link", name="Directory").click()
    looks_well(page)
    name, group = f"Entra {new_id()}", f"{HOSTILE} {new_id()}"
    page.get_by_label("Which directory").fill(name)
    page.get_by_label("Good for so many days").fill("30")
    page.get_by_role("button", name="Make a token").press("Enter")
    token = page.get_by_role("region", name=f"The token of {name}").locator("code").inner_text()
    looks_well(page)
    headers = {"authorization": f"Bearer {token}"}
    body = {"schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"], "displayName": group}
    added = httpx.post(f"{site.url}/scim/v2/Groups", json=body, headers=headers)
    assert added.status_code == 201
    page.goto(f"{site.url}/console/scim")
    assert token not in page.content()
    row = page.get_by_role("row").filter(has_text=added.json()["id"])
    row.get_by_role("combobox").select_option("operator")
    row.get_by_role("button", name="Set").click()
    page.get_by_text("The role holds from now on").wait_for()
    assert row.get_by_role("combobox").input_value() == "operator"
    assert page.evaluate("window.hit") is None
    looks_well(page)
    row = page.get_by_role("row").filter(has_text=name)
    row.locator("summary").click()
    looks_well(page)
    row.get_by_role("checkbox").check()
    row.get_by_role("button", name="Revoke").click()
    page.get_by_text("The token opens nothing any more.").wait_for()
    assert httpx.get(f"{site.url}/scim/v2/Users", headers=headers).status_code == 401
