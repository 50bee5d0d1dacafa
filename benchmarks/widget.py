"""How soon a customer reads the first word of an answer in the widget. Not how good the answer is.

In headless Chromium, on a page of another origin, against a running stack: from the press of
"Send" to the first text in the shadow root. The stack has to be one whose model echoes:

    uvx llm-katan==0.22.0 --model echo --backend echo --providers openai \
        --no-auto-tool-providers openai --port 8399
    export CAIRN_OPENAI_BASE_URL=http://127.0.0.1:8399/v1 CAIRN_OPENAI_API_KEY=any
    export CAIRN_CHAT_MODEL=chat=openai:echo
    make up && python -m benchmarks.widget
"""

from __future__ import annotations

import shutil
import sys
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from statistics import median, quantiles
from threading import Thread
from typing import TYPE_CHECKING, Any

import httpx

from cairn.settings.cli import CliSettings

if TYPE_CHECKING:
    from collections.abc import Generator

    from playwright.sync_api import Page

WARM_UP, ROUNDS = 5, 40
MOST_MS = 300
"""What is promised, at the 95th percentile."""

LIMITS = {"per_minute": 1_000, "per_day": 100_000, "per_session": 1_000, "challenge_after": None}
ABOUT = ("id", "has_secret", "spent_usd", "created_at", "changed_at")

FIRST_WORD = """(question) => new Promise((done) => {
  const root = document.querySelector("cairn-chat").shadowRoot, log = root.querySelector(".log");
  const before = log.querySelectorAll(".say.us").length;
  let first = 0;
  const look = () => {
    const line = [...log.querySelectorAll(".say.us")].slice(before)[0];
    const text = line ? line.textContent.slice(line.firstChild.textContent.length) : "";
    if (text.trim() && !first) first = performance.now() - began;
    if (line && !line.classList.contains("wait") && log.querySelector(".deeds")) {
      watch.disconnect();
      done([first, text]);
    }
  };
  const watch = new MutationObserver(look);
  watch.observe(log, { childList: true, subtree: true, characterData: true, attributes: true });
  root.querySelector("textarea").value = question;
  const began = performance.now();
  root.querySelector("form button").click();
})"""


@contextmanager
def host() -> Generator[tuple[str, dict[str, str]]]:
    """Serve a page of another origin; what it shows is put under "page"."""
    shown: dict[str, str] = {}

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = shown.get("page", "").encode()
            self.send_response(200)
            self.send_header("content-type", "text/html; charset=utf-8")
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}", shown
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def widget_on(http: httpx.Client, origin: str, **settings: Any) -> Generator[str]:
    """Let the workspace's widget stand on an origin, without limits; afterwards it is as before."""
    found = http.get("/v1/widget")
    before = found.json() if found.is_success else None
    body = {"origins": [origin], "anonymous": LIMITS, **settings}
    made = http.put("/v1/widget", json=body).raise_for_status().json()
    try:
        yield made["id"]
    finally:
        if before is None:
            http.delete("/v1/widget").raise_for_status()
        else:
            kept = {name: before[name] for name in before if name not in ABOUT}
            http.put("/v1/widget", json=kept).raise_for_status()


def first_words(page: Page, rounds: int) -> list[float]:
    """Return the milliseconds to the first word of each answer, after some that warm up."""
    taken: list[float] = []
    for number in range(WARM_UP + rounds):
        question = f"Which ship is berth {number} kept free for this week?"
        took, answer = page.evaluate(FIRST_WORD, question)
        if question not in answer:
            raise SystemExit("No echo came: the stack does not ask an echoing model.")
        if number >= WARM_UP:
            taken.append(float(took))
    return taken


def main(rounds: int = ROUNDS) -> None:
    """Measure and print; exit status 1 where the promise is broken."""
    from playwright.sync_api import sync_playwright

    settings, chromium = CliSettings(), shutil.which("chromium")
    if settings.url is None or settings.api_key is None:
        raise SystemExit("Set CAIRN_URL and CAIRN_API_KEY.")
    if chromium is None:
        raise SystemExit("There is no chromium on this machine.")
    url = str(settings.url).rstrip("/")
    headers = {"authorization": f"Bearer {settings.api_key.get_secret_value()}"}
    with (
        httpx.Client(base_url=url, headers=headers, timeout=60) as http,
        host() as (origin, shown),
        widget_on(http, origin) as widget_id,
        sync_playwright() as driver,
    ):
        script = f'<script src="{url}/widget.js" data-widget="{widget_id}"></script>'
        shown["page"] = f"<!doctype html><title>Shop</title><body>{script}"
        browser: Any = driver.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        try:
            page = browser.new_page()
            page.goto(origin)
            page.get_by_role("button", name="Chat with us").click()
            taken = first_words(page, rounds)
        finally:
            browser.close()
    p95 = quantiles(taken, n=20)[-1]
    sys.stdout.write(
        f"first word in the widget: {median(taken):.0f} ms at the median, {p95:.0f} ms at the 95th "
        f"percentile of {rounds} questions\n"
    )
    if p95 > MOST_MS:
        raise SystemExit(f"More than {MOST_MS} ms.")


if __name__ == "__main__":
    main()
