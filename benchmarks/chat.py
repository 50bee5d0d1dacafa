"""How soon a chat's first words come, beyond the time of its model. Not how good the answer is.

The model is one that echoes the question, served here. The stack has to be one that asks it:

    export CAIRN_OPENAI_BASE_URL=http://127.0.0.1:8399/v1 CAIRN_CHAT_MODEL=openai:echo
    make up && python -m benchmarks.chat
"""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from statistics import median, quantiles
from threading import Thread
from time import perf_counter
from typing import TYPE_CHECKING, Any

import httpx

from cairn.kernel.ids import new_id
from cairn.settings.cli import CliSettings

if TYPE_CHECKING:
    from collections.abc import Generator

PORT = 8399
WARM_UP = 5
ROUNDS = 40
LABELS = {
    "verdict": "CLEAN",
    "injection": False,
    "intent": "question",
    "language": "en",
    "complexity": "simple",
    "query": None,
    "topic_change": False,
}
USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


@dataclass(slots=True)
class Echo:
    """Seconds from a question to its model's first word, of those that were asked lately."""

    own: list[float] = field(default_factory=list[float])


@contextmanager
def echoing(port: int) -> Generator[Echo]:
    """Serve a model that says what it was asked, and labels every message alike."""
    echo = Echo()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def do_POST(self) -> None:
            began = perf_counter()
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            text = asked["messages"][-1]["content"]
            streams = bool(asked.get("stream"))
            if "response_format" in asked:
                text = json.dumps(LABELS)
            body = (_streamed if streams else _whole)(str(text)[-200:] if streams else text)
            kind = "text/event-stream" if streams else "application/json"
            self.send_response(200)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(body)))
            echo.own.append(perf_counter() - began)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", port), Handler) as server:
        server.daemon_threads = True
        thread = Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield echo
        finally:
            server.shutdown()
            thread.join()


def _head() -> dict[str, Any]:
    return {"id": "echo", "created": 1, "model": "echo"}


def _whole(text: str) -> bytes:
    message = {"role": "assistant", "content": text}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    answer = {**_head(), "object": "chat.completion", "choices": [choice], "usage": USAGE}
    return json.dumps(answer).encode()


def _streamed(text: str) -> bytes:
    head = {**_head(), "object": "chat.completion.chunk"}
    deltas: list[tuple[dict[str, str], str | None]] = [
        *(({"content": f"{word} "}, None) for word in text.split()),
        ({}, "stop"),
    ]
    chunks: list[dict[str, Any]] = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
        for delta, finish in deltas
    ]
    chunks.append({**head, "choices": [], "usage": USAGE})
    return b"".join(f"data: {json.dumps(each)}\n\n".encode() for each in chunks) + (
        b"data: [DONE]\n\n"
    )


def first_words(http: httpx.Client, echo: Echo, message: str, session: str) -> tuple[float, float]:
    """Return the milliseconds to a turn's first text_chunk, and those of its models until then."""
    echo.own.clear()
    began, took, own = perf_counter(), 0.0, 0.0
    body = {"message": message, "session_id": session}
    headers = {"accept": "text/event-stream"}
    with http.stream("POST", "/v1/chat", json=body, headers=headers) as answer:
        answer.raise_for_status()
        for line in answer.iter_lines():
            if line == "event: text_chunk" and not took:
                took, own = perf_counter() - began, sum(echo.own)
            if line.startswith("data: ") and '"source":"rules"' in line.replace(" ", ""):
                raise SystemExit("Rules answered: the stack does not ask this model.")
    return took * 1000, own * 1000


def main(rounds: int = ROUNDS) -> None:
    """Measure and print."""
    settings = CliSettings()
    if settings.url is None or settings.api_key is None:
        raise SystemExit("Set CAIRN_URL and CAIRN_API_KEY.")
    headers = {"authorization": f"Bearer {settings.api_key.get_secret_value()}"}
    taken: list[float] = []
    models: list[float] = []
    with (
        echoing(PORT) as echo,
        httpx.Client(base_url=settings.url, headers=headers, timeout=60) as http,
    ):
        for number in range(WARM_UP + rounds):
            message = f"Which ship is berth {number} kept free for this week?"
            took, own = first_words(http, echo, message, f"bench-{new_id()}")
            if number >= WARM_UP:
                taken.append(took - own)
                models.append(own)
    p95 = quantiles(taken, n=20)[-1]
    sys.stdout.write(
        f"first text_chunk beyond the model's own time: {median(taken):.0f} ms at the median, "
        f"{p95:.0f} ms at the 95th percentile of {rounds} turns "
        f"(the model itself: {median(models):.1f} ms)\n"
    )


if __name__ == "__main__":
    main()
