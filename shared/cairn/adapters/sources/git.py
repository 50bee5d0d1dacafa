"""Reads one branch of a git repository, by dulwich: no git of the machine, no work tree, no hooks.

Requests go where `Outgoing` lets them. A pack is counted while it comes and looked through before
anything of it is unpacked, so that neither a large repository nor a small bomb fills the machine.
"""

from __future__ import annotations

import stat
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from dulwich.errors import GitProtocolError, NotGitRepository
from dulwich.objects import Blob, Commit, ObjectID, Tag, Tree
from dulwich.refs import Ref
from dulwich.repo import Repo

from cairn.adapters.sources.allowed import allowed_folder
from cairn.adapters.sources.git_wire import GitOverHttp, require_small
from cairn.adapters.sources.listed import MOST_PATHS, Chooser, Listing, fault_of, is_read
from cairn.documents.accept import MAX_DOCUMENT_BYTES
from cairn.kernel.errors import CairnError, NotFound, TooLarge, Unavailable, ValidationFailed
from cairn.sources.reader import Item
from cairn.sources.source import Content

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

    import httpx
    from dulwich.client import LsRemoteResult

    from cairn.kernel.clock import Stopwatch
    from cairn.sources.configs import GitConfig
    from cairn.sources.reader import Limits, Marks, Page

SPARE_BYTES = 100_000_000
"""What a repository may send beside the documents of it: trees, pictures, programs."""
MOST_PACK_BYTES = 400_000_000
MOST_DEPTH = 100
HEAD = Ref(b"HEAD")


@dataclass
class GitReader:
    """Implements `Reader`. `transport` connects; `roots` hold what `file:` names."""

    config: GitConfig
    secrets: Mapping[str, str]
    limits: Limits
    roots: tuple[Path, ...]
    transport: Callable[[], httpx.BaseTransport]
    stopwatch: Stopwatch
    _open: ExitStack = field(default_factory=ExitStack, init=False)
    _head: ObjectID | None = field(default=None, init=False)
    _listing: Listing | None = field(default=None, init=False)

    def version(self) -> str | None:
        """Return the commit that the branch stands at."""
        return self._commit().decode()

    def page(self, cursor: str | None, marks: Marks) -> Page:
        """Return the files after a cursor."""
        if self._listing is None:
            with Explained():
                repository = self._repository()
                self._listing = Listing.of(
                    _files(repository, self._commit(), Chooser(self.config), self.config)
                )
        return self._listing.page(cursor)

    def close(self) -> None:
        """Remove what was fetched."""
        self._open.close()

    @property
    def _is_local(self) -> bool:
        return self.config.url.startswith("file://")

    def _commit(self) -> ObjectID:
        if self._head is None:
            with Explained():
                if self._is_local:
                    repository = self._repository()
                    refs = dict(repository.refs.as_dict())
                    self._head = _head(refs, refs.get(HEAD), self.config.branch)
                else:
                    self._head = self._remote_head(self._client().get_refs(b""))
        return self._head

    def _remote_head(self, answer: LsRemoteResult) -> ObjectID:
        refs = {name: sha for name, sha in answer.refs.items() if sha}
        return _head(refs, refs.get(HEAD), self.config.branch)

    def _repository(self) -> Repo:
        if self._is_local:
            folder = allowed_folder(urlsplit(self.config.url).path, self.roots)
            return self._open.enter_context(Repo(str(folder)))
        folder = self._open.enter_context(TemporaryDirectory(prefix="cairn-git-"))
        repository = self._open.enter_context(Repo.init_bare(folder))
        head = self._commit()
        store = repository.object_store
        file, commit, abort = store.add_pack()
        counted = _Counted(file, min(self.limits.bytes + SPARE_BYTES, MOST_PACK_BYTES))
        try:
            fetched = self._client().fetch_pack(
                b"",
                lambda refs, depth=None: [head],
                repository.get_graph_walker(),
                counted,
                depth=1,
                filter_spec=b"blob:limit=%d" % (MAX_DOCUMENT_BYTES + 1),
            )
            file.flush()
            require_small(file)
        except BaseException:
            abort()
            raise
        commit()
        repository.update_shallow(fetched.new_shallow, fetched.new_unshallow)
        return repository

    def _client(self) -> GitOverHttp:
        return GitOverHttp(
            self.config.url,
            transport=self.transport,
            stopwatch=self.stopwatch,
            sign_in=(self.config.username, token) if (token := self.secrets.get("token")) else None,
        )


