"""The chat widget as a customer meets it: a real browser, on a page of another origin."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import threading
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
import uvicorn
from tests.integration.chat import test_chat_front, test_hand_off_front, test_widget_front
from tests.plugins.waiting import eventually
from tests.support import turnstile as cloudflare
from tests.support.chat_wire import Say
from tests.support.widget import Host

from cairn.adapters.http import turnstile as adapter
from cairn.api.routes.widget_door import SCRIPT
from cairn.chat.widget import BUSY
from cairn.kernel.access import Scope

if TYPE_CHECKING:
    from collections.abc import Iterator

    from playwright.sync_api import ConsoleMessage, Locator, Page, Request, Route
    from tests.support.chat_wire import ChatServer
    from tests.support.front import Front
    from tests.support.turnstile import Service
    from tests.support.world import World

ROOT = Path(__file__).parents[3]
CHROMIUM = shutil.which("chromium")
HOSTILE_STYLE = (
    "* { color: red !important; font-size: 40px !important; direction: rtl !important }"
    "div, section, button { display: none !important } cairn-chat { width: 0; height: 0 }"
)
HOSTILE = "<img src=x onerror='window.hit = 1'><script>window.hit = 1</script>"
LINKS = "[look](javascript:window.hit=1) \u202egnp.exe\u202c data:text/html,<b>x</b>"
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 360, "height": 640}
MOST_BYTES = 40_960

front, led, model, world = (
    test_widget_front.front,
    test_widget_front.led,
    test_chat_front.model,
    test_widget_front.world,
)
needs_a_browser = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="there is no chromium on this machine"
)


class Site:
    """The API on a socket, and the page of a host on another."""

    def __init__(self, front: Front, api: str, host: str, pages: dict[str, str]) -> None:
        self.front, self.api, self.host, self.pages = front, api, host, pages
        self.widget_id = ""
        self.others: tuple[str, ...] = ()

    def set(self, **settings: Any) -> str:
        """Set the widget and return its id; over the socket, beside the browser's own loop."""
        key = {"authorization": f"Bearer {self.front.key}"}
        answer = httpx.put(f"{self.api}/v1/widget", json=settings, headers=key)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["id"])

    def stand(self, html: str = "", **settings: Any) -> str:
        """Set the widget and return the address of a page that it stands on."""
        self.widget_id = self.set(origins=[self.host], **settings)
        script = f'<script src="{self.api}/widget.js" data-widget="{self.widget_id}"></script>'
        self.pages["/"] = _page(html or script)
        self.pages["/shop.css"] = HOSTILE_STYLE
        return f"{self.host}/"


def policy(api: str, more: str = "") -> str:
    """Return a policy as strict as hosts have it: nothing inline, and of others Cairn alone."""
    return (
        f"default-src 'none'; style-src 'self'; script-src 'self' {api} {more}; connect-src {api}"
    )


def _page(body: str) -> str:
    return (
        '<!doctype html><html lang="en"><head><title>Shop</title>'
        '<link rel="stylesheet" href="/shop.css"></head>'
        f"<body><main><h1>Shop</h1></main>{body}</body></html>"
    )


