"""Discovery: who fits, and the opportunities that come of it."""

from functools import partial
from typing import Annotated, Literal
from uuid import UUID

from anyio import to_thread
from fastapi import Path, Query, Request, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api import streams
from cairn.api.answers import answer
from cairn.api.dependencies import ClientGiven, ClientWriter, Options, Services
from cairn.api.discovery_streams import DraftEvents, drafts, of_discovery
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import Body, Name, Text, Timestamp, at_most, examples
from cairn.api.pages import Cursor, Limit, newest_answer
from cairn.api.routing import router
from cairn.discovery.matching.discovery import (
    MOST_FOUND,
    MOST_QUERY_CHARS,
    Discovered,
    DiscoveryRequest,
    Match,
)
from cairn.discovery.matching.opportunities import MOST_PICKED, OpportunitiesCreated
from cairn.discovery.matching.rows import OpportunityState, Valency
from cairn.discovery.matching.views import OpportunityView

routes = router("discovery")
_ONE = "/v1/opportunities/{opportunity_id}"

Id = Annotated[UUID, Field(strict=False)]
OpportunityId = Annotated[UUID, Path(description="The opportunity's id.")]
Moment = Annotated[Timestamp | None, Query(description="As it stood at this time.")]


class DiscoverIn(Body):
    """What to look for: an intent, a query, or, with neither, who fits the profile."""

    model_config = examples(
        {"intent_id": "0197a1f0-5f4e-7cc3-9a5e-0d7e0a1b2c3d"},
        {"query": "somebody who can mend a wooden mast"},
    )

    intent_id: Id | None = None
    query: Annotated[Text, at_most(MOST_QUERY_CHARS)] | None = None
    side: Literal["seeking", "offering", "both"] | None = None
    members: Annotated[list[Id], Field(min_length=1, max_length=MOST_PICKED)] | None = None
    networks: Annotated[list[Id], Field(max_length=50)] | None = None
    client_id: Name | None = None


class DiscoverQueryIn(DiscoverIn):
    """The same, and how much of it is wanted."""

    limit: Annotated[int, Field(ge=1, le=MOST_FOUND)] = 20
    minimum: Annotated[int, Field(ge=0, le=100)] = 70
    lenses: bool = False
    profiles: bool = True


class IntroduceIn(Body):
    """Two others who should meet."""

    first: Id
    second: Id
    client_id: Name | None = None


class ActIn(Body):
    """For whom; a key of a member needs to say nothing."""

    client_id: Name | None = None


class MatchShown(TypedDict):
    """Somebody whom it may be worth to meet. `role` is what they are to the one who looks."""

    member_id: UUID
    name: str
    intent_id: UUID | None
    intent: str
    side: str | None
    network_id: UUID
    score: int
    verdict: str | None
    role: Valency
    reason: str
    questions: list[str]
    conflicts: list[str]
    by: Literal["rules", "model"]


class LensShown(TypedDict):
    """A way that was looked in: where, for whom, and who thought of it."""

    label: str
    corpus: Literal["profiles", "intents"]
    reason: str
    by: Literal["rules", "model"]


class DiscoveredShown(TypedDict):
    """Who fits, best first. Nothing was written."""

    matches: list[MatchShown]
    by: str
    judged: int
    lenses: list[LensShown]
    already_accepted: list[UUID]


@routes.post(
    "/v1/discover",
    summary="Look for who fits",
    response_model=None,
    responses={
        **answers(
            200,
            "Who fits, best first; nothing is kept",
            DiscoveredShown,
            picture=streams.MEDIA_TYPE,
        ),
        **problems("not-found", body=True),
    },
)
def discover(
    body: DiscoverQueryIn, caller: ClientWriter, services: Services, request: Request
) -> Response:
    """Search, judge and rank those whom shared networks show. 90 must meet, 70 should meet.

    For `text/event-stream` it answers with the discovery's trace events; the last has it all.
    """
    discovered = services.discovery(caller, request_of(body))
    shown = discovered_of(discovered)
    if streams.wanted(request):
        events = b"".join(map(streams.written, of_discovery(discovered, {**shown})))
        return Response(events, media_type=streams.MEDIA_TYPE)
    return answer(shown)


@routes.post(
    "/v1/opportunities",
    summary="Propose meetings",
    status_code=201,
    response_model=None,
    responses={
        **answers(
            201,
            "Drafts with those picked, or who fits best once agents have spoken for both",
            OpportunitiesCreated,
            picture=streams.MEDIA_TYPE,
        ),
        **problems("not-found", "not-streamable", body=True),
    },
)
async def create_opportunities(
    body: DiscoverIn,
    caller: ClientWriter,
    services: Services,
    options: Options,
    request: Request,
) -> Response:
    """Keep drafts with those picked. Without any, let agents negotiate with who fits best.

    An agent that is there has a minute a turn: ask again, or read the opportunity, until none is
    `negotiating`. For `text/event-stream` it answers with trace events as they happen, and with
    each draft as it is ready. The same two people and intents have one opportunity.
    """
    if not streams.wanted(request):
        created = await to_thread.run_sync(services.opportunities.create, caller, request_of(body))
        return answer(created, status=201)
    streams.require_stream(request, "ask for application/json, and again", reason="poll-drafts")
    options.open_streams.check()
    search = await to_thread.run_sync(services.opportunities.search, caller, request_of(body))
    events = DraftEvents(services, caller, search, client_id=body.client_id)
    parts = drafts(events, streams.readmission(services, request), options.pace)
    streamed = streams.streaming(parts, options.open_streams)
    streamed.status_code = 201
    return streamed


