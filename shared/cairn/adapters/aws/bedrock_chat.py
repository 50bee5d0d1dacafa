"""Chat models over Amazon Bedrock's Converse API. Not the gateway, and no streaming: nothing asks.

boto3 is the Lambda runtime's, of whatever version AWS has put there, so nothing is sent that its
model of the service does not know. On AWS the function's role signs the requests; elsewhere a
Bedrock API key takes its place.

botocore has a time-out for a client, requests here have one each: they go out through a pool of
our own, by the event `before-send`, which follows no redirect and repeats nothing.
"""

from __future__ import annotations

import json
import logging
import re
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, Final, cast

from cairn.llm.port import ChatAnswer, Effort, Finish, Role, ToolCall, Usage
from cairn.llm.wire import (
    WireChat,
    count,
    failure_of_status,
    malformed,
    sendable,
    too_slow,
    unreachable,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from urllib3 import PoolManager

    from cairn.kernel.errors import CairnError
    from cairn.llm.port import ChatRequest

SERVICE: Final = "bedrock-runtime"
ANSWER_TOOL: Final = "answer"
"""The tool a model is made to call when its answer is to be JSON; its arguments are the answer."""

FINISHES = {
    "max_tokens": Finish.CUT,
    "model_context_window_exceeded": Finish.CUT,
    "guardrail_intervened": Finish.REFUSED,
    "content_filtered": Finish.REFUSED,
    "refusal": Finish.REFUSED,
    "tool_use": Finish.TOOLS,
}
STATUSES = {
    "ModelErrorException": 500,  # 424: the model failed, not the request
    "ServiceQuotaExceededException": 429,  # 400
}
"""Statuses of Bedrock that mean something else than elsewhere."""

CACHING = re.compile(
    r"anthropic\.claude-(?!v\d|instant|3-(?:haiku|sonnet|opus|5-sonnet-20240620))|amazon\.nova-"
)
"""Models that take cache points; the others refuse a request that has one."""

CACHING_TOOLS = re.compile(r"anthropic\.claude-")
Block = dict[str, Any]
_seconds: ContextVar[float] = ContextVar("seconds")


class BedrockChat(WireChat[Any]):
    """Answers through boto3; safe between threads. As `ChatModel`.

    Without `api_key` requests are signed with the credentials of the process.
    """

    provider = "bedrock"
    own_url = ""  # the region's

    def chat(self, request: ChatRequest, *, model: str) -> ChatAnswer:
        """As `ChatModel`."""
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError
        from urllib3.exceptions import HTTPError

        failure: CairnError
        try:
            return _answer(self._send(request, model), model=model)
        except ClientError as problem:
            failure = _refusal(cast("Mapping[str, Any]", problem.response))
        except ResponseParserError:
            failure = malformed()
        except (BotoCoreError, HTTPError) as problem:
            failure = _broken(problem)
        raise failure  # here, not above: the server's words must not ride along as the context

    def _send(self, request: ChatRequest, model: str) -> object:
        client = self._ready()
        arguments = _arguments(request, model, caches=_caches(client, model))
        token = _seconds.set(request.timeout_s or self._timeout_s)
        try:
            return client.converse(**arguments)
        except (AttributeError, KeyError, TypeError, ValueError):
            return None  # botocore's parser believes that an answer has the documented shape
        finally:
            _seconds.reset(token)

    def _opened(self) -> Any:
        from boto3.session import Session
        from botocore import UNSIGNED
        from botocore.config import Config

        # below INFO botocore logs whole requests
        logging.getLogger("botocore").setLevel(logging.INFO)
        config = cast("Callable[..., Config]", Config)(
            retries={"total_max_attempts": 1 + self._retries, "mode": "standard"},
            signature_version=UNSIGNED if self._api_key else None,
            # the laptop's AWS is an emulator, which has no models
            ignore_configured_endpoint_urls=True,
        )
        make = cast("Callable[..., Any]", Session().client)  # pyright: ignore[reportUnknownMemberType]
        client = make(SERVICE, endpoint_url=self._base_url or None, config=config)
        client.meta.events.register(f"before-send.{SERVICE}.Converse", _Sender(self._api_key))
        return client


class _Sender:
    """Sends what botocore has signed, within the time of the request it belongs to."""

    def __init__(self, api_key: str) -> None:
        from urllib3 import PoolManager

        self._api_key = api_key
        self._pool: PoolManager = PoolManager(maxsize=10, retries=False, ca_certs=_authorities())

    def __call__(self, request: Any, **_: object) -> object:
        """Return botocore's record of the response, its body read."""
        from botocore.awsrequest import AWSResponse

        if self._api_key:
            request.headers["Authorization"] = f"Bearer {self._api_key}"
        raw = self._pool.request(
            request.method,
            request.url,
            body=request.body,
            headers=dict(request.headers),
            timeout=_seconds.get(),
            redirect=False,
            preload_content=False,
            decode_content=False,
        )
        response = AWSResponse(request.url, raw.status, cast("Any", raw.headers), raw)
        assert response.content is not None  # read here: what breaks is the transport's failure
        return response


def _authorities() -> str:
    """Return the file of the authorities botocore itself would trust."""
    from botocore.httpsession import where

    return where()


def _caches(client: Any, model: str) -> bool:
    """Return whether this SDK and this model know cache points."""
    block = client.meta.service_model.shape_for("SystemContentBlock")
    return "cachePoint" in block.members and CACHING.search(model) is not None


def _arguments(request: ChatRequest, model: str, *, caches: bool) -> dict[str, Any]:
    limits: Block = {"maxTokens": request.longest}
    if request.temperature is not None:
        limits["temperature"] = request.temperature
    optional: Block = {
        "system": _block(request.system, ends=caches) if request.system else None,
        "toolConfig": _tools(request, ends=caches and CACHING_TOOLS.search(model) is not None),
        "additionalModelRequestFields": _effort(request.effort, model),
    }
    return {
        "modelId": model,
        "messages": _messages(request, caches=caches),
        "inferenceConfig": limits,
        **{name: value for name, value in optional.items() if value},
    }


def _tools(request: ChatRequest, *, ends: bool) -> Block | None:
    """Return the tools, a cache point after the last; a schema is a tool the model has to call."""
    tools = [
        _tool(tool.name, sendable(tool.description), dict(tool.schema)) for tool in request.tools
    ]
    choice: Block | None = None
    if request.schema is not None:
        tools.append(_tool(ANSWER_TOOL, "Gives the answer.", dict(request.schema)))
        choice = {"any": {}} if request.tools else {"tool": {"name": ANSWER_TOOL}}
    if not tools:
        return None
    if ends:
        tools.append(_cache_point())
    return {"tools": tools, **({"toolChoice": choice} if choice else {})}


def _tool(name: str, description: str, schema: Mapping[str, object]) -> Block:
    return {"toolSpec": {"name": name, "description": description, "inputSchema": {"json": schema}}}


def _messages(request: ChatRequest, *, caches: bool) -> list[Block]:
    """Return the turns; the stable context stands at the beginning of the first."""
    last = len(request.messages) - 1
    turns: list[Block] = [
        {
            "role": message.role.value,
            "content": _block(message.text, ends=caches and request.goes_on and place == last),
        }
        for place, message in enumerate(request.messages)
    ]
    if request.context:
        opening = _block(request.context, ends=caches)
        if request.messages and request.messages[0].role is Role.USER:
            opening += turns.pop(0)["content"]
        turns.insert(0, {"role": Role.USER.value, "content": opening})
    return turns


def _block(text: str, *, ends: bool) -> list[Block]:
    """Return a text as content, with a cache point after it when what is cached `ends` there."""
    return [{"text": sendable(text)}, *([_cache_point()] if ends else [])]


def _cache_point() -> Block:
    return {"cachePoint": {"type": "default"}}


def _effort(effort: Effort | None, model: str) -> Block | None:
    """Return the effort in the words of the model's maker; other makers' models have none."""
    if effort is None:
        return None
    least = "low" if effort is Effort.MINIMAL else effort.value
    if "anthropic." in model:
        return {"output_config": {"effort": least}}
    if "openai." in model:
        return {"reasoning_effort": "high" if effort is Effort.XHIGH else least}
    return None


def _answer(body: object, *, model: str) -> ChatAnswer:
    """Return the answer's text and usage, having believed nothing about its shape."""
    content = _at(body, "output", "message", "content")
    if not isinstance(content, list):
        raise malformed()
    blocks = cast("list[object]", content)
    texts = [text for block in blocks if isinstance(text := _at(block, "text"), str)]
    calls = [call for block in blocks if (call := _call(_at(block, "toolUse"))) is not None]
    finish = FINISHES.get(str(_at(body, "stopReason")), Finish.COMPLETE)
    answers = [json.dumps(call.arguments) for call in calls if call.name == ANSWER_TOOL]
    if answers:  # what was said beside it is no part of the answer
        texts = answers[:1]
        finish = Finish.COMPLETE if finish is Finish.TOOLS else finish
    if not texts and finish is Finish.COMPLETE:
        raise malformed()
    return ChatAnswer(
        text="".join(texts),
        model=model,
        provider=BedrockChat.provider,
        usage=Usage(
            input_tokens=count(_at(body, "usage", "inputTokens")),
            output_tokens=count(_at(body, "usage", "outputTokens")),
            cache_read_tokens=count(_at(body, "usage", "cacheReadInputTokens")),
            cache_write_tokens=count(_at(body, "usage", "cacheWriteInputTokens")),
        ),
        finish=finish,
        tool_calls=tuple(call for call in calls if call.name != ANSWER_TOOL),
    )


def _call(block: object) -> ToolCall | None:
    """Return the call of a tool; None for nonsense."""
    call_id, name, arguments = (_at(block, field) for field in ("toolUseId", "name", "input"))
    if not isinstance(arguments, dict) or not isinstance(call_id, str) or not isinstance(name, str):
        return None
    return ToolCall(id=call_id, name=name, arguments=cast("Mapping[str, object]", arguments))


def _at(body: object, *path: str) -> object:
    """Return what stands at `path`, None where the way ends."""
    for name in path:
        if not isinstance(body, dict):
            return None
        body = cast("dict[str, object]", body).get(name)
    return body


def _refusal(response: Mapping[str, Any]) -> CairnError:
    """Return Cairn's error for an error that Bedrock answered with."""
    about = cast("Mapping[str, Any]", response.get("ResponseMetadata", {}))
    code = str(_at(response.get("Error"), "Code"))
    status = STATUSES.get(code, cast("int", about.get("HTTPStatusCode", 500)))
    return failure_of_status(status, cast("Mapping[str, str]", about.get("HTTPHeaders", {})))


def _broken(problem: Exception) -> CairnError:
    """Return Cairn's error for a request that got no answer; the only place that knows why."""
    from botocore.exceptions import (
        HTTPClientError,
        NoCredentialsError,
        ParamValidationError,
        PartialCredentialsError,
    )
    from urllib3.exceptions import HTTPError, NewConnectionError, TimeoutError

    # urllib3 1, which the runtime may have, counts a refused connection among the time-outs
    if isinstance(problem, TimeoutError) and not isinstance(problem, NewConnectionError):
        return too_slow()
    if isinstance(problem, NoCredentialsError | PartialCredentialsError):
        return failure_of_status(401, {})
    if isinstance(problem, ParamValidationError):
        return failure_of_status(400, {})
    return unreachable() if isinstance(problem, HTTPError | HTTPClientError) else malformed()
