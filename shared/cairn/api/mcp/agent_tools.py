"""Tools over tickets and investigations: add, start, read, see what waits and what was called.

The settings are read here, too. Nobody approves, rejects or resumes over MCP: that is a person's,
over REST.
"""

from collections.abc import Iterable
from datetime import datetime
from typing import Annotated, Any, NotRequired
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import encode
from cairn.api.fields import Body, Name
from cairn.api.mcp.tool import ADMINS, WRITERS, Effect, Tool, ToolAnswer
from cairn.api.routes.tickets import TicketIn, take_ticket
from cairn.bootstrap.api import ApiServices
from cairn.investigations.ports import ApprovalState, QuestionView
from cairn.investigations.views import StepView, ToolCallView
from cairn.kernel.access import Principal
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.tickets.queue import TicketView
from cairn.tickets.ticket import TicketStatus

Id = Annotated[UUID, Field(strict=False)]
MOST_STEPS = 2**31 - 1


class TicketAdded(TypedDict):
    """A ticket that came in."""

    id: UUID
    outcome: str


class Started(TypedDict):
    """An investigation that runs or waits for a slot."""

    state: str
    investigation_id: NotRequired[str]
    run: NotRequired[int]


class Step(TypedDict):
    """A line of an investigation."""

    seq: int
    system: str
    action: str
    detail: NotRequired[str]
    at: datetime


class InvestigationRead(TypedDict):
    """How an investigation stands, and its steps after a number."""

    id: UUID
    state: str
    verdict: NotRequired[str]
    error: NotRequired[str]
    tokens: int
    usd: float
    steps: list[Step]
    after: int
    ended: bool


class Question(TypedDict):
    """A question to a person: never with which values."""

    id: UUID
    investigation_id: UUID
    tool: str
    state: str
    asked_at: datetime
    expires_at: datetime


class Questions(TypedDict):
    """Questions, the newest first."""

    items: list[Question]


class Call(TypedDict):
    """A tool call and what came of it."""

    tool: str
    state: str
    proposed_at: datetime
    error: NotRequired[str]
    input: NotRequired[str]
    output: NotRequired[str]
    ms: NotRequired[int]


class Calls(TypedDict):
    """Tool calls, the newest first."""

    items: list[Call]


class TicketLine(TypedDict):
    """A ticket in a list; what is not set is left out."""

    id: UUID
    title: NotRequired[str]
    status: str
    priority: str
    customer: NotRequired[str]
    received_at: datetime
    investigation_id: NotRequired[UUID]


class Tickets(TypedDict):
    """Tickets, the newest first."""

    items: list[TicketLine]


class Settings(TypedDict):
    """The settings as they hold, and their version."""

    version: int
    settings: dict[str, Any]


class StartArguments(Body):
    """Which ticket."""

    ticket_id: Id


class ReadArguments(Body):
    """Which investigation, and from where on."""

    investigation_id: Id
    after: Annotated[int, Field(ge=0, le=MOST_STEPS)] = 0
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


class ListTicketsArguments(Body):
    """Which tickets; `before` is the last id of the answer before."""

    status: Annotated[TicketStatus, Field(strict=False)] | None = None
    before: Id | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50


class SettingsArguments(Body):
    """Which settings."""

    section: Name | None = None


def _add_ticket(services: ApiServices, principal: Principal, arguments: TicketIn) -> ToolAnswer:
    taken = take_ticket(services, principal, arguments, None)
    structured = {"id": taken.id, "outcome": taken.outcome}
    return ToolAnswer(text=f"{taken.outcome.value}: {taken.id}", structured=structured)


def _list_tickets(
    services: ApiServices, principal: Principal, arguments: ListTicketsArguments
) -> ToolAnswer:
    page = services.tickets.page(
        principal, status=arguments.status, before=arguments.before, limit=arguments.limit
    )
    return _listed(map(_ticket, page), page, TicketLine, "There is no such ticket.")


def _ticket(ticket: TicketView) -> str:
    title = ticket.title if ticket.title is not None else "(forgotten)"
    return f"[{ticket.status.value}] {title} ({_plain(ticket.received_at)}, {ticket.id})"


def _settings(
    services: ApiServices, principal: Principal, arguments: SettingsArguments
) -> ToolAnswer:
    view = services.keep_settings.show(principal)
    settings = dict(view.settings)
    if arguments.section is not None:
        if arguments.section not in settings:
            wrong = f"is none; these are: {', '.join(sorted(settings))}"
            raise ValidationFailed(f"section {wrong}.", errors=[FieldError("section", wrong)])
        settings = {arguments.section: settings[arguments.section]}
    text = encode(settings).decode()
    return ToolAnswer(text=text, structured={"version": view.version, "settings": settings})


def _start(services: ApiServices, principal: Principal, arguments: StartArguments) -> ToolAnswer:
    begun = services.start_investigation(principal, arguments.ticket_id)
    if begun is None:
        text = f"queued: ticket {arguments.ticket_id} waits for a slot"
        return ToolAnswer(text=text, structured={"state": "queued"})
    text = f"{begun.state.value}: investigation {begun.investigation_id}"
    structured = {name: begun.as_answer()[name] for name in Started.__annotations__}
    return ToolAnswer(text=text, structured=structured)


