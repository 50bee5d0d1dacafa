"""Tools over discovery: who fits, and the opportunities that come of it."""

from datetime import datetime
from typing import Annotated, Any, NotRequired
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.discovery_streams import DraftEvents
from cairn.api.fields import Body, Name
from cairn.api.mcp.tool import WRITERS, Effect, Tool, ToolAnswer
from cairn.api.routes.opportunities import DiscoverIn, discovered_of, request_of
from cairn.bootstrap.api import ApiServices
from cairn.discovery.matching.rows import OpportunityState, Party
from cairn.discovery.matching.views import OpportunityView
from cairn.kernel.access import Principal

MOST_LISTED = 50


class MatchLine(TypedDict):
    """Somebody who fits; `role` is what they are to the one who looks."""

    member_id: UUID
    name: NotRequired[str]
    intent_id: NotRequired[UUID]
    score: int
    role: str
    reason: str
    questions: NotRequired[list[str]]


class MatchList(TypedDict):
    """Who fits, best first; nothing was kept."""

    items: list[MatchLine]
    already_accepted: NotRequired[list[UUID]]


class OpportunityLine(TypedDict):
    """An opportunity, as the reader sees it."""

    id: UUID
    state: str
    score: int
    other: NotRequired[str]
    reason: NotRequired[str]
    questions: NotRequired[list[str]]
    can: NotRequired[list[str]]
    expires_at: datetime


class OpportunityList(TypedDict):
    """Opportunities, the newest first."""

    items: list[OpportunityLine]


class DraftLine(TypedDict):
    """A draft."""

    id: UUID
    state: str
    score: int
    other: NotRequired[str]


class OpportunitiesMade(TypedDict):
    """Drafts that are there now, how many are new, and who was met before."""

    items: list[DraftLine]
    new: int
    met: NotRequired[list[UUID]]


class ListArguments(Body):
    """Which, and how many."""

    state: Annotated[OpportunityState, Field(strict=False)] | None = None
    limit: Annotated[int, Field(ge=1, le=MOST_LISTED)] = 20
    client_id: Name | None = None


class ActArguments(Body):
    """Which one, and for whom."""

    id: Annotated[UUID, Field(strict=False)]
    client_id: Name | None = None


def _discover(services: ApiServices, principal: Principal, arguments: DiscoverIn) -> ToolAnswer:
    answer = discovered_of(services.discovery(principal, request_of(arguments)))
    names = ("member_id", "name", "intent_id", "score", "role", "reason", "questions")
    items = [{name: match[name] for name in names} for match in answer["matches"]]
    text = "\n".join(match["reason"] for match in answer["matches"]) or "Nobody fits."
    structured = {"items": items, "already_accepted": answer["already_accepted"]}
    return ToolAnswer(text=text, structured=structured)


def _create(services: ApiServices, principal: Principal, arguments: DiscoverIn) -> ToolAnswer:
    search = services.opportunities.search(principal, request_of(arguments))
    events = DraftEvents(services, principal, search, client_id=arguments.client_id).once()
    created = services.opportunities.created(search)
    structured = {
        "items": [_draft(view) for view in created.items],
        "new": created.new,
        "met": [view.id for view in created.already_accepted],
    }
    met = [
        f"{_draft(view)['other']} was met before ({view.id}): write to them, propose nothing new."
        for view in created.already_accepted
    ]
    text = "\n".join([_text(created.items), *met])
    trace = [(event.name, event.data) for event in events]
    return ToolAnswer(text=text, structured=structured, events=trace)


def _draft(view: OpportunityView) -> dict[str, Any]:
    line = _line(view)
    return {name: line[name] for name in ("id", "state", "score", "other")}


def _list(services: ApiServices, principal: Principal, arguments: ListArguments) -> ToolAnswer:
    states = None if arguments.state is None else (arguments.state,)
    views = services.opportunities.page(
        principal, client_id=arguments.client_id, states=states, limit=arguments.limit
    )
    return ToolAnswer(text=_text(views), structured={"items": [_line(view) for view in views]})


