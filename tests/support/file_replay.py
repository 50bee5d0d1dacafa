"""Where help desks keep files: a store whose addresses are signed, as S3 and the like have it.

A file's address lets in whoever has it. A request that is signed in another way, too, is refused:
"Only one auth mechanism allowed".
"""

from __future__ import annotations

import itertools
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING
from urllib.parse import quote

from tests.support.replaying import Asked, Replay, Reply, Route, served

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping


@dataclass(frozen=True, kw_only=True)
class Kept:
    """A file at a desk, and where the store has it; `named` is the number that the desk gave it.

    `read` asks the store for it, as desks do that hand files on themselves.
    """

    named: int
    name: str
    media_type: str
    content: bytes
    url: str
    read: Callable[[], Reply]


@dataclass(kw_only=True)
class FileStore(Replay):
    """The store; `kept` are its files by their path."""

    kept: dict[str, Kept] = field(default_factory=dict)
    numbers: Iterator[int] = field(default_factory=lambda: itertools.count(4_004_881_085))

    def put(self, name: str, media_type: str, content: bytes) -> Kept:
        number = next(self.numbers)
        path = f"/files/{number}/{name}"
        url = f"{self.url}{quote(path)}?X-Amz-Signature=8d4e"
        self.kept[path] = Kept(
            named=number,
            name=name,
            media_type=media_type,
            content=content,
            url=url,
            read=lambda: self._read(path),
        )
        return self.kept[path]

    def _read(self, path: str) -> Reply:
        query = {"X-Amz-Signature": "8d4e"}
        given = self.answer(
            Asked(method="GET", path=quote(path), query=query, headers={}, body=None)
        )
        return Reply(status=given.status, body=given.body, headers=given.headers)

    def refused(self, asked: Asked) -> Reply | None:
        if "authorization" in asked.headers:
            return Reply(status=400, body={"Code": "InvalidArgument"})
        return None if asked.query.get("X-Amz-Signature") == "8d4e" else Reply(status=403)

    def unknown(self, asked: Asked) -> Reply:
        return Reply(status=404)

    def routes(self) -> Mapping[tuple[str, str], Route]:
        return {("GET", "(/files/.*)"): self._file}

    def _file(self, asked: Asked, path: str) -> Reply:
        kept = self.kept.get(path)
        if kept is None:
            return self.unknown(asked)
        return Reply(body=kept.content, headers={"content-type": kept.media_type})


@contextmanager
def file_store() -> Iterator[FileStore]:
    """Serve a store until the block ends."""
    with served(FileStore()) as store:
        yield store
