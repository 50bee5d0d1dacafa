"""Following an agent at work as a person does: live, by polling, by keyboard, on a phone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import httpx
import pytest
from tests.integration.console.test_in_a_browser import CHROMIUM, looks_well
from tests.support.deciding import agents_of, question

from cairn.kernel.access import PersonRole

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.integration.console.test_in_a_browser import Site

HOSTILE = "<script>window.hit = 1</script><img src=x onerror='window.hit = 1'>"

pytestmark = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="there is no chromium on this machine"
)


def test_a_timeline_grows_under_the_eyes_of_who_watches_and_leads_to_its_sources(
    site: Site, page: Page
) -> None:
    agents = agents_of(site.front.app.state.services, site.world)
    ticket = httpx.post(
        f"{site.url}/v1/tickets",
        json={"title": HOSTILE, "body": HOSTILE},
        headers={"authorization": f"Bearer {site.front.key}"},
    ).json()
    approval_id = question(agents)
    site.person(page, PersonRole.OPERATOR)
    page.goto(f"{site.url}/console/tickets/{ticket['id']}")
    assert HOSTILE in page.get_by_role("heading", level=1).inner_text()
    looks_well(page)

    page.get_by_role("link", name="Investigations", exact=True).click()
    page.locator("td a").first.press("Enter")
    page.get_by_role("heading", name="Investigation by default").wait_for()
    page.get_by_role("link", name="It waits for a yes to accounts.unlock").wait_for()
    looks_well(page)
    before = page.locator("#steps li").count()
    agents.approvals.approve(
        agents.admin, approval_id, binding=agents.pending().binding, reason=HOSTILE
    )
    page.get_by_text("a person said yes").wait_for()
    agents.work(agents.pending().investigation_id)
    page.locator("#summary").get_by_text("auto resolved").wait_for()
    after = page.locator("#steps li").count()
    assert after > before
    page.reload()
    assert page.locator("#steps li").count() == after
    looks_well(page)

    page.get_by_text("Tool calls (1)").click()
    page.locator("#summary").get_by_role("link", name="[tool:").click()
    page.get_by_text("What a tool said").wait_for()
    looks_well(page)
    page.go_back()
    page.get_by_role("link", name="What was asked").wait_for()
    assert page.evaluate("window.hit") is None


def test_where_nothing_is_streamed_the_page_polls(site: Site, page: Page) -> None:
    agents = agents_of(site.front.app.state.services, site.world)
    approval_id = question(agents)
    id_ = agents.pending().investigation_id
    site.person(page, PersonRole.OPERATOR)
    page.route("**/live?*", lambda route: route.fulfill(status=204))  # it ends an EventSource
    page.goto(f"{site.url}/console/investigations/{id_}")
    page.locator("#live[hx-get]").wait_for(state="attached")
    agents.approvals.reject(agents.admin, approval_id, reason="No.")
    page.get_by_text("a person said no").wait_for()
    agents.work(id_)
    page.locator("#live:not([data-poll])").wait_for(state="attached")
    count = page.locator("#steps li").count()
    page.reload()
    assert page.locator("#steps li").count() == count
