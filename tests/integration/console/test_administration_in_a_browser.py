"""Keys, agents and settings as an owner meets them: a real browser, wide and narrow."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
from tests.integration.console import test_in_a_browser
from tests.integration.console.test_in_a_browser import HOSTILE, looks_well
from tests.integration.console.test_people_in_a_browser import enter

from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.integration.console.test_in_a_browser import Site

pytestmark = test_in_a_browser.pytestmark


def test_an_owner_makes_a_key_that_works_and_revokes_it(site: Site, page: Page) -> None:
    enter(site, page)
    page.get_by_role("link", name="Administration").click()
    page.get_by_role("link", name="Keys").click()
    looks_well(page)
    name = f"desk {new_id()}"
    page.get_by_label("What it is for").fill(name)
    page.get_by_label("shared").check()
    page.get_by_role("button", name="Make the key").press("Enter")
    secret = page.get_by_role("region", name="A new key").locator("code").inner_text()
    looks_well(page)
    headers = {"authorization": f"Bearer {secret}"}
    assert httpx.get(f"{site.url}/v1/whoami", headers=headers).json()["scopes"] == ["shared"]
    page.goto(f"{site.url}/console/keys")
    assert secret not in page.content()
    row = page.get_by_role("row").filter(has_text=name)
    row.locator("summary").click()
    looks_well(page)
    row.get_by_role("checkbox").check()
    row.get_by_role("button", name="Revoke").click()
    page.get_by_text("The key opens nothing any more.").wait_for()
    assert httpx.get(f"{site.url}/v1/whoami", headers=headers).status_code == 401


def test_an_owner_disables_an_agent_and_changes_a_setting(site: Site, page: Page) -> None:
    slug = f"desk-{new_id()}"
    body = {"slug": slug, "name": HOSTILE, "edition": "pro", "tools": ["memory_recall"]}
    headers = {"authorization": f"Bearer {site.front.key}"}
    assert httpx.post(f"{site.url}/v1/agents", json=body, headers=headers).status_code == 201
    enter(site, page)
    page.get_by_role("link", name="Administration").click()
    page.get_by_role("link", name="Agents").click()
    row = page.get_by_role("row").filter(has_text=slug)
    row.get_by_role("button", name="Disable").click()
    page.get_by_text("The agent may do nothing").wait_for()
    row.get_by_text("disabled: by-admin").wait_for()
    assert page.evaluate("window.hit") is None
    looks_well(page)
    page.get_by_role("link", name="Settings").click()
    row = page.get_by_role("row").filter(has_text="the constant of reciprocal rank fusion")
    row.locator("summary").click()
    looks_well(page)
    row.get_by_label("New value").fill("41")
    row.get_by_role("button", name="Set").click()
    page.get_by_text("The change holds within a second.").wait_for()
    shown = httpx.get(f"{site.url}/v1/settings", headers=headers).json()
    assert shown["settings"]["recall"]["rrf_k"] == 41
    row.locator("summary").click()
    row.get_by_role("button", name="Reset").click()
    page.get_by_text("It is as the deployment has it.").wait_for()
    page.reload()
    page.go_back()
