"""Chat models over Anthropic's Messages API, or any server that speaks it. Not the gateway.

The `anthropic` package is imported with the first request. Retrying is the gateway's business: the
client itself tries `retries` times more, none unless told so.

Prompts are cached by their beginning, read in the order tools, system, messages; a breakpoint says
where a cached beginning may end, and there may be four: after the tools, the system prompt, the
stable context, and messages that a later request repeats. Where the beginning is too short to be
cached, a breakpoint does nothing and costs nothing.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any, cast

from cairn.llm.port import ChatAnswer, Effort, Finish, Role, ToolCall, Usage
from cairn.llm.wire import (
    WireChat,
    count,
    failure_of_status,
    malformed,
    model_name,
    sendable,
    too_slow,
    uncut,
    unreachable,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from anthropic import Anthropic, AnthropicError
    from anthropic.types import (
        CacheControlEphemeralParam,
        MessageParam,
        OutputConfigParam,
        TextBlockParam,
        ToolParam,
    )

    from cairn.kernel.errors import CairnError
    from cairn.llm.port import ChatRequest, Message

BASE_URL = "https://api.anthropic.com"
FINISHES = {
    "max_tokens": Finish.CUT,
    "model_context_window_exceeded": Finish.CUT,
    "refusal": Finish.REFUSED,
    "tool_use": Finish.TOOLS,
}
BREAKPOINT: CacheControlEphemeralParam = {"type": "ephemeral"}


class AnthropicChat(WireChat["Anthropic"]):
    """Answers through the `anthropic` client; safe between threads. As `ChatModel`."""

    provider = "anthropic"
    own_url = BASE_URL

    def chat(self, request: ChatRequest, *, model: str) -> ChatAnswer:
        """As `ChatModel`."""
        from anthropic import AnthropicError

        failure: CairnError
        try:
            return _answer(self._send(request, model), model=model)
        except AnthropicError as problem:
            failure = _translate(problem)
        except ValueError:  # the body was not the JSON its headers promised
            failure = malformed()
        raise failure  # here, not above: the server's words must not ride along as the context

    def _send(self, request: ChatRequest, model: str) -> object:
        from anthropic import omit

        arguments: dict[str, Any] = {
            "model": model,
            "max_tokens": request.longest,
            "tools": _tools(request) or omit,
            "system": _system(request) or omit,
            "messages": _messages(request),
            "output_config": _output(request) or omit,
            # the package has no argument for what its newest models do not take
            "extra_body": None
            if request.temperature is None
            else {"temperature": request.temperature},
            "timeout": request.timeout_s or self._timeout_s,
        }
        messages: Any = self._ready().messages
        if request.hear is None:
            return messages.create(**arguments)
        with uncut(), messages.stream(**arguments) as stream:
            for text in stream.text_stream:
                request.hear(text)
            message = stream.get_final_message()
        if message.stop_reason is None:  # the stream has no end
            raise unreachable()
        return message

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


def _tools(request: ChatRequest) -> list[ToolParam]:
    """Return the tools, a breakpoint at the last."""
    tools: list[ToolParam] = [
        {
            "name": tool.name,
            "description": sendable(tool.description),
            "input_schema": dict(tool.schema),
        }
        for tool in request.tools
    ]
    if tools:
        tools[-1]["cache_control"] = BREAKPOINT
    return tools


def _system(request: ChatRequest) -> list[TextBlockParam]:
    return [_block(request.system, ends=True)] if request.system else []


def _messages(request: ChatRequest) -> list[MessageParam]:
    """Return the turns; the stable context stands before the first, as a block of its own."""
    last = len(request.messages) - 1
    messages = [
        _turn(message, ends=request.goes_on and place == last)
        for place, message in enumerate(request.messages)
    ]
    if not request.context:
        return messages
    opening = [_block(request.context, ends=True)]
    if request.messages and request.messages[0].role is Role.USER:
        opening.append(_block(request.messages[0].text, ends=request.goes_on and last == 0))
        messages = messages[1:]
    return [{"role": "user", "content": opening}, *messages]


def _turn(message: Message, *, ends: bool) -> MessageParam:
    content = [_block(message.text, ends=True)] if ends else sendable(message.text)
    if message.role is Role.USER:
        return {"role": "user", "content": content}
    return {"role": "assistant", "content": content}


def _block(text: str, *, ends: bool) -> TextBlockParam:
    """Return a block of text, with a breakpoint after it when what is cached `ends` there."""
    block: TextBlockParam = {"type": "text", "text": sendable(text)}
    if ends:
        block["cache_control"] = BREAKPOINT
    return block


def _output(request: ChatRequest) -> OutputConfigParam:
    config: OutputConfigParam = {}
    if request.schema is not None:
        config["format"] = {"type": "json_schema", "schema": dict(request.schema)}
    if request.effort is not None:
        config["effort"] = "low" if request.effort is Effort.MINIMAL else request.effort.value
    return config


def _answer(message: object, *, model: str) -> ChatAnswer:
    """Return the answer's text and usage, having believed nothing about its shape."""
    content: object = getattr(message, "content", None)
    if not isinstance(content, list):
        raise malformed()
    texts = [
        text
        for block in cast("list[object]", content)
        if getattr(block, "type", None) == "text" and isinstance(text := _text(block), str)
    ]
    finish = FINISHES.get(str(getattr(message, "stop_reason", None)), Finish.COMPLETE)
    calls = [call for block in cast("list[object]", content) if (call := _call(block)) is not None]
    if not texts and finish is Finish.COMPLETE:
        raise malformed()
    usage: object = getattr(message, "usage", None)
    return ChatAnswer(
        text="".join(texts),
        model=model_name(getattr(message, "model", None), model),
        provider=AnthropicChat.provider,
        usage=Usage(
            input_tokens=count(getattr(usage, "input_tokens", None)),
            output_tokens=count(getattr(usage, "output_tokens", None)),
            cache_read_tokens=count(getattr(usage, "cache_read_input_tokens", None)),
            cache_write_tokens=count(getattr(usage, "cache_creation_input_tokens", None)),
        ),
        finish=finish,
        tool_calls=tuple(calls),
    )


def _call(block: object) -> ToolCall | None:
    """Return the call of a tool that a block is; None for any other block, and for nonsense."""
    call_id, name, arguments = (getattr(block, field, None) for field in ("id", "name", "input"))
    if getattr(block, "type", None) != "tool_use" or not isinstance(arguments, dict):
        return None
    if not isinstance(call_id, str) or not isinstance(name, str):
        return None
    return ToolCall(id=call_id, name=name, arguments=cast("Mapping[str, object]", arguments))


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
