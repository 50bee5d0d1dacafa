"""Signing in by an issuer as a person does: a real browser, there and back."""

# pyright: basic

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest
import uvicorn
from tests.integration.console import test_in_a_browser
from tests.integration.console.test_in_a_browser import CHROMIUM, WIDE, looks_well
from tests.integration.console.test_issuer import deploy, issuer, verified

from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.integration.console.test_issuer import Signing
    from tests.support.openid import SignInIssuer

__all__ = ["deploy", "issuer"]

pytestmark = test_in_a_browser.pytestmark


@pytest.fixture
def served(deploy: Callable[..., Signing]) -> Iterator[tuple[Signing, str]]:
    """A deployment behind a socket, and its address."""
    deployed = deploy()
    config = uvicorn.Config(deployed.app, port=0, log_level="critical", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        thread.join(0.05)
    yield deployed, f"http://localhost:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(20)


def test_somebody_signs_in_by_the_issuer_and_comes_to_the_page_they_wanted(
    served: tuple[Signing, str], issuer: SignInIssuer
) -> None:
    from playwright.sync_api import sync_playwright

    deployed, url = served
    email = f"ada-{new_id()}@example.org"
    deployed.invited(email)
    issuer.claims = verified(email)
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_context(viewport=WIDE).new_page()
        errors: list[str] = []
        page.on("console", lambda each: errors.append(each.text) if each.type == "error" else None)
        page.goto(f"{url}/console/account")
        looks_well(page)
        page.get_by_role("link", name="Sign in with 127.0.0.1").click()
        page.get_by_role("button", name="Yes, it is me").click()
        page.get_by_role("heading", name="Your account").wait_for()
        assert page.url == f"{url}/console/account"
        assert email in page.locator("main").inner_text()
        page.reload()
        page.get_by_role("button", name="Sign out", exact=True).click()
        page.get_by_role("heading", name="Sign in").wait_for()
        assert errors == []

        issuer.claims = verified(f"eve-{new_id()}@example.org")
        page.get_by_role("link", name="Sign in with 127.0.0.1").click()
        page.get_by_role("button", name="Yes, it is me").click()
        page.get_by_text("Nobody has invited you here yet").wait_for()
        looks_well(page)
        browser.close()
