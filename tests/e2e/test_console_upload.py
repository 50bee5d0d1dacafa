"""A person uploads a document in a browser, past the API, to the laptop's own object store."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from uuid import uuid4

import pytest
from tests.e2e.tenant import Tenant
from tests.integration.console.test_in_a_browser import WIDE, looks_well
from tests.unit.documents.pdf_files import pdf

if TYPE_CHECKING:
    from playwright.sync_api import Page

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="there is no chromium on this machine"
)
TITLE = "The ferry <script>window.hit = 1</script>"


@pytest.fixture
def page(workspace: Tenant) -> Iterator["Page"]:
    """A page of an operator, with nothing in its console but that something was refused."""
    from playwright.sync_api import sync_playwright

    person = {"login": f"ines-{uuid4()}", "name": "Ines", "role": "operator"}
    link = workspace.post("/v1/people", person)
    wrong: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_context(viewport=WIDE).new_page()
        page.on("console", lambda each: wrong.append(each.text) if each.type == "error" else None)
        page.goto(workspace.base + link["path"])
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("heading", name="Your account").wait_for()
        yield page
        browser.close()
    assert [each for each in wrong if "status of 422" not in each] == []


def choose(page: "Page", path: Path, **fields: str) -> list[Any]:
    """Choose a file, fill in the form and send it; return the requests that were made."""
    requests: list[Any] = []
    page.on("request", lambda each: requests.append(each))
    page.locator("#file").set_input_files(path)
    for label, value in fields.items():
        page.get_by_label(label).fill(value)
    page.get_by_role("button", name="Upload").click()
    return requests


def test_a_pdf_of_12_megabytes_is_uploaded_with_its_progress_and_found(
    workspace: Tenant, page: "Page", tmp_path: Path
) -> None:
    ferry = tmp_path / "ferry.pdf"
    ferry.write_bytes(
        pdf([[(11, "The ferry to Anholt leaves from Grenaa at dusk.")]], pictures=12_000_000)
    )
    page.goto(f"{workspace.base}/console/documents")
    page.get_by_text("A document is a file that is cut into passages").wait_for()
    looks_well(page)
    requests = choose(page, ferry, Title=TITLE)
    page.get_by_role("heading", name=TITLE).wait_for(timeout=120_000)
    page.get_by_text("it is read, cut and embedded now").wait_for()
    (put,) = [each for each in requests if each.method == "PUT"]
    assert urlsplit(put.url).netloc != urlsplit(workspace.base).netloc  # past the API
    assert put.headers["if-none-match"] == "*"
    assert len(put.headers["x-amz-checksum-sha256"]) == 44
    page.locator("#state [role=status]", has_text="ready").wait_for(timeout=240_000)
    looks_well(page)
    assert page.evaluate("window.hit") is None
    assert any("Anholt" in text for text in workspace.texts("Where does the ferry leave from?"))
    page.get_by_role("link", name="Documents").last.click()
    page.get_by_role("row", name="ferry.pdf").get_by_text("ready").wait_for()
    page.get_by_role("link", name=TITLE).click()
    page.get_by_label("Hide it").check()
    page.get_by_role("button", name="Delete").click()
    page.get_by_text("The document is hidden").wait_for()


def test_a_page_under_the_name_of_a_pdf_and_a_picture_are_refused_with_the_reason(
    workspace: Tenant, page: "Page", tmp_path: Path
) -> None:
    page.goto(f"{workspace.base}/console/documents")
    liar, picture = tmp_path / "liar.pdf", tmp_path / "picture.png"
    liar.write_text("<!doctype html><script>alert(1)</script>", encoding="utf-8")
    picture.write_bytes(b"<!doctype html><p>No picture</p>")
    requests = choose(page, picture)
    page.get_by_text("an ending that is not read").wait_for()
    assert not [each for each in requests if each.method == "PUT"]
    page.evaluate("document.querySelector('#file').value = ''")
    with page.expect_navigation():
        choose(page, liar)
    page.get_by_text("its first bytes say it is not a PDF").first.wait_for()
    assert workspace.get("/v1/documents")["items"] == []


def test_a_text_is_pasted_and_found(workspace: Tenant, page: "Page") -> None:
    page.goto(f"{workspace.base}/console/documents")
    page.get_by_label("What it is called").fill(f"Ferry rules {TITLE}")
    page.get_by_label("The text").fill("# Dogs\n\nDogs ride on deck seven of the ferry to Anholt.")
    page.get_by_label("Where it is from").fill("ferry-rules")
    page.get_by_role("button", name="Take it").press("Enter")
    page.get_by_text("it is read, cut and embedded now").wait_for()
    page.locator("#state [role=status]", has_text="ready").wait_for(timeout=240_000)
    assert any("deck seven" in text for text in workspace.texts("Where do dogs ride?"))
    page.goto(f"{workspace.base}/console/documents?source=ferry-rules")
    page.get_by_role("row", name="ferry-rules").get_by_text("ready").wait_for()
    looks_well(page)
    assert page.evaluate("window.hit") is None
