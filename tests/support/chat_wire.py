"""A server on loopback that speaks Anthropic's messages, OpenAI's completions, Bedrock's Converse.

It says what it is told to, in the documented shapes of each, and fails on request.
"""

from __future__ import annotations

import json
from collections import deque
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from cairn.bootstrap import models, recall

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    import pytest


@dataclass(frozen=True, kw_only=True)
class Say:
    """One answer. `status` other than 200 sends `text` as the error's message.

    `hang` waits for the test to end before answering, `cut` stops in the middle of the body,
    `drip` sends one byte every tenth of a second, `body` is sent as it is.
    """

    text: str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    stop: str = ""  # the provider's own word for how the answer ended; "" is the ordinary one
    called: Mapping[str, object] | None = None  # arguments Bedrock's answer tool is called with
    body: bytes | None = None
    content_type: str = "application/json"
    calls: tuple[tuple[str, str], ...] = ()  # tools by name, with their arguments as they are sent
    hang: bool = False
    cut: bool = False
    drip: bool = False
    read: int = 0  # tokens read from the cache
    written: int = 0  # tokens written to it


@dataclass(kw_only=True)
class ChatServer:
    """The running server: where it is, what it was asked, what it says next.

    When `says` is empty, `answers` makes the text from the request's body.
    """

    url: str
    requests: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    says: deque[Say] = field(default_factory=deque)
    answers: Callable[[dict[str, Any]], str] = lambda asked: "yes"
    released: Event = field(default_factory=Event)

    def next(self, asked: dict[str, Any]) -> Say:
        """Return what to say to `asked`, after the wait it is to be said with."""
        say = self.says.popleft() if self.says else Say(text=self.answers(asked))
        if say.hang:
            self.released.wait(30)
        return say


IN, OUT = 200, 20
"""Tokens of every prompt that are not cached, and of every answer."""


