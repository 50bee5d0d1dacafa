"""docs/use/sources.md walked through the outer door: a folder, and a repository over HTTP."""

from __future__ import annotations

import shutil
from base64 import b64encode
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest
from dulwich.repo import Repo
from dulwich.server import DictBackend
from dulwich.web import make_wsgi_chain
from tests.e2e.cli import Done, cairn
from tests.e2e.tenant import Tenant, good, refused
from tests.fault.office import open_office
from tests.plugins.waiting import eventually
from tests.support import confluence_replay, notion_replay
from tests.support.confluence_replay import ConfluenceReplay
from tests.support.notion_replay import NotionReplay, block
from tests.support.replaying import served
from tests.support.sourcing import commit, files, serving, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

    from tests.plugins.laptop import Laptop

SECONDS = 180.0
PAGES = {"on-call.md": "# On call\n\nThe pager goes round.", "docs/dns.md": "# DNS\n\nAsk Ada."}


@pytest.fixture
def folder(workspace: Tenant) -> Iterator[Path]:
    folder = workspace.laptop.sources / workspace.id.hex
    write(folder, PAGES)
    yield folder
    shutil.rmtree(folder)


def sources(tenant: Tenant, *arguments: str, **given: Any) -> Done:
    return cairn(tenant, "sources", *arguments, seconds=SECONDS, **given)


def works(tenant: Tenant, *arguments: str, **given: Any) -> Any:
    done = sources(tenant, *arguments, "--json", **given)
    assert done.status == 0, done.err
    return done.json()


def documents(tenant: Tenant) -> set[str]:
    return {each["source_uri"] for each in tenant.get("/v1/documents")["items"]}


def all_read(tenant: Tenant, *uris: str) -> None:
    """Wait until these documents stand, and no others, ready."""

    def stand() -> bool:
        items = tenant.get("/v1/documents")["items"]
        return {each["source_uri"] for each in items} == set(uris) and all(
            each["status"] == "ready" for each in items
        )

    eventually(stand, seconds=SECONDS, what="the documents")


def ended(tenant: Tenant, source_id: str) -> dict[str, Any]:
    def ask() -> dict[str, Any] | None:
        source = tenant.get(f"/v1/sources/{source_id}")
        return source if source["run"] is None else None

    source = eventually(ask, seconds=SECONDS, what="the end of the run")
    assert source is not None
    return source


def behind_token(app: Any, token: str) -> Any:
    """Return an app that asks for a token, as the hosts of private repositories do."""
    basic = f"Basic {b64encode(f'git:{token}'.encode()).decode()}"

    def guarded(environ: dict[str, Any], start: Callable[..., Any]) -> Any:
        if environ.get("HTTP_AUTHORIZATION") == basic:
            return app(environ, start)
        start("401 Unauthorized", [("www-authenticate", "Basic")])
        return [b""]

    return guarded


def test_a_folder_is_walked_as_the_guide_says(workspace: Tenant, folder: Path) -> None:
    added = works(workspace, "add", "runbooks", "--folder", str(folder), "--wait")
    assert (added["documents"], added["error"]) == (2, None)
    uri = "source://runbooks/"
    all_read(workspace, uri + "on-call.md", uri + "docs/dns.md")

    (folder / "on-call.md").unlink()
    write(folder, {"docs/dns.md": "# DNS\n\nAsk Grace.", "new.md": "# New\n\nPage."})
    preview = works(workspace, "preview", "runbooks")
    assert [each["what"] for each in preview["changes"]] == ["changed", "new", "gone"]
    assert documents(workspace) == {uri + "on-call.md", uri + "docs/dns.md"}
    report = works(workspace, "sync", "runbooks")["last_sync"]
    assert (report["new"], report["changed"], report["gone"]) == (1, 1, 1)
    all_read(workspace, uri + "docs/dns.md", uri + "new.md")
    assert "runbooks" in sources(workspace, "list").out
    assert "1 new, 1 changed, 1 gone" in sources(workspace, "show", "runbooks").out

    assert works(workspace, "set", "runbooks", "--pause")["state"] == "paused"
    paused = sources(workspace, "sync", "runbooks")
    assert (paused.status, "paused" in paused.err) == (1, True)
    assert works(workspace, "set", "runbooks", "--resume")["state"] == "active"
    works(workspace, "remove", "runbooks")
    assert documents(workspace) == {uri + "docs/dns.md", uri + "new.md"}


def test_a_document_and_then_its_source_are_forgotten_with_a_clean_proof(
    workspace: Tenant, folder: Path
) -> None:
    works(workspace, "add", "runbooks", "--folder", str(folder), "--wait")
    all_read(workspace, "source://runbooks/on-call.md", "source://runbooks/docs/dns.md")
    dns = ("--source", "source://runbooks/docs/dns.md", "--yes", "--json")
    assert cairn(workspace, "forget", *dns, seconds=SECONDS).status == 0
    again = works(workspace, "sync", "runbooks")
    assert {"what": "refused", "key": "docs/dns.md", "reason": "forgotten"} in again["last_sync"][
        "changes"
    ]
    told = works(workspace, "forget", "runbooks", "--prove", "--canary", "pager", "--yes")
    assert [place for place in told["after"]["places"] if place["found"]] == []
    assert (documents(workspace), works(workspace, "list")) == (set(), [])


