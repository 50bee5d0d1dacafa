"""The graph as a person walks it: drawn, by click and by keyboard, and as a list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.integration.console import test_in_a_browser
from tests.integration.console.test_in_a_browser import HOSTILE, NARROW, WIDE, looks_well
from tests.integration.console.test_memories_in_a_browser import call

from cairn.kernel.access import PersonRole

if TYPE_CHECKING:
    from playwright.sync_api import Page, ViewportSize
    from tests.integration.console.test_in_a_browser import Site

pytestmark = test_in_a_browser.pytestmark
REST = """() => new Promise((done) => {
  const canvas = document.getElementById('drawing');
  let before = '';
  const look = () => {
    if (canvas.dataset.frames === before) done(); else setTimeout(look, 200);
    before = canvas.dataset.frames;
  };
  look();
})"""


def write(site: Site, name: str, *uses: str) -> str:
    edges = [{"relation": "USES", "to": each} for each in uses]
    body = {"label": "Service", "properties": {"name": name}, "edges": edges}
    return str(call(site, "POST", "/v1/nodes", **body)["id"])


def drawn(page: Page, nodes: int) -> None:
    """Wait until so many nodes are drawn."""
    page.locator(f"#drawing[data-nodes='{nodes}']").wait_for()


@pytest.mark.parametrize("size", [WIDE, NARROW], ids=["wide", "narrow"])
def test_a_person_walks_the_graph_by_the_list_by_keyboard_and_by_click(
    site: Site, page: Page, size: ViewportSize
) -> None:
    disk = write(site, f"Disk {HOSTILE}")
    store = write(site, "Store", disk)
    shop = write(site, "Shop", store)
    site.person(page, PersonRole.READER)
    page.set_viewport_size(size)
    page.goto(f"{site.url}/console/graph?node={shop}")
    drawn(page, 2)
    assert page.locator("#chosen").inner_text().startswith("Service: Shop")
    if size is WIDE:
        looks_well(page)
        page.set_viewport_size(size)

    beside = page.locator("#around")
    beside.get_by_role("list").first.get_by_role("link", name="Store").press("Enter")
    page.get_by_role("heading", name="Store").wait_for()
    drawn(page, 3)  # the drawing grew
    assert page.url.endswith(f"node={store}")
    assert HOSTILE in beside.get_by_role("list").first.inner_text()

    canvas = page.get_by_role("application")
    canvas.focus()
    chosen = page.locator("#chosen")
    for key in ("ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"):
        if "Store" not in chosen.inner_text().split("—")[0]:
            break
        canvas.press(key)
    assert "Store" not in chosen.inner_text().split("—")[0]
    assert page.get_by_role("button", name="Walk there").is_visible()
    name = "Shop" if "Shop" in chosen.inner_text() else "Disk"
    canvas.press("Enter")
    page.get_by_role("heading", name=name).wait_for()
    canvas.press("Escape")
    assert f"Service: {name}" in chosen.inner_text()
    canvas.press("+")
    canvas.press("-")

    canvas.press("0")
    page.get_by_role("button", name="All of it").click()
    page.evaluate(REST)
    canvas.scroll_into_view_if_needed()
    box = canvas.bounding_box()
    assert box is not None
    across, down = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    spots = [(x, y) for x in range(-150, 151, 20) for y in range(-150, 151, 20)]
    for x, y in sorted(spots, key=lambda spot: spot[0] ** 2 + spot[1] ** 2):
        page.mouse.click(across + x, down + y)
        if page.get_by_role("button", name="Walk there").is_visible():
            break
    text = chosen.inner_text()
    assert text
    assert name not in text.split("—")[0]
    page.get_by_role("button", name="Walk there").click()
    page.get_by_role("heading", name=text.split(": ")[1].split(" ")[0]).wait_for()
    page.reload()
    page.locator("#drawing[data-nodes]").wait_for()
    assert page.evaluate("window.hit") is None


def test_going_back_shows_where_one_was_and_filters_and_the_past_hold(
    site: Site, page: Page
) -> None:
    mail = write(site, "Mail")
    post = write(site, "Post", mail)
    then = call(site, "GET", "/v1/status")["ledger_position"]
    write(site, "Parcel", post)
    site.person(page, PersonRole.OPERATOR)
    page.goto(f"{site.url}/console/graph?node={mail}")
    drawn(page, 2)
    page.locator("#around").get_by_role("link", name="Post").first.click()
    page.get_by_role("heading", name="Post").wait_for()
    drawn(page, 3)
    page.go_back()
    page.get_by_role("heading", name="Mail").wait_for()
    drawn(page, 2)
    page.go_forward()
    page.get_by_role("heading", name="Post").wait_for()
    page.get_by_label("Relation", exact=True).select_option("DEPENDS_ON")
    page.get_by_role("button", name="Show").click()
    page.get_by_text("Nothing lies beside it with these filters").wait_for()
    page.get_by_label("Relation", exact=True).select_option("")
    page.get_by_label("As of").evaluate(
        "(slider, then) => { slider.value = then;"
        " slider.dispatchEvent(new Event('change', {bubbles: true})); }",
        then,
    )
    page.get_by_text(f"This is what stood at entry {then}").wait_for()
    drawn(page, 2)
    assert page.locator("#around").get_by_role("link", name="Parcel").count() == 0
    page.get_by_role("link", name="Back to now").click()
    drawn(page, 3)


def test_a_memory_leads_into_the_graph(site: Site, page: Page) -> None:
    told = call(site, "POST", "/v1/memories", type="fact", text="The pier is made of oak.")
    site.person(page, PersonRole.READER)
    page.goto(f"{site.url}/console/memories/{told['id']}")
    page.get_by_role("link", name="In the graph").click()
    page.get_by_role("heading", name="The pier is made of oak.").wait_for()
    drawn(page, 1)
    page.get_by_role("link", name="Open its page").click()
    page.get_by_role("heading", name="A memory").wait_for()


PATHS = ("/", *(f"/console/{name}" for name in (
    "memories", "searches", "graph", "approvals", "tickets", "investigations", "review",
    "conversations", "session-log", "ledger", "ledger/verify", "ledger/forgettings",
    "ledger/taints", "people", "keys", "agents", "settings", "account",
)))  # fmt: skip


def test_the_first_visit_of_any_page_is_small(site: Site, page: Page) -> None:
    site.person(page, PersonRole.OWNER)
    cookies = page.context.cookies()
    large: list[tuple[str, int]] = []
    for path in PATHS:
        with page.context.browser.new_context() as context:  # type: ignore[union-attr]
            context.add_cookies(cookies)  # type: ignore[arg-type]
            fresh = context.new_page()
            sizes: list[int] = []
            fresh.on("response", lambda answer, sizes=sizes: sizes.append(len(answer.body())))
            fresh.goto(site.url + path)
            fresh.wait_for_load_state("networkidle")
            if not 1_000 < sum(sizes) <= 150_000:
                large.append((path, sum(sizes)))
    assert large == []
