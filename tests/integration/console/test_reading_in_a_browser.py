"""Clients, summaries, statistics and a shared conversation, as a person walks them by keyboard."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.integration.console import test_in_a_browser
from tests.integration.console.test_conversations import PEANUTS, draw
from tests.integration.console.test_in_a_browser import HOSTILE, NARROW, WIDE, go_to, looks_well
from tests.integration.console.test_memories_in_a_browser import call
from tests.integration.console.test_reading import sum_up

from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.integration.console.test_in_a_browser import Site

pytestmark = test_in_a_browser.pytestmark


def test_a_person_goes_from_a_client_to_a_talk_shares_it_and_reads_it_in_short(
    site: Site, page: Page
) -> None:
    client, session = f"hut-{new_id()}", f"visit-{new_id()}"
    about = {"channel": "api", "session_id": session, "client_id": client, "scope": "public"}
    for role, text in (("user", PEANUTS), ("assistant", HOSTILE), ("user", "I speak German.")):
        call(site, "POST", "/v1/conversations/messages", role=role, text=text, **about)
    draw(site.front, site.world)
    sum_up(site.front, site.world)
    agent = f"visits-{new_id()}"
    call(site, "POST", "/v1/agents", slug=agent, name="Visits", description="Talks.")
    key = call(site, "POST", "/v1/keys", name=HOSTILE, role="public", agent_slug=agent)
    site.person(page, PersonRole.OWNER)
    page.set_viewport_size(NARROW)
    go_to(page, "Clients")
    page.get_by_label("Client", exact=True).fill(client)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="What is the case").wait_for()
    looks_well(page)
    page.set_viewport_size(NARROW)
    page.get_by_role("link", name=session, exact=True).press("Enter")
    page.get_by_role("heading", name="Share it with a key").wait_for()
    page.get_by_label("Id of a public key").fill(str(new_id()))
    box = page.get_by_label("For good: it can be bound to no other one afterwards")
    box.press("Space")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_text("is not a public key of this workspace").wait_for()
    looks_well(page)
    page.get_by_label("Id of a public key").fill(key["key"]["id"])
    box.press("Space")
    page.get_by_role("button", name="Let it see this").press("Enter")
    page.get_by_text("The key sees this conversation").wait_for()
    looks_well(page)
    page.reload()
    page.get_by_role("link", name="summaries of this session").click()
    page.get_by_role("heading", name="Summaries").wait_for()
    looks_well(page)
    page.get_by_role("region", name="Summaries").get_by_role("link").first.press("Enter")
    page.get_by_role("heading", name="What it is made of").wait_for()
    page.set_viewport_size(WIDE)
    looks_well(page)
    page.go_back()
    page.goto(f"{site.url}/console/upkeep")
    page.get_by_role("link", name="statistics", exact=True).press("Enter")
    page.get_by_role("heading", name="How good it is").wait_for()
    looks_well(page)
    assert page.evaluate("window.hit") is None
