"""A customer on a page of another origin and operators in the console, in real browsers."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.integration.chat import test_widget_in_a_browser as widget
from tests.integration.console.test_in_a_browser import CHROMIUM, WIDE, looks_well

from cairn.kernel.access import PersonRole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import Page
    from tests.integration.console.test_in_a_browser import Site
    from tests.plugins.postgres import Database

HOSTILE = "<script>window.hit = 1</script><img src=x onerror='window.hit = 1'>"
HAND_OFF = {"wait_minutes": 10, "away_minutes": 10}

pytestmark = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="there is no chromium on this machine"
)


def key(site: Site) -> dict[str, str]:
    return {"authorization": f"Bearer {site.front.key}"}


@pytest.fixture
def shop(site: Site, page: Page) -> Iterator[Page]:
    """A page of the shop, in a browser of its own, with the widget open."""
    pages: dict[str, str] = {}
    with widget._pages(pages) as host:
        pages["policy"] = widget.policy(site.url)
        settings: dict[str, Any] = {"origins": [host], "hand_off": HAND_OFF}
        settings["anonymous"] = {"per_minute": 1_000, "challenge_after": None}
        made = httpx.put(f"{site.url}/v1/widget", json=settings, headers=key(site))
        assert made.status_code == 200, made.text
        script = f'<script src="{site.url}/widget.js" data-widget="{made.json()["id"]}"></script>'
        pages["/"] = widget._page(script)
        browser = page.context.browser
        assert browser
        context = browser.new_context(viewport=WIDE)
        opened = context.new_page()
        opened.goto(f"{host}/")
        opened.get_by_role("button", name="Chat with us").click()
        yield opened
        assert opened.evaluate("window.hit") is None
        context.close()


def asks_for_a_person(shop: Page, message: str) -> None:
    widget.say(shop, message)
    shop.get_by_role("button", name="Talk to a person").click()
    note(shop, "A person was asked to join")


def note(shop: Page, text: str) -> None:
    shop.locator("cairn-chat .say.note").get_by_text(text).last.wait_for()


def hears(shop: Page, text: str) -> None:
    widget.answers(shop).get_by_text(text).last.wait_for()


def accept(page: Page, site: Site, question: str) -> None:
    """Open the chat of the customer who said this, from the inbox, and accept it."""
    page.goto(f"{site.url}/console/chats")
    page.get_by_role("link", name="The customer asked for a person.").first.click()
    page.locator("#steps").get_by_text(question).wait_for()
    page.get_by_role("button", name="Accept").click()
    page.get_by_label("Say to the customer").wait_for()


def reply(page: Page, text: str) -> None:
    page.get_by_label("Say to the customer").fill(text)
    page.get_by_role("button", name="Send").click()
    page.locator("#steps").get_by_text(text).wait_for()


def test_a_customer_and_an_operator_talk_live_until_it_is_closed(
    site: Site, page: Page, shop: Page
) -> None:
    asks_for_a_person(shop, f"My order is 4711. {HOSTILE}")
    widget.say(shop, "Hello, is somebody there?")
    site.person(page, PersonRole.OPERATOR)
    page.goto(f"{site.url}/")
    page.get_by_text("The customer asked for a person.").first.wait_for()
    page.goto(f"{site.url}/console/chats")
    looks_well(page)
    accept(page, site, "My order is 4711.")
    looks_well(page)
    note(shop, "answers from now on")
    reply(page, f"Good morning. {HOSTILE}")
    hears(shop, "Good morning.")
    widget.say(shop, "Where is it now?")
    page.locator("#steps").get_by_text("Where is it now?").wait_for()  # without a reload
    shop.reload()
    shop.get_by_role("button", name="Chat with us").click()
    hears(shop, "Good morning.")
    shop.set_viewport_size({"width": 360, "height": 640})
    assert shop.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    reply(page, "On its way.")
    hears(shop, "On its way.")
    page.get_by_text("Close, give back").click()
    page.get_by_label("How it was solved").fill("It was on its way.")
    page.get_by_role("button", name="Close the chat").click()
    page.get_by_role("heading", name="How it was solved").wait_for()
    looks_well(page)
    note(shop, "This chat was closed")
    widget.say(shop, "Thanks!")  # in a session of its own
    shop.get_by_role("button", name="That helped").wait_for()
    assert page.evaluate("window.hit") is None


def test_of_two_operators_one_is_told_and_may_take_over_and_give_back(
    site: Site, page: Page, shop: Page
) -> None:
    asks_for_a_person(shop, "Two of you, please.")
    browser = page.context.browser
    assert browser
    other = browser.new_context(viewport=WIDE).new_page()
    for each in (page, other):
        site.person(each, PersonRole.OPERATOR)
        each.goto(f"{site.url}/console/chats")
        each.get_by_role("link", name="The customer asked for a person.").first.click()
        each.get_by_role("button", name="Accept").wait_for()
    page.get_by_role("button", name="Accept").click()
    page.get_by_label("Say to the customer").wait_for()
    other.locator("#steps").get_by_text("answers from now on").wait_for()  # it sees so at once
    with other.expect_response(lambda response: response.request.method == "POST") as refused:
        other.get_by_role("button", name="Accept").click()
    assert refused.value.status == 409
    other.get_by_role("alert").get_by_text("has accepted this chat").wait_for()
    other.get_by_role("button", name="Take over from").click()
    reply(other, "The second one here.")
    hears(shop, "The second one here.")
    page.get_by_role("link", name="Show what you can do now").click()
    page.get_by_role("button", name="Take over from").wait_for()  # it is the other's by now
    other.get_by_text("Close, give back").click()
    other.get_by_role("button", name="Give back to the agent").click()
    other.locator("#summary").get_by_text("the agent answers again").wait_for()
    note(shop, "talking to our assistant again")
    asks_for_a_person(
        shop, "One more thing."
    )  # the same chat again: nothing of it is taken for heard
    other.goto(f"{site.url}/console/chats")
    accept(other, site, "One more thing.")
    reply(other, "Here again.")
    hears(shop, "Here again.")


def test_an_operator_who_leaves_is_followed_by_another_or_by_a_ticket(
    site: Site, page: Page, shop: Page, database: Database
) -> None:
    asks_for_a_person(shop, "Please do not leave.")
    site.person(page, PersonRole.OPERATOR)
    accept(page, site, "Please do not leave.")
    page.get_by_text("Close, give back").click()
    page.get_by_role("button", name="Leave it to another operator").click()
    page.get_by_role("button", name="Accept").wait_for()
    note(shop, "has left; somebody else")
    address = shop.url
    shop.reload()  # what happened stands there afterwards, too
    shop.get_by_role("button", name="Chat with us").click()
    for text in ("A person was asked to join", "answers from now on", "has left; somebody else"):
        note(shop, text)
    shop.goto("about:blank")  # the customer is not there when time is up
    with database.connect_as_superuser() as root:
        root.execute("UPDATE handoff SET moved_at = moved_at - interval '1 hour'")
    page.reload()  # whoever looks does what is due
    page.locator("#summary").get_by_role("link", name="The ticket").wait_for()
    shop.goto(address)
    shop.get_by_role("button", name="Chat with us").click()
    note(shop, "We have made a ticket of this chat")
    page.locator("#summary").get_by_role("link", name="The ticket").click()
    page.get_by_text("Please do not leave.").first.wait_for()


def test_a_person_takes_a_chat_over_from_the_agent_and_a_reader_only_reads(
    site: Site, page: Page, shop: Page
) -> None:
    widget.say(shop, "Nobody was asked for.")
    shop.get_by_role("button", name="That helped").wait_for()
    site.person(page, PersonRole.OPERATOR)
    page.goto(f"{site.url}/console/chats")
    chat = page.get_by_role("article").filter(has_text="Nobody was asked for.")
    chat.get_by_role("button", name="Take over").click()
    reply(page, "I read along.")
    address = page.url
    widget.say(shop, "Oh, a person?")
    hears(shop, "I read along.")
    page.context.clear_cookies()
    site.person(page, PersonRole.READER)
    page.goto(address)
    page.locator("#steps").get_by_text("Oh, a person?").wait_for()
    assert page.get_by_role("button", name="Send").count() == 0
    assert page.get_by_role("button", name="Take over from").count() == 0


def test_where_nothing_is_streamed_both_pages_poll(site: Site, page: Page, shop: Page) -> None:
    shop.route("**/hand-off/events?*", lambda route: route.fulfill(status=501, body="{}"))
    asks_for_a_person(shop, "By polling, please.")
    site.person(page, PersonRole.OPERATOR)
    page.route("**/live?*", lambda route: route.fulfill(status=204))
    accept(page, site, "By polling, please.")
    reply(page, "As you like.")
    hears(shop, "As you like.")
    widget.say(shop, "It works.")
    page.locator("#steps").get_by_text("It works.").wait_for()
