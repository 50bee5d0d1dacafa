"""A person who never saw the command line, from the first link to a chat: stack and Chromium.

A memory is found, corrected and forgotten, a call approved on a phone, a customer's chat taken.
"""

# pyright: basic

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest
from tests.fault.office import SECONDS, Office, open_office
from tests.integration.chat import test_widget_in_a_browser as widget
from tests.integration.console.test_in_a_browser import CHROMIUM, NARROW, WIDE, go_to, looks_well
from tests.plugins.waiting import eventually
from tests.support.console import PASSWORD

from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Browser, Page
    from tests.plugins.laptop import Laptop

MS = SECONDS * 1_000
"""How long pages wait on a busy machine, in milliseconds."""

pytestmark = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="there is no chromium on this machine"
)


@pytest.fixture
def office(laptop: Laptop, tmp_path: Path) -> Office:
    return open_office(laptop, tmp_path, repeats=False)


@pytest.fixture
def shop(office: Office) -> Iterator[str]:
    """The address of a shop whose page has the widget, which calls people."""
    url, pages = office.laptop.url, dict[str, str]()
    with widget._pages(pages) as host:
        settings: dict[str, Any] = {
            "origins": [host],
            "anonymous": {"per_minute": 1_000, "challenge_after": None},
            "hand_off": {"wait_minutes": 10, "away_minutes": 10},
        }
        answer = office.tenant.call("PUT", "/v1/widget", json=settings)
        assert answer.status_code == 200, answer.text
        pages["policy"] = (
            f"default-src 'none'; style-src 'unsafe-inline'; script-src {url}; connect-src {url}"
        )
        script = f'<script src="{url}/widget.js" data-widget="{answer.json()["id"]}"></script>'
        pages["/"] = widget._page(script)
        yield f"{host}/"


@pytest.fixture
def browser() -> Iterator[Browser]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(browser: Browser) -> Page:
    page = browser.new_context(viewport=WIDE).new_page()
    page.set_default_timeout(MS)
    return page


def test_a_person_finds_corrects_forgets_approves_and_takes_over_a_chat_without_the_command_line(
    office: Office, shop: str, browser: Browser
) -> None:
    tenant, page, wrong = office.tenant, opened(browser), list[str]()
    page.context.on("weberror", lambda error: wrong.append(str(error.error)))
    fact = {"type": "fact", "client_id": "ivo", "text": "Ivo plays the tuba on Fridays."}
    tenant.post("/v1/memories", fact)
    tenant.all_embedded()
    ticket = office.ticket()  # an agent takes it up meanwhile

    owner = {"login": f"owner-{new_id()}", "name": "Olga", "role": "owner"}
    page.goto(tenant.laptop.url + tenant.post("/v1/people", owner)["path"])
    page.get_by_role("button", name="Sign in").click()
    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_role("button", name="Set the password").click()
    page.get_by_text("The password is set").wait_for()

    finds_corrects_and_forgets(page)
    approves_on_a_phone(page, office)
    answers_a_customer(page, opened(browser), shop)

    ended = office.over(ticket)
    assert (ended["state"], ended["verdict"]) == ("DONE", "auto_resolved")
    assert len(office.effects()) == 1
    assert tenant.chain_holds()
    assert wrong == []


def finds_corrects_and_forgets(page: Page) -> None:
    go_to(page, "Memories")
    page.get_by_role("searchbox").fill("Does Ivo play the tuba on Fridays?")
    page.get_by_role("searchbox").press("Enter")
    hits = page.get_by_role("article")
    hits.get_by_role("link", name="Ivo plays the tuba").first.click()
    page.get_by_text("Correct it").click()
    page.get_by_label("What it should say").fill("Ivo plays the cello on Fridays.")
    page.get_by_label("Why").fill("I asked him")
    page.get_by_role("button", name="Correct", exact=True).click()
    page.get_by_text("1 memory: corrected").wait_for()
    assert "cello" in page.locator(".saying").inner_text()
    page.get_by_role("link", name="forget them").click()
    page.get_by_label("Write the name again").fill("ivo")
    page.get_by_role("button", name="Forget, for ever").click()
    page.get_by_text("Nothing was found any more").wait_for()


def approves_on_a_phone(page: Page, office: Office) -> None:
    """Approve what waits; a timeline that is open all the while outlives the API's process."""
    office.question()
    watching = page.context.new_page()
    watching.set_default_timeout(MS)
    go_to(page, "Approvals")
    page.get_by_role("link", name="accounts.unlock_user").click()
    watching.goto(office.laptop.url + str(page.get_by_text("Its timeline").get_attribute("href")))
    watching.get_by_role("link", name="It waits for a yes").wait_for()
    kill_the_api(office.laptop)

    page.set_viewport_size(NARROW)
    go_to(page, "Home")
    go_to(page, "Approvals")
    page.get_by_role("link", name="accounts.unlock_user").press("Enter")
    page.get_by_role("heading", name="May the agent call accounts.unlock_user?").wait_for()
    looks_well(page)
    page.set_viewport_size(NARROW)
    page.get_by_role("button", name="Approve", exact=True).press("Enter")
    page.get_by_text("You decided").wait_for()
    page.get_by_role("link", name="Its timeline").press("Enter")
    page.locator("#summary").get_by_text("auto resolved").wait_for()  # without a reload
    page.set_viewport_size(WIDE)
    watching.locator("#summary").get_by_text("auto resolved").wait_for()
    seen = "all => all.map(each => Number(each.id.slice(5)))"
    lines = [item.locator("#steps > li").evaluate_all(seen) for item in (watching, page)]
    assert lines[0] == lines[1] == list(range(1, len(lines[0]) + 1))  # none lost, none twice
    watching.close()


def kill_the_api(laptop: Laptop) -> None:
    """Kill -9 the API's process, and start it as it was."""
    door = laptop.stack.front_door(laptop.stack.saved(), {})
    process = door.daemon.process()
    assert process is not None
    command, env = process.cmdline(), process.environ()
    process.kill()
    process.wait(timeout=10)
    door.daemon.start(command, env=env, cwd=door.project)
    eventually(door.is_ready, seconds=SECONDS, what="the API again")


def answers_a_customer(page: Page, customer: Page, shop: str) -> None:
    customer.goto(shop)
    customer.get_by_role("button", name="Chat with us").click()
    widget.say(customer, "Where is my order 4711?")
    customer.get_by_role("button", name="Talk to a person").click()
    customer.locator("cairn-chat .say.note").get_by_text("A person was asked").last.wait_for()
    go_to(page, "Chats")
    page.get_by_role("link", name="The customer asked for a person.").first.click()
    page.locator("#steps").get_by_text("Where is my order 4711?").wait_for()
    page.get_by_role("button", name="Accept").click()
    page.get_by_label("Say to the customer").fill("It comes today.")
    page.get_by_role("button", name="Send").click()
    widget.answers(customer).get_by_text("It comes today.").last.wait_for()
    widget.say(customer, "Thank you.")
    page.locator("#steps").get_by_text("Thank you.").wait_for()
    page.get_by_text("Close, give back").click()
    page.get_by_label("How it was solved").fill("It comes today.")
    page.get_by_role("button", name="Close the chat").click()
    page.get_by_role("heading", name="How it was solved").wait_for()
    customer.locator("cairn-chat .say.note").get_by_text("This chat was closed").last.wait_for()
