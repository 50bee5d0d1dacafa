"""A new first key is made only where the API says that it does not know the one that is kept."""

from __future__ import annotations

from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

import pytest
from infra.local.stack import key_works

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


@contextmanager
def api_saying(*statuses: int) -> Iterator[str]:
    """An API that answers with these, one after the other."""
    left = list(statuses)

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(left.pop(0))
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def until(ready: Callable[[], bool]) -> None:
    while not ready():
        pass


@pytest.mark.parametrize(
    ("statuses", "works"), [((200,), True), ((401,), False), ((503, 503, 200), True)]
)
def test_an_api_without_its_database_is_asked_again(statuses: tuple[int, ...], works: bool) -> None:
    with api_saying(*statuses) as url:
        assert key_works(url, "cairn_kept", until) is works
        assert key_works(url, "", until) is False
