"""Chat models over Anthropic's Messages API, or any server that speaks it. Not the router.

The `anthropic` package is imported with the first request. Retrying is the router's business: the
client itself tries `retries` times more, none unless told so.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, cast

from cairn.llm.port import ChatAnswer, Finish, Role, Usage
from cairn.llm.wire import (
    count,
    failure_of_status,
    malformed,
    model_name,
    sendable,
    too_slow,
    unreachable,
)
from cairn.llm.wire_chat import WireChat

if TYPE_CHECKING:
    from anthropic import Anthropic, AnthropicError
    from anthropic.types import MessageParam

    from cairn.errors import CairnError
    from cairn.llm.port import ChatRequest

BASE_URL = "https://api.anthropic.com"
FINISHES = {
    "max_tokens": Finish.CUT,
    "model_context_window_exceeded": Finish.CUT,
    "refusal": Finish.REFUSED,
}


class AnthropicChat(WireChat["Anthropic"]):
    """Answers through the `anthropic` client; safe between threads. As `ChatModel`."""

    provider = "anthropic"
    own_url = BASE_URL

    def chat(self, request: ChatRequest, *, model: str) -> ChatAnswer:
        """As `ChatModel`."""
        from anthropic import AnthropicError

        failure: CairnError
        try:
            return _answer(self._send(request, model), asked=model)
        except AnthropicError as problem:
            failure = _translate(problem)
        except ValueError:  # the body was not the JSON its headers promised
            failure = malformed()
        raise failure  # here, not above: the server's words must not ride along as the context

    def _send(self, request: ChatRequest, model: str) -> object:
        from anthropic import omit

        return self._ready().messages.create(
            model=model,
            max_tokens=request.max_tokens,
            system=sendable(request.system) or omit,
            messages=_messages(request),
            output_config=omit
            if request.schema is None
            else {"format": {"type": "json_schema", "schema": dict(request.schema)}},
            timeout=request.timeout_s or self._timeout_s,
        )

    def _opened(self) -> Anthropic:
        from anthropic import Anthropic, DefaultHttpxClient

        # below INFO the package logs whole requests
        logging.getLogger("anthropic").setLevel(logging.INFO)
        key = self._api_key or "none"  # servers without keys; the client wants one
        # the client sends a bearer token; other servers know only the older header
        own = self._base_url.rstrip("/") == BASE_URL
        return Anthropic(
            api_key=key,
            default_headers=None if own else {"x-api-key": key},
            base_url=self._base_url,
            timeout=self._timeout_s,
            max_retries=self._retries,
            # a redirect would take the key to another host
            http_client=DefaultHttpxClient(follow_redirects=False),
        )


def _messages(request: ChatRequest) -> list[MessageParam]:
    said: list[MessageParam] = []
    for one in request.messages:
        if one.role is Role.USER:
            said.append({"role": "user", "content": sendable(one.text)})
        else:
            said.append({"role": "assistant", "content": sendable(one.text)})
    return said


def _answer(said: object, *, asked: str) -> ChatAnswer:
    """Return the answer's text and usage, having believed nothing about its shape."""
    content: object = getattr(said, "content", None)
    if not isinstance(content, list):
        raise malformed()
    texts = [
        text
        for block in cast("list[object]", content)
        if getattr(block, "type", None) == "text" and isinstance(text := _text(block), str)
    ]
    finish = FINISHES.get(str(getattr(said, "stop_reason", None)), Finish.COMPLETE)
    if not texts and finish is Finish.COMPLETE:
        raise malformed()
    usage: object = getattr(said, "usage", None)
    return ChatAnswer(
        text="".join(texts),
        model=model_name(getattr(said, "model", None), asked),
        provider=AnthropicChat.provider,
        usage=Usage(
            input_tokens=count(getattr(usage, "input_tokens", None)),
            output_tokens=count(getattr(usage, "output_tokens", None)),
            cache_read_tokens=count(getattr(usage, "cache_read_input_tokens", None)),
            cache_write_tokens=count(getattr(usage, "cache_creation_input_tokens", None)),
        ),
        finish=finish,
    )


def _text(block: object) -> object:
    return getattr(block, "text", None)


def _translate(problem: AnthropicError) -> CairnError:
    """Return Cairn's error for the client's; the only place that knows the client's tree."""
    import anthropic

    if isinstance(problem, anthropic.APIResponseValidationError):
        return malformed()
    if isinstance(problem, anthropic.APIStatusError):
        return failure_of_status(problem.status_code, problem.response.headers)
    if isinstance(problem, anthropic.APITimeoutError):
        return too_slow()
    return unreachable()
