"""An HTTP server on loopback that keeps state, answers JSON and fails when it is told to.

What the answers look like is the business of `zoho_replay` and `github_replay`.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any, TypeVar
from urllib.parse import parse_qs, unquote, urlsplit


@dataclass(frozen=True, kw_only=True)
class Fault:
    """How the next request fails. `done` ones are carried out first: the answer is what is lost.

    `cut` closes the connection without an answer; `only` is the method it waits for, `where` says
    whether a request is the one.
    """

    status: int = 500
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    done: bool = False
    cut: bool = False
    only: str | None = None
    where: Callable[[Asked], bool] = lambda asked: True


@dataclass(frozen=True, kw_only=True)
class Asked:
    """A request: names of headers in small letters, `query` with one value a name."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True, kw_only=True)
class Reply:
    """An answer; `body` None sends nothing."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


Route = Callable[..., Reply]
R = TypeVar("R", bound="Replay")


@dataclass(kw_only=True)
class Replay:
    """The running server: where it is, what it was asked, how it fails next."""

    url: str = ""
    asked: list[Asked] = field(default_factory=list)
    faults: deque[Fault] = field(default_factory=deque)
    lock: Lock = field(default_factory=Lock)

    def routes(self) -> Mapping[tuple[str, str], Route]:
        """Return what answers: a method and a pattern of the whole path, to a function."""
        raise NotImplementedError

    def refused(self, asked: Asked) -> Reply | None:
        """Return the answer to a request that is not signed in as it should be."""
        raise NotImplementedError

    def unknown(self, asked: Asked) -> Reply:
        """Return the answer to a request for nothing that is there."""
        raise NotImplementedError

    def count(self, method: str, pattern: str = "") -> int:
        """Return how many requests there were of a method, to paths that hold `pattern`."""
        return sum(item.method == method and pattern in item.path for item in self.asked)

    def answer(self, asked: Asked) -> Reply | Fault:
        """Return what is answered; faults come first."""
        with self.lock:
            self.asked.append(asked)
            fault = self.faults[0] if self.faults else None
            if fault is not None and fault.only in {None, asked.method} and fault.where(asked):
                self.faults.popleft()
                if fault.done:
                    self._carried_out(asked)
                return fault
            return self._carried_out(asked)

    def _carried_out(self, asked: Asked) -> Reply:
        refused = self.refused(asked)
        if refused is not None:
            return refused
        for (method, pattern), route in self.routes().items():
            found = re.fullmatch(pattern, asked.path)
            if found and method == asked.method:
                return route(asked, *map(unquote, found.groups()))
        return self.unknown(asked)


@contextmanager
def served(replay: R) -> Iterator[R]:
    """Serve until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answered(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("content-length") or 0)
            asked = Asked(
                method=self.command,
                path=parts.path,
                query={name: values[-1] for name, values in parse_qs(parts.query).items()},
                headers={name.lower(): value for name, value in self.headers.items()},
                body=_decoded(self.rfile.read(length), self.headers.get("content-type") or ""),
            )
            given = replay.answer(asked)
            if isinstance(given, Fault) and given.cut:
                self.close_connection = True
                return
            self._send(given)

        do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = answered

        def _send(self, given: Reply | Fault) -> None:
            raw = given.body if isinstance(given.body, bytes) else None
            content = raw if raw is not None else _encoded(given.body)
            self.send_response(given.status)
            if "content-type" not in given.headers:
                self.send_header("content-type", "application/json;charset=UTF-8")
            self.send_header("content-length", str(len(content)))
            for name, value in given.headers.items():
                self.send_header(name, value)
            self.end_headers()
            with suppress(ConnectionError):  # who asked has read enough
                self.wfile.write(content)

        def log_message(self, *arguments: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    replay.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield replay
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _decoded(content: bytes, kind: str) -> Any:
    if not content:
        return None
    if kind.startswith("application/x-www-form-urlencoded"):
        return {name: values[-1] for name, values in parse_qs(content.decode()).items()}
    try:
        return json.loads(content)
    except ValueError:
        return content.decode(errors="replace")


def _encoded(body: Any) -> bytes:
    return b"" if body is None else json.dumps(body).encode()
