"""Chat models over OpenAI's chat completions, or any server that speaks them. Not the gateway.

The base URL decides who that is: OpenAI, Ollama, vLLM, Bedrock's compatible endpoint, a gateway.
The `openai` package is imported with the first request; the client tries `retries` times more,
none unless told so.

These servers cache prompts by their beginning on their own: nothing says where, so what stays the
same is sent first.
"""

from __future__ import annotations

import json
import logging
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, cast

from cairn.llm.port import ChatAnswer, Finish, Role, ToolCall, Usage
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
    from collections.abc import Callable, Iterable, Mapping

    from openai import OpenAI, OpenAIError
    from openai.types.chat import ChatCompletionFunctionToolParam, ChatCompletionMessageParam
    from openai.types.chat.completion_create_params import ResponseFormat

    from cairn.kernel.errors import CairnError
    from cairn.llm.port import ChatRequest

BASE_URL = "https://api.openai.com/v1"
MOST_CALLS = 63
"""Of tools in one streamed answer: an index says where a piece belongs, whatever number it is."""

FINISHES = {
    "length": Finish.CUT,
    "content_filter": Finish.REFUSED,
    "tool_calls": Finish.TOOLS,
}


class OpenAIChat(WireChat["OpenAI"]):
    """Answers through the `openai` client; safe between threads. As `ChatModel`."""

    provider = "openai"
    own_url = BASE_URL

    def chat(self, request: ChatRequest, *, model: str) -> ChatAnswer:
        """As `ChatModel`."""
        from openai import OpenAIError

        failure: CairnError
        try:
            return _answer(self._send(request, model), model=model)
        except OpenAIError as problem:
            failure = _translate(problem)
        except ValueError:  # the body was not the JSON its headers promised
            failure = malformed()
        raise failure  # here, not above: the server's words must not ride along as the context

    def _send(self, request: ChatRequest, model: str) -> object:
        from openai import omit

        # OpenAI's newer models take only the one name, older compatible servers only the other
        own = self._base_url.rstrip("/") == BASE_URL
        arguments: dict[str, Any] = {
            "model": model,
            "messages": _messages(request),
            "max_completion_tokens": request.longest if own else omit,
            "max_tokens": omit if own else request.longest,
            "tools": _tools(request) or omit,
            "temperature": omit if request.temperature is None else request.temperature,
            "reasoning_effort": omit if request.effort is None else request.effort.value,
            "response_format": _format(request) or omit,
            "timeout": request.timeout_s or self._timeout_s,
        }
        completions: Any = self._ready().chat.completions
        if request.hear is None:
            return completions.create(**arguments)
        streaming: Any = {"stream": True, "stream_options": {"include_usage": True}}
        with uncut(), completions.create(**arguments, **streaming) as stream:
            return _joined(stream, request.hear)

    def _opened(self) -> OpenAI:
        from openai import DefaultHttpxClient, OpenAI

        # below INFO the package logs whole requests
        logging.getLogger("openai").setLevel(logging.INFO)
        return OpenAI(
            api_key=self._api_key or "none",  # servers without keys; the client wants one
            base_url=self._base_url,
            timeout=self._timeout_s,
            max_retries=self._retries,
            # a redirect would take the prompt to another host
            http_client=DefaultHttpxClient(follow_redirects=False),
        )


def _tools(request: ChatRequest) -> list[ChatCompletionFunctionToolParam]:
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": sendable(tool.description),
                "parameters": dict(tool.schema),
            },
        }
        for tool in request.tools
    ]


def _messages(request: ChatRequest) -> list[ChatCompletionMessageParam]:
    """Return the turns; the stable context stands at the beginning of the first.

    One message, not two: some servers refuse a user who speaks twice in a row.
    """
    messages: list[ChatCompletionMessageParam] = []
    if request.system:
        messages.append({"role": "system", "content": sendable(request.system)})
    context = sendable(request.context)
    if context and not (request.messages and request.messages[0].role is Role.USER):
        messages.append({"role": "user", "content": context})
        context = ""
    for message in request.messages:
        text = f"{context}\n\n{sendable(message.text)}" if context else sendable(message.text)
        context = ""
        if message.role is Role.USER:
            messages.append({"role": "user", "content": text})
        else:
            messages.append({"role": "assistant", "content": text})
    return messages


