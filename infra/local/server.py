"""Runs the API under uvicorn with a guard of its own: headers have to end.

uvicorn waits for the end of a request's headers for ever, so that a few hundred connections which
send a byte now and then would use up the process's files.
"""

import argparse
import os
from asyncio import TimerHandle
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

HEADER_SECONDS = 10.0
"""How long a request's headers may take from the connection's start, or from their first byte."""

DRAIN_SECONDS = 3


class HeadersEnd(H11Protocol):
    """Cuts a connection whose request has not begun in time."""

    _cutting: TimerHandle | None = None
    header_seconds = HEADER_SECONDS

    def connection_made(self, transport: Any) -> None:
        """Wait for the first request."""
        super().connection_made(transport)
        self._watch()

    def data_received(self, data: bytes) -> None:
        """Read, and go on waiting while headers are not whole."""
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no more."""
        self._stop()
        super().connection_lost(exc)

    def _watch(self) -> None:
        if self.conn.their_state is not h11.IDLE:
            self._stop()
        elif self._cutting is None:
            self._cutting = self.loop.call_later(self.header_seconds, self._cut)

    def _stop(self) -> None:
        if self._cutting is not None:
            self._cutting.cancel()
            self._cutting = None

    def _cut(self) -> None:
        self._cutting = None
        if self.conn.their_state is h11.IDLE:
            self.transport.close()


def serve(app: str, port: int) -> None:
    """Serve `app` on the loopback address until a signal."""
    uvicorn.run(
        app,
        host="127.0.0.1",
        port=port,
        http=HeadersEnd,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        server_header=False,
        access_log=False,
        # whoever connects here could write another address into a header
        forwarded_allow_ips=os.environ.get("FORWARDED_ALLOW_IPS", ""),
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("app")
    parser.add_argument("--port", type=int, required=True)
    arguments = parser.parse_args()
    serve(arguments.app, arguments.port)