def test_a_private_repository_is_read_by_its_commits(workspace: Tenant, tmp_path: Path) -> None:
    repository = Repo.init_bare(str(tmp_path / "git"), mkdir=True)
    commit(repository, {**files(guide="# Guide"), b"docs/dns.md": (0o100644, b"# DNS\n\nAda.")})
    app = behind_token(make_wsgi_chain(DictBackend({"/runbooks.git": repository})), "t0ken")
    with serving(app) as address:
        add = ("add", "runbooks", "--git", f"{address}/runbooks.git", "--include", "docs/")
        without = works(workspace, *add, "--wait")
        assert (without["error"], without["documents"]) == ("sign-in", 0)
        works(workspace, "set", "runbooks", "--secret", "token", typed="t0ken")
        first = works(workspace, "sync", "runbooks")
        assert (first["error"], first["documents"]) == (None, 1)
        assert "t0ken" not in sources(workspace, "show", "runbooks", "--json").out
        all_read(workspace, "source://runbooks/docs/dns.md")
        same = works(workspace, "sync", "runbooks")["last_sync"]
        assert (same["unchanged"], same["new"], same["changed"]) == (1, 0, 0)
        commit(repository, {b"docs/tls.md": (0o100644, b"# TLS\n\nGrace.")})
        after = works(workspace, "sync", "runbooks")["last_sync"]
        assert (after["new"], after["gone"]) == (1, 1)
        all_read(workspace, "source://runbooks/docs/tls.md")
        works(workspace, "remove", "runbooks", "--documents")
        eventually(lambda: works(workspace, "list") == [], seconds=SECONDS, what="the removal")
    assert documents(workspace) == set()


def test_spaces_of_confluence_are_read_as_the_guide_says(workspace: Tenant) -> None:
    with served(ConfluenceReplay()) as replay:
        replay.write("1", "Operations", "<p>All of it.</p>")
        replay.write("2", "DNS", "<p>Ask Ada of the harbour.</p>", parent="1")
        site = ("--confluence", replay.url, "--space", "OPS", "--username", confluence_replay.USER)
        add = ("add", "wiki", *site, "--secret", "token", "--wait")
        added = works(workspace, *add, typed=confluence_replay.TOKEN)
        assert (added["error"], added["documents"]) == (None, 2)
        all_read(workspace, "source://wiki/1", "source://wiki/2")
        replay.write("2", "DNS", "<p>Ask Grace of the harbour.</p>", parent="1")
        replay.trash("1")
        report = works(workspace, "sync", "wiki")["last_sync"]
        assert (report["changed"], report["gone"]) == (1, 1)
        all_read(workspace, "source://wiki/2")
        document = workspace.get("/v1/documents")["items"][0]
        assert document["title"] == "DNS"


def test_pages_of_notion_are_read_as_the_guide_says(workspace: Tenant) -> None:
    with served(NotionReplay()) as replay:
        page = "59833787-2cf9-4fdf-8782-e53db20768a5"
        replay.write(page, "Move the DNS", block("b", "paragraph", "Ask Ada."), row=True)
        # the command reads the address of Notion itself; only the API takes another one
        body = {"name": "notes", "kind": "notion", "config": {"url": replay.url}}
        body["secrets"] = {"token": notion_replay.TOKEN}
        added = workspace.post("/v1/sources", body)
        assert ended(workspace, added["id"])["documents"] == 1
        all_read(workspace, f"source://notes/{page}")
        replay.now = datetime.now(UTC)
        replay.write(page, "Move the DNS", block("b", "paragraph", "Ask Grace."), row=True)
        assert works(workspace, "sync", "notes")["last_sync"]["changed"] == 1


def test_notion_is_asked_for_its_token(workspace: Tenant) -> None:
    added = works(workspace, "add", "notes", "--notion", "--secret", "token", typed="ntn_1")
    assert added["config"] in ({}, {"url": "https://api.notion.com"})
    works(workspace, "remove", "notes")
    both = sources(workspace, "add", "notes", "--notion", "--folder", "/tmp")
    assert (both.status, "Give one of" in both.err) == (2, True)


def test_a_resolved_ticket_is_read_until_it_is_disputed(laptop: Laptop, tmp_path: Path) -> None:
    office = open_office(laptop, tmp_path, repeats=False)
    ticket, tenant = office.ticket(), office.tenant
    office.approve()
    investigation = office.over(ticket)
    add = ("add", "past", "--tickets", "--ticket-source", "api", "--after-days", "0")
    assert works(tenant, *add, "--wait")["documents"] == 1
    all_read(tenant, f"source://past/{ticket}")
    tenant.post(f"/v1/investigations/{investigation['id']}/dispute", {"reason": "Locked again."})
    assert works(tenant, "sync", "past")["last_sync"]["gone"] == 1
    assert documents(tenant) == set()


def test_the_routes_add_read_preview_and_remove_a_source(workspace: Tenant, folder: Path) -> None:
    body = {"name": "notes", "kind": "folder", "config": {"path": str(folder)}}
    source = workspace.post("/v1/sources", body)
    path = f"/v1/sources/{source['id']}"
    assert ended(workspace, source["id"])["last_sync"]["new"] == 2
    write(folder, {"third.md": "# Third"})
    workspace.post(f"{path}/preview", {})
    assert ended(workspace, source["id"])["last_preview"]["new"] == 1
    workspace.post(f"{path}/sync", {})
    assert ended(workspace, source["id"])["last_sync"]["new"] == 1
    assert good(workspace.call("PATCH", path, json={"max_items": 7}))["max_items"] == 7
    assert [each["name"] for each in workspace.get("/v1/sources")["items"]] == ["notes"]
    refused(workspace.call("POST", "/v1/sources", json=body), 409, "conflict")
    elsewhere = {**body, "name": "etc", "config": {"path": "/etc"}}
    problem = refused(workspace.call("POST", "/v1/sources", json=elsewhere), 422)
    assert problem["reason"] == "source-folder"
    workspace.call("DELETE", path)
    assert len(documents(workspace)) == 3
