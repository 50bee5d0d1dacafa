"""A channel of Microsoft Teams as an owner adds and changes it: a real browser, wide and narrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
from tests.integration.console import test_in_a_browser
from tests.integration.console.test_in_a_browser import HOSTILE, looks_well
from tests.integration.console.test_people_in_a_browser import enter
from tests.support.teams_replay import APP_ID, OPERATORS, SECRET, TENANT

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.integration.console.test_in_a_browser import Site

pytestmark = test_in_a_browser.pytestmark


def test_an_owner_adds_a_channel_of_teams_changes_it_and_ties_themselves(
    site: Site, page: Page
) -> None:
    headers = {"authorization": f"Bearer {site.front.key}"}

    def channels() -> list[dict[str, object]]:
        items: list[dict[str, object]] = httpx.get(
            f"{site.url}/v1/channels", headers=headers
        ).json()["items"]
        return items

    enter(site, page)
    page.get_by_role("link", name="Administration").click()
    page.get_by_role("link", name="Channels").click()
    looks_well(page)
    page.get_by_role("link", name="teams").click()
    looks_well(page)
    adding = page.get_by_role("region", name="Add a channel")
    adding.get_by_label("Name of the channel").fill("office")
    adding.get_by_label("App id").fill("no id")
    adding.get_by_label("Tenant id").fill(TENANT)
    adding.get_by_label("Operators").fill(OPERATORS)
    adding.get_by_label("Client secret").fill(SECRET)
    adding.get_by_label("Minutes to wait for a person").fill("7")
    adding.get_by_role("button", name="Add the channel").click()
    page.get_by_role("alert").first.wait_for()
    looks_well(page)
    assert channels() == []
    assert SECRET not in page.content()
    adding.get_by_label("App id").fill(APP_ID)
    adding.get_by_label("Client secret").fill(SECRET)
    adding.get_by_role("button", name="Add the channel").press("Enter")
    page.get_by_text("It is heard from now on.").wait_for()
    (channel,) = channels()
    assert (channel["kind"], channel["name"]) == ("teams", "office")
    shown = page.get_by_role("region", name="office")
    assert str(channel["events_path"]) in shown.inner_text()
    assert SECRET not in page.content()
    looks_well(page)
    shown.locator("summary").filter(has_text="Change").click()
    shown.get_by_text("Limits and more").click()
    looks_well(page)
    shown.get_by_label("What is said when it is too much").fill(HOSTILE)
    shown.get_by_role("button", name="Change it").click()
    page.get_by_text("The change holds from now on.").wait_for()
    assert page.evaluate("window.hit") is None
    page.get_by_role("button", name="Make a code").click()
    page.get_by_text("Send this to the app").wait_for()
    looks_well(page)
    page.get_by_role("button", name="Pause").click()
    page.get_by_text("Nothing is heard of it any more.").wait_for()
    page.reload()
    shown.locator("summary").filter(has_text="Change").click()
    shown.get_by_role("checkbox", name="Nothing is heard of it").check()
    shown.get_by_role("button", name="Remove").click()
    page.get_by_text("It is gone, with its secrets and ties.").wait_for()
    assert channels() == []