@contextmanager
def chat_server() -> Iterator[ChatServer]:
    """Serve until the block ends; whatever hangs is let go then."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            state.requests.append({"path": unquote(self.path), **asked})
            state.headers.append({name.lower(): value for name, value in self.headers.items()})
            say = state.next(asked)
            streams = bool(asked.get("stream")) and say.status == 200 and say.body is None
            body = (streamed if streams else written)(self.path, asked, say)
            kind = "text/event-stream" if streams else say.content_type
            self.send_response(say.status)
            for name, value in {"content-type": kind, **say.headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.deliver(body, say)

        def deliver(self, body: bytes, say: Say) -> None:
            pieces = [body[at : at + 1] for at in range(len(body))] if say.drip else [body]
            if say.cut:
                pieces, self.close_connection = [body[: len(body) // 2]], True
            try:
                for piece in pieces:
                    self.wfile.write(piece)
                    self.wfile.flush()
                    if say.drip and state.released.wait(0.1):
                        return
            except OSError:  # the client gave up, as some tests want it to
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: the tests read `requests`."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        server.daemon_threads = True
        state = ChatServer(url=f"http://127.0.0.1:{server.server_address[1]}")
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield state
        finally:
            state.released.set()
            server.shutdown()
            thread.join()


def written(path: str, asked: Mapping[str, Any], say: Say) -> bytes:
    """Return the documented body: of the error, or of the answer; `say.body` if that is given."""
    if say.body is not None:
        return say.body
    anthropic = path.endswith("/messages")
    if path.endswith("/converse"):
        if say.status != 200:
            return json.dumps({"message": say.text}).encode()
        return json.dumps(_converse(say)).encode()
    if say.status != 200:
        error = {"type": "api_error", "message": say.text}
        return json.dumps(
            {"type": "error", "error": error} if anthropic else {"error": error}
        ).encode()
    return json.dumps((_message if anthropic else _completion)(asked["model"], say)).encode()


def streamed(path: str, asked: Mapping[str, Any], say: Say) -> bytes:
    """Return an answer as server-sent events, a word a piece and half the arguments a piece."""
    words = [f"{word} " for word in say.text.split(" ")] if say.text else []
    words = [*words[:-1], words[-1][:-1]] if words else []
    if path.endswith("/messages"):
        return b"".join(
            f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
            for event in _message_events(_message(asked["model"], say), words, say)
        )
    chunks = [*_completion_chunks(_completion(asked["model"], say), words, say)]
    lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


def _message_events(whole: dict[str, Any], words: list[str], say: Say) -> Iterator[dict[str, Any]]:
    begun: dict[str, Any] = {**whole, "content": [], "stop_reason": None}
    yield {"type": "message_start", "message": begun}
    blocks: list[tuple[dict[str, Any], list[dict[str, Any]]]] = []
    if words:
        said = [{"type": "text_delta", "text": word} for word in words]
        blocks.append(({"type": "text", "text": ""}, said))
    for place, (name, given) in enumerate(say.calls):
        empty: dict[str, Any] = {
            "type": "tool_use",
            "id": f"toolu_{place}",
            "name": name,
            "input": {},
        }
        halves = (given[: len(given) // 2], given[len(given) // 2 :])
        pieces = [{"type": "input_json_delta", "partial_json": half} for half in halves]
        blocks.append((empty, pieces))
    for index, (block, deltas) in enumerate(blocks):
        yield {"type": "content_block_start", "index": index, "content_block": block}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    ended = {"stop_reason": whole["stop_reason"], "stop_sequence": None}
    yield {"type": "message_delta", "delta": ended, "usage": {"output_tokens": OUT}}
    yield {"type": "message_stop"}


def _completion_chunks(
    whole: dict[str, Any], words: list[str], say: Say
) -> Iterator[dict[str, Any]]:
    head = {**whole, "object": "chat.completion.chunk", "usage": None}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
        return {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}

    yield from (chunk({"content": word}) for word in words)
    for index, (name, given) in enumerate(say.calls):
        begun = {"name": name, "arguments": given[: len(given) // 2]}
        call = {"index": index, "id": f"call_{index}", "type": "function", "function": begun}
        yield chunk({"tool_calls": [call]})
        rest = {"arguments": given[len(given) // 2 :]}
        yield chunk({"tool_calls": [{"index": index, "function": rest}]})
    yield chunk({}, whole["choices"][0]["finish_reason"])
    yield {**head, "choices": [], "usage": whole["usage"]}


def _message(model: str, say: Say) -> dict[str, Any]:
    return {
        "id": "msg_0123456789",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": [{"type": "text", "text": say.text}] if say.text else [],
        "stop_reason": say.stop or ("tool_use" if say.calls else "end_turn"),
        "stop_sequence": None,
        "usage": {
            "input_tokens": IN,
            "output_tokens": OUT,
            "cache_read_input_tokens": say.read,
            "cache_creation_input_tokens": say.written,
        },
    }


def _converse(say: Say) -> dict[str, Any]:
    content: list[dict[str, Any]] = [{"text": say.text}] if say.text else []
    if say.called is not None:
        used = {"toolUseId": "tooluse_0123", "name": "answer", "input": dict(say.called)}
        content.append({"toolUse": used})
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": say.stop or ("end_turn" if say.called is None else "tool_use"),
        "usage": {
            "inputTokens": IN,
            "outputTokens": OUT,
            "totalTokens": IN + OUT + say.read + say.written,
            "cacheReadInputTokens": say.read,
            "cacheWriteInputTokens": say.written,
        },
        "metrics": {"latencyMs": 12},
    }


def _completion(model: str, say: Say) -> dict[str, Any]:
    prompt = IN + say.read + say.written
    message: dict[str, Any] = {
        "role": "assistant",
        "content": say.text or None,
        "refusal": None,
    }
    if say.calls:
        message["tool_calls"] = [
            {
                "id": f"call_{place}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for place, (name, arguments) in enumerate(say.calls)
        ]
    return {
        "id": "chatcmpl-0123456789",
        "object": "chat.completion",
        "created": 1_780_000_000,
        "model": model,
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": say.stop or ("tool_calls" if say.calls else "stop"),
                "logprobs": None,
            }
        ],
        "usage": {
            "prompt_tokens": prompt,
            "completion_tokens": OUT,
            "total_tokens": prompt + OUT,
            "prompt_tokens_details": {
                "cached_tokens": say.read,
                "cache_write_tokens": say.written,
            },
        },
    }


@contextmanager
def closing_models(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """Serve as Anthropic to whatever is wired within the block, and close its clients at the end.

    A search that no longer waits for an answer has a thread that still does: it is waited for, as
    it would open another connection after the client was closed.
    """
    open_models, open_asking = models.chat_models, recall.asking_parts
    closes: list[Callable[[], None]] = []

    def kept(settings: Any) -> Any:
        made = open_models(settings)
        closes.extend(model.close for model in made)
        return made

    def asking(*given: Any, **more: Any) -> Any:
        parts = open_asking(*given, **more)
        closes.insert(0, parts.close)
        return parts

    monkeypatch.setattr(models, "chat_models", kept)
    monkeypatch.setattr(recall, "asking_parts", asking)
    with chat_server() as server:
        monkeypatch.setenv("CAIRN_ANTHROPIC_BASE_URL", server.url)
        monkeypatch.setenv("CAIRN_ANTHROPIC_API_KEY", "sk-test-0123456789abcdef")
        yield server
        server.released.set()
        for close in closes:
            close()
