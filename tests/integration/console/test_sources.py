"""Sources of knowledge in the console: added, read with its progress, changed, let go."""

# pyright: basic

from __future__ import annotations

import os
from typing import TYPE_CHECKING
from uuid import UUID

import httpx
import pytest
from tests.integration.console.test_connectors import TOKEN, new, person
from tests.integration.console.test_in_a_browser import CHROMIUM, HOSTILE, looks_well
from tests.integration.console.test_people_in_a_browser import enter
from tests.support.sourcing import serving

from benchmarks.objects import InMemoryObjects
from cairn.adapters.sources.opening import OpenSource
from cairn.documents.accept import AcceptDocument
from cairn.kernel.access import PersonRole
from cairn.memories.delete import DeleteDocument
from cairn.sources.sync import SyncSource

if TYPE_CHECKING:
    from playwright.sync_api import Page
    from tests.integration.console.test_in_a_browser import Site

SOURCES = "/console/sources"
PAGES = {"/": "Start <a href='/dns'>dns</a>", "/dns": f"Ask Ada. {HOSTILE}"}


def work(site: Site, name: str) -> None:
    """Work at a source's run to its end, as the function does."""
    services = site.front.app.state.services
    worker = SyncSource(
        platform=services.sources.platform,
        sources=services.sources,
        open=OpenSource(private_hosts=frozenset({"127.0.0.1"}), pause=lambda _: None),
        accept=AcceptDocument(services.sources.platform, objects=InMemoryObjects()),
        delete=DeleteDocument(services.sources.platform),
        pause=lambda _: None,
    )
    source_id = UUID(row(site, name)["id"])
    became = worker(site.world.workspace_id, source_id, seconds=60)
    assert became == "done", row(site, name).get("error_detail")


def row(site: Site, name: str) -> dict:
    headers = {"authorization": f"Bearer {site.front.key}"}
    items = httpx.get(f"{site.url}/v1/sources", headers=headers).json()["items"]
    return next((each for each in items if each["name"] == name), {})


def handbook():
    def app(environ, start):
        text = PAGES.get(environ["PATH_INFO"])
        start("200 OK" if text else "404 Not Found", [("Content-Type", "text/html")])
        return [f"<title>A page</title><main>{text}</main>".encode()]

    return serving(app)


def test_a_source_is_added_changed_and_removed_and_its_secrets_are_in_no_page(site: Site) -> None:
    browser, name = person(site), new("runbooks")
    form = {"name": name, "kind": "git", "place": "https://git.example.org/x",
            "include": "docs/\r\n*.md", "config": '{"branch": "main"}',
            "secrets": f"token={TOKEN}", "sync_seconds": "3600"}  # fmt: skip
    for field, value in (
        ("name", "Not A Name"), ("kind", "pigeon"), ("kind", ""), ("place", ""), ("place", "no"),
        ("config", "no"), ("secrets", TOKEN), ("sync_seconds", "5"), ("sync_seconds", "soon"),
        ("place", "http://git.example.org/x"), ("include", "*a*b*c*d*e*f*g*"),
    ):  # fmt: skip
        answer = browser.submit(SOURCES, **{**form, field: value})
        assert answer.status_code == 422, field
        assert TOKEN not in answer.text
        assert 'role="alert"' in answer.text
    assert browser.submit(SOURCES, **form).status_code == 303
    assert browser.submit(SOURCES, **form).status_code == 409
    source = row(site, name)
    assert source["config"] == {
        "url": "https://git.example.org/x", "branch": "main", "include": ["docs/", "*.md"]
    }  # fmt: skip
    path = f"{SOURCES}/{source['id']}"
    page = browser.get(path).text
    assert TOKEN not in page
    assert "sync under way" in page
    change = {"kind": "git", "place": "https://git.example.org/x", "sync_seconds": "7200"}
    assert browser.submit(f"{path}/change", **{**change, "sync_seconds": "1"}).status_code == 422
    moved = {**change, "place": "https://elsewhere.example.org/x"}
    assert browser.submit(f"{path}/change", **moved).status_code == 422  # secrets would follow
    assert browser.submit(f"{path}/change", **change).status_code == 303
    assert row(site, name)["sync_seconds"] == 7200
    assert browser.submit(f"{path}/pause").status_code == 303
    assert browser.submit(f"{path}/sync").status_code == 409
    assert browser.submit(f"{path}/resume").status_code == 303
    assert browser.submit(f"{path}/explode").status_code == 404
    assert browser.submit(f"{path}/remove").status_code == 422
    assert browser.submit(f"{path}/remove", meant="yes").status_code == 303
    assert browser.get(path).status_code == 404


def test_only_owners_and_admins_see_where_documents_come_from(site: Site) -> None:
    name = new("handbook")
    form = {"name": name, "kind": "site", "place": "https://docs.example.org/"}
    assert person(site, PersonRole.ADMIN).submit(SOURCES, **form).status_code == 303
    path = f"{SOURCES}/{row(site, name)['id']}"
    for role in (PersonRole.OPERATOR, PersonRole.REVIEWER, PersonRole.READER):
        browser = person(site, role)
        assert browser.get(SOURCES).status_code == 403
        assert browser.get(path).status_code == 403
        for deed in ("sync", "preview", "pause", "change", "remove"):
            assert browser.submit(f"{path}/{deed}", meant="yes").status_code in (403, 422)
    assert row(site, name)["state"] == "active"


@pytest.mark.skipif(
    CHROMIUM is None and "CI" not in os.environ, reason="there is no chromium on this machine"
)
def test_an_owner_adds_a_site_sees_it_read_looks_ahead_and_lets_it_go(
    site: Site, page: Page
) -> None:
    enter(site, page)
    name = new("handbook")
    page.get_by_role("link", name="Administration").click()
    page.get_by_role("link", name="Sources", exact=True).click()
    looks_well(page)
    with handbook() as address:
        page.get_by_label("Name", exact=True).fill(name)
        page.get_by_label("Where").fill(f"{address}/")
        page.get_by_role("button", name="Add the source").press("Enter")
        page.get_by_role("heading", name=f"Source {name}").wait_for()
        page.get_by_text("sync under way").wait_for()
        looks_well(page)
        work(site, name)
        page.get_by_text("2 documents").wait_for()  # the page asks by itself
        page.get_by_role("cell", name="new").first.wait_for()
        looks_well(page)
        PAGES["/dns"], before = "Ask Grace.", PAGES["/dns"]
        try:
            page.get_by_role("button", name="What would change").click()
            page.get_by_text("preview under way").wait_for()
            work(site, name)
            page.get_by_text("1 changed, 1 unchanged").wait_for()
        finally:
            PAGES["/dns"] = before
    page.get_by_role("link", name="Sources", exact=True).first.click()
    looks_well(page)
    page.get_by_role("link", name=name).click()
    page.reload()
    page.go_back()
    page.go_forward()
    page.get_by_label("It is not read any more").check()
    page.get_by_label("Delete the documents it brought").check()
    page.get_by_role("button", name="Remove").click()
    page.get_by_text("It goes once its documents are deleted.").wait_for()
    work(site, name)
    page.get_by_text("It is gone, with its secrets.").wait_for()  # the page goes by itself
    assert row(site, name) == {}
    assert page.evaluate("window.hit") is None
