"""How soon the console's pages can be used, and what a first visit transfers. Not what they show.

Against a running stack, in headless Chromium. A page can be used when its document is parsed and
htmx has looked at it: from the start of the navigation to the script's own DOMContentLoaded.

    make run && python -m benchmarks.console
"""

from __future__ import annotations

import shutil
import sys
from contextlib import contextmanager
from statistics import median, quantiles
from typing import TYPE_CHECKING, Any

import httpx

from cairn.api.console.pages import ADMIN_MENU, ADMINISTRATION, MENU
from cairn.kernel.ids import new_id
from cairn.settings.cli import CliSettings

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Browser, BrowserContext, Page, ViewportSize

ROUNDS = 20
MOST_MS, MOST_BYTES = 1_000, 150_000
"""What a page promises: milliseconds at the 95th percentile, bytes of a first visit."""

SIZE: ViewportSize = {"width": 1280, "height": 800}
PAGES = {
    name: path
    for group in (*(pages for _, pages in MENU), ADMIN_MENU[1], ADMINISTRATION)
    for name, path, _ in group
} | {
    "forget": "/console/forget",
    "grants": "/console/grants",
    "escalations": "/console/escalations",
    "anchors": "/console/ledger/anchors",
    "forgettings": "/console/ledger/forgettings",
    "taints": "/console/ledger/taints",
    "checks": "/console/audit/checks",
    "account": "/console/account",
}
"""The pages of the console's navigation and those behind them, by the name of their picture."""

FIRST_OF = {
    "memory": ("/console/memories", 'a[href^="/console/memories/"]'),
    "document": ("/console/documents", 'main a[href^="/console/documents/"]'),
    "search": ("/console/searches", 'main a[href^="/console/searches/"]'),
    "walk": ("/console/graph", 'main a[href^="/console/graph?node="]'),
    "ticket": ("/console/tickets", 'main a[href^="/console/tickets/"]'),
    "investigation": ("/console/investigations", 'main a[href^="/console/investigations/"]'),
    "conversation": ("/console/conversations", 'main a[href^="/console/conversations/"]'),
    "connector": ("/console/connectors", 'main a[href^="/console/connectors/"]'),
    "client": ("/console/clients", 'main a[href^="/console/clients?client="]'),
    "entry": ("/console/ledger", 'td a[href^="/console/ledger/"]'),
    "network": ("/console/networks", 'main a[href^="/console/networks/"]'),
    "workflow": ("/console/workflows", 'main a[href^="/console/workflows/"]'),
}
"""Pages of one thing: the list whose first link leads to it."""

READY = """() => {
  const [navigation] = performance.getEntriesByType("navigation");
  return window.htmx ? navigation.domContentLoadedEventEnd : -1;
}"""


@contextmanager
def signed_in() -> Generator[tuple[str, Browser, BrowserContext]]:
    """Sign an admin in who is there for this alone; yield the address, browser and session."""
    from playwright.sync_api import sync_playwright

    settings = CliSettings()
    if settings.url is None or settings.api_key is None:
        raise SystemExit("Set CAIRN_URL and CAIRN_API_KEY.")
    chromium = shutil.which("chromium")
    if chromium is None:
        raise SystemExit("There is no chromium on this machine.")
    url = str(settings.url).rstrip("/")
    headers = {"authorization": f"Bearer {settings.api_key.get_secret_value()}"}
    with (
        httpx.Client(base_url=url, headers=headers, timeout=60) as http,
        sync_playwright() as driver,
    ):
        body = {"login": f"visitor-{new_id().hex}", "name": "Ada", "role": "admin"}
        link = http.post("/v1/people", json=body).raise_for_status().json()
        browser = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            context = browser.new_context(viewport=SIZE)
            page = context.new_page()
            page.goto(url + link["path"])
            page.get_by_role("button", name="Sign in").click()
            page.get_by_role("heading", name="Your account").wait_for()
            page.close()
            yield url, browser, context
        finally:
            browser.close()
            http.delete(f"/v1/people/{link['person']['id']}").raise_for_status()


def paths(context: BrowserContext, url: str) -> dict[str, str]:
    """Return the path of every page; one of a thing is left out where there is no such thing."""
    page, every = context.new_page(), dict(PAGES)
    for name, (path, selector) in FIRST_OF.items():
        page.goto(url + path)
        link = page.locator(selector).first
        if link.count():
            every[name] = str(link.get_attribute("href"))
    page.close()
    return every


def transferred(browser: Browser, context: BrowserContext, address: str) -> int:
    """Return the bytes that a first visit transfers: headers and bodies, nothing cached."""
    fresh = browser.new_context(viewport=SIZE)
    cookies: Any = context.cookies()
    fresh.add_cookies(cookies)
    page, sizes = fresh.new_page(), [0]
    wire: Any = fresh.new_cdp_session(page)
    wire.send("Network.enable")

    def add(event: dict[str, Any]) -> None:
        sizes.append(int(event["encodedDataLength"]))

    wire.on("Network.loadingFinished", add)
    page.goto(address)
    page.wait_for_load_state("load")
    fresh.close()
    return sum(sizes)


def usable_ms(page: Page, address: str) -> float:
    """Return the milliseconds from a navigation to a page that can be used."""
    page.goto(address)
    ms = float(page.evaluate(READY))
    if ms < 0:
        raise SystemExit(f"{address} has no htmx.")
    return ms


def main(rounds: int = ROUNDS) -> None:
    """Measure every page in turn, and print them; exit status 1 where a promise is broken."""
    broken: list[str] = []
    with signed_in() as (url, browser, context):
        every, page = paths(context, url), context.new_page()
        taken: dict[str, list[float]] = {name: [] for name in every}
        for _ in range(rounds):
            for name, path in every.items():
                taken[name].append(usable_ms(page, url + path))
        sys.stdout.write(f"{'page':<16}{'median ms':>10}{'p95 ms':>10}{'bytes':>10}\n")
        for name, path in every.items():
            p95 = quantiles(taken[name], n=20)[-1]
            size = transferred(browser, context, url + path)
            line = f"{name:<16}{median(taken[name]):>10.0f}{p95:>10.0f}{size:>10}\n"
            sys.stdout.write(line)
            if p95 > MOST_MS or size > MOST_BYTES:
                broken.append(name)
        whole = [each for times in taken.values() for each in times]
        sys.stdout.write(f"all: p95 {quantiles(whole, n=20)[-1]:.0f} ms of {len(whole)} visits\n")
    if broken:
        raise SystemExit(f"More than {MOST_MS} ms or {MOST_BYTES} bytes: {', '.join(broken)}")


if __name__ == "__main__":
    main()
