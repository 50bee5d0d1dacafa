"""docs/use/sources.md walked through the outer door: a folder, and a repository over HTTP."""

from __future__ import annotations

import shutil
from base64 import b64encode
from typing import TYPE_CHECKING, Any

import pytest
from dulwich.repo import Repo
from dulwich.server import DictBackend
from dulwich.web import make_wsgi_chain
from tests.e2e.cli import Done, cairn
from tests.e2e.tenant import Tenant, good, refused
from tests.plugins.waiting import eventually
from tests.support.sourcing import commit, files, serving, write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

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
