"""Makes the pictures of the console's pages for the guide, of a running stack with the demo's data.

    make run && python -m scripts.pictures [NAME...]

The list of pages is `benchmarks.console`; a page of one thing is of the first of its list. Two more
are of a talk: `customer`, on a customer's page, and `hand-off`, as an operator answers there.
"""

from __future__ import annotations

import sys
from base64 import b64decode
from pathlib import Path
from typing import Any

import httpx

from benchmarks.console import FIRST_OF, PAGES, paths, signed_in
from benchmarks.widget import host, widget_on
from cairn.settings.cli import CliSettings

FOLDER = Path(__file__).parents[1] / "docs" / "use" / "pictures"
MOST_BYTES = 60_000
QUALITIES = (80, 60, 40, 20)
TALK = ("customer", "hand-off")
QUESTION = "Until when can I cancel a booking?"
DOCUMENT = {
    "source_uri": "https://huts.example/cancelling.md",
    "scope": "public",
    "text": "# Cancelling\n\nA booking can be cancelled for free until two days before.\n",
}
SHOP = """<!doctype html><html lang="en"><meta charset="utf-8"><title>Huts</title>
<style>body { font: 18px/1.5 system-ui; margin: 40px; max-width: 560px }</style>
<h1>Mountain huts</h1><p>Book a bed for the night, and a supper.</p>"""


def main(names: list[str]) -> None:
    """Make the pictures of these pages, of all without a name."""
    unknown = set(names) - {*PAGES, *FIRST_OF, *TALK}
    if unknown:
        raise SystemExit(f"No such page: {', '.join(sorted(unknown))}.")
    FOLDER.mkdir(exist_ok=True)
    with signed_in() as (url, browser, context):
        page = context.new_page()
        wire: Any = context.new_cdp_session(page)
        for name, path in paths(context, url).items():
            if names and name not in names:
                continue
            page.goto(url + path)
            page.wait_for_load_state("networkidle")
            _keep(name, wire)
        if not names or set(names) & set(TALK):
            shop = browser.new_page(viewport={"width": 1000, "height": 700})
            _talk(url, shop, page)


def _talk(url: str, shop: Any, desk: Any) -> None:
    """Let a customer ask, and an operator answer; keep what both see, and close the chat."""
    key = CliSettings().api_key
    headers = {"authorization": f"Bearer {key.get_secret_value() if key else ''}"}
    hand_off = {"wait_minutes": 10}
    with (
        httpx.Client(base_url=url, headers=headers, timeout=60) as http,
        host() as (origin, shown),
        widget_on(http, origin, hand_off=hand_off) as widget_id,
    ):
        accepted = http.post("/v1/documents", json=DOCUMENT).raise_for_status().json()
        while http.get(f"/v1/ingestions/{accepted['ingestion_id']}").json()["status"] != "ready":
            shop.wait_for_timeout(500)
        script = f'<script src="{url}/widget.js" data-widget="{widget_id}"></script>'
        shown["page"] = f"{SHOP}{script}"
        shop.goto(origin)
        shop.get_by_role("button", name="Chat with us").click()
        shop.get_by_role("textbox").fill(QUESTION)
        shop.get_by_role("button", name="Send").click()
        shop.get_by_role("button", name="Talk to a person").click()
        shop.get_by_text("A person was asked to join").last.wait_for()
        desk.goto(f"{url}/console/chats")
        desk.get_by_role("link", name="The customer asked for a person.").first.click()
        desk.get_by_role("button", name="Accept").click()
        desk.get_by_label("Say to the customer").fill("Good morning. Which booking is it?")
        desk.get_by_role("button", name="Send").click()
        shop.get_by_text("Which booking is it?").last.wait_for()
        desk.locator("#steps").get_by_text("Which booking is it?").last.wait_for()
        for name, page in zip(TALK, (shop, desk), strict=True):
            _keep(name, page.context.new_cdp_session(page))
        desk.get_by_text("Close, give back").click()
        desk.get_by_label("How it was solved").fill("A picture was taken.")
        desk.get_by_role("button", name="Close the chat").click()
        desk.get_by_role("heading", name="How it was solved").wait_for()
        http.delete(f"/v1/documents/{accepted['document_id']}").raise_for_status()


def _keep(name: str, wire: Any) -> None:
    picture = _picture(wire)
    (FOLDER / f"{name}.webp").write_bytes(picture)
    sys.stdout.write(f"{name}.webp {len(picture)} bytes\n")


def _picture(wire: Any) -> bytes:
    """Return what a page looks like, as WebP of the best quality that is small enough."""
    picture = b""
    for quality in QUALITIES:
        shot = wire.send("Page.captureScreenshot", {"format": "webp", "quality": quality})
        picture = b64decode(shot["data"])
        if len(picture) <= MOST_BYTES:
            break
    return picture


if __name__ == "__main__":
    main(sys.argv[1:])
