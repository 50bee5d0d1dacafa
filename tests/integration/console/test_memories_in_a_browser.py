"""Memories as a person finds, corrects and forgets them: a real browser, wide and narrow."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.integration.console import test_in_a_browser
from tests.integration.console.test_in_a_browser import NARROW, WIDE, go_to, looks_well

from cairn.kernel.access import PersonRole

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize
    from tests.integration.console.test_in_a_browser import Site

pytestmark = test_in_a_browser.pytestmark
HOSTILE = "<img src=x onerror='window.hit = 1'><script>window.hit = 1</script>"


def call(site: Site, method: str, path: str, **body: Any) -> Any:
    headers = {"authorization": f"Bearer {site.front.key}"}
    answer = httpx.request(method, site.url + path, json=body or None, headers=headers)
    assert answer.is_success, answer.text
    return answer.json()


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_a_person_finds_corrects_and_forgets_a_memory(
    site: Site, page: Page, size: ViewportSize
) -> None:
    client = f"ivo-{size['width']}"
    told = call(site, "POST", "/v1/memories", type="fact", client_id=client,
                text=f"Ivo of {client} plays the tuba. {HOSTILE}")  # fmt: skip
    then = call(site, "GET", "/v1/status")["ledger_position"]
    call(site, "POST", "/v1/memories", type="fact", client_id=client, text=f"Ivo of {client} left.")
    site.person(page, PersonRole.OWNER)
    page.set_viewport_size(size)
    go_to(page, "Memories")
    page.get_by_role("searchbox").fill(f"Which instrument does Ivo of {client} play, the tuba?")
    page.get_by_role("searchbox").press("Enter")
    hit = page.get_by_role("article").filter(has_text="plays the tuba").filter(has_text=client)
    hit.get_by_text("keyword: place").wait_for()
    if size is WIDE:
        looks_well(page)
    page.get_by_role("link", name="Why this answer").click()
    page.get_by_role("heading", name="Step by step").wait_for()
    page.get_by_role("button", name="Yes for result 1", exact=True).press("Enter")
    page.get_by_text("Noted.").wait_for()
    if size is WIDE:
        looks_well(page)
    results = page.get_by_role("region", name="Results")
    results.get_by_role("link", name=f"Ivo of {client} plays the tuba").click()
    page.get_by_role("heading", name="A memory").wait_for()
    assert page.evaluate("window.hit") is None
    if size is WIDE:
        looks_well(page)

    page.get_by_text("Correct it").click()
    page.get_by_label("What it should say").fill(f"Ivo of {client} plays the cello.")
    page.get_by_label("Why").fill("I asked him")
    page.get_by_role("button", name="Correct", exact=True).click()
    page.get_by_text("1 memory: corrected").wait_for()
    page.reload()
    assert "cello" in page.locator(".saying").inner_text()
    page.get_by_role("button", name="Undo").click()
    page.get_by_text("as before again").wait_for()
    assert "tuba" in page.locator(".saying").inner_text()
    page.go_back()
    page.go_forward()
    page.get_by_role("button", name="Pin", exact=True).press("Enter")
    page.get_by_text("1 memory: pinned").wait_for()

    page.goto(f"{site.url}/console/memories?client={client}")
    page.get_by_role("checkbox", name="left").check()
    page.get_by_label("Do", exact=True).select_option("delete")
    page.get_by_role("button", name="Do it").click()
    page.get_by_text("1 memory: deleted").wait_for()
    page.goto(f"{site.url}/console/memories?client={client}")
    page.get_by_label("As of").evaluate(
        "(slider, then) => { slider.value = then;"
        " slider.dispatchEvent(new Event('change', {bubbles: true})); }",
        then,
    )
    page.get_by_text(f"This is what stood at entry {then}").wait_for()
    assert page.get_by_role("article").count() == 1
    page.reload()
    page.get_by_text(f"This is what stood at entry {then}").wait_for()
    page.get_by_role("link", name="Back to now").click()

    page.goto(f"{site.url}/console/memories/{told['id']}")
    page.get_by_role("link", name="forget them").click()
    page.get_by_role("heading", name="What would go").wait_for()
    if size is WIDE:
        looks_well(page)
    page.get_by_label("Write the name again").fill(client)
    page.get_by_role("button", name="Forget, for ever").click()
    page.get_by_text("Nothing was found any more").wait_for()
    looks_well(page)
    page.goto(f"{site.url}/console/memories?client={client}&state=any")
    page.get_by_text("No memory is like this").wait_for()


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_the_keyboard_alone_finds_a_memory_corrects_it_and_takes_that_back(
    site: Site, page: Page, size: ViewportSize
) -> None:
    about = f"Juno-{size['width']}"
    call(site, "POST", "/v1/memories", type="fact", text=f"{about} keeps bees on the roof.")
    site.person(page, PersonRole.REVIEWER)
    page.set_viewport_size(size)
    page.goto(f"{site.url}/console/memories")

    def tab_to(what: str) -> None:
        """Press Tab until the focus is at an element that this selects."""
        for _ in range(80):
            page.keyboard.press("Tab")
            if page.evaluate("what => document.activeElement.matches(what)", what):
                return
        raise AssertionError(what)

    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # skip to the content
    tab_to("#q")
    page.keyboard.type(f"Where does {about} keep bees?")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="found").wait_for()
    tab_to("article h3 a")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="A memory").wait_for()
    tab_to("#change ~ details summary")
    page.keyboard.press("Enter")
    tab_to("#text")
    page.keyboard.press("Control+a")
    page.keyboard.type(f"{about} keeps goats in the yard.")
    tab_to("#why")
    page.keyboard.type("I was there")
    page.keyboard.press("Enter")
    page.get_by_text("1 memory: corrected").wait_for()
    assert "goats" in page.locator(".saying").inner_text()
    tab_to(".notice button")
    page.keyboard.press("Enter")
    page.get_by_text("as before again").wait_for()
    assert "bees" in page.locator(".saying").inner_text()
