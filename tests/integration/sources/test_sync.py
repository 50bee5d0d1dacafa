"""Sources over PostgreSQL: what is new, changed and gone in them, and workers that die."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from dulwich.repo import Repo
from tests.support.forgetting import CANARY
from tests.support.sourcing import (
    Killed,
    Sourcing,
    commit,
    files,
    open_sourcing,
    serving_git,
    write,
)

from cairn.adapters.postgres.database import Database as Pool
from cairn.forgetting.forget import Target
from cairn.forgetting.ports import Reason
from cairn.kernel.access import Role
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Conflict, Denied, NotFound, ValidationFailed
from cairn.kernel.transaction import LedgerBusy
from cairn.sources.keep import SourceChange
from cairn.sources.source import KnowledgeState

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.plugins.postgres import Database

    from cairn.documents.ports import DocumentAccepted

PAGES = {"on-call.md": "# On call\n\nThe pager goes round.", "docs/dns.md": "# DNS\n\nAsk Ada."}


@pytest.fixture
def pool(database: Database) -> Iterator[Pool]:
    pool = Pool(database.app_url, size=4)
    yield pool
    pool.close()


@pytest.fixture
def desk(database: Database, pool: Pool, tmp_path: Path) -> Sourcing:
    return open_sourcing(database, pool, tmp_path)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path / "runbooks", PAGES)
    return tmp_path / "runbooks"


def test_a_folder_becomes_documents_and_what_changes_in_it_follows(
    desk: Sourcing, folder: Path
) -> None:
    source = desk.work(desk.add("folder", config={"path": str(folder)}))
    desk.read()
    assert source.last_sync is not None
    assert (source.last_sync.new, source.documents, source.run) == (2, 2, None)
    before = desk.documents()
    assert before.keys() == {"source://runbooks/on-call.md", "source://runbooks/docs/dns.md"}

    (folder / "on-call.md").unlink()
    write(folder, {"docs/dns.md": "# DNS\n\nAsk Grace, not Ada.", "new.md": "# New\n\nPage."})
    source = desk.sync(source)
    desk.read()
    assert source.last_sync is not None
    report = source.last_sync
    assert (report.new, report.changed, report.gone, report.unchanged) == (1, 1, 1, 0)
    after = desk.documents()
    assert after.keys() == {"source://runbooks/docs/dns.md", "source://runbooks/new.md"}
    assert after["source://runbooks/docs/dns.md"] == before["source://runbooks/docs/dns.md"]


def test_what_has_not_changed_is_not_read_again(desk: Sourcing, folder: Path) -> None:
    source = desk.work(desk.add("folder", config={"path": str(folder)}))
    desk.accepted.clear()
    again = desk.sync(source)
    assert again.last_sync is not None
    assert (again.last_sync.unchanged, again.last_sync.new, desk.accepted) == (2, 0, [])


def test_what_came_back_is_the_same_document(desk: Sourcing, folder: Path) -> None:
    source = desk.work(desk.add("folder", config={"path": str(folder)}))
    desk.read()
    before = desk.documents()
    (folder / "on-call.md").unlink()
    desk.sync(source)
    write(folder, PAGES)
    desk.sync(source)
    desk.read()
    assert desk.documents() == before


def test_a_preview_says_what_would_change_and_changes_nothing(desk: Sourcing, folder: Path) -> None:
    source = desk.work(desk.add("folder", config={"path": str(folder)}))
    desk.read()
    before = desk.documents()
    (folder / "on-call.md").unlink()
    write(folder, {"docs/dns.md": "# DNS\n\nAsk Grace.", "new.md": "# New\n\nPage."})
    shown = desk.preview(source)
    assert shown.last_preview is not None
    assert [(each["what"], each["key"]) for each in shown.last_preview.changes] == [
        ("changed", "docs/dns.md"),
        ("new", "new.md"),
        ("gone", "on-call.md"),
    ]
    assert (desk.documents(), desk.accepted, shown.documents) == (before, [], 2)
    assert desk.sync(source).last_sync is not None


@pytest.mark.parametrize("dies_after", [0, 1, 2])
def test_a_worker_that_dies_is_followed_by_one_that_doubles_and_loses_nothing(
    desk: Sourcing, folder: Path, dies_after: int
) -> None:
    write(folder, {"third.md": "# Third\n\nPage."})
    source = desk.add("folder", config={"path": str(folder)})
    desk.dies_after = dies_after
    with pytest.raises(Killed):
        desk.work(source)
    desk.dies_after = None
    assert desk.worker()(desk.stand.workspace_id, source.id, seconds=60) == "nothing"
    desk.clock.ahead = timedelta(minutes=20)
    assert desk.due() >= 1
    done = desk.work(source)
    desk.read()
    assert done.last_sync is not None
    assert (done.last_sync.new, done.last_sync.unchanged, done.documents) == (3, 0, 3)
    assert len(desk.documents()) == 3


def test_what_a_worker_that_died_had_sent_goes_with_its_file(desk: Sourcing, folder: Path) -> None:
    source = desk.add("folder", config={"path": str(folder)})
    accept = desk.accept

    def accepts_and_dies(*given: object, **named: object) -> None:
        accept(*given, **named)
        raise Killed

    with pytest.raises(Killed):
        desk.worker(accept=accepts_and_dies)(desk.stand.workspace_id, source.id, seconds=60)
    (folder / "docs" / "dns.md").unlink()
    desk.clock.ahead = timedelta(minutes=20)
    desk.work(source)
    desk.read()
    assert desk.documents().keys() == {"source://runbooks/on-call.md"}


def test_most_of_a_source_goes_by_somebodys_word_only(desk: Sourcing, folder: Path) -> None:
    write(folder, {f"page-{number}.md": f"# Page {number}" for number in range(10)})
    source = desk.work(desk.add("folder", config={"path": str(folder)}))
    desk.read()
    for path in folder.glob("page-*.md"):
        path.unlink()
    failed = desk.sync(source)
    assert (failed.error, failed.documents) == ("too-many-gone", 12)
    assert failed.error_detail is not None
    assert "10 of 12" in failed.error_detail
    done = desk.sync(source, accept_deletions=True)
    assert (done.error, done.documents, len(desk.documents())) == (None, 2, 2)


def test_a_source_above_its_quota_stops_and_says_so(desk: Sourcing, folder: Path) -> None:
    by_items = desk.work(desk.add("folder", config={"path": str(folder)}, max_items=1))
    assert (by_items.error, by_items.documents) == ("quota-items", 1)
    by_bytes = desk.work(desk.add("folder", "small", config={"path": str(folder)}, max_bytes=20))
    assert (by_bytes.error, by_bytes.documents) == ("quota-bytes", 1)
    raised = desk.sources.change(desk.stand.principal, by_items.id, SourceChange(max_items=100))
    assert raised.error is None
    assert desk.sync(by_items).documents == 2


def test_a_folder_that_is_gone_is_an_error_and_deletes_nothing(
    desk: Sourcing, folder: Path
) -> None:
    source = desk.work(desk.add("folder", config={"path": str(folder)}))
    folder.rename(folder.with_name("elsewhere"))
    failed = desk.sync(source)
    assert (failed.error, failed.documents, failed.failures) == ("no-such-folder", 2, 1)
    began = failed.next_sync_at - timedelta(minutes=10)
    assert source.synced_at is not None
    assert source.synced_at < began < utc_now()
    desk.sync(source)
    desk.sync(source)
    assert timedelta(minutes=39) < desk.get(source).next_sync_at - utc_now() < timedelta(minutes=41)


def test_what_nobody_thought_of_ends_the_run_and_stands_with_the_source(
    desk: Sourcing, folder: Path
) -> None:
    def opened(*_: Any) -> Any:
        raise ValueError("what is this")

    source = desk.add("folder", config={"path": str(folder)})
    with pytest.raises(ValueError, match="what is this"):
        desk.worker(open=opened)(desk.stand.workspace_id, source.id, seconds=60.0)
    source = desk.get(source)
    assert (source.error, source.run) == ("unreadable", None)
    assert desk.sync(source).error is None


def test_a_run_goes_on_when_another_write_has_left_the_ledger(desk: Sourcing, folder: Path) -> None:
    source = desk.add("folder", config={"path": str(folder)})
    busy = [LedgerBusy(retry_after=1.0)]

    def accept(*given: Any, **named: Any) -> DocumentAccepted:
        if busy:
            raise busy.pop()
        return desk.accept(*given, **named)

    workspace_id = desk.stand.workspace_id
    assert desk.worker(accept=accept)(workspace_id, source.id, seconds=60.0) == "more"
    waiting = desk.get(source)
    assert waiting.run is not None
    assert waiting.error is None
    desk.clock.ahead = timedelta(seconds=2)
    assert desk.work(source).documents == 2


def test_names_and_links_that_lead_out_are_refused_each_with_its_reason(
    desk: Sourcing, folder: Path, tmp_path: Path
) -> None:
    write(tmp_path, {"secret.md": f"# Secret\n\n{CANARY}"})
    (folder / "link.md").symlink_to(tmp_path / "secret.md")
    (folder / "out").symlink_to(tmp_path, target_is_directory=True)
    (folder / "two\nlines.md").write_text("# Two")
    (folder / "picture.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    (folder / "picture.md").write_bytes(b"\x89PNG\r\n\x1a\n and more")
    (folder / "empty.md").write_text(" ")
    (folder / ".hidden.md").write_text("# Hidden")
    source = desk.work(desk.add("folder", config={"path": str(folder)}))
    assert source.last_sync is not None
    refused = {each["key"]: each["reason"] for each in source.last_sync.changes if each["reason"]}
    assert refused == {
        "link.md": "symlink",
        "out": "symlink",
        "two\nlines.md": "unreadable-name",
        "picture.md": "media-type-mismatch",
        "empty.md": "empty-document",
    }
    assert (source.documents, source.refused, source.last_sync.skipped) == (2, 5, 1)


@pytest.mark.parametrize("path", ["/etc", "relative", "/"])
def test_a_folder_that_its_owner_does_not_allow_is_refused(desk: Sourcing, path: str) -> None:
    with pytest.raises(ValidationFailed, match="path"):
        desk.add("folder", config={"path": path})


def test_a_link_from_an_allowed_folder_to_another_is_refused(
    database: Database, pool: Pool, tmp_path: Path
) -> None:
    (tmp_path / "allowed").mkdir()
    (tmp_path / "other").mkdir()
    (tmp_path / "allowed" / "link").symlink_to(tmp_path / "other", target_is_directory=True)
    desk = open_sourcing(database, pool, tmp_path / "allowed")
    with pytest.raises(ValidationFailed, match="outside"):
        desk.add("folder", config={"path": str(tmp_path / "allowed" / "link")})


def test_where_nothing_is_allowed_no_folder_is_read(database: Database, pool: Pool) -> None:
    with pytest.raises(ValidationFailed, match="CAIRN_SOURCE_FOLDERS"):
        open_sourcing(database, pool).add("folder", config={"path": "/tmp"})


def test_only_admins_keep_sources(desk: Sourcing, folder: Path) -> None:
    from dataclasses import replace

    writer = replace(desk.stand.principal, role=Role.AGENT)
    source = desk.add("folder", config={"path": str(folder)})
    for deed in (
        lambda: desk.sources.all(writer),
        lambda: desk.sources.sync(writer, source.id),
        lambda: desk.sources.preview(writer, source.id),
        lambda: desk.sources.remove(writer, source.id, documents=True),
    ):
        with pytest.raises(Denied):
            deed()


def test_a_paused_source_is_not_read_until_it_goes_on(desk: Sourcing, folder: Path) -> None:
    source = desk.work(desk.add("folder", config={"path": str(folder)}))
    principal = desk.stand.principal
    paused = desk.sources.change(principal, source.id, SourceChange(paused=True))
    assert paused.state is KnowledgeState.PAUSED
    desk.clock.ahead = timedelta(days=2)
    desk.due()
    assert desk.get(source).run is None
    with pytest.raises(Conflict, match="paused"):
        desk.sources.sync(principal, source.id)
    desk.sources.change(principal, source.id, SourceChange(paused=False))
    desk.due()
    assert desk.get(source).run is not None


def test_a_name_is_taken_once_and_what_is_wrong_is_named(desk: Sourcing, folder: Path) -> None:
    desk.add("folder", config={"path": str(folder)})
    with pytest.raises(Conflict, match="exists"):
        desk.add("folder", config={"path": str(folder)})
    for wrong in (
        {"name": "Not a name", "config": {"path": str(folder)}},
        {"name": "no-path", "config": {}},
        {"name": "more", "config": {"path": str(folder), "more": 1}},
        {"name": "stars", "config": {"path": str(folder), "include": ["*a*b*c*d*e*f*g*"]}},
        {"name": "secrets", "config": {"path": str(folder)}, "secrets": {"token": "x"}},
        {"name": "often", "config": {"path": str(folder)}, "sync_seconds": 1},
        {"name": "many", "config": {"path": str(folder)}, "max_items": 10**9},
    ):
        with pytest.raises(ValidationFailed):
            desk.add("folder", **wrong)


def test_patterns_choose_as_gitignore_does(desk: Sourcing, folder: Path) -> None:
    write(folder, {"docs/old/a.md": "# A", "docs/b.txt": "B", "notes/c.md": "# C"})
    config = {"path": str(folder), "include": ["docs/"], "exclude": ["old/", "*.txt"]}
    desk.work(desk.add("folder", config=config))
    desk.read()
    assert desk.documents().keys() == {"source://runbooks/docs/dns.md"}


def test_a_source_goes_alone_or_with_what_it_brought(desk: Sourcing, folder: Path) -> None:
    principal = desk.stand.principal
    source = desk.work(desk.add("folder", config={"path": str(folder)}))
    desk.read()
    desk.sources.remove(principal, source.id, documents=False)
    with pytest.raises(NotFound):
        desk.get(source)
    assert len(desk.documents()) == 2
    again = desk.work(desk.add("folder", config={"path": str(folder)}))
    desk.read()
    assert len(desk.documents()) == 2  # the same ones
    assert desk.sources.remove(principal, again.id, documents=True).state is KnowledgeState.REMOVING
    with pytest.raises(Conflict, match="being removed"):
        desk.sources.sync(principal, again.id)
    with pytest.raises(NotFound):
        desk.work(again)
    assert desk.documents() == {}


@pytest.mark.parametrize("documents", [True, False])
def test_a_worker_in_the_middle_of_a_document_leaves_none_of_a_source_that_is_removed(
    desk: Sourcing, folder: Path, documents: bool
) -> None:
    source = desk.add("folder", config={"path": str(folder)})
    accept = desk.accept

    def is_late(*given: object, **named: object) -> object:
        desk.sources.remove(desk.stand.principal, source.id, documents=documents)
        desk.worker()(desk.stand.workspace_id, source.id, seconds=60)
        return accept(*given, **named)

    worker = desk.worker(accept=is_late)
    assert worker(desk.stand.workspace_id, source.id, seconds=60) == "nothing"
    desk.read()
    assert (desk.documents(), desk.sources.all(desk.stand.principal)) == ({}, [])


def test_a_source_that_is_forgotten_leaves_nothing_in_any_table(
    desk: Sourcing, folder: Path
) -> None:
    stand = desk.stand
    write(folder, {f"{CANARY}.md": f"# {CANARY}\n\n{CANARY} keeps the keys."})
    config = {"path": str(folder), "exclude": [f"not-{CANARY}"]}
    source = desk.work(desk.add("folder", config=config))
    desk.read()
    desk.preview(source)
    target = Target(source="source://runbooks")
    before, _ = stand.prove.before(
        stand.principal, target, stand.forget.plan(stand.principal, target).node_ids, [CANARY]
    )
    where = {place.place for place in before.places if place.found}
    assert where >= {"public.source", "public.source_item", "public.node"}
    forgotten = stand.forget(stand.principal, target, Reason.REQUEST)
    proof = stand.proof(forgotten, CANARY)
    assert proof.clean, [place for place in proof.places if place.found]
    assert (desk.documents(), desk.sources.all(stand.principal)) == ({}, [])
    desk.work(desk.add("folder", config={"path": str(folder)}))
    desk.read()
    assert len(desk.documents()) == 3  # who adds it anew means it


def test_a_document_that_is_forgotten_does_not_come_back_with_the_schedule(
    desk: Sourcing, folder: Path
) -> None:
    stand = desk.stand
    source = desk.work(desk.add("folder", config={"path": str(folder)}))
    desk.read()
    target = Target(source="source://runbooks/on-call.md")
    forgotten = stand.forget(stand.principal, target, Reason.REQUEST)
    proof = stand.proof(forgotten, "on-call.md")
    assert proof.clean, [place for place in proof.places if place.found]
    again = desk.sync(source)
    desk.read()
    assert again.last_sync is not None
    assert (again.last_sync.unchanged, again.last_sync.refused) == (1, 1)
    assert desk.documents().keys() == {"source://runbooks/docs/dns.md"}


def test_a_client_that_is_forgotten_takes_its_sources_along(desk: Sourcing, folder: Path) -> None:
    stand = desk.stand
    of_acme = desk.work(desk.add("folder", config={"path": str(folder)}, client_id="acme"))
    others = desk.work(desk.add("folder", "others", config={"path": str(folder)}))
    desk.read()
    assert of_acme.documents == others.documents == 2
    proof = stand.proof(stand.forgets("acme"), "source://runbooks")
    assert proof.clean, [place for place in proof.places if place.found]
    assert [each.name for each in desk.sources.all(stand.principal)] == ["others"]
    assert len(desk.documents()) == 2


def test_a_repository_is_read_by_commit(desk: Sourcing, tmp_path: Path) -> None:
    repository = Repo.init_bare(str(tmp_path / "git"), mkdir=True)
    commit(repository, files(one="# One", two="# Two"))
    with serving_git(repository) as url:
        source = desk.work(desk.add("git", config={"url": url}))
        assert (source.error, source.documents) == (None, 2)
        same = desk.sync(source)
        assert same.last_sync is not None
        assert (same.last_sync.unchanged, same.last_sync.new) == (2, 0)
        commit(repository, files(two="# Two, changed", three="# Three"))
        done = desk.sync(source)
    desk.read()
    assert done.last_sync is not None
    report = done.last_sync
    assert (report.new, report.changed, report.gone, report.unchanged) == (1, 1, 1, 0)
    assert desk.documents().keys() == {
        "source://runbooks/two.md",
        "source://runbooks/three.md",
    }


def test_a_repository_of_this_machine_is_read_where_its_owner_allows(
    desk: Sourcing, tmp_path: Path
) -> None:
    repository = Repo.init_bare(str(tmp_path / "git"), mkdir=True)
    commit(repository, files(one="# One"))
    source = desk.work(desk.add("git", config={"url": f"file://{tmp_path}/git"}))
    assert (source.error, source.documents) == (None, 1)
    with pytest.raises(ValidationFailed, match="outside"):
        desk.add("git", "elsewhere", config={"url": "file:///etc/git"})


def test_a_token_is_sent_by_https_only_unless_the_host_is_ones_own(desk: Sourcing) -> None:
    token = {"token": "ghp_secret"}
    with pytest.raises(ValidationFailed, match="https"):
        desk.add("git", config={"url": "http://git.example.org/x"}, secrets=token)
    desk.add("git", config={"url": "http://127.0.0.1:9/x"}, secrets=token)
    desk.add("git", "open", config={"url": "http://git.example.org/x"})
