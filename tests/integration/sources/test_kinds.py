"""What every kind of source holds to: the same tests over a folder, a repository and services."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

import pytest
from dulwich.repo import Repo
from dulwich.server import DictBackend
from dulwich.web import make_wsgi_chain
from tests.support import confluence_replay, notion_replay
from tests.support.confluence_replay import ConfluenceReplay
from tests.support.forgetting import CANARY
from tests.support.notion_replay import NotionReplay, block
from tests.support.replaying import Fault, served
from tests.support.sourcing import Sourcing, commit, open_sourcing, serving, write

from cairn.adapters.postgres.database import Database as Pool
from cairn.forgetting.forget import Target
from cairn.forgetting.ports import Reason
from cairn.kernel.errors import ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from tests.plugins.postgres import Database

    from cairn.sources.source import KnowledgeSource


class Shelf(Protocol):
    """Something outside that pages are written to; `kind` and `given` add it as a source."""

    kind: str

    def given(self) -> dict[str, Any]: ...
    def put(self, number: int, text: str) -> None: ...
    def drop(self, number: int) -> None: ...
    def key(self, number: int) -> str: ...
    def shut(self) -> None: ...
    def sign_in_reason(self) -> str: ...


class FolderShelf:
    kind = "folder"

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "pages"
        self.folder.mkdir()

    def given(self) -> dict[str, Any]:
        return {"config": {"path": str(self.folder)}}

    def put(self, number: int, text: str) -> None:
        write(self.folder, {self.key(number): text})

    def drop(self, number: int) -> None:
        (self.folder / self.key(number)).unlink()

    def key(self, number: int) -> str:
        return f"page-{number:03}.md"

    def shut(self) -> None:
        shutil.rmtree(self.folder)

    def sign_in_reason(self) -> str:
        return "no-such-folder"


class GitShelf:
    kind = "git"

    def __init__(self, folder: Path) -> None:
        self.repository = Repo.init_bare(str(folder / "git"), mkdir=True)
        self.pages: dict[int, str] = {}
        self.is_shut = False
        self._app = make_wsgi_chain(DictBackend({"/pages.git": self.repository}))

    def __call__(self, environ: dict[str, Any], start: Any) -> Any:
        if self.is_shut:
            start("401 Unauthorized", [])
            return [b""]
        return self._app(environ, start)

    def given(self) -> dict[str, Any]:
        return {"config": {"url": f"{self.url}/pages.git"}}

    def put(self, number: int, text: str) -> None:
        self.pages[number] = text
        self._commit()

    def drop(self, number: int) -> None:
        del self.pages[number]
        self._commit()

    def key(self, number: int) -> str:
        return f"page-{number:03}.md"

    def shut(self) -> None:
        self.is_shut = True

    def sign_in_reason(self) -> str:
        return "sign-in"

    def _commit(self) -> None:
        entries = {
            self.key(at).encode(): (0o100644, text.encode()) for at, text in self.pages.items()
        }
        commit(self.repository, entries)


class ConfluenceShelf:
    kind = "confluence"

    def __init__(self, replay: ConfluenceReplay) -> None:
        self.replay = replay

    def given(self) -> dict[str, Any]:
        return {
            "config": {
                "url": self.replay.url,
                "username": confluence_replay.USER,
                "spaces": ["OPS"],
            },
            "secrets": {"token": confluence_replay.TOKEN},
        }

    def put(self, number: int, text: str) -> None:
        self.replay.write(self.key(number), f"Page {number}", f"<p>{text}</p>")

    def drop(self, number: int) -> None:
        self.replay.trash(self.key(number))

    def key(self, number: int) -> str:
        return str(1000 + number)

    def shut(self) -> None:
        self.replay.token = "another"

    def sign_in_reason(self) -> str:
        return "sign-in"


class NotionShelf:
    kind = "notion"

    def __init__(self, replay: NotionReplay) -> None:
        self.replay = replay

    def given(self) -> dict[str, Any]:
        return {
            "config": {"url": self.replay.url},
            "secrets": {"token": notion_replay.TOKEN},
        }

    def put(self, number: int, text: str) -> None:
        self.replay.now += timedelta(minutes=1)
        self.replay.write(self.key(number), f"Page {number}", block("b", "paragraph", text))

    def drop(self, number: int) -> None:
        self.replay.pages[self.key(number)]["archived"] = True

    def key(self, number: int) -> str:
        return str(UUID(int=1000 + number))

    def shut(self) -> None:
        self.replay.token = "another"

    def sign_in_reason(self) -> str:
        return "sign-in"


KINDS = ("folder", "git", "confluence", "notion")


@pytest.fixture
def pool(database: Database) -> Iterator[Pool]:
    pool = Pool(database.app_url, size=4)
    yield pool
    pool.close()


@pytest.fixture
def desk(database: Database, pool: Pool, tmp_path: Path) -> Sourcing:
    return open_sourcing(database, pool, tmp_path)


@pytest.fixture
def confluence() -> Iterator[ConfluenceReplay]:
    with served(ConfluenceReplay()) as replay:
        yield replay


@pytest.fixture
def notion() -> Iterator[NotionReplay]:
    with served(NotionReplay()) as replay:
        yield replay


@pytest.fixture(params=KINDS)
def shelf(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Shelf]:
    if request.param == "folder":
        yield FolderShelf(tmp_path)
    elif request.param == "git":
        git = GitShelf(tmp_path)
        with serving(git) as git.url:  # type: ignore[attr-defined]
            yield git
    elif request.param == "confluence":
        yield ConfluenceShelf(request.getfixturevalue("confluence"))
    else:
        yield NotionShelf(request.getfixturevalue("notion"))


def keys(desk: Sourcing) -> set[str]:
    return {uri.removeprefix("source://pages/") for uri in desk.documents()}


def add(desk: Sourcing, shelf: Shelf, **more: Any) -> KnowledgeSource:
    source = desk.work(desk.add(shelf.kind, "pages", **shelf.given(), **more))
    desk.read()
    return source


def a_day_later(desk: Sourcing, source: KnowledgeSource, **given: Any) -> KnowledgeSource:
    desk.clock.ahead = (desk.clock.ahead or timedelta()) + timedelta(days=2)
    done = desk.sync(source, **given)
    desk.read()
    return done


def counts(source: KnowledgeSource) -> tuple[int, int, int, int]:
    report = source.last_sync
    assert report is not None
    return report.new, report.changed, report.gone, report.unchanged


def test_what_is_new_changed_and_gone_follows(desk: Sourcing, shelf: Shelf) -> None:
    for number in range(5):
        shelf.put(number, f"Text of page {number}.")
    source = add(desk, shelf)
    assert (source.error, counts(source)) == (None, (5, 0, 0, 0))
    assert keys(desk) == {shelf.key(number) for number in range(5)}
    before = desk.documents()
    shelf.put(1, "Another text of this page.")
    shelf.put(7, "A new page.")
    shelf.drop(3)
    source = a_day_later(desk, source)
    assert counts(source) == (1, 1, 1, 3)
    assert keys(desk) == {shelf.key(number) for number in (0, 1, 2, 4, 7)}
    uri = f"source://pages/{shelf.key(1)}"
    assert desk.documents()[uri] == before[uri]
    assert source.documents == 5


def test_what_is_forgotten_does_not_come_back(desk: Sourcing, shelf: Shelf) -> None:
    shelf.put(1, "Of the harbour.")
    shelf.put(2, f"Of {CANARY}.")
    source = add(desk, shelf)
    stand = desk.stand
    target = Target(source=f"source://pages/{shelf.key(2)}")
    proof = stand.proof(stand.forget(stand.principal, target, Reason.REQUEST), CANARY)
    assert proof.clean, [place for place in proof.places if place.found]
    for _ in range(2):
        source = a_day_later(desk, source)
        assert (keys(desk), source.error) == ({shelf.key(1)}, None)


def test_a_source_that_is_forgotten_leaves_nothing(desk: Sourcing, shelf: Shelf) -> None:
    shelf.put(1, f"Of {CANARY}.")
    add(desk, shelf)
    stand = desk.stand
    target = Target(source="source://pages")
    proof = stand.proof(stand.forget(stand.principal, target, Reason.REQUEST), CANARY)
    assert proof.clean, [place for place in proof.places if place.found]
    assert (keys(desk), desk.sources.all(stand.principal)) == (set(), [])


def test_a_source_that_is_shut_says_so_and_deletes_nothing(desk: Sourcing, shelf: Shelf) -> None:
    shelf.put(1, "Of the harbour.")
    source = add(desk, shelf)
    shelf.shut()
    source = a_day_later(desk, source)
    assert (source.error, source.documents) == (shelf.sign_in_reason(), 1)


def test_most_of_a_source_goes_by_somebodys_word_only(desk: Sourcing, shelf: Shelf) -> None:
    for number in range(12):
        shelf.put(number, f"Text of page {number}.")
    source = add(desk, shelf)
    for number in range(10):
        shelf.drop(number)
    source = a_day_later(desk, source)
    assert (source.error, source.documents) == ("too-many-gone", 12)
    source = a_day_later(desk, source, accept_deletions=True)
    assert (source.error, keys(desk)) == (None, {shelf.key(10), shelf.key(11)})


def test_a_preview_changes_nothing(desk: Sourcing, shelf: Shelf) -> None:
    shelf.put(1, "Of the harbour.")
    source = add(desk, shelf)
    shelf.put(1, "Of another harbour.")
    shelf.put(2, "Of the sea.")
    desk.clock.ahead = timedelta(days=2)
    shown = desk.preview(source).last_preview
    assert shown is not None
    assert (shown.new, shown.changed, keys(desk)) == (1, 1, {shelf.key(1)})


def test_a_source_stops_at_its_quota(desk: Sourcing, shelf: Shelf) -> None:
    for number in range(3):
        shelf.put(number, f"Text of page {number}.")
    source = add(desk, shelf, max_items=2)
    assert (source.error, source.documents) == ("quota-items", 2)


def test_its_secrets_stand_nowhere_in_the_clear(desk: Sourcing, shelf: Shelf) -> None:
    shelf.put(1, "Of the harbour.")
    source = add(desk, shelf)
    for secret in shelf.given().get("secrets", {}).values():
        with desk.platform.transactions.reading(desk.stand.principal) as stores:
            sealed = stores.sources.secrets(source.id)
        assert secret.encode() not in bytes(sealed)
        assert secret not in repr(source)


# Services


def service(request: pytest.FixtureRequest, kind: str) -> tuple[Any, Any]:
    replay = request.getfixturevalue(kind)
    return replay, ConfluenceShelf(replay) if kind == "confluence" else NotionShelf(replay)


SERVICES = pytest.mark.parametrize("kind", ["confluence", "notion"])


@SERVICES
def test_between_whole_listings_only_what_changed_is_listed(
    desk: Sourcing, request: pytest.FixtureRequest, kind: str
) -> None:
    replay, shelf = service(request, kind)
    old = datetime.now(UTC) - timedelta(days=30)
    replay.now = old
    for number in range(30):
        shelf.put(number, f"Text of page {number}.")
    source = add(desk, shelf)
    assert counts(source) == (30, 0, 0, 0)
    replay.asked.clear()
    replay.now = datetime.now(UTC)
    shelf.put(3, "Another text of this page.")
    shelf.put(40, "A new page.")
    if kind == "confluence":
        shelf.drop(5)
    source = desk.sync(source)
    desk.read()
    gone = int(kind == "confluence")
    assert counts(source) == (1, 1, gone, 29 - gone)
    assert (source.documents, source.error) == (31 - gone, None)
    assert len(replay.asked) < 15
    if kind == "notion":  # an archived page is found missing when all are listed
        shelf.drop(5)
        assert a_day_later(desk, source).documents == 30


@SERVICES
def test_a_service_that_asks_for_patience_is_gone_on_with_where_it_was(
    desk: Sourcing, request: pytest.FixtureRequest, kind: str
) -> None:
    replay, shelf = service(request, kind)
    for number in range(5):
        shelf.put(number, f"Text of page {number}.")
    source = desk.add(shelf.kind, "pages", **shelf.given())
    limits = [Fault(status=429, headers={"retry-after": "60"}, body={"message": "slow down"})]
    plain_answer = replay.answer

    def answer(asked: Any) -> Any:
        is_late = replay.count("GET") > 3 and limits
        return limits.pop() if is_late else plain_answer(asked)

    replay.answer = answer
    source = desk.work(source)
    assert source.run is not None
    assert source.error is None
    assert desk.work(source).run is not None  # nobody goes on before a minute is over
    desk.clock.ahead = timedelta(minutes=2)
    limits.append(Fault(status=429, headers={"retry-after": "60"}, body={}))
    source = desk.work(source)  # who goes on is kept waiting at once
    assert source.run is not None
    assert source.error is None
    desk.clock.ahead = timedelta(minutes=4)
    source = desk.work(source)
    assert (source.run, counts(source)) == (None, (5, 0, 0, 0))


@SERVICES
def test_a_run_that_is_kept_waiting_for_a_day_has_failed(
    desk: Sourcing, request: pytest.FixtureRequest, kind: str
) -> None:
    replay, shelf = service(request, kind)
    for number in range(5):
        shelf.put(number, f"Text of page {number}.")
    source = desk.add(shelf.kind, "pages", **shelf.given())
    plain_answer = replay.answer
    limit = Fault(status=429, headers={"retry-after": "60"}, body={})
    replay.answer = lambda asked: limit if replay.count("GET") > 3 else plain_answer(asked)
    assert desk.work(source).run is not None
    desk.clock.ahead = timedelta(hours=25)
    source = desk.work(source)
    assert (source.run, source.error) == (None, "rate-limited")


@SERVICES
def test_a_service_that_never_lets_anybody_in_fails_the_run(
    desk: Sourcing, request: pytest.FixtureRequest, kind: str
) -> None:
    replay, shelf = service(request, kind)
    replay.faults.append(Fault(status=429, headers={"retry-after": "60"}, body={}))
    source = add(desk, shelf)
    assert (source.error, source.run) == ("rate-limited", None)


@SERVICES
def test_a_list_without_end_is_refused(
    desk: Sourcing, request: pytest.FixtureRequest, kind: str
) -> None:
    replay, shelf = service(request, kind)
    shelf.put(1, "Of the harbour.")
    replay.ring = True
    source = add(desk, shelf)
    assert source.error == "endless-list"


@SERVICES
def test_a_private_address_is_refused(
    database: Database, pool: Pool, request: pytest.FixtureRequest, kind: str
) -> None:
    replay, shelf = service(request, kind)
    desk = open_sourcing(database, pool, private_hosts=frozenset())
    with pytest.raises(ValidationFailed, match="https://"):
        add(desk, shelf)
    secure = shelf.given()
    secure["config"]["url"] = replay.url.replace("http://", "https://")
    source = desk.work(desk.add(kind, "inside", **secure))
    assert (source.error, replay.asked) == ("http-address", [])


def test_a_page_of_confluence_keeps_its_text_path_and_labels(
    desk: Sourcing, confluence: ConfluenceReplay
) -> None:
    storage = (
        "<p>Restart <strong>slowly</strong>.</p>"
        '<ac:structured-macro ac:name="code"><ac:parameter ac:name="language">sh</ac:parameter>'
        "<ac:plain-text-body><![CDATA[systemctl restart <dns>]]></ac:plain-text-body>"
        "</ac:structured-macro>"
        '<p>See <ac:link><ri:page ri:content-title="On call" /></ac:link>, '
        '<time datetime="2026-11-24" />.</p>'
        "<script>alert(1)</script>"
    )
    confluence.write("1", "Operations", "<p>All of it.</p>")
    confluence.write("2", "Runbooks", "<p>All of them.</p>", parent="1")
    confluence.write("3", "DNS", storage, parent="2")
    add(desk, ConfluenceShelf(confluence))
    with desk.platform.transactions.reading(desk.stand.principal) as stores:
        rows = stores.forgetting.connection.execute(
            "SELECT text FROM node WHERE workspace_id = %s AND label = 'Chunk'",
            (desk.stand.workspace_id,),
        ).fetchall()
        document = stores.forgetting.connection.execute(
            "SELECT node::text FROM node WHERE workspace_id = %s AND source_uri = %s"
            " AND label = 'Document'",
            (desk.stand.workspace_id, "source://pages/3"),
        ).fetchone()
    said = " ".join(row[0] for row in rows)
    for words in ("systemctl restart <dns>", "On call", "2026-11-24", "plan.pdf"):
        assert words in said
    assert "alert" not in said
    assert "sh systemctl" not in said
    assert document is not None
    assert "Operations / Runbooks / DNS" in str(document)
    assert "runbook" in str(document)


def test_a_page_that_the_token_may_not_read_is_refused_alone(
    desk: Sourcing, confluence: ConfluenceReplay
) -> None:
    shelf = ConfluenceShelf(confluence)
    shelf.put(1, "Of the harbour.")
    shelf.put(2, "Of the sea.")
    confluence.forbidden.add(shelf.key(2))
    source = add(desk, shelf)
    assert (source.error, source.documents, source.refused) == (None, 1, 1)
    assert source.last_sync is not None
    assert [each["reason"] for each in source.last_sync.changes if each["reason"]] == [
        "not-permitted"
    ]


def test_a_search_that_tells_no_versions_is_asked_page_by_page(
    desk: Sourcing, confluence: ConfluenceReplay
) -> None:
    shelf = ConfluenceShelf(confluence)
    shelf.put(1, "Of the harbour.")
    shelf.put(2, "Of the sea.")
    source = add(desk, shelf)
    confluence.expands = False
    shelf.put(2, "Of another sea.")
    assert counts(desk.sync(source)) == (0, 1, 0, 1)


def test_parents_in_a_ring_end_the_path(desk: Sourcing, confluence: ConfluenceReplay) -> None:
    confluence.write("1", "One", "<p>Text.</p>", parent="2")
    confluence.write("2", "Two", "<p>Text.</p>", parent="1")
    assert add(desk, ConfluenceShelf(confluence)).documents == 2


def test_a_space_that_is_not_there_is_named(desk: Sourcing, confluence: ConfluenceReplay) -> None:
    given = ConfluenceShelf(confluence).given()
    given["config"]["spaces"] = ["OPS", "NONE"]
    source = desk.work(desk.add("confluence", **given))
    assert source.error == "no-such-space"
    assert "NONE" in (source.error_detail or "")


def test_a_row_and_blocks_in_blocks_become_one_document(
    desk: Sourcing, notion: NotionReplay
) -> None:
    page, toggle, synced = (str(UUID(int=number)) for number in (1, 2, 3))
    notion.write(
        page,
        "Move the DNS",
        block("b1", "heading_2", "Steps"),
        block(toggle, "toggle", "First", children=True),
        block("b2", "code", "dig +short", language="shell"),
        block(synced, "synced_block", children=True),
        row=True,
    )
    notion.blocks[toggle] = [block("b4", "to_do", "Ask Ada", checked=True)]
    notion.blocks[synced] = [
        block(synced, "synced_block", children=True),
        block("b5", "quote", "Done"),
    ]
    source = add(desk, NotionShelf(notion))
    assert source.documents == 1
    with desk.platform.transactions.reading(desk.stand.principal) as stores:
        rows = stores.forgetting.connection.execute(
            "SELECT text FROM node WHERE workspace_id = %s AND label = 'Chunk'",
            (desk.stand.workspace_id,),
        ).fetchall()
    said = " ".join(row[0] for row in rows)
    for words in ("State: Done", "Due: 2026-12-01", "First", "Ask Ada", "dig +short", "Done"):
        assert words in said


def test_what_the_search_of_notion_leaves_out_is_asked_for_before_it_is_gone(
    desk: Sourcing, notion: NotionReplay
) -> None:
    shelf = NotionShelf(notion)
    for number in range(4):
        shelf.put(number, f"Text of page {number}.")
    row = str(UUID(int=7))
    notion.write(row, "A row", block("b", "paragraph", "Of the harbour."), row=True)
    notion.hidden.add(row)
    source = add(desk, shelf)
    assert keys(desk) == {row, *(shelf.key(number) for number in range(4))}
    notion.hidden.update({shelf.key(0), shelf.key(1)})
    shelf.drop(1)
    del notion.pages[shelf.key(2)]
    source = a_day_later(desk, source)
    assert (source.error, counts(source)[2]) == (None, 2)
    assert keys(desk) == {row, shelf.key(0), shelf.key(3)}


def test_a_database_that_cannot_be_queried_is_read_as_far_as_search_tells(
    desk: Sourcing, notion: NotionReplay
) -> None:
    notion.split = True
    notion.write(str(UUID(int=7)), "A row", block("b", "paragraph", "Of the sea."), row=True)
    source = add(desk, NotionShelf(notion))
    assert (source.error, source.documents) == (None, 1)


def test_blocks_without_end_are_cut_off(desk: Sourcing, notion: NotionReplay) -> None:
    page = str(UUID(int=1))
    deep = [str(UUID(int=100 + number)) for number in range(30)]
    notion.write(page, "Deep", block(deep[0], "toggle", "0", children=True))
    for number, (above, below) in enumerate(pairwise(deep)):
        notion.blocks[above] = [block(below, "toggle", f"level-{number}", children=True)]
    source = add(desk, NotionShelf(notion))
    assert (source.error, source.documents) == (None, 1)
    assert notion.count("GET", "children") < 15
