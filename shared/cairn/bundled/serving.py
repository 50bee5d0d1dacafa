"""The official SDK's server over a connector's tools. Not the tools, and not who may call them.

Every failure of a tool is an answer marked as an error, whose text begins with its code and whose
`_meta` carries it. Nothing a tool says holds a credential: answers are scrubbed, and the
connector's own secrets are taken out by value.
"""

from __future__ import annotations

import json
import logging
from typing import TYPE_CHECKING, Any

import mcp_types as types
from anyio import to_thread
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from pydantic import ValidationError

from cairn.bundled.tool import Answer, Arguments, Tool, WriteArguments, reads
from cairn.connectors.cleaning import plain
from cairn.connectors.manifest import ERROR_KEY, HEALTHCHECK, UNAUTHORIZED
from cairn.connectors.port import ConnectorUnauthorised
from cairn.connectors.results import bounded
from cairn.kernel.errors import CairnError, FieldError, ValidationFailed
from cairn.kernel.text.scrub import marker, scrub, scrub_value
from cairn.safety.tools import Lane

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from mcp.server.context import ServerRequestContext
    from pydantic_core import ErrorDetails

    from cairn.kernel.text.json_value import JsonValue

log = logging.getLogger(__name__)

MIN_SECRET = 6
"""Shorter secrets are not looked for in answers: they would be found in ordinary words."""


def connector_server(
    name: str,
    version: str,
    tools: Sequence[Tool],
    *,
    health: Callable[[], Mapping[str, JsonValue]],
    instructions: str,
    secrets: Collection[str] = (),
) -> Server[Any]:
    """Return the server; `health` raises Cairn's errors when the connector reaches nothing."""
    checked = reads(
        HEALTHCHECK,
        "Say whether the connector reaches what it connects to.",
        Arguments,
        lambda _: Answer(value={"ok": True, **health()}),
    )
    by_name = {tool.name: tool for tool in (*tools, checked)}
    clean = _Cleaner(secrets)

    async def on_list_tools(
        context: ServerRequestContext[Any], params: types.PaginatedRequestParams | None
    ) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[described(tool) for tool in by_name.values()])

    async def on_call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        tool = by_name.get(params.name)
        if tool is None:
            raise MCPError(types.INVALID_PARAMS, "There is no such tool.")
        given = params.arguments or {}
        return await to_thread.run_sync(lambda: called(tool, given, clean))

    return Server(
        name,
        version=version,
        instructions=instructions,
        on_list_tools=on_list_tools,
        on_call_tool=on_call_tool,
    )


def described(tool: Tool) -> types.Tool:
    """Return a tool as clients see it."""
    writing = tool.lane is Lane.WRITE
    return types.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=tool.arguments.model_json_schema(),
        annotations=types.ToolAnnotations(
            read_only_hint=not writing,
            destructive_hint=tool.dangerous,
            idempotent_hint=not writing or tool.deduplicates,
            open_world_hint=True,
        ),
        _meta=dict(tool.meta),
    )


def called(tool: Tool, given: Mapping[str, Any], clean: _Cleaner) -> types.CallToolResult:
    """Validate the arguments, run the tool and return its answer; every failure is an answer."""
    try:
        answer = tool.run(_validated(tool, given))
    except CairnError as error:
        return _failed(error, clean)
    except Exception as error:  # noqa: BLE001 - the last catch of a call: the session goes on
        log.error("connector.tool_failed", extra={"tool": tool.name, "kind": type(error).__name__})
        said = "internal: the tool failed unexpectedly; nothing is known of what it did."
        return _result(said, code="internal")
    return _result(clean.value(answer.value), code="failed" if answer.failed else None)


def _validated(tool: Tool, given: Mapping[str, Any]) -> Arguments:
    try:
        arguments = tool.arguments.model_validate(dict(given))
    except ValidationError as error:
        places = [_place(one) for one in error.errors(include_url=False, include_input=False)]
        raise ValidationFailed("The arguments do not fit the tool.", errors=places) from None
    if isinstance(arguments, WriteArguments) and not arguments.may_run():
        raise ValidationFailed(
            "A call that writes needs an idempotency_key.",
            errors=[FieldError("idempotency_key", "is missing")],
        )
    return arguments


def _place(error: ErrorDetails) -> FieldError:
    """Return where and what, in the validator's words; an unknown name is not repeated."""
    where = [str(part) for part in error["loc"]]
    if error["type"] == "extra_forbidden":
        return FieldError(".".join(where[:-1]) or "arguments", "has a name the tool does not know")
    return FieldError(".".join(where) or "arguments", error["msg"].removeprefix("Value error, "))


def _failed(error: CairnError, clean: _Cleaner) -> types.CallToolResult:
    code = UNAUTHORIZED if isinstance(error, ConnectorUnauthorised) else error.code
    places = error.errors if isinstance(error, ValidationFailed) else ()
    said = f"{code}: {error.detail}" + "".join(f"\n- {p.location}: {p.message}" for p in places)
    return _result(clean.text(said), code=code)


def _result(text: str, *, code: str | None) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=bounded(text))],
        is_error=code is not None,
        _meta=None if code is None else {ERROR_KEY: code},
    )


class _Cleaner:
    """Takes credentials and control characters out of what goes to the caller."""

    def __init__(self, secrets: Collection[str]) -> None:
        known = {one for one in secrets if len(one) >= MIN_SECRET}
        known |= {json.dumps(one, ensure_ascii=False)[1:-1] for one in known}
        self._secrets = sorted(known, key=len, reverse=True)

    def value(self, value: JsonValue) -> str:
        """Return a JSON value as text, free of credentials."""
        scrubbed, _ = scrub_value(_plain(value))
        return self._without_secrets(json.dumps(scrubbed, ensure_ascii=False, indent=1))

    def text(self, text: str) -> str:
        """Return a sentence free of credentials."""
        return self._without_secrets(scrub(plain(text)).text)

    def _without_secrets(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, marker("connector-secret"))
        return text


def _plain(value: JsonValue) -> JsonValue:
    if isinstance(value, str):
        return plain(value)
    if isinstance(value, list):
        return [_plain(one) for one in value]
    if isinstance(value, dict):
        return {plain(key): _plain(one) for key, one in value.items()}
    return value
