"""Sources over a workspace in a database: their runs, and what reads their documents."""

from __future__ import annotations

import threading
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, make_server

from dulwich.objects import Blob, Commit, Tree
from dulwich.server import DictBackend
from dulwich.web import make_wsgi_chain
from tests.support.forgetting import Stand, open_stand
from tests.support.platform import platform_of

from cairn.adapters.postgres.agents.sources import KnowledgeSourcesDue
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.adapters.sources.checking import CheckSource
from cairn.adapters.sources.opening import OpenSource
from cairn.documents.accept import AcceptDocument
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Conflict
from cairn.memories.delete import DeleteDocument
from cairn.sources.keep import NewSource, Sources
from cairn.sources.source import KnowledgeKind
from cairn.sources.sync import SyncSource, WakeDue
from cairn.writing.ports import Topic

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from datetime import datetime, timedelta
    from pathlib import Path
    from uuid import UUID

    from dulwich.repo import Repo
    from tests.plugins.postgres import Database

    from cairn.adapters.postgres.database import Database as Pool
    from cairn.documents.ports import DocumentAccepted
    from cairn.sources.source import KnowledgeSource


class Killed(BaseException):
    """A process that dies: nothing catches it."""


@dataclass
class Moving:
    """A clock that a test puts forward."""

    ahead: timedelta | None = None

    def __call__(self) -> datetime:
        now = utc_now()
        return now + self.ahead if self.ahead else now


@dataclass
class Sourcing:
    """Sources of one workspace, and a worker; documents are read where `read` is called."""

    stand: Stand
    folders: tuple[Path, ...] = ()
    private_hosts: frozenset[str] = frozenset({"127.0.0.1"})
    buckets: frozenset[str] = frozenset()
    clock: Moving = field(default_factory=Moving)
    accepted: list[DocumentAccepted] = field(default_factory=list["DocumentAccepted"])
    dies_after: int | None = None

    def __post_init__(self) -> None:
        self.platform = platform_of(
            StoreTransactions(self.stand.pool),
            keys=self.stand.keys,
            dispatcher=self.stand.system.sent,
            clock=self.clock,
        )
        self.sources = Sources(
            self.platform,
            check=CheckSource(
                folders=self.folders, private_hosts=self.private_hosts, buckets=self.buckets
            ),
        )
        self._accept = AcceptDocument(self.platform, objects=self.stand.objects)

    def worker(self, **changes: Any) -> SyncSource:
        given: dict[str, Any] = {
            "platform": self.platform,
            "sources": self.sources,
            "open": OpenSource(
                folders=self.folders,
                private_hosts=self.private_hosts,
                buckets=self.buckets,
                pause=lambda _: None,
                platform=self.platform,
            ),
            "accept": self.accept,
            "delete": DeleteDocument(self.platform),
            "pause": lambda _: self.read(),
        }
        return SyncSource(**(given | changes))

    def accept(self, *given: Any, **named: Any) -> DocumentAccepted:
        """Accept a document, and die after some of them."""
        if self.dies_after is not None and self.dies_after <= 0:
            raise Killed
        accepted = self._accept(*given, **named)
        if self.dies_after is not None:
            self.dies_after -= 1
        self.accepted.append(accepted)
        return accepted

    def add(self, kind: str, name: str = "runbooks", **given: Any) -> KnowledgeSource:
        """Add a source; `config` and what else of `NewSource` is given."""
        new = NewSource(name=name, kind=KnowledgeKind(kind), **given)
        return self.sources.add(self.stand.principal, new)

    def work(self, source: KnowledgeSource, *, seconds: float = 60.0) -> KnowledgeSource:
        """Work at a source's run, and return how it stands then."""
        self.worker()(self.stand.workspace_id, source.id, seconds=seconds)
        return self.get(source)

    def sync(self, source: KnowledgeSource, **given: Any) -> KnowledgeSource:
        """Begin a run and work at it to its end."""
        self.sources.sync(self.stand.principal, source.id, **given)
        return self.work(source)

    def preview(self, source: KnowledgeSource) -> KnowledgeSource:
        self.sources.preview(self.stand.principal, source.id)
        return self.work(source)

    def get(self, source: KnowledgeSource) -> KnowledgeSource:
        return self.sources.get(self.stand.principal, source.id)

    def read(self) -> None:
        """Read every accepted document to its end, as the machine does."""
        while self.accepted:
            with suppress(Conflict):  # sent again, or deleted, meanwhile
                self.stand.documents.run(self.accepted.pop(0))
        with self.platform.transactions.writing(self.stand.principal) as stores:
            stores.forgetting.connection.execute(
                "DELETE FROM outbox WHERE workspace_id = %s AND topic = %s",
                (self.stand.workspace_id, Topic.INGESTION),
            )

    def documents(self) -> dict[str, UUID]:
        """Return the documents that stand, by what they are called."""
        with self.platform.transactions.reading(self.stand.principal) as stores:
            rows = stores.forgetting.connection.execute(
                "SELECT source_uri, id FROM node WHERE workspace_id = %s AND label = 'Document'"
                " AND deleted_at IS NULL",
                (self.stand.workspace_id,),
            ).fetchall()
        return dict(rows)

    def due(self) -> int:
        """Wake who is due, as the schedule does; return how many sources of all were."""
        wake = WakeDue(platform=self.platform, due=KnowledgeSourcesDue(self.stand.pool))
        return wake()


