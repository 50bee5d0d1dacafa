"""Where the made-up customers of samples/tickets receive webhooks: a small server on loopback."""

from __future__ import annotations

from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Generator

NOBODY = "http://127.0.0.1:9"
"""What stands in samples/tickets/shop.sql: an address where nobody listens."""

ANSWERS = {"/harbour-lane": 502, "/northgate": 200, "/alder": 401}


class _Endpoint(BaseHTTPRequestHandler):
    """Answers with the status of the path, and an empty body."""

    def do_GET(self) -> None:
        """Answer."""
        self.send_response(ANSWERS.get(self.path, 404))
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def customers_endpoints() -> Generator[str]:
    """Serve until the block ends; yield the address before the paths."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Endpoint)
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