def _format(request: ChatRequest) -> ResponseFormat | None:
    if request.schema is None:
        return None
    return {
        "type": "json_schema",
        "json_schema": {
            "name": request.purpose.value,
            "schema": dict(request.schema),
            "strict": True,
        },
    }


def _answer(completion: object, *, model: str) -> ChatAnswer:
    """Return the answer's text and usage, having believed nothing about its shape."""
    choices: object = getattr(completion, "choices", None)
    if not isinstance(choices, list) or not choices:
        raise malformed()
    first = cast("list[object]", choices)[0]
    message: object = getattr(first, "message", None)
    text: object = getattr(message, "content", None)
    finish = FINISHES.get(str(getattr(first, "finish_reason", None)), Finish.COMPLETE)
    if getattr(message, "refusal", None):
        finish = Finish.REFUSED
    calls = _calls(getattr(message, "tool_calls", None))
    if not isinstance(text, str) and finish is Finish.COMPLETE:
        raise malformed()
    return ChatAnswer(
        text=text if isinstance(text, str) else "",
        model=model_name(getattr(completion, "model", None), model),
        provider=OpenAIChat.provider,
        usage=_usage(getattr(completion, "usage", None)),
        finish=finish,
        tool_calls=calls,
    )


def _joined(stream: Iterable[Any], hear: Callable[[str], None]) -> object:
    """Return a streamed answer as one that came whole; a stream without an end was cut."""
    message = SimpleNamespace(content=None, refusal=None, tool_calls=list[Any]())
    answer = SimpleNamespace(model=None, usage=None, choices=list[Any]())
    finish: str | None = None
    for chunk in stream:
        answer.model = chunk.model or answer.model
        answer.usage = chunk.usage or answer.usage
        for choice in chunk.choices[:1]:
            finish = choice.finish_reason or finish
            if choice.delta is not None:
                _add(message, choice.delta, hear)
    if finish is None:
        raise unreachable()
    answer.choices.append(SimpleNamespace(message=message, finish_reason=finish))
    return answer


def _add(message: SimpleNamespace, delta: Any, hear: Callable[[str], None]) -> None:
    if delta.content:
        message.content = (message.content or "") + delta.content
        hear(delta.content)
    message.refusal = delta.refusal or message.refusal
    for part in delta.tool_calls or ():
        while len(message.tool_calls) <= min(part.index, MOST_CALLS):
            empty = SimpleNamespace(name="", arguments="")
            message.tool_calls.append(SimpleNamespace(id=None, function=empty))
        call = message.tool_calls[min(part.index, MOST_CALLS)]
        call.id = part.id or call.id
        if part.function is not None:
            call.function.name += part.function.name or ""
            call.function.arguments += part.function.arguments or ""


def _calls(calls: object) -> tuple[ToolCall, ...]:
    """Return the calls of tools, without those that are none."""
    if not isinstance(calls, list):
        return ()
    results = (_call(item) for item in cast("list[object]", calls))
    return tuple(call for call in results if call is not None)


def _call(call: object) -> ToolCall | None:
    function: object = getattr(call, "function", None)
    call_id, name = getattr(call, "id", None), getattr(function, "name", None)
    try:
        arguments: object = json.loads(str(getattr(function, "arguments", None)))
    except ValueError:
        return None
    if not isinstance(arguments, dict) or not isinstance(call_id, str) or not isinstance(name, str):
        return None
    return ToolCall(id=call_id, name=name, arguments=cast("Mapping[str, object]", arguments))


def _usage(usage: object) -> Usage:
    """Return the counts; OpenAI's prompt tokens include the cached ones, ours do not."""
    details: object = getattr(usage, "prompt_tokens_details", None)
    read = count(getattr(details, "cached_tokens", None))
    written = count(getattr(details, "cache_write_tokens", None))
    prompt = count(getattr(usage, "prompt_tokens", None))
    return Usage(
        input_tokens=max(0, prompt - read - written),
        output_tokens=count(getattr(usage, "completion_tokens", None)),
        cache_read_tokens=read,
        cache_write_tokens=written,
    )


def _translate(problem: OpenAIError) -> CairnError:
    """Return Cairn's error for the client's; the only place that knows the client's tree."""
    import openai

    if isinstance(problem, openai.APIResponseValidationError):
        return malformed()
    if isinstance(problem, openai.APIStatusError):
        return failure_of_status(problem.status_code, problem.response.headers)
    if isinstance(problem, openai.APITimeoutError):
        return too_slow()
    return unreachable()
