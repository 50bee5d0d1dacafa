"""Every page of the console over a workspace whose texts try to be more than texts."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import httpx
from tests.integration.console import test_in_a_browser
from tests.integration.console.test_conversations import draw
from tests.integration.console.test_in_a_browser import NARROW
from tests.support.planted import NAME, plant

from cairn.kernel.access import PersonRole

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.integration.console.test_in_a_browser import Site

pytestmark = test_in_a_browser.pytestmark
ID = re.compile(r"[0-9a-f]{8}-[0-9a-f-]{27}|(?<=/)\d+$")
FILES = re.compile(r"/static/|export\.|\.json$")
OF_EACH_KIND = 2
LOOK = """() => {
  const where = (each) => each.getAttribute("href") ?? each.getAttribute("action");
  const every = [...document.querySelectorAll("a[href], form[action]")].map(where);
  return {
    ran: window.hit ?? null,
    markup: document.querySelectorAll("[data-planted]").length,
    schemes: every.filter((each) => /^\\s*(javascript|data|vbscript):/i.test(each)),
    wide: document.documentElement.scrollWidth - innerWidth > 0,
    links: [...document.querySelectorAll("a[href^='/']")].map(where),
  };
}"""
CLEAN = {"ran": None, "markup": 0, "schemes": [], "wide": False}


def kind_of(path: str) -> str:
    """Return what pages of one kind share: the path without ids, the names of its query."""
    place, _, query = path.partition("?")
    return ID.sub("*", place) + "?" + ",".join(sorted(re.findall(r"(\w+)=", query)))


def test_no_text_is_markup_or_breaks_a_page_on_a_phone(site: Site, page: Page) -> None:
    headers = {"authorization": f"Bearer {site.front.key}"}

    def post(path: str, body: dict[str, Any]) -> Any:
        answer = httpx.post(site.url + path, json=body, headers=headers, timeout=60)
        assert answer.is_success, (path, answer.text)
        return answer.json()

    plant(post)
    draw(site.front, site.world)
    site.person(page, PersonRole.OWNER)
    people = httpx.get(f"{site.url}/v1/people", headers=headers).json()["items"]
    owner = next(each["id"] for each in people if each["role"] == "owner")
    tie = f"{site.url}/v1/people/{owner}/member"  # whose pages are walked, too
    assert httpx.put(tie, json={"client_id": NAME}, headers=headers).is_success
    page.set_viewport_size(NARROW)
    wrong: list[tuple[str, Any]] = []
    todo, seen, kinds = ["/"], set[str](), dict[str, int]()
    while todo:
        path = todo.pop(0).partition("#")[0]
        kind = kind_of(path)
        if path in seen or FILES.search(path) or kinds.get(kind, 0) == OF_EACH_KIND:
            continue
        seen.add(path)
        kinds[kind] = kinds.get(kind, 0) + 1
        answer = page.goto(site.url + path)
        look = page.evaluate(LOOK)
        todo += look.pop("links")
        if look != CLEAN or not (answer and answer.ok):
            wrong.append((path, [answer and answer.status, look]))
    assert wrong == []
    assert len(kinds) > 50, sorted(kinds)