@routes.post(
    "/v1/opportunities/introduce",
    summary="Introduce two others",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "A draft that the introducer may send", OpportunityView),
        **problems("not-found", "conflict", body=True),
    },
)
def introduce(body: IntroduceIn, caller: ClientWriter, services: Services) -> Response:
    """Propose two others to each other; each of them says yes for themselves."""
    view = services.opportunities.introduce(
        caller, body.first, body.second, client_id=body.client_id
    )
    return answer(view, status=201)


@routes.get(
    "/v1/opportunities",
    summary="List a member's opportunities",
    response_model=None,
    responses={**answers(200, "The newest first", PageOf[OpportunityView]), **problems()},
)
def list_opportunities(
    caller: ClientWriter,
    services: Services,
    options: Options,
    client_id: ClientGiven,
    state: Annotated[
        OpportunityState | None, Query(description="Only those in this state.")
    ] = None,
    as_of: Moment = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List those that a member has a part in and may see."""
    return newest_answer(
        partial(
            services.opportunities.page,
            caller,
            client_id=client_id,
            states=None if state is None else (state,),
            as_of=as_of,
        ),
        limit=limit,
        cursor=cursor,
        key="created_at",
        route="opportunities",
        filters={"state": state, "as_of": as_of, "client_id": client_id},
        options=options,
    )


@routes.get(
    _ONE,
    summary="Show an opportunity",
    response_model=None,
    responses={**answers(200, "The opportunity", OpportunityView), **problems("not-found")},
)
def get_opportunity(
    opportunity_id: OpportunityId,
    caller: ClientWriter,
    services: Services,
    client_id: ClientGiven,
    as_of: Moment = None,
) -> Response:
    """Show one, and what its reader may do with it."""
    find = services.opportunities.get
    return answer(find(caller, opportunity_id, client_id=client_id, as_of=as_of))


@routes.post(
    f"{_ONE}/send",
    summary="Send an opportunity",
    response_model=None,
    responses={
        **answers(200, "Both see it", OpportunityView),
        **problems("not-found", "conflict", body=True),
    },
)
def send_opportunity(
    opportunity_id: OpportunityId, body: ActIn, caller: ClientWriter, services: Services
) -> Response:
    """Show it to the other one; it is the sender's yes, and nobody else's."""
    send = services.opportunities.send
    return answer(send(caller, opportunity_id, client_id=body.client_id))


@routes.post(
    f"{_ONE}/accept",
    summary="Accept an opportunity",
    response_model=None,
    responses={
        **answers(200, "Accepted when both said yes", OpportunityView),
        **problems("not-found", "conflict", body=True),
    },
)
def accept_opportunity(
    opportunity_id: OpportunityId, body: ActIn, caller: ClientWriter, services: Services
) -> Response:
    """Say yes for oneself."""
    accept = services.opportunities.accept
    return answer(accept(caller, opportunity_id, client_id=body.client_id))


@routes.post(
    f"{_ONE}/reject",
    summary="Reject an opportunity",
    response_model=None,
    responses={
        **answers(200, "It is over", OpportunityView),
        **problems("not-found", "conflict", body=True),
    },
)
def reject_opportunity(
    opportunity_id: OpportunityId, body: ActIn, caller: ClientWriter, services: Services
) -> Response:
    """Say no; these two are not proposed to each other for the same intents again."""
    reject = services.opportunities.reject
    return answer(reject(caller, opportunity_id, client_id=body.client_id))


def request_of(body: DiscoverIn) -> DiscoveryRequest:
    """Return what a body asks for."""
    values = body.model_dump()
    for name in ("members", "networks"):
        if values[name] is not None:
            values[name] = tuple(dict.fromkeys(values[name]))
    return DiscoveryRequest(**values)


def discovered_of(discovered: Discovered) -> DiscoveredShown:
    """Return what was found as it is shown."""
    me = discovered.look.member_id
    return {
        "matches": [_match(each) for each in discovered.matches],
        "by": discovered.by,
        "judged": discovered.judged,
        "lenses": [
            {
                "label": lens.label,
                "corpus": lens.corpus,
                "reason": lens.reason,
                "by": lens.by,
            }
            for lens in discovered.lenses
        ],
        "already_accepted": [
            row.target_id if row.source_id == me else row.source_id
            for row in discovered.already_accepted
        ],
    }


def _match(match: Match) -> MatchShown:
    judgement, candidate = match.judgement, match.candidate
    return {
        "member_id": judgement.member_id,
        "name": candidate.name,
        "intent_id": judgement.node_id,
        "intent": candidate.wish,
        "side": candidate.side,
        "network_id": match.network_id,
        "score": judgement.score,
        "verdict": judgement.verdict,
        "role": judgement.role,
        "reason": judgement.reason,
        "questions": list(judgement.questions),
        "conflicts": list(judgement.conflicts),
        "by": judgement.by,
    }
