"""The memory graph and the memories out of a workspace and into another one, by a page."""

# pyright: basic

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest
from tests.integration.console import test_memories
from tests.integration.console.test_in_a_browser import CHROMIUM, looks_well
from tests.integration.console.test_memories import HOSTILE, tell
from tests.integration.console.test_memories_in_a_browser import call
from tests.support.console import BASE, signed_in
from tests.support.memory_graphs import help_desk
from tests.support.world import open_world

from cairn.api.console.transfer import CHUNK, MOST_RECORDS, chunks_of, within
from cairn.graph.memory_dump import as_record, dump_lines
from cairn.kernel.access import PersonRole
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import httpx
    from playwright.sync_api import Page
    from tests.integration.console.test_in_a_browser import Site
    from tests.integration.storage.test_console import Deployed
    from tests.plugins.postgres import Database
    from tests.support.console import Browser

deployed = test_memories.deployed
PAGE = "/console/transfer"
GRAPH = b"".join(dump_lines(help_desk()))


def bring(browser: Browser, content: bytes, mode: str = "import") -> httpx.Response:
    """Send a file, as the page's form does."""
    return browser.send(
        "POST",
        f"{PAGE}/import",
        data={"csrf": browser.csrf(), "mode": mode},
        files={"file": ("memory.jsonl", content)},
        headers={"origin": BASE},
    )


def test_what_one_workspace_exports_another_takes_in_and_exports_byte_for_byte(
    deployed: Deployed, database: Database
) -> None:
    items = [as_record(each) for each in help_desk()]
    deployed.front.call("POST", "/v1/import", json={"items": items})
    for number in range(3):
        text = f"The hut has {number} beds. {HOSTILE}"
        tell(deployed, text, client_id=HOSTILE[:60], key="beds", metadata={"share": 0.5})
    owner = deployed.person(f"exports-{new_id()}")
    before = len(deployed.entries("export.made"))
    answer = owner.submit(f"{PAGE}/export")
    assert answer.status_code == 200, answer.text
    assert "attachment" in answer.headers["content-disposition"]
    assert answer.headers["cache-control"] == "no-store"
    assert "content-length" not in answer.headers  # it is sent as it is read
    assert len(deployed.entries("export.made")) == before + 1
    lines = [json.loads(line) for line in answer.content.splitlines()]
    assert lines[-1]["nodes"] == sum(each.get("kind") == "node" for each in lines) == 9
    assert (lines[-1]["edges"], lines[-1]["memories"]) == (10, 3)
    world = open_world(database.owner_url, database.app_url, f"taken in {new_id()}")
    world.pool.close()
    other = signed_in(deployed.app, world.workspace_id, f"imports-{new_id()}", PersonRole.ADMIN)
    checked = bring(other, answer.content, "check").text
    assert "9 nodes, 10 edges, 3 memories" in checked
    assert "Nothing was written" in checked
    empty = other.submit(f"{PAGE}/export").content
    assert json.loads(empty.splitlines()[-1])["nodes"] == 0
    assert "22 of them changed something, 0 were refused" in bring(other, answer.content).text
    assert other.submit(f"{PAGE}/export").content == answer.content
    assert "0 of them changed something" in bring(other, answer.content).text