@dataclass
class _Counted:
    """Writes a pack as it comes, and stops where it is too large."""

    file: Any
    most: int
    size: int = 0

    def __call__(self, piece: bytes) -> int:
        self.size += len(piece)
        if self.size > self.most:
            raise TooLarge(
                f"The repository sends more than {self.most} bytes.", reason="repository-too-large"
            )
        return self.file.write(piece)


class Explained:
    """Says what git's own errors mean."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, problem: BaseException | None, trace: object) -> None:
        if problem is None or isinstance(problem, CairnError):
            return
        if isinstance(problem, NotGitRepository):
            raise NotFound("There is no repository.", reason="no-such-repository") from problem
        if isinstance(problem, GitProtocolError):
            raise Unavailable("The server speaks no git.", reason="git-protocol") from problem
        if isinstance(problem, Exception):
            # dulwich raises plain ones of many kinds for a repository that is damaged
            raise ValidationFailed("The repository is damaged.", reason="git-damaged") from problem


def _head(refs: Mapping[Any, Any], usual: object, branch: str | None) -> ObjectID:
    name = b"refs/heads/" + branch.encode() if branch else b"HEAD"
    head = refs.get(name) if branch else usual
    if head is None:
        raise NotFound(
            f"The repository has no branch {branch}." if branch else "The repository is empty.",
            reason="no-such-branch",
        )
    return cast("ObjectID", head)


def _files(repository: Repo, head: ObjectID, chooses: Chooser, config: GitConfig) -> Iterator[Item]:
    commit = repository.object_store[head]
    if isinstance(commit, Tag):
        commit = repository.object_store[commit.object[1]]
    if not isinstance(commit, Commit):
        raise ValidationFailed("The branch leads to no commit.", reason="git-damaged")
    folders: list[tuple[str, ObjectID, int]] = [("", commit.tree, 0)]
    looked_at = 0
    while folders:
        prefix, tree_id, depth = folders.pop()
        tree = repository.object_store[tree_id]
        if not isinstance(tree, Tree) or depth > MOST_DEPTH:
            raise ValidationFailed("The repository is damaged.", reason="git-damaged")
        for entry in tree.items():
            looked_at += 1
            if looked_at > MOST_PATHS:
                raise TooLarge(
                    f"The repository has more than {MOST_PATHS} paths.", reason="too-many-paths"
                )
            path = prefix + entry.path.decode("utf-8", errors="replace")
            fault = fault_of(path) or ("unreadable-name" if b"/" in entry.path else None)
            fault = fault or ("unreadable-name" if "\ufffd" in path else None)
            if fault is not None:
                yield Item(key=_printable(path), refused=fault)
            elif stat.S_ISDIR(entry.mode):
                folders.append((path + "/", entry.sha, depth + 1))
            elif chooses(path):
                yield _item(repository, path, entry.mode, entry.sha, config)


def _item(repository: Repo, path: str, mode: int, sha: ObjectID, config: GitConfig) -> Item:
    if stat.S_ISLNK(mode):
        return Item(key=path, refused="symlink")
    if not stat.S_ISREG(mode) or not is_read(path):
        return Item(key=path, skipped=True)
    return Item(key=path, mark=sha.decode(), load=partial(_load, repository, sha, config))


def _load(repository: Repo, sha: ObjectID, config: GitConfig) -> Content:
    try:
        blob = repository.object_store[sha]
    except KeyError:  # a server that filters sends none that are larger
        raise TooLarge("The file is too large.", reason="too-large") from None
    if not isinstance(blob, Blob):
        raise ValidationFailed("The repository is damaged.", reason="git-damaged")
    return Content(body=blob.data, metadata={"repository": config.url})


def _printable(name: str) -> str:
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in name)[:1_000]
