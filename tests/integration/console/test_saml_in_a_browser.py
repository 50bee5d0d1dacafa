"""Signing in by SAML as a person does: a real browser, to another site and back by its form."""

# pyright: basic

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import httpx
import pytest
import uvicorn
from tests.integration.console import test_in_a_browser, test_saml
from tests.integration.console.test_in_a_browser import CHROMIUM, WIDE, looks_well
from tests.integration.console.test_saml import ada, deploy, provider

from cairn.api.console.saml import METADATA
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.integration.console.test_saml import Signing

__all__ = ["deploy", "provider"]

pytestmark = [test_in_a_browser.pytestmark, test_saml.pytestmark]


@pytest.fixture
def served(deploy: Callable[..., Signing]) -> Iterator[tuple[Signing, str]]:
    """A deployment behind a socket, and its address: another site than the provider's."""
    deployed = deploy()
    config = uvicorn.Config(deployed.app, port=0, log_level="critical", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        thread.join(0.05)
    url = f"http://localhost:{server.servers[0].sockets[0].getsockname()[1]}"
    deployed.provider.knows(httpx.get(f"{url}{METADATA}", timeout=60).content)
    yield deployed, url
    server.should_exit = True
    thread.join(20)


def test_somebody_signs_in_by_saml_and_comes_to_the_page_they_wanted(
    served: tuple[Signing, str],
) -> None:
    from playwright.sync_api import sync_playwright

    deployed, url = served
    email = f"ada-{new_id()}@example.org"
    deployed.invited(email)
    deployed.provider.signs_in(**ada(email))
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(viewport=WIDE)
        page = context.new_page()
        page.goto(f"{url}/console/account")
        looks_well(page)
        answers: list[str] = []
        page.on("request", lambda each: answers.append(str(each.all_headers().get("cookie"))))
        page.get_by_role("link", name="Sign in with 127.0.0.1").click()
        page.get_by_role("button", name="Yes, it is me").click()
        page.get_by_role("heading", name="Your account").wait_for()
        assert page.url == f"{url}/console/account"
        assert email in page.locator("main").inner_text()
        assert "None" in answers  # the form of the other site came without a cookie
        (cookie,) = [each for each in context.cookies(url) if each.get("name") == "cairn_session"]
        assert (cookie.get("httpOnly"), cookie.get("sameSite")) == (True, "Lax")
        page.reload()
        page.get_by_role("button", name="Sign out", exact=True).click()
        page.get_by_role("heading", name="Sign in").wait_for()

        deployed.provider.signs_in(**ada(f"eve-{new_id()}@example.org"))
        page.get_by_role("link", name="Sign in with 127.0.0.1").click()
        page.get_by_role("button", name="Yes, it is me").click()
        page.get_by_text("Nobody has invited you here yet").wait_for()
        looks_well(page)

        deployed.provider.signs_in(**ada(email))  # somebody else's answer, in this browser
        there = httpx.get(f"{url}/console/saml", timeout=60).headers["location"]
        form = deployed.provider.answers(there)
        page.goto(deployed.provider.metadata.replace("/metadata", "/sso"))
        page.evaluate(
            """([action, form]) => {
                const sent = document.createElement("form");
                Object.assign(sent, {method: "post", action});
                for (const [name, value] of Object.entries(form))
                    sent.append(Object.assign(document.createElement("input"), {name, value}));
                document.body.append(sent);
                sent.submit();
            }""",
            [f"{url}/console/saml/acs", form],
        )
        page.get_by_text("not begun in this browser").wait_for()
        assert not [each for each in context.cookies(url) if each.get("name") == "cairn_session"]
        browser.close()
