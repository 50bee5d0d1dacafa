"""Conversations and the log of a session, as a person reads them in a real browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.console import test_in_a_browser
from tests.integration.console.test_conversations import PEANUTS, draw
from tests.integration.console.test_in_a_browser import HOSTILE, NARROW, WIDE, go_to, looks_well
from tests.integration.console.test_memories_in_a_browser import call

from cairn.kernel.access import PersonRole

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize
    from tests.integration.console.test_in_a_browser import Site

pytestmark = test_in_a_browser.pytestmark


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_a_person_reads_what_was_said_what_it_gave_and_the_log_of_its_session(
    site: Site, page: Page, size: ViewportSize
) -> None:
    session, client = f"visit-{size['width']}", f"hut-{size['width']}"
    about = {"channel": "api", "session_id": session, "client_id": client}
    for role, text in (("user", PEANUTS), ("assistant", HOSTILE)):
        said = call(site, "POST", "/v1/conversations/messages", role=role, text=text, **about)
    draw(site.front, site.world)
    site.person(page, PersonRole.OWNER)
    page.set_viewport_size(size)
    go_to(page, "Conversations")
    page.get_by_label("Client").fill(client)
    page.get_by_role("button", name="Show").press("Enter")
    page.wait_for_url("**client=hut**")
    if size is WIDE:
        looks_well(page)
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    row = page.get_by_role("row").filter(has_text=session)
    chip = row.get_by_role("button", name=f"Copy {said['conversation_id']}")
    assert chip.inner_text().endswith(said["conversation_id"][:8])
    chip.press("Enter")
    row.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == said["conversation_id"]
    row.get_by_text("View logs").press("Enter")
    with page.context.expect_page() as opened:
        row.get_by_role("link", name="Events").click()
    opened.value.get_by_role("heading", name="Log of a session").wait_for()
    assert f"session={session}&stream=events" in opened.value.url
    opened.value.close()
    page.get_by_role("link", name=session, exact=True).click()
    page.get_by_role("heading", name="What was said").wait_for()
    assert HOSTILE in page.get_by_role("region", name="What was said").inner_text()
    assert page.evaluate("window.hit") is None
    copy = page.get_by_role("button", name=f"Copy {said['conversation_id']}")
    copy.click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == said["conversation_id"]
    page.get_by_text("Ids of message 1").click()
    if size is WIDE:
        looks_well(page)
    page.get_by_role("link", name="allergic to peanuts").click()
    page.get_by_role("heading", name="A memory").wait_for()
    page.go_back()
    page.reload()
    page.get_by_role("link", name="View logs").click()
    region = page.get_by_role("region", name="Lines")
    region.get_by_text("message: user").wait_for()
    call(site, "POST", "/v1/events", type="action.completed", text="The door opened.",
         session_id=session)  # fmt: skip
    region.get_by_text("event: action.completed").wait_for()  # without a reload
    page.get_by_role("link", name="events", exact=True).click()
    region.get_by_text("event: action.completed").wait_for()
    assert region.get_by_text("message: user").count() == 0
    page.go_back()
    region.get_by_text("message: user").wait_for()
    if size is WIDE:
        looks_well(page)


def test_a_reader_sees_conversations_and_no_logs(site: Site, page: Page) -> None:
    about = {"channel": "api", "session_id": "quiet", "role": "user"}
    said = call(site, "POST", "/v1/conversations/messages", text="Hello", **about)
    site.person(page, PersonRole.READER)
    page.goto(f"{site.url}/console/conversations/{said['conversation_id']}")
    page.get_by_text("Hello", exact=True).wait_for()
    assert page.get_by_role("link", name="View logs").count() == 0
    assert page.get_by_role("button", name="Draw none").count() == 0
