"""Approving as a person does: by keyboard alone, on a phone, two at once."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest
from tests.integration.console.test_in_a_browser import CHROMIUM, NARROW, looks_well
from tests.support.deciding import agents_of, question

from cairn.investigations.ports import ApprovalState
from cairn.kernel.access import PersonRole

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page
    from tests.integration.console.test_in_a_browser import Site

HOSTILE = "<script>window.hit = 1</script><img src=x onerror='window.hit = 1'>"

pytestmark = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="there is no chromium on this machine"
)


def tab_to(page: Page, goal: Locator, most: int = 60) -> None:
    """Press Tab until something has the focus."""
    for _ in range(most):
        page.keyboard.press("Tab")
        if goal.evaluate("each => each === document.activeElement"):
            return
    raise AssertionError("the keyboard does not lead there")


def test_two_people_decide_by_keyboard_and_phone_and_the_second_is_told(
    site: Site, page: Page
) -> None:
    agents = agents_of(site.front.app.state.services, site.world)
    question(agents, title="The next one")
    contested = question(agents, title=HOSTILE)
    site.person(page, PersonRole.OWNER)

    page.get_by_role("link", name="Approvals").click()
    link = page.locator(f"#q-{contested}")
    assert HOSTILE in link.inner_text()
    looks_well(page)
    tab_to(page, link)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="May the agent call accounts.unlock?").wait_for()
    assert page.get_by_text("How to unlock.").is_visible()
    page.get_by_text("Approve with changes").click()
    page.get_by_text("And do not ask again").click()
    looks_well(page)

    phone = page.context.browser.new_context(viewport=NARROW, has_touch=True).new_page()
    site.person(phone, PersonRole.OPERATOR)
    phone.goto(page.url)
    phone.get_by_label("Why not").fill("She can wait.")

    tab_to(page, page.get_by_role("button", name="Approve", exact=True))
    page.keyboard.press("Enter")
    page.get_by_text("You decided").wait_for()
    phone.get_by_role("button", name="Reject").tap()
    told = phone.get_by_role("alert").filter(has_text="decided before you")
    told.wait_for()
    assert "granted. Nothing of yours was done." in told.inner_text()
    looks_well(phone)
    assert [each.state for each in agents.questions()] == [
        ApprovalState.PENDING,
        ApprovalState.GRANTED,
    ]

    page.reload()
    page.set_viewport_size(NARROW)  # from here on by keyboard alone, on a narrow window
    tab_to(page, page.get_by_role("link", name="The next question that waits"))
    page.keyboard.press("Enter")
    page.get_by_text("It waits for a person").wait_for()
    tab_to(page, page.get_by_text("Approve with changes"))
    page.keyboard.press("Enter")
    tab_to(page, page.get_by_label("user", exact=True))
    page.keyboard.press("Control+A")
    page.keyboard.type("grace")
    tab_to(page, page.get_by_label("Why you changed it"))
    page.keyboard.type("The other one.")
    page.keyboard.press("Enter")
    page.get_by_text("You decided").wait_for()
    page.go_back()
    page.get_by_role("heading", name="May the agent call accounts.unlock?").wait_for()
    page.get_by_role("link", name="Approvals", exact=True).first.click()
    page.get_by_text("Nothing waits").wait_for()
    looks_well(page)
    assert page.evaluate("window.hit") is None
    phone.context.close()


def test_a_decision_elsewhere_is_seen_without_a_reload(site: Site, page: Page) -> None:
    agents = agents_of(site.front.app.state.services, site.world)
    id_ = question(agents)
    site.person(page, PersonRole.OPERATOR)
    page.goto(f"{site.url}/console/approvals/{id_}")
    page.get_by_text("It waits for a person").wait_for()
    agents.approvals.reject(agents.admin, id_, reason="No.")
    page.get_by_text("Somebody with a key").wait_for()
