"""A server on loopback that speaks OpenAI's embeddings format, and fails on request."""

from __future__ import annotations

import json
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import TYPE_CHECKING, Any

from tests.support.embedding import HashingEmbedder

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cairn.embedding.port import EmbeddingModel


@dataclass(frozen=True, kw_only=True)
class Reply:
    """What the server says instead of vectors."""

    status: int = 200
    body: bytes = b"{}"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(kw_only=True)
class WireServer:
    """The running server: where it is, what it was asked, what it says next."""

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    replies: deque[Reply] = field(default_factory=deque)


@contextmanager
def embedding_server(model: EmbeddingModel) -> Iterator[WireServer]:
    """Serve hashed embeddings of `model`'s size at `url` until the block ends."""
    embedder = HashingEmbedder(model)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            state.requests.append(asked)
            state.keys.append(self.headers["authorization"])
            reply = state.replies.popleft() if state.replies else Reply(body=vectors(asked))
            self.send_response(reply.status)
            headers = {"content-type": "application/json", **reply.headers}
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(reply.body)))
            self.end_headers()
            self.wfile.write(reply.body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: the tests read `requests`."""

    def vectors(asked: dict[str, Any]) -> bytes:
        rows = embedder.embed(asked["input"]).tolist()
        data = [
            {"object": "embedding", "index": index, "embedding": row}
            for index, row in reversed(list(enumerate(rows)))
        ]
        usage = {"prompt_tokens": 1, "total_tokens": 1}
        return json.dumps(
            {"object": "list", "data": data, "model": asked["model"], "usage": usage}
        ).encode()

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        state = WireServer(url=f"http://127.0.0.1:{server.server_address[1]}/v1")
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield state
        finally:
            server.shutdown()
            thread.join()