def _read(services: ApiServices, principal: Principal, arguments: ReadArguments) -> ToolAnswer:
    investigation, steps = services.investigations.look(
        principal, arguments.investigation_id, after=arguments.after, limit=arguments.limit
    )
    verdict = f", {investigation.verdict.value}" if investigation.verdict else ""
    spent = investigation.spent
    head = f"{investigation.state.value}{verdict}: {spent.tokens} tokens, {spent.usd:.4f} USD"
    more = "ended" if steps.ended else f"ask again after {steps.after}"
    text = "\n".join([head, *map(_step, steps.items), more])
    structured = {
        **_shown(investigation, InvestigationRead),
        "tokens": investigation.spent.tokens,
        "usd": investigation.spent.usd,
        "steps": [_shown(each, Step) for each in steps.items],
        "after": steps.after,
        "ended": steps.ended,
    }
    return ToolAnswer(text=text, structured=structured)


def _approvals(
    services: ApiServices, principal: Principal, arguments: ListApprovalsArguments
) -> ToolAnswer:
    page = services.investigations.approvals(
        principal, state=arguments.state, before=None, limit=arguments.limit
    )
    return _listed(map(_question, page), page, Question, "No question is in this state.")


def _calls(
    services: ApiServices, principal: Principal, arguments: ListCallsArguments
) -> ToolAnswer:
    page = services.investigations.tool_calls(
        principal,
        investigation_id=arguments.investigation_id,
        connector=arguments.connector,
        session_id=arguments.session_id,
        before=None,
        limit=arguments.limit,
    )
    return _listed(map(_call, page), page, Call, "No tool was called.")


def _listed(lines: Iterable[str], items: Iterable[Any], shape: type, nothing: str) -> ToolAnswer:
    structured = {"items": [_shown(each, shape) for each in items]}
    return ToolAnswer(text="\n".join(lines) or nothing, structured=structured)


def _shown(record: object, shape: type) -> dict[str, Any]:
    """Return the fields of a record that its shape names, those it has."""
    return {name: getattr(record, name) for name in shape.__annotations__ if hasattr(record, name)}


def _step(step: StepView) -> str:
    detail = step.detail if step.readable else "(forgotten)"
    return f"{step.seq}. {step.system} {step.action}: {detail}"


def _question(asking: QuestionView) -> str:
    return f"{asking.id} {asking.tool} {asking.state.value}, expires {_plain(asking.expires_at)}"


def _call(call: ToolCallView) -> str:
    failed = f" ({call.error})" if call.error else ""
    return f"{_plain(call.proposed_at)} {call.tool} {call.state.value}{failed}: {call.output or ''}"


def _plain(moment: object) -> str:
    return encode(moment).decode().strip('"')


ADD_TICKET = Tool(
    name="ticket_add",
    title="Add a ticket",
    description="Take a customer's request in; it is screened, queued and investigated.",
    arguments=TicketIn,
    parameters={
        "title": "What it is about",
        "body": "What is asked",
        "external_id": "Yours: again, it changes nothing",
        "customer": "Whose",
        "priority": "medium if null",
    },
    result=TicketAdded,
    call=_add_ticket,
    roles=WRITERS,
    effect=Effect.CHANGE,
    repeatable=False,
)
LIST_TICKETS = Tool(
    name="ticket_list",
    title="List tickets",
    description="Tickets and where they stand, the newest first, without their bodies.",
    arguments=ListTicketsArguments,
    parameters={
        "status": "Only those",
        "limit": "50 if null",
        "before": "The last id of the page before",
    },
    result=Tickets,
    call=_list_tickets,
    roles=ADMINS,
)
START = Tool(
    name="investigation_start",
    aliases=("investigation-start",),
    title="Investigate a ticket",
    description=(
        "Queue a ticket and start its investigation as soon as a slot is free. Actions that need a "
        "person wait for one; you cannot approve them."
    ),
    arguments=StartArguments,
    parameters={"ticket_id": "As ticket_add gave it"},
    result=Started,
    call=_start,
    roles=WRITERS,
    effect=Effect.CHANGE,
    repeatable=False,
)
READ = Tool(
    name="investigation_read",
    aliases=("investigation-read",),
    title="Read an investigation",
    description="State, verdict, and the steps after a number.",
    arguments=ReadArguments,
    parameters={
        "investigation_id": "As investigation_start gave it",
        "after": "That of the last answer",
    },
    result=InvestigationRead,
    call=_read,
    roles=WRITERS,
)
APPROVALS = Tool(
    name="approval_list",
    aliases=("approvals-list",),
    title="List what waits for a person",
    description="Questions to people, by state: the tool and the times, never the values.",
    arguments=ListApprovalsArguments,
    parameters={"state": "pending if null", "limit": "50 if null"},
    result=Questions,
    call=_approvals,
    roles=WRITERS,
)
CALLS = Tool(
    name="call_list",
    aliases=("tool-calls-list",),
    title="List tool calls",
    description="What agents asked of tools and what came of it, the newest first.",
    arguments=ListCallsArguments,
    parameters={
        "investigation_id": "Only its",
        "connector": "Only its",
        "session_id": "Only its",
        "limit": "50 if null",
    },
    result=Calls,
    call=_calls,
    roles=WRITERS,
)
SETTINGS = Tool(
    name="settings_read",
    title="Read the settings",
    description="The settings of this workspace as they hold, by section. No tool changes them.",
    arguments=SettingsArguments,
    parameters={"section": "Only this one, such as recall"},
    result=Settings,
    call=_settings,
    roles=ADMINS,
)