@contextmanager
def _pages(pages: dict[str, str]) -> Iterator[str]:
    """Serve pages, with a policy as strict as hosts have it."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = pages.get(self.path.partition("?")[0], "").encode()
            self.send_response(200 if body else 404)
            kind = {"css": "text/css", "js": "text/javascript"}.get(self.path.rpartition(".")[2])
            self.send_header("content-type", f"{kind or 'text/html'}; charset=utf-8")
            self.send_header("content-security-policy", pages.get("policy", "img-src 'none'"))
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join(10)


@contextmanager
def _api(front: Front) -> Iterator[str]:
    config = uvicorn.Config(front.app, port=0, log_level="critical", ws="none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive()
        thread.join(0.05)
    yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    server.should_exit = True
    thread.join(20)


@pytest.fixture
def site(front: Front) -> Iterator[Site]:
    pages: dict[str, str] = {}
    with _api(front) as api, _pages(pages) as host:
        pages["policy"] = policy(api)
        yield Site(front, api, host, pages)


@pytest.fixture
def page(site: Site) -> Iterator[Page]:
    """A page that fails the test for an error of its own, and a request to anybody else."""
    from playwright.sync_api import sync_playwright

    wrong: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        context = browser.new_context(viewport=WIDE)
        context.on("weberror", lambda error: wrong.append(str(error.error)))
        context.on("console", lambda told: _error(told) and wrong.append(told.text))

        def stranger(request: Request) -> None:
            if not request.url.startswith((site.api, site.host, *site.others)):
                wrong.append(request.url)

        context.on("request", stranger)
        yield context.new_page()
        browser.close()
    assert wrong == []


def _error(told: ConsoleMessage) -> bool:
    """Return whether a page told of an error: not that a request was refused, as it may be."""
    refusals = ("Failed to load resource", "Access to fetch at")
    return told.type == "error" and not told.text.startswith(refusals)


def say(page: Page, text: str) -> None:
    field = page.get_by_role("textbox", name="Write a message")
    field.fill(text)
    field.press("Enter")


def answers(page: Page) -> Locator:
    return page.locator("cairn-chat .say.us")


def test_the_script_is_small_and_is_fetched_again_only_when_it_has_changed(front: Front) -> None:
    assert len(gzip.compress(SCRIPT.read_bytes())) <= MOST_BYTES
    answer = front.answer("GET", "/widget.js")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/javascript")
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    tag = {"if-none-match": answer.headers["etag"]}
    assert front.answer("GET", "/widget.js", headers=tag).status_code == 304


@needs_a_browser
def test_a_customer_asks_by_the_keyboard_alone_and_gets_an_answer_with_its_source(
    site: Site, page: Page, world: World, tmp_path: Path
) -> None:
    guide = test_widget_front.GUIDE
    test_widget_front.ingest(world, tmp_path, guide, "https://shop.example/gates.md", Scope.PUBLIC)
    page.goto(site.stand())
    launch = page.get_by_role("button", name="Chat with us")
    launch.wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    page.get_by_role("dialog", name="Chat with us").wait_for()
    page.keyboard.type("When does the harbour gate open?")
    page.keyboard.press("Enter")
    source = page.get_by_role("link", name="https://shop.example/gates.md", exact=False)
    source.wait_for()
    assert "opens at six in the morning" in answers(page).last.inner_text()
    assert "[doc:" not in answers(page).last.inner_text()
    assert "opens at six" in page.get_by_role("status").inner_text()  # a screen reader says it
    page.keyboard.press("Escape")
    assert launch.get_attribute("aria-expanded") == "false"
    assert launch.evaluate("each => each.getRootNode().activeElement === each")
    page.reload()
    launch.wait_for()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert "opens at six" in answers(page).last.inner_text()  # the session goes on


@needs_a_browser
def test_it_is_usable_at_360_pixels_and_by_screen_readers_whatever_the_hosts_styles(
    site: Site, page: Page
) -> None:
    page.goto(site.stand(theme={"primary": "#fde047", "side": "left"}))
    page.get_by_role("button", name="Chat with us").click()
    say(page, "hello")
    page.get_by_role("button", name="That helped").wait_for()
    source = (ROOT / "tests" / "vendor" / "axe-core" / "axe.min.js").read_text("utf-8")
    for size in (WIDE, NARROW):
        page.set_viewport_size(size)
        assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        box = page.get_by_role("dialog").bounding_box()
        assert box and box["x"] >= 0 and box["x"] + box["width"] <= size["width"]
        assert box["y"] >= 0 and box["y"] + box["height"] <= size["height"]
        page.evaluate(source)
        report = page.evaluate(
            "() => axe.run(document.querySelector('cairn-chat'))"
            ".then(each => JSON.stringify(each.violations))"
        )
        serious = [
            (each["id"], [node["html"] for node in each["nodes"]])
            for each in json.loads(report)
            if each["impact"] in ("serious", "critical")
        ]
        assert serious == []
    font = answers(page).first.evaluate("each => getComputedStyle(each).fontSize")
    assert font == "16px"


@needs_a_browser
def test_after_three_messages_the_browser_proves_itself_and_nobody_notices(
    site: Site, page: Page
) -> None:
    page.goto(site.stand())
    page.get_by_role("button", name="Chat with us").click()
    for count in range(1, 6):
        say(page, f"hello {count}")
        page.get_by_role("button", name="That helped").wait_for()
        page.wait_for_function(
            "count => document.querySelector('cairn-chat').shadowRoot"
            ".querySelectorAll('.say.us:not(.wait)').length > count",
            arg=count,
        )
    page.get_by_role("button", name="That helped").click()
    page.locator("cairn-chat .say.note").get_by_text("Glad to hear it").wait_for()
    say(page, "hello again")  # in a session of its own
    page.get_by_role("button", name="That helped").wait_for()


@needs_a_browser
def test_a_limit_is_told_in_a_friendly_way_and_what_was_written_is_not_lost(
    site: Site, page: Page
) -> None:
    page.goto(site.stand(anonymous={"per_minute": 1}))
    page.get_by_role("button", name="Chat with us").click()
    say(page, "hello")
    page.get_by_role("button", name="That helped").wait_for()
    say(page, "one more thing")
    page.locator("cairn-chat .say.note").get_by_text(BUSY).wait_for()
    assert page.get_by_role("textbox").input_value() == "one more thing"


@needs_a_browser
def test_stored_markup_is_shown_as_text_and_does_nothing(
    model: ChatServer, led: Front, site: Site, page: Page
) -> None:
    says = f"It says {HOSTILE} {LINKS} [doc:javascript:window.hit=1]"
    model.says.append(Say(text=says))
    page.goto(site.stand(texts={"title": "Ask us", "greeting": HOSTILE}))
    page.get_by_role("button", name="Ask us").click()
    say(page, "Hi chap!")
    page.get_by_role("button", name="That helped").wait_for()
    assert HOSTILE in answers(page).first.inner_text()
    last = answers(page).last
    assert HOSTILE in last.inner_text() and LINKS in last.inner_text()
    assert page.locator("cairn-chat a").count() == 0
    assert last.evaluate("each => getComputedStyle(each).unicodeBidi") == "isolate"
    assert page.evaluate("window.hit") is None
    page.reload()  # and what a session keeps is text, too
    page.get_by_role("button", name="Ask us").click()
    assert HOSTILE in answers(page).last.inner_text()
    assert page.evaluate("window.hit") is None


@needs_a_browser
def test_whom_the_host_signed_in_talks_as_themselves(site: Site, page: Page) -> None:
    host = Host()
    site.stand(host=host.settings, anonymous=None)
    token = host.token(site.widget_id)
    begin = f"Cairn.init({{widget: '{site.widget_id}', token: async () => '{token}'}})"
    site.pages["/begin.js"] = begin
    html = f'<script src="{site.api}/widget.js"></script><script src="/begin.js"></script>'
    page.goto(site.stand(html, host=host.settings, anonymous=None))
    page.get_by_role("button", name="Chat with us").click()
    say(page, "My order number is 99.")
    page.get_by_role("button", name="That helped").wait_for()


@needs_a_browser
def test_on_a_page_of_another_origin_there_is_no_widget(site: Site, page: Page) -> None:
    address = site.stand()
    site.set(origins=["https://elsewhere.example"])
    with page.expect_console_message(lambda message: message.text.startswith("Cairn chat")):
        page.goto(address)
    assert page.locator("cairn-chat").count() == 0


@pytest.fixture
def turnstile(site: Site, page: Page, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    """Turnstile: the script at the address that the widget loads, and what the server asks."""
    with cloudflare.service() as running:
        here = partial(
            adapter.Turnstile, base_url=running.url, allow_private=True, pause=lambda _: None
        )
        monkeypatch.setattr(adapter, "Turnstile", here)
        site.others = (adapter.BASE,)
        site.pages["policy"] = policy(site.api, adapter.BASE) + f"; frame-src {adapter.BASE}"

        def served(route: Route) -> None:
            told = running.served(route.request.url)
            if told is None:
                route.abort()
            else:
                route.fulfill(status=200, content_type=told[0], body=told[1])

        page.context.route(f"{adapter.BASE}/**", served)
        yield running


@needs_a_browser
def test_turnstile_looks_at_the_browser_and_when_it_cannot_nothing_is_lost(
    site: Site, page: Page, turnstile: Service
) -> None:
    seen: list[str] = []
    page.on("response", lambda response: seen.append(response.url + str(response.headers)))
    by = {"challenge": "turnstile", "site_key": cloudflare.SITE, "secret": cloudflare.SECRET}
    page.goto(site.stand(anonymous={"challenge_after": 0}, **by))
    page.get_by_role("button", name="Chat with us").click()
    notes, field = page.locator("cairn-chat .say.note"), page.get_by_role("textbox")
    refusals = {
        "script": "Your browser could not be checked.",
        "blind": "Your browser could not be checked.",
        "down": "Your browser cannot be checked now.",
    }
    for count, (fails, words) in enumerate(refusals.items(), 1):
        turnstile.fails, turnstile.blind = fails, fails == "blind"
        say(page, "Is the harbour open?")
        notes.nth(count - 1).get_by_text(words).wait_for()
        assert field.input_value() == "Is the harbour open?"
        assert page.locator("iframe").count() == 0
    turnstile.fails, turnstile.blind = "", False
    field.press("Enter")
    page.get_by_role("button", name="That helped").wait_for()
    assert page.locator("cairn-chat .say.you").count() == 1
    assert [each["response"] for each in turnstile.asked if each["response"] in turnstile.tokens]
    assert cloudflare.SECRET not in page.content() + "".join(seen)
    assert all(token.action == "cairn-chat" for token in turnstile.tokens.values())


@needs_a_browser
def test_what_was_said_when_the_page_was_left_or_the_line_broke_is_said_once_and_answered(
    model: ChatServer, led: Front, site: Site, page: Page, monkeypatch: pytest.MonkeyPatch
) -> None:
    address = site.stand(anonymous={"challenge_after": None, "per_minute": 100})
    page.goto(address)
    page.get_by_role("button", name="Chat with us").click()
    model.says.append(Say(text="Six in the morning.", hang=True))
    say(page, "When does it open?")
    page.wait_for_function("() => Object.keys(sessionStorage).some(each => each.endsWith('.turn'))")
    eventually(lambda: model.requests, what="the model asked")
    page.reload()  # while it is answered
    model.released.set()
    page.get_by_role("button", name="Chat with us").click()
    answers(page).get_by_text("Six in the morning.").wait_for()
    page.get_by_role("button", name="That helped").wait_for()
    assert page.locator("cairn-chat .say.you").count() == 1

    sent: list[str] = []

    def broken(route: Route) -> None:
        if route.request.method == "POST":
            sent.append(json.loads(route.request.post_data or "")["turn_id"])
        if len(sent) == 1 and route.request.method == "POST":
            route.fetch()  # it came there, and nobody heard so
            route.abort()
        else:
            route.continue_()

    page.route("**/messages", broken)
    test_hand_off_front.plays(model, monkeypatch, Say(text="At nine."))
    say(page, "And when does it close?")
    page.locator("cairn-chat .say.note").get_by_text("This was not answered").wait_for()
    page.get_by_role("textbox").press("Enter")
    answers(page).get_by_text("At nine.").wait_for()
    assert len(sent) == 2 and len(set(sent)) == 1
    asked = [each for each in model.requests if "And when does it close?" in json.dumps(each)]
    assert sum("documents_search" in json.dumps(each.get("tools")) for each in asked) == 1

    page.goto("about:blank")
    page.go_back()
    page.get_by_role("button", name="Chat with us").click()
    answers(page).get_by_text("At nine.").wait_for()
    other = page.context.new_page()  # another tab is another chat
    other.goto(address)
    other.get_by_role("button", name="Chat with us").click()
    say(other, "hello")
    other.get_by_role("button", name="That helped").wait_for()
    assert "At nine." not in other.locator("cairn-chat .log").inner_text()
