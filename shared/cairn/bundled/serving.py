"""The official SDK's server over a connector's tools. Not the tools, and not who may call them.

Every failure of a tool is an answer marked as an error, whose text begins with its code and whose
`_meta` carries it. Nothing a tool says holds a credential: answers are scrubbed, and the
connector's own secrets are taken out by value.
"""

from __future__ import annotations

import json
import logging
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any

import mcp_types as types
from anyio import to_thread
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError

from cairn.connectors.arguments import bounded
from cairn.connectors.manifest import ERROR_KEY, HEALTHCHECK, UNAUTHORIZED, tool_meta
from cairn.connectors.port import ConnectorUnauthorised, plain
from cairn.kernel.errors import CairnError, FieldError, ValidationFailed
from cairn.kernel.text.scrub import marker, scrub, scrub_value
from cairn.safety.tools import Autonomy, Lane

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from mcp.server.context import ServerRequestContext
    from pydantic_core import ErrorDetails

    from cairn.kernel.text.json_value import JsonValue


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from cairn.kernel.text.json_value import JsonValue

    Record = Mapping[str, JsonValue]

_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_CONTROLS_IN_TEXT = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def one_line(value: str) -> str:
    """Return the text; ValueError when it has a control character."""
    if _CONTROLS.search(value):
        raise ValueError("has a control character")
    return value


def _many_lines(value: str) -> str:
    value = value.replace("\r\n", "\n")
    if _CONTROLS_IN_TEXT.search(value):
        raise ValueError("has a control character")
    return value


Line = Annotated[str, Field(min_length=1, max_length=500), AfterValidator(one_line)]
Text = Annotated[str, Field(min_length=1, max_length=30_000), AfterValidator(_many_lines)]


class Arguments(BaseModel):
    """What a tool takes. Errors never repeat what was given: it may be a secret."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)


class WriteArguments(Arguments):
    """What a tool that writes takes beside its own."""

    idempotency_key: str | None = Field(
        default=None,
        pattern=r"^[A-Za-z0-9._:-]{8,128}$",
        description="Calls with one key happen once. Needed unless dry_run.",
    )
    dry_run: bool = Field(default=False, description="Say what would happen, and change nothing.")

    def may_run(self) -> bool:
        """Return whether the call has a key, or changes nothing."""
        return self.dry_run or self.idempotency_key is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a tool gives back: a JSON value that becomes text. `failed`: it did not work."""

    value: JsonValue
    failed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool. `run` gets validated arguments and raises Cairn's errors."""

    name: str
    description: str
    arguments: type[Arguments]
    run: Callable[[Any], Answer]
    lane: Lane = Lane.READ
    meta: Mapping[str, Any] = field(default_factory=lambda: tool_meta(Lane.READ))
    dangerous: bool = False
    deduplicates: bool = False


def reads(
    name: str,
    description: str,
    arguments: type[Arguments],
    run: Callable[[Any], Answer],
    *,
    resource: str | None = None,
) -> Tool:
    """Return a tool that changes nothing."""
    return Tool(
        name=name,
        description=description,
        arguments=arguments,
        run=run,
        meta=tool_meta(Lane.READ, idempotent=True, resource=resource),
    )


def writes(
    name: str,
    description: str,
    arguments: type[WriteArguments],
    run: Callable[[Any], Answer],
    *,
    resource: str | None = None,
    dangerous: bool = False,
    asks_above: Autonomy | None = None,
    forbidden: Iterable[Autonomy] = (),
    deduplicates: bool = True,
    rollback: str | None = None,
) -> Tool:
    """Return a tool that changes something; `asks_above` is requires_approval_above_autonomy."""
    return Tool(
        name=name,
        description=description,
        arguments=arguments,
        run=run,
        lane=Lane.WRITE,
        meta=tool_meta(
            Lane.WRITE,
            dangerous=dangerous,
            requires_approval_above_autonomy=asks_above,
            forbidden_in_autonomy=forbidden,
            supports_dry_run=True,
            idempotent=deduplicates,
            resource=resource,
            rollback=rollback,
        ),
        dangerous=dangerous,
        deduplicates=deduplicates,
    )


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
        arguments = params.arguments or {}
        return await to_thread.run_sync(lambda: called(tool, arguments, clean))

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


def called(tool: Tool, arguments: Mapping[str, Any], clean: _Cleaner) -> types.CallToolResult:
    """Validate the arguments, run the tool and return its answer; every failure is an answer."""
    try:
        answer = tool.run(_validated(tool, arguments))
    except CairnError as error:
        return _failed(error, clean)
    except Exception as error:  # noqa: BLE001 - the last catch of a call: the session goes on
        log.error("connector.tool_failed", extra={"tool": tool.name, "kind": type(error).__name__})
        text = "internal: the tool failed unexpectedly; nothing is known of what it did."
        return _result(text, code="internal")
    return _result(clean.value(answer.value), code="failed" if answer.failed else None)


def _validated(tool: Tool, values: Mapping[str, Any]) -> Arguments:
    try:
        arguments = tool.arguments.model_validate(dict(values))
    except ValidationError as error:
        places = [_place(item) for item in error.errors(include_url=False, include_input=False)]
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
    text = f"{code}: {error.detail}" + "".join(f"\n- {p.location}: {p.message}" for p in places)
    return _result(clean.text(text), code=code)


def _result(text: str, *, code: str | None) -> types.CallToolResult:
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=bounded(text))],
        is_error=code is not None,
        _meta=None if code is None else {ERROR_KEY: code},
    )


class _Cleaner:
    """Takes credentials and control characters out of what goes to the caller."""

    def __init__(self, secrets: Collection[str]) -> None:
        forms = {secret for secret in secrets if len(secret) >= MIN_SECRET}
        forms |= {json.dumps(item, ensure_ascii=False)[1:-1] for item in forms}
        self._secrets = sorted(forms, key=len, reverse=True)

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
        return [_plain(item) for item in value]
    if isinstance(value, dict):
        return {plain(key): _plain(item) for key, item in value.items()}
    return value
