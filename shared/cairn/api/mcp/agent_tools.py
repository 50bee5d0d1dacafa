"""Tools over investigations: start one, read how it goes, see what waits and what was called.

Nobody approves, rejects or resumes over MCP: that is a person's, over REST.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

from pydantic import Field

from cairn.api.answers import encode
from cairn.api.fields import Body, Name
from cairn.api.mcp.tool import WRITERS, Tool, ToolAnswer
from cairn.investigations.ports import ApprovalState

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cairn.bootstrap.api import ApiServices
    from cairn.investigations.ports import QuestionView
    from cairn.investigations.views import StepView, ToolCallView
    from cairn.kernel.access import Principal

Id = Annotated[UUID, Field(strict=False)]
MOST_STEPS = 2**31 - 1


class StartArguments(Body):
    """Which ticket."""

    ticket_id: Annotated[Id, Field(description="The ticket to be investigated.")]


class ReadArguments(Body):
    """Which investigation, and from where on."""

    investigation_id: Annotated[Id, Field(description="As investigation-start gave it.")]
    after: Annotated[
        int, Field(ge=0, le=MOST_STEPS, description="`after` of the last answer; 0 from the start.")
    ] = 0
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class ListApprovalsArguments(Body):
    """Which questions."""

    state: Annotated[ApprovalState, Field(strict=False)] = ApprovalState.PENDING
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class ListCallsArguments(Body):
    """Which tool calls."""

    investigation_id: Id | None = None
    connector: Name | None = None
    session_id: Name | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


def _start(services: ApiServices, principal: Principal, arguments: StartArguments) -> ToolAnswer:
    begun = services.start_investigation(principal, arguments.ticket_id)
    if begun is None:
        text = f"queued: ticket {arguments.ticket_id} waits for a slot"
        return ToolAnswer(text=text, structured={"state": "queued"})
    text = f"{begun.state.value}: investigation {begun.investigation_id}"
    return ToolAnswer(text=text, structured=begun.as_answer())


def _read(services: ApiServices, principal: Principal, arguments: ReadArguments) -> ToolAnswer:
    one, steps = services.investigations.look(
        principal, arguments.investigation_id, after=arguments.after, limit=arguments.limit
    )
    verdict = f", {one.verdict.value}" if one.verdict else ""
    head = f"{one.state.value}{verdict}: {one.spent.tokens} tokens, {one.spent.usd:.4f} USD"
    more = "ended" if steps.ended else f"ask again after {steps.after}"
    text = "\n".join([head, *map(_step, steps.items), more])
    return ToolAnswer(text=text, structured={"investigation": one, "steps": steps})


def _approvals(
    services: ApiServices, principal: Principal, arguments: ListApprovalsArguments
) -> ToolAnswer:
    found = services.investigations.approvals(
        principal, state=arguments.state, before=None, limit=arguments.limit
    )
    return _listed(map(_question, found), found, "No question is in this state.")


def _calls(
    services: ApiServices, principal: Principal, arguments: ListCallsArguments
) -> ToolAnswer:
    found = services.investigations.tool_calls(
        principal,
        investigation_id=arguments.investigation_id,
        connector=arguments.connector,
        session_id=arguments.session_id,
        before=None,
        limit=arguments.limit,
    )
    return _listed(map(_call, found), found, "No tool was called.")


def _listed(lines: Iterable[str], items: Iterable[Any], nothing: str) -> ToolAnswer:
    return ToolAnswer(text="\n".join(lines) or nothing, structured={"items": list(items)})


def _step(one: StepView) -> str:
    detail = one.detail if one.readable else "(forgotten)"
    return f"{one.seq}. {one.system} {one.action}: {detail}"


def _question(one: QuestionView) -> str:
    return f"{one.id} {one.tool} {one.state.value}, expires {_plain(one.expires_at)}"


def _call(one: ToolCallView) -> str:
    failed = f" ({one.error})" if one.error else ""
    return f"{_plain(one.proposed_at)} {one.tool} {one.state.value}{failed}: {one.output or ''}"


def _plain(moment: object) -> str:
    return encode(moment).decode().strip('"')


START = Tool(
    name="investigation-start",
    title="Investigate a ticket",
    description=(
        "Queue a ticket and start its investigation as soon as a slot is free. Follow it with "
        "investigation-read. Actions that need a person wait for one; you cannot approve them."
    ),
    arguments=StartArguments,
    call=_start,
    roles=WRITERS,
    reads=False,
    repeatable=False,
    eager=False,
)
READ = Tool(
    name="investigation-read",
    title="Read an investigation",
    description="Its state, verdict, what it spent, and its steps after a number.",
    arguments=ReadArguments,
    call=_read,
    roles=WRITERS,
    eager=False,
)
APPROVALS = Tool(
    name="approvals-list",
    title="List what waits for a person",
    description="Questions to people, by state: the tool and the times, never the values.",
    arguments=ListApprovalsArguments,
    call=_approvals,
    roles=WRITERS,
    eager=False,
)
CALLS = Tool(
    name="tool-calls-list",
    title="List tool calls",
    description="What agents asked of tools and what came of it, the newest first.",
    arguments=ListCallsArguments,
    call=_calls,
    roles=WRITERS,
    eager=False,
)
