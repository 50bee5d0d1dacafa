"""What a real browser does with other sites' pages and with two tabs, one of which was renewed."""

# pyright: basic

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route
from tests.integration.console import test_in_a_browser
from tests.integration.console.test_in_a_browser import CHROMIUM, Site, site
from tests.support.issuer import free_socket, served

from cairn.kernel.access import PersonRole

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import BrowserContext

__all__ = ["site"]

pytestmark = test_in_a_browser.pytestmark

SEND = """([action, fields]) => {
    const form = document.createElement("form");
    Object.assign(form, {method: "post", action});
    for (const [name, value] of Object.entries(fields))
        form.append(Object.assign(document.createElement("input"), {name, value}));
    document.body.append(form);
    form.submit();
}"""
FETCH = """async ([url, body]) => {
    const headers = {"content-type": "application/x-www-form-urlencoded"};
    const sent = {method: "POST", mode: "no-cors", credentials: "include", headers, body};
    await fetch(url, sent).catch(() => {}); // it is sent, and the answer kept from the page
    try {
        const read = await fetch(new URL("/console/csrf", url), {credentials: "include"});
        return await read.text();
    } catch { return ""; }
}"""
NEW = "some stones of somebody else"


@pytest.fixture
def context(site: Site) -> Iterator[BrowserContext]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context()
        site.person(context.new_page(), PersonRole.OWNER)
        yield context
        browser.close()


def test_a_page_of_another_site_sends_no_form_reads_nothing_and_frames_nothing(
    site: Site, context: BrowserContext
) -> None:
    own = context.pages[0]
    token = own.locator('meta[name="csrf"]').get_attribute("content")
    bound, url = free_socket()
    evil_url = url.replace("127.0.0.1", "localhost")  # another site; 127.0.0.1 is the console's
    port_beside = url  # the same site at another port: its cookies come along, our origin does not

    async def blank(_: Any) -> HTMLResponse:
        return HTMLResponse("<!doctype html><title>evil</title><body></body>")

    fields = {"csrf": token, "password": NEW, "present": ""}
    body = "&".join(f"{name}={value}" for name, value in fields.items())
    with served(Starlette(routes=[Route("/", blank)]), bound):
        for evil in (evil_url, port_beside):
            page = context.new_page()
            page.goto(evil)
            assert page.evaluate(FETCH, [f"{site.url}/console/account", body]) == ""
            page.evaluate(SEND, [f"{site.url}/console/account", fields])
            page.get_by_text("was not sent from a page of this console").wait_for()
            page.goto(evil)
            page.set_content(f'<iframe src="{site.url}/console/account"></iframe>')
            page.wait_for_load_state("networkidle")
            (frame,) = page.frames[1:]
            assert "Your account" not in frame.content()
            page.close()
    own.reload()
    assert own.locator("main").get_by_label("The password you have").count() == 0  # none was set


def test_a_request_that_crosses_a_renewal_is_made_again_once_and_then_one_banner_says_so(
    site: Site, context: BrowserContext
) -> None:
    page = context.pages[0]
    page.goto(f"{site.url}/console/memories")
    token = page.locator('meta[name="csrf"]').get_attribute("content") or ""
    crossing, urls = [True], list[str]()

    def answer(route: Any) -> None:
        urls.append(route.request.url)
        if crossing and crossing.pop():
            route.fulfill(status=401, headers={"x-cairn-reason": "session-rotated"}, body="")
        else:
            route.continue_()

    page.route("**/console/memories?*", answer)
    question = page.get_by_role("searchbox")
    question.fill("a crossing")
    question.press("Enter")
    page.wait_for_url("**/console/memories?*")
    assert page.locator("#renewed").is_hidden()
    assert len(urls) == 2
    assert token not in "".join([*urls, page.url])
    crossing.extend([True, True, True])
    question.fill("another")
    question.press("Enter")
    page.get_by_text("Your session was renewed in another tab.").wait_for()
    assert len(urls) == 4


def test_a_tab_that_heard_nothing_of_a_renewal_takes_the_new_token_when_it_is_looked_at(
    site: Site, context: BrowserContext
) -> None:
    deaf = context.new_page()
    deaf.add_init_script("delete window.BroadcastChannel")
    deaf.goto(f"{site.url}/console/account")
    old = deaf.locator('meta[name="csrf"]').get_attribute("content")
    page = context.pages[0]
    page.get_by_label("New password").fill(NEW)
    page.get_by_role("button", name="Set the password").click()
    page.get_by_text("The password is set").wait_for()
    assert deaf.locator('meta[name="csrf"]').get_attribute("content") == old
    deaf.evaluate("document.dispatchEvent(new Event('visibilitychange'))")
    deaf.wait_for_function(
        "old => document.querySelector('meta[name=csrf]').content !== old", arg=old
    )
    deaf.get_by_role("button", name="Sign out", exact=True).click()
    deaf.get_by_role("heading", name="Sign in").wait_for()