def test_a_file_that_is_not_whole_is_refused_by_its_line_and_nothing_is_written(
    deployed: Deployed,
) -> None:
    owner = deployed.person(f"refuses-{new_id()}")
    lines = GRAPH.splitlines(keepends=True)
    many = [
        {"kind": "node", "label": "user", "natural_key": f"user:{number:05}", "properties": {},
         "provenance": "imported", "status": "active"}
        for number in range(MOST_RECORDS + 1)
    ]  # fmt: skip
    for content, says in (
        (b"", "is missing, or empty"),
        (b"Dear Sir", "Line 1 is refused"),
        (b"\0" * 9, "Line 1 is refused"),
        (b"".join(lines[:-1]), "the file was cut off"),
        (GRAPH[:-9], "is refused"),
        (GRAPH.replace(b"Hartwell Law", b"Hartwell Raw"), "are not those that were exported"),
        (GRAPH.replace(b"Hartwell Law", b"Hart\\u0000law"), "Line 3"),
        (GRAPH.replace(b"Hartwell Law", b"Hart\xed\xa0\x80law"), "Line 3"),
        (lines[0] + b"[" * 200_000 + b"\n", "Line 2 is refused"),
        (lines[0] + b"x" * 600_000, "Line 2 is refused"),
        (b"".join([lines[0], *(json.dumps(each, separators=(",", ":"), sort_keys=True).encode()
                               + b"\n" for each in many)]), f"more than {MOST_RECORDS} records"),
    ):  # fmt: skip
        refused = bring(owner, content)
        assert refused.status_code == 422, (content[:40], refused.status_code)
        assert says in refused.text, (says, content[:40])
    empty = owner.submit(f"{PAGE}/export").content
    assert json.loads(empty.splitlines()[-1]) | {"sha256": ""} == {
        "kind": "end", "nodes": 0, "edges": 0, "memories": 0, "sha256": ""
    }  # fmt: skip


def test_only_owners_and_admins_take_memory_out_or_in(deployed: Deployed) -> None:
    for role in PersonRole:
        browser = deployed.person(f"moves-{new_id()}", role)
        may = role in (PersonRole.OWNER, PersonRole.ADMIN)
        answers = (browser.get(PAGE), browser.submit(f"{PAGE}/export"), bring(browser, GRAPH))
        assert [each.status_code for each in answers] == [200 if may else 403] * 3, role
    assert browser.get(f"{PAGE}/export").status_code in (404, 405)  # a link takes nothing out
    assert browser.get(f"{PAGE}/import").headers["location"] == PAGE


def test_a_download_comes_in_pieces_and_one_that_is_too_large_is_not_read_to_its_end() -> None:
    read: list[int] = []

    def lines() -> Iterator[bytes]:
        for number in range(10_000):
            read.append(number)
            yield b"x" * 999 + b"\n"

    first = next(chunks_of(lines()))
    assert CHUNK <= len(first) < CHUNK + 1_000
    assert len(read) == len(first) // 1_000
    read.clear()
    assert within(chunks_of(lines()), 200_000) is None
    assert len(read) < 300
    assert within(chunks_of([b"a\n", b"b\n"]), 4) == b"a\nb\n"


@pytest.mark.skipif(CHROMIUM is None and "CI" not in os.environ, reason="there is no chromium")
def test_a_person_downloads_memory_and_brings_it_back_by_keyboard(
    site: Site, page: Page, tmp_path: Path
) -> None:
    call(site, "POST", "/v1/memories", text=f"A hut. {HOSTILE}", type="fact")
    site.person(page, PersonRole.OWNER)
    page.goto(f"{site.url}/console/upkeep")
    page.get_by_role("link", name="Export and import").press("Enter")
    page.get_by_role("button", name="Download the file").wait_for()
    looks_well(page)
    file = tmp_path / "memory.jsonl"
    with page.expect_download() as download:
        page.get_by_role("button", name="Download the file").press("Enter")
    download.value.save_as(file)
    assert download.value.suggested_filename.startswith("cairn-memory-")
    for button, says in (("Only check it", "The file is whole"), ("Import it", "It is in")):
        page.get_by_label("File", exact=True).set_input_files(file)
        page.get_by_role("button", name=button).press("Enter")
        page.get_by_role("heading", name=says).wait_for()
        looks_well(page)
    assert "0 of them changed something" in page.get_by_role("status").inner_text()
    page.reload()  # leads to the page that the form was on, and sends nothing again
    page.get_by_role("heading", name="It is in").wait_for(state="detached")
    file.write_bytes(file.read_bytes()[:-5])
    page.get_by_label("File", exact=True).set_input_files(file)
    page.get_by_role("button", name="Import it").press("Enter")
    page.locator("#file-wrong").get_by_text("is refused").wait_for()
    looks_well(page)