def _send(services: ApiServices, principal: Principal, arguments: ActArguments) -> ToolAnswer:
    view = services.opportunities.send(principal, arguments.id, client_id=arguments.client_id)
    return _shown(view)


def _accept(services: ApiServices, principal: Principal, arguments: ActArguments) -> ToolAnswer:
    view = services.opportunities.accept(principal, arguments.id, client_id=arguments.client_id)
    return _shown(view)


def _reject(services: ApiServices, principal: Principal, arguments: ActArguments) -> ToolAnswer:
    view = services.opportunities.reject(principal, arguments.id, client_id=arguments.client_id)
    return _shown(view)


def _shown(view: OpportunityView) -> ToolAnswer:
    return ToolAnswer(text=_text([view]), structured=_line(view))


def _line(view: OpportunityView) -> dict[str, Any]:
    other = view.source if view.yours is Party.TARGET else view.target
    return {
        "id": view.id,
        "state": view.state.value,
        "score": view.score,
        "other": other.name,
        "reason": view.reason,
        "questions": list(view.questions),
        "can": list(view.can),
        "expires_at": view.expires_at,
    }


def _text(views: Any) -> str:
    lines = [f"{view.id} {view.state.value} {view.score}: {view.reason}" for view in views]
    return "\n".join(lines) or "There is no opportunity."


_LOOK = {
    "intent_id": "One of the member's intents",
    "query": "Or what is looked for, in their words",
    "members": "Only these",
    "client_id": "For which member",
}
_ACT = {"id": "As opportunity_list gave it", "client_id": "For which member"}
DISCOVER = Tool(
    name="opportunity_discover",
    title="Look for who fits",
    description="Who of the member's networks fits an intent or a query, judged. Keeps nothing.",
    arguments=DiscoverIn,
    parameters=_LOOK,
    result=MatchList,
    call=_discover,
    roles=WRITERS,
    of_a_client=True,
)
CREATE = Tool(
    name="opportunity_create",
    title="Propose meetings",
    description="Drafts with the members picked; without any, agents negotiate with who fits.",
    arguments=DiscoverIn,
    parameters=_LOOK,
    result=OpportunitiesMade,
    call=_create,
    aliases=("create_opportunities",),
    roles=WRITERS,
    effect=Effect.CHANGE,
    of_a_client=True,
)
LIST = Tool(
    name="opportunity_list",
    title="List opportunities",
    description="The member's proposed meetings, and what can be done with each.",
    arguments=ListArguments,
    parameters={"state": "Only in this state", "client_id": "For which member"},
    result=OpportunityList,
    call=_list,
    aliases=("list_my_opportunities",),
    roles=WRITERS,
    of_a_client=True,
)
SEND = Tool(
    name="opportunity_send",
    title="Send an opportunity",
    description="Show a draft to the other one: the member's yes. Only when they said so.",
    arguments=ActArguments,
    parameters=_ACT,
    result=OpportunityLine,
    call=_send,
    aliases=("send_opportunity",),
    roles=WRITERS,
    effect=Effect.CHANGE,
    of_a_client=True,
)
ACCEPT = Tool(
    name="opportunity_accept",
    title="Accept an opportunity",
    description="The member's yes to what the other one sent. Only when they said so.",
    arguments=ActArguments,
    parameters=_ACT,
    result=OpportunityLine,
    call=_accept,
    roles=WRITERS,
    effect=Effect.CHANGE,
    of_a_client=True,
)
REJECT = Tool(
    name="opportunity_decline",
    title="Decline an opportunity",
    description="The member's no, for good. Only when they said so.",
    arguments=ActArguments,
    parameters=_ACT,
    result=OpportunityLine,
    call=_reject,
    roles=WRITERS,
    effect=Effect.CHANGE,
    of_a_client=True,
)
