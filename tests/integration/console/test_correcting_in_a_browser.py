"""What agents know, put right in a browser: merged, moved, renamed, held back, forgotten."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.integration.console import test_in_a_browser
from tests.integration.console.test_in_a_browser import NARROW, go_to, looks_well
from tests.integration.console.test_memories_in_a_browser import HOSTILE, call

from cairn.kernel.access import PersonRole

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.integration.console.test_in_a_browser import Site

pytestmark = test_in_a_browser.pytestmark


def test_two_memories_are_merged_and_the_one_is_moved_on_a_phone(site: Site, page: Page) -> None:
    for text in (f"Mara paints. {HOSTILE}", "Mara paints boats."):
        call(site, "POST", "/v1/memories", type="fact", client_id="mara", text=text)
    site.person(page, PersonRole.OPERATOR)
    page.set_viewport_size(NARROW)
    go_to(page, "Memories")
    page.get_by_label("Client").fill("mara")
    page.get_by_role("button", name="Search").press("Enter")
    page.wait_for_url("**client=mara**")
    for each in page.get_by_role("checkbox").all():
        each.press("Space")
    page.get_by_label("Do", exact=True).select_option("make one of two")
    page.get_by_role("button", name="Do it").press("Enter")
    page.get_by_role("heading", name="One memory of two").wait_for()
    looks_well(page)
    page.set_viewport_size(NARROW)
    page.get_by_label("What the one in their place says").fill("Mara paints boats in oil.")
    page.get_by_label("Why").evaluate("each => each.value = 'x'.repeat(1001)")
    page.get_by_role("button", name="Merge them").press("Enter")
    page.get_by_role("alert").wait_for()
    kept = page.get_by_label("What the one in their place says").input_value()
    assert kept == "Mara paints boats in oil."
    page.get_by_label("Why").fill("They say the same.")
    page.get_by_role("button", name="Merge them").press("Enter")
    page.get_by_text("it stands for both").wait_for()
    page.reload()
    assert page.locator(".saying").inner_text() == "Mara paints boats in oil."
    page.get_by_text("Move it", exact=True).press("Enter")
    looks_well(page)
    page.get_by_label("To the client").fill("mara-and-sons")
    page.get_by_label("Who may read it").select_option("shared")
    page.locator("#move-why").fill("They are a firm now.")
    page.get_by_role("button", name="Move", exact=True).press("Enter")
    page.get_by_text("1 memory: moved").wait_for()
    page.get_by_role("link", name="mara-and-sons").wait_for()
    assert page.evaluate("window.hit") is None


def test_an_entity_is_given_a_name_merged_and_parted_again(site: Site, page: Page) -> None:
    ids = [
        call(site, "POST", "/v1/nodes", label="Entity", kind="person", properties={"name": name})
        for name in (f"Quill {HOSTILE}"[:60], "Quill of Rome")
    ]
    edge = {"relation": "references", "to": ids[0]["id"], "properties": {"role": "about"}}
    call(site, "POST", "/v1/nodes", label="Note", properties={"text": HOSTILE}, edges=[edge])
    site.person(page, PersonRole.OPERATOR)
    page.set_viewport_size(NARROW)
    go_to(page, "Graph")
    page.get_by_role("link", name="All who and what is spoken of").press("Enter")
    page.get_by_label("Part of a name").fill("quill")
    page.get_by_role("button", name="Show").press("Enter")
    page.wait_for_url("**q=quill**")
    looks_well(page)
    page.set_viewport_size(NARROW)
    page.get_by_role("link", name="Quill <img").press("Enter")
    page.get_by_label("One more name").fill("The Feather")
    page.get_by_role("button", name="Add the name").press("Enter")
    page.get_by_text("The name means it from now on.").wait_for()
    page.get_by_text("Those that are ticked").press("Enter")
    looks_well(page)
    page.get_by_label("Quill of Rome").check()
    page.get_by_role("button", name="Make it part of that").press("Enter")
    page.get_by_text("They are one from now on").wait_for()
    page.get_by_role("heading", name="Quill of Rome").wait_for()
    looks_well(page)
    page.reload()
    page.get_by_role("button", name="Undo").press("Enter")
    page.get_by_text("It stands for itself again").wait_for()
    page.go_back()
    page.go_forward()
    assert page.evaluate("window.hit") is None


def test_a_source_of_lies_is_held_back_once_it_was_seen_and_let_out(site: Site, page: Page) -> None:
    call(site, "POST", "/v1/memories", type="fact", text="The sea is sweet.", session_id="lies")
    site.person(page, PersonRole.ADMIN)
    go_to(page, "Ledger")
    page.get_by_role("link", name="Taints").press("Enter")
    looks_well(page)
    page.set_viewport_size(NARROW)
    page.get_by_label("What is not trusted").select_option("source")
    page.get_by_label("Which").fill("lies")
    page.get_by_label("Why").fill(HOSTILE)
    page.get_by_role("button", name="Show what would go").press("Enter")
    page.get_by_role("alert").wait_for()
    assert page.get_by_label("Why").input_value() == HOSTILE
    page.get_by_label("What is not trusted").select_option("session")
    page.get_by_role("button", name="Show what would go").press("Enter")
    page.get_by_text("1 thing. Nothing was changed yet.").wait_for()
    looks_well(page)
    page.get_by_role("button", name="Hold it back").press("Enter")
    page.get_by_text("It is held back").wait_for()
    assert HOSTILE in page.get_by_role("main").inner_text()
    looks_well(page)
    page.get_by_label("It is to be trusted again").check()
    page.get_by_role("button", name="Lift it").press("Enter")
    page.get_by_text("It is lifted.").wait_for()
    assert page.evaluate("window.hit") is None


def test_a_forgetting_is_followed_to_its_proof_without_a_reload(site: Site, page: Page) -> None:
    call(site, "POST", "/v1/memories", type="fact", client_id="nils", text="Nils hums Zirkelwalz.")
    loads = "sessionStorage.loads = Number(sessionStorage.loads || 0) + 1"
    steps: list[str] = []
    site.person(page, PersonRole.OWNER)
    page.goto(f"{site.url}/console/forget?kind=client&name=nils")
    page.context.add_init_script(loads)
    page.on("requestfinished", lambda each: steps.append(each.url.rpartition("/")[2]))
    page.get_by_label("Write the name again").fill("nils")
    page.get_by_role("button", name="Forget, for ever").press("Enter")
    page.get_by_text("Nothing was found any more").wait_for()
    assert steps.count("next") == 3  # the rows, the rest, the proof
    assert page.evaluate("sessionStorage.loads") == "1"
    looks_well(page)
    page.goto(f"{site.url}/console/ledger/forgettings")
    page.get_by_role("link", name="The proof").first.press("Enter")
    page.get_by_text("Nothing was found any more").wait_for()
