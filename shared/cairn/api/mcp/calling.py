"""One call of a tool, for whoever calls it: checked arguments, one answer, and a record of it.

The MCP server and the chat's loop both call tools here. Every failure is an answer.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from pydantic import ValidationError

from cairn.api.answers import encode
from cairn.api.calls import keep_call
from cairn.api.mcp.schemas import output_schema
from cairn.api.mcp.tool import Effect
from cairn.api.middleware import where
from cairn.api.problems import Problem, from_error, from_validation
from cairn.investigations.tool_calls import ApiCall
from cairn.kernel.clock import monotonic
from cairn.kernel.errors import CairnError
from cairn.kernel.spans import span

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cairn.api.mcp.tool import Tool, ToolAnswer
    from cairn.api.middleware import Log
    from cairn.bootstrap.api import ApiServices
    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Stopwatch

MAX_TEXT_CHARS = 80_000
"""What a tool's text may have; clients cut off longer ones somewhere above this."""

CUT = "\n[cut: the answer was longer than {limit} characters; ask for fewer results]"
UNKNOWN_END = "internal: The tool failed unexpectedly; nothing is known of what it did."


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """What came of a call: a text for a model, the same as plain JSON, and an error's code.

    `events` are trace events of it as plain JSON.
    """

    text: str
    structured: dict[str, Any] | None = None
    error: str | None = None
    events: Sequence[tuple[str, Mapping[str, Any]]] = ()


def call_tool(
    services: ApiServices,
    principal: Principal,
    tool: Tool,
    arguments: Mapping[str, Any],
    *,
    log: Log,
    name: str | None = None,
    stopwatch: Stopwatch = monotonic,
) -> CallOutcome:
    """Call a tool and keep the record of it; an answer is given whether or not it can be kept.

    `name` is what it was called by, where that was an alias.
    """
    started = stopwatch()
    attributes = {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.tool.name": tool.name,
        "gen_ai.tool.type": "function",
        "cairn.workspace_id": str(principal.workspace_id),
    }
    with span(f"execute_tool {tool.name}", attributes) as measured:
        called = _called(tool, services, principal, _without_nulls(tool, arguments, name), log)
        if called.error:
            measured.fail(called.error)
    call = ApiCall(
        tool=tool.name,
        reads=tool.reads,
        given=dict(arguments),
        came=called.structured or {},
        error=called.error,
        seconds=stopwatch() - started,
    )
    keep_call(services, principal, call, log)
    return called


def in_session(tool: Tool, arguments: Mapping[str, Any], session: str | None) -> Mapping[str, Any]:
    """Return the arguments of a call on behalf of a conversation: what it writes comes of that.

    A call that names a conversation keeps it.
    """
    takes = tool.effect is Effect.CHANGE and "session_id" in tool.arguments.model_fields
    if not takes or not session or arguments.get("session_id") is not None:
        return arguments
    return {**arguments, "session_id": session}


def _without_nulls(tool: Tool, arguments: Mapping[str, Any], name: str | None) -> dict[str, Any]:
    """Return the arguments without nulls: strict mode fills in what is not given."""
    if name is not None and name != tool.name:
        return dict(arguments)
    return {field: value for field, value in arguments.items() if value is not None}


def _called(
    tool: Tool, services: ApiServices, principal: Principal, arguments: dict[str, Any], log: Log
) -> CallOutcome:
    try:
        answer = tool.call(services, principal, tool.arguments.model_validate(arguments))
        return _succeeded(tool, answer)
    except ValidationError as error:
        return failed(from_validation(error.errors()))
    except CairnError as error:
        return failed(from_error(error))
    except Exception as error:  # noqa: BLE001 - the last catch of a call: the session goes on
        log.error("mcp.tool_failed", extra={"tool": tool.name, **where(error)})
        return CallOutcome(text=UNKNOWN_END, error="internal")


def _succeeded(tool: Tool, answer: ToolAnswer) -> CallOutcome:
    text = answer.text
    if len(text) > MAX_TEXT_CHARS:
        text = text[:MAX_TEXT_CHARS] + CUT.format(limit=MAX_TEXT_CHARS)
    plain = json.loads(encode(answer.structured))
    events = [(name, json.loads(encode(data))) for name, data in answer.events]
    structured = compact(plain, output_schema(tool.result))
    return CallOutcome(text=text, structured=structured, events=events)


def failed(problem: Problem) -> CallOutcome:
    """Return a problem as a text a model can act on: what is wrong, and where, each once."""
    code = problem.kind.code
    lines = [f"{each.location}: {each.message}" for each in problem.errors]
    if not any(each.message.rstrip(".") in problem.detail for each in problem.errors):
        lines.insert(0, problem.detail)
    if len(lines) == 1:
        return CallOutcome(text=f"{code}: {lines[0]}", error=code)
    return CallOutcome(text="\n- ".join([f"{code}:", *lines]), error=code)


def compact(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return JSON without what is null or empty and not required; free objects stay as stored."""
    if isinstance(value, list):
        items = schema.get("items", {})
        return [compact(each, items) for each in cast("list[Any]", value)]
    if not isinstance(value, dict) or "properties" not in schema:
        return cast("Any", value)
    result: dict[str, Any] = {}
    for name, each in cast("dict[str, Any]", value).items():
        if each not in (None, "", [], {}) or name in schema.get("required", ()):
            result[name] = compact(each, schema["properties"].get(name, {}))
    return result