def open_sourcing(database: Database, pool: Pool, *folders: Path, **changes: Any) -> Sourcing:
    """A new workspace whose sources are those of folders, and of servers of this machine."""
    return Sourcing(stand=open_stand(database, pool), folders=folders, **changes)


def write(folder: Path, files: Mapping[str, str]) -> None:
    """Write files below a folder, by path."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def commit(repository: Repo, entries: Mapping[bytes, tuple[int, bytes]]) -> bytes:
    """Commit a tree of (mode, content) by name, folders by their paths; names are as given."""
    store, trees = repository.object_store, dict[bytes, Tree]()
    top = trees.setdefault(b"", Tree())
    for name, (mode, content) in entries.items():
        folder, _, last = name.rpartition(b"/")
        blob = Blob.from_string(content)
        store.add_object(blob)
        trees.setdefault(folder, Tree()).add(last or name, mode, blob.id)
    for folder in sorted((each for each in trees if each), key=len, reverse=True):
        parent, _, last = folder.rpartition(b"/")
        store.add_object(trees[folder])
        trees.setdefault(parent, Tree()).add(last, 0o040000, trees[folder].id)
    store.add_object(top)
    made = Commit()
    made.tree, made.message = top.id, b"A commit"
    made.author = made.committer = b"Ada <ada@example.org>"
    made.author_time = made.commit_time = 1_700_000_000
    made.author_timezone = made.commit_timezone = 0
    store.add_object(made)
    repository.refs[b"refs/heads/main"] = made.id  # type: ignore[index]
    repository.refs.set_symbolic_ref(b"HEAD", b"refs/heads/main")  # type: ignore[arg-type]
    return made.id


def files(**texts: str) -> dict[bytes, tuple[int, bytes]]:
    """Return entries of Markdown files, by their names without the end."""
    return {f"{name}.md".encode(): (0o100644, text.encode()) for name, text in texts.items()}


class _Quiet(WSGIRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def serving(app: Any) -> Iterator[str]:
    """Serve a WSGI app on this machine; yields its address."""
    server = make_server("127.0.0.1", 0, app, handler_class=_Quiet)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@contextmanager
def serving_git(repository: Repo) -> Iterator[str]:
    """Serve a repository by git's smart HTTP; yields its address."""
    with serving(make_wsgi_chain(DictBackend({"/runbooks.git": repository}))) as url:
        yield f"{url}/runbooks.git"
