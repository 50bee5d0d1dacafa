"""A passkey as a person makes and uses one: a real browser with an authenticator inside it."""

# pyright: basic

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.console import test_in_a_browser
from tests.integration.console.test_in_a_browser import looks_well
from tests.support.console import PASSWORD, add_person

from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from playwright.sync_api import CDPSession, Page
    from tests.integration.console.test_in_a_browser import Site

HOSTILE = "<img src=x onerror='window.hit = 1'>"

pytestmark = test_in_a_browser.pytestmark


class Device:
    """The virtual authenticator of a browser, which says yes for its user."""

    def __init__(self, page: Page) -> None:
        self.session: CDPSession = page.context.new_cdp_session(page)
        self.session.send("WebAuthn.enable")
        options = {
            "protocol": "ctap2",
            "transport": "internal",
            "hasResidentKey": True,
            "hasUserVerification": True,
            "isUserVerified": True,
            "automaticPresenceSimulation": True,
        }
        self.id = self.send("addVirtualAuthenticator", options=options)["authenticatorId"]

    def send(self, command: str, **given: Any) -> dict[str, Any]:
        return self.session.send(f"WebAuthn.{command}", given)

    def verifies(self, yes: bool) -> None:
        self.send("setUserVerified", authenticatorId=self.id, isUserVerified=yes)


@pytest.fixture
def named(site: Site, page: Page) -> Page:
    """A page of a browser that comes to the console under its name, and fails the same."""
    browser = page.context.browser
    assert browser is not None
    return browser.new_context(viewport=test_in_a_browser.WIDE).new_page()


def at(site: Site) -> str:
    return site.url.replace("127.0.0.1", "localhost")


def test_a_passkey_is_added_signs_in_again_and_again_and_is_removed(
    site: Site, named: Page
) -> None:
    page, url, errors = named, at(site), list[str]()
    page.on("console", lambda each: errors.append(each.text) if each.type == "error" else None)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.on(
        "request",
        lambda request: None if request.url.startswith(url) else errors.append(request.url),
    )
    Device(page)
    login = f"ada-{new_id()}"
    token = add_person(site.front.app, site.world.workspace_id, login, PersonRole.OWNER).token
    page.goto(f"{url}/console/link?token={token}")
    page.get_by_role("button", name="Sign in").click()
    passkeys = page.get_by_role("region", name="Passkeys")
    passkeys.get_by_label("Name of a new passkey").fill(HOSTILE)
    passkeys.get_by_role("button", name="Add a passkey").press("Enter")
    page.get_by_text("The passkey signs you in from now on.").wait_for()
    assert HOSTILE in passkeys.inner_text()
    assert "not used yet" in passkeys.inner_text()
    assert page.evaluate("window.hit") is None
    looks_well(page)

    page.get_by_label("New password").fill(PASSWORD)
    page.get_by_role("button", name="Set the password").click()
    page.get_by_text("The password is set").wait_for()
    for typed in ("", login):
        page.get_by_role("button", name="Sign out", exact=True).click()
        page.goto(f"{url}/console/account")  # and comes back to where it led
        page.get_by_label("Name").fill(typed)
        looks_well(page)
        page.get_by_role("button", name="Sign in with a passkey").press("Enter")
        page.get_by_role("heading", name="Your account").wait_for()
        assert "used just now" in passkeys.inner_text()
    passkeys.get_by_role("button", name="Remove").click()
    page.get_by_text("The passkey opens nothing any more.").wait_for()
    assert "You have none yet" in passkeys.inner_text()
    assert errors == []

    passkeys.get_by_label("Your password").fill("not it at all")
    passkeys.get_by_role("button", name="Add a passkey").click()
    passkeys.get_by_text("present is not the password you have").wait_for()
    page.get_by_role("button", name="Sign out", exact=True).click()
    page.get_by_role("button", name="Sign in with a passkey").click()  # of the removed one
    page.get_by_text("signs nobody in").wait_for()


def test_who_the_device_does_not_verify_stays_outside_with_a_sentence(
    site: Site, named: Page
) -> None:
    page, url = named, at(site)
    device = Device(page)
    login = f"eve-{new_id()}"
    token = add_person(site.front.app, site.world.workspace_id, login, PersonRole.READER).token
    page.goto(f"{url}/console/link?token={token}")
    page.get_by_role("button", name="Sign in").click()
    page.get_by_role("button", name="Add a passkey").click()
    page.get_by_text("The passkey signs you in from now on.").wait_for()
    page.get_by_role("button", name="Sign out", exact=True).click()
    device.verifies(False)
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_text("No passkey was chosen, or it took too long.").wait_for()
    assert page.url == f"{url}/console/sign-in"
    device.verifies(True)
    page.get_by_role("button", name="Sign in with a passkey").click()
    page.get_by_role("heading", name="Home", exact=True).wait_for()
