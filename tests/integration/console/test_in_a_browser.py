"""The console as a person meets it: a real browser, the API over a real database."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import uvicorn
from infra.local.workspace import first_link
from tests.support.console import PASSWORD, add_person, register_hashing
from tests.support.embedding import HashingEmbedder
from tests.support.forgetting import erase_in_memory
from tests.support.front import Cloud, Front, environment, stand_in_for_aws
from tests.support.workflows import embed_by_hashing
from tests.support.world import open_world

from cairn.api.app import create_app
from cairn.api.options import ApiOptions
from cairn.bootstrap.parts import logger
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import ConsoleMessage, Page, ViewportSize
    from tests.plugins.postgres import Database
    from tests.support.world import World

    from cairn.kernel.access import PersonRole

ROOT = Path(__file__).parents[3]
CHROMIUM = shutil.which("chromium")
HTMX = "d6fdc75f204e6bdefa99b69bf1e6d4ac69b8a364f77929f45c13476b4000f717"
HOSTILE = "<script>window.hit = 1</script><img src=x onerror='window.hit = 1'>"
WIDE: ViewportSize = {"width": 1280, "height": 900}
NARROW: ViewportSize = {"width": 360, "height": 740}

pytestmark = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="there is no chromium on this machine"
)


class Site:
    """The API behind a socket, and the workspace behind it."""

    def __init__(self, front: Front, url: str, world: World, cloud: Cloud) -> None:
        self.front, self.url, self.world, self.cloud = front, url, world, cloud

    def person(self, page: Page, role: PersonRole) -> None:
        """Sign somebody of a role in, by a link."""
        login = f"{role.value}-{new_id()}"
        token = add_person(self.front.app, self.world.workspace_id, login, role).token
        page.goto(f"{self.url}/console/link?token={token}")
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("heading", name="Your account").wait_for()


@pytest.fixture(scope="module")
def site(database: Database, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    with pytest.MonkeyPatch.context() as patch:
        folder = tmp_path_factory.mktemp("console")
        for name, value in environment(database.app_url, folder).items():
            patch.setenv(name, value)
        cloud = Cloud()
        stand_in_for_aws(patch, cloud)
        embed_by_hashing(patch)
        world = open_world(database.owner_url, database.app_url, f"browser {new_id()}")
        register_hashing(database)
        erase_in_memory(patch, folder)
        front = Front(world.key, embedder=HashingEmbedder())
        options = ApiOptions(mcp_hosts=("127.0.0.1:*",))
        app = create_app(front.app.state.services, options, log=logger("api", "CRITICAL"))
        config = uvicorn.Config(app, port=0, log_level="critical", ws="none")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, daemon=True)
        thread.start()
        while not server.started:
            assert thread.is_alive()
            thread.join(0.05)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield Site(front, f"http://127.0.0.1:{port}", world, cloud)
        server.should_exit = True
        thread.join(20)
        world.pool.close()


@pytest.fixture
def page(site: Site) -> Iterator[Page]:
    """A page that fails the test for an error in its console and a request to another host."""
    from playwright.sync_api import sync_playwright

    wrong: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(viewport=WIDE)
        context.on(
            "console",
            lambda message: wrong.append(message.text) if _is_fault(message) else None,
        )
        context.on("weberror", lambda error: wrong.append(str(error.error)))
        context.on(
            "request",
            lambda request: None if request.url.startswith(site.url) else wrong.append(request.url),
        )
        yield context.new_page()
        browser.close()
    assert wrong == []


def _is_fault(message: ConsoleMessage) -> bool:
    """Whether a message is more than the browser's note that a form was refused."""
    refused = any(f"status of {status} " in message.text for status in (409, 413, 422))
    return message.type == "error" and not refused


def faults(page: Page) -> list[Any]:
    """Return what axe finds serious or worse; its source runs beside the page's, not in it."""
    source = (ROOT / "tests" / "vendor" / "axe-core" / "axe.min.js").read_text("utf-8")
    page.evaluate(source)
    report = page.evaluate("() => axe.run().then(each => JSON.stringify(each.violations))")
    return [
        (each["id"], [node["html"] for node in each["nodes"]])
        for each in json.loads(report)
        if each["impact"] in ("serious", "critical")
    ]


def fits(page: Page) -> bool:
    return page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def go_to(page: Page, name: str) -> None:
    """Go to a page by the navigation, which is folded on a phone."""
    menu = page.get_by_role("button", name="Menu", exact=True)
    if menu.is_visible():
        menu.press("Enter")
        assert menu.get_attribute("aria-expanded") == "true"
    page.get_by_role("navigation", name="Main").get_by_role("link", name=name, exact=True).click()


def looks_well(page: Page) -> None:
    """Hold a page to what every page must be, wide and narrow, light and dark."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for size in (WIDE, NARROW):
            page.set_viewport_size(size)
            assert fits(page), page.url
            assert faults(page) == [], page.url
    page.set_viewport_size(WIDE)


def test_the_first_owner_comes_by_the_link_sets_a_password_and_sees_what_agents_remember(
    site: Site, page: Page
) -> None:
    told = httpx.post(
        f"{site.url}/v1/memories",
        json={"text": HOSTILE, "type": "event"},
        headers={"authorization": f"Bearer {site.front.key}"},
    )
    assert told.status_code == 201
    values = {"CAIRN_URL": site.url, "CAIRN_API_KEY": site.front.key}
    link = first_link(values)
    assert link is not None
    assert first_link(values) is None  # later starts print the address only
    page.goto(link)
    looks_well(page)
    page.get_by_role("button", name="Sign in").press("Enter")
    page.get_by_label("New password").fill(PASSWORD)
    looks_well(page)
    page.get_by_role("button", name="Set the password").click()
    page.get_by_text("The password is set").wait_for()
    page.get_by_role("link", name="Home").click()
    today = page.get_by_role("region", name="Remembered today")
    assert HOSTILE in today.inner_text()
    assert page.evaluate("window.hit") is None
    looks_well(page)
    page.reload()
    page.go_back()
    page.go_forward()
    assert page.get_by_role("heading", name="Home", exact=True).is_visible()

    sibling = page.context.new_page()  # another tab, whose password change renews the session
    sibling.goto(f"{site.url}/console/account")
    sibling.get_by_label("The password you have").fill(PASSWORD)
    sibling.get_by_label("New password").fill(f"{PASSWORD} and more")
    sibling.get_by_role("button", name="Set the password").click()
    sibling.get_by_text("The password is set").wait_for()
    fresh = sibling.locator('meta[name="csrf"]').get_attribute("content")
    page.wait_for_function(
        "token => document.querySelector('meta[name=csrf]').content === token", arg=fresh
    )
    page.get_by_role("button", name="Sign out").click()  # with the sibling's token
    page.get_by_role("heading", name="Sign in").wait_for()
    looks_well(page)
    page.get_by_label("Name").fill("owner")
    page.get_by_label("Password").fill(f"{PASSWORD} and more")
    page.get_by_label("Password").press("Enter")
    page.get_by_role("heading", name="Home", exact=True).wait_for()


def test_the_first_visit_is_small(site: Site, page: Page) -> None:
    sizes: list[int] = []
    page.on("response", lambda answer: sizes.append(len(answer.body())))
    page.goto(f"{site.url}/console/sign-in")
    page.wait_for_load_state("networkidle")
    assert 1_000 < sum(sizes) <= 150_000


def test_the_vendored_library_is_the_one_that_was_published() -> None:
    path = ROOT / "shared" / "cairn" / "api" / "console" / "static" / "htmx.min.js"
    assert hashlib.sha256(path.read_bytes()).hexdigest() == HTMX
