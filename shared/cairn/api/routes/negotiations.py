"""Negotiations: what members' agents say to each other, how it ends, and who signed it."""

from datetime import datetime
from functools import partial
from typing import Annotated, Literal, NotRequired
from uuid import UUID

from anyio import to_thread
from fastapi import Path, Query, Request, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api import streams
from cairn.api.answers import answer
from cairn.api.dependencies import Admin, ClientGiven, ClientWriter, Options, Services
from cairn.api.discovery_streams import NegotiationEvents
from cairn.api.documentation import ListOf, PageOf, answers, problems
from cairn.api.fields import Body, Name, Text, at_most, examples
from cairn.api.pages import Cursor, Limit, newest_answer
from cairn.api.routing import router
from cairn.discovery.negotiation.negotiations import (
    MOST_INPUTS,
    MOST_MESSAGE_CHARS,
    Answer,
    NegotiationMeasures,
    PickedUp,
    PrivateInput,
)
from cairn.discovery.negotiation.rows import Move, NegotiationState, Speaker, Voice
from cairn.discovery.negotiation.views import NegotiationView, events_of

routes = router("negotiations")

NegotiationId = Annotated[UUID, Path(description="The negotiation's id.")]
AgentName = Annotated[str, Path(max_length=256, description="The agent's name.")]
Valence = Literal["agent", "patient", "peer"]
Hex = Annotated[str, Field(max_length=128)]


class NegotiationIn(Body):
    """Which opportunity is to be negotiated; its own agents are waited for a minute a turn."""

    opportunity_id: Annotated[UUID, Field(strict=False)]
    client_id: Name | None = None


class TurnRolesIn(Body):
    """What the two are to each other."""

    source: Valence
    candidate: Valence


class PickUpIn(Body):
    """An agent that asks for a turn. With its `claim` it goes on with the one it has."""

    takeover: bool = True
    claim: Annotated[UUID, Field(strict=False)] | None = None
    client_id: Name | None = None


class NegotiationTurnIn(Body):
    """A turn of a member's own agent. An agent with a key sends the salt and the signature."""

    model_config = examples(
        {
            "action": "counter",
            "message": "June, if the frames hold.",
            "suggested_roles": {"source": "patient", "candidate": "agent"},
            "fit": 80,
        }
    )

    action: Annotated[Move, Field(strict=False)]
    message: Annotated[Text, at_most(MOST_MESSAGE_CHARS)]
    suggested_roles: TurnRolesIn | None = None
    fit: Annotated[int, Field(ge=0, le=100)] | None = None
    claim: Annotated[UUID, Field(strict=False)] | None = None
    salt: Hex | None = None
    signature: Annotated[str, Field(max_length=256)] | None = None
    inputs: Annotated[list[Hex], Field(max_length=MOST_INPUTS)] = Field(default_factory=list[str])
    client_id: Name | None = None

    def turn(self) -> Answer:
        """Return the use case's record."""
        roles = self.suggested_roles
        return Answer(
            move=self.action,
            message=self.message,
            roles=(roles.source, roles.candidate) if roles else None,
            fit=self.fit,
            claim=self.claim,
            salt=self.salt,
            signature=self.signature,
            inputs=tuple(self.inputs),
        )


class PersonAnswerIn(Body):
    """A person's answer to the question that their agents' stall left open."""

    answer: Annotated[Text, at_most(MOST_MESSAGE_CHARS)]
    client_id: Name | None = None


class PublicKeyIn(Body):
    """An agent's public key: the 32 bytes of an Ed25519 key, in hexadecimal digits."""

    public_key: Hex
    client_id: Name | None = None


class PublicKeyShown(TypedDict):
    """A registered key, by its name: SHA-256 over its 32 bytes."""

    agent: str
    key_id: str


class PickUpShown(TypedDict):
    """The turn that was taken up; null where none waits."""

    turn: PickedUp | None


class ExportedTurn(TypedDict):
    """A turn as it was signed. The words and the salt are null where they were forgotten."""

    header: str
    signature: str
    public_key: str
    position: int
    message: str | None
    salt: str | None


class NegotiationExport(TypedDict):
    """A negotiation that anyone can verify without a server."""

    format: str
    negotiation_id: UUID
    outcome: str | None
    head: str
    advocate_key_id: str
    turns: list[ExportedTurn]


class EventRoles(TypedDict):
    """What the two are to each other."""

    source: str
    candidate: str


class NegotiationEventData(TypedDict):
    """What a trace event of a negotiation says."""

    opportunity_id: UUID
    negotiation_id: UUID
    trigger: NotRequired[str]
    started_at: NotRequired[datetime]
    turn_index: NotRequired[int]
    actor: NotRequired[Speaker]
    action: NotRequired[Move]
    message: NotRequired[str | None]
    suggested_roles: NotRequired[EventRoles | None]
    voice: NotRequired[Voice]
    at: NotRequired[datetime]
    outcome: NotRequired[str]
    turn_count: NotRequired[int]
    agreed_roles: NotRequired[EventRoles | None]
    duration_ms: NotRequired[int]


class NegotiationEvent(TypedDict):
    """A trace event."""

    event: str
    data: NegotiationEventData


@routes.post(
    "/v1/negotiations",
    summary="Begin a negotiation",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "How it stands: it waits for an agent, or has ended", NegotiationView),
        **problems("not-found", "conflict", body=True),
    },
)
def begin_negotiation(body: NegotiationIn, caller: ClientWriter, services: Services) -> Response:
    """Begin the negotiation of an opportunity of one's own; the same one a second time."""
    view = services.negotiations.begin(caller, body.opportunity_id, body.client_id)
    return answer(view, status=201)


@routes.get(
    "/v1/negotiations",
    summary="List negotiations",
    response_model=None,
    responses={
        **answers(200, "Negotiations, the newest first", PageOf[NegotiationView]),
        **problems(),
    },
)
def list_negotiations(
    caller: ClientWriter,
    client: ClientGiven,
    services: Services,
    options: Options,
    state: Annotated[
        NegotiationState | None, Query(description="Only those in this state.")
    ] = None,
    my_turn: Annotated[bool, Query(description="Only those that await the member's side.")] = False,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List the negotiations of a member; an admin who names no client lists all."""
    return newest_answer(
        partial(services.negotiations.page, caller, client_id=client, state=state, my_turn=my_turn),
        limit=limit,
        cursor=cursor,
        key="begun_at",
        route="negotiations",
        filters={"state": state, "my_turn": my_turn, "client_id": client},
        options=options,
    )


@routes.get(
    "/v1/negotiations/measures",
    summary="Show how negotiations end",
    response_model=None,
    responses={**answers(200, "How many, and how easily", NegotiationMeasures), **problems()},
)
def measure_negotiations(caller: Admin, services: Services) -> Response:
    """Count how negotiations ended, and the share of yeses that came at once."""
    return answer(services.negotiations.measures(caller))


@routes.get(
    "/v1/negotiations/{negotiation_id}",
    summary="Show a negotiation",
    response_model=None,
    responses={**answers(200, "How it stands", NegotiationView), **problems("not-found")},
)
def get_negotiation(
    negotiation_id: NegotiationId, caller: ClientWriter, client: ClientGiven, services: Services
) -> Response:
    """Show a negotiation to one of its two sides, or to an admin."""
    return answer(services.negotiations.get(caller, negotiation_id, client))


@routes.post(
    "/v1/negotiations/{negotiation_id}/advance",
    summary="Go on with a negotiation",
    response_model=None,
    responses={**answers(200, "How it stands", NegotiationView), **problems("not-found")},
)
def advance_negotiation(
    negotiation_id: NegotiationId, caller: ClientWriter, client: ClientGiven, services: Services
) -> Response:
    """Go on where the time for a turn has passed; without this, a sweep does."""
    return answer(services.negotiations.go_on(caller, negotiation_id, client))


@routes.post(
    "/v1/negotiations/{negotiation_id}/answer",
    summary="Answer for one's agent",
    response_model=None,
    responses={
        **answers(200, "It goes on", NegotiationView),
        **problems("not-found", "conflict", body=True),
    },
)
def answer_negotiation(
    negotiation_id: NegotiationId, body: PersonAnswerIn, caller: ClientWriter, services: Services
) -> Response:
    """Answer the one question that one's own side is asked when the agents come to no end."""
    negotiations = services.negotiations
    return answer(negotiations.answer(caller, negotiation_id, body.answer, body.client_id))


@routes.get(
    "/v1/negotiations/{negotiation_id}/inputs",
    summary="Show what weighed in one's turns",
    response_model=None,
    responses={
        **answers(200, "Private inputs by turn, with their salts", ListOf[PrivateInput]),
        **problems("not-found"),
    },
)
def list_negotiation_inputs(
    negotiation_id: NegotiationId, caller: ClientWriter, client: ClientGiven, services: Services
) -> Response:
    """Show which memories of one's own the advocate weighed: the other side has hashes alone."""
    return answer({"items": services.negotiations.inputs(caller, negotiation_id, client)})


@routes.get(
    "/v1/negotiations/{negotiation_id}/events",
    summary="Show the trace of a negotiation",
    response_model=None,
    responses={
        **answers(
            200,
            "Trace events, in order",
            ListOf[NegotiationEvent],
            picture=streams.MEDIA_TYPE,
        ),
        **problems("not-found", "not-streamable"),
    },
)
async def list_negotiation_events(
    negotiation_id: NegotiationId,
    caller: ClientWriter,
    client: ClientGiven,
    services: Services,
    options: Options,
    request: Request,
) -> Response:
    """Show a negotiation as trace events: its start, its turns, its outcome, its end.

    For `text/event-stream` it answers with them as they happen, until it ends or waits for people.
    """
    use = services.negotiations
    view = await to_thread.run_sync(use.get, caller, negotiation_id, client)
    if not streams.wanted(request):
        return answer({"items": events_of(view)})
    poll = f"poll GET /v1/negotiations/{negotiation_id}/events as JSON"
    streams.require_stream(request, poll, reason="poll-events")
    options.open_streams.check()
    look = NegotiationEvents(partial(use.go_on, caller, negotiation_id, client))
    watch = streams.Watch(look, streams.readmission(services, request), options.pace)
    return streams.streaming(watch.parts(), options.open_streams)


@routes.get(
    "/v1/negotiations/{negotiation_id}/export",
    summary="Export a negotiation",
    response_model=None,
    responses={**answers(200, "Signed turns", NegotiationExport), **problems("not-found")},
)
def export_negotiation(
    negotiation_id: NegotiationId, caller: ClientWriter, client: ClientGiven, services: Services
) -> Response:
    """Export the signed turns, so that an outsider can verify them without this server."""
    return answer(services.negotiations.export(caller, negotiation_id, client))


@routes.post(
    "/v1/agents/{agent}/negotiations/pickup",
    summary="Take up a turn",
    response_model=None,
    responses={
        **answers(200, "The turn, or null", PickUpShown),
        **problems("not-found", body=True),
    },
)
def pick_up_turn(
    agent: AgentName, body: PickUpIn, caller: ClientWriter, services: Services
) -> Response:
    """Take up the turn whose time is over first, for as long as `claim_until`.

    Whoever asks is there: from then on turns wait for it. With `takeover` false the system's
    advocate never answers in its place, and the negotiation ends when its time passes.
    """
    turn = services.negotiations.pick_up(
        caller, agent, client_id=body.client_id, takeover=body.takeover, claim=body.claim
    )
    return answer({"turn": turn})


@routes.post(
    "/v1/agents/{agent}/negotiations/{negotiation_id}/respond",
    summary="Take one's turn",
    response_model=None,
    responses={
        **answers(200, "How it stands then", NegotiationView),
        **problems("not-found", "conflict", body=True),
    },
)
def respond_to_negotiation(
    agent: AgentName,
    negotiation_id: NegotiationId,
    body: NegotiationTurnIn,
    caller: ClientWriter,
    services: Services,
) -> Response:
    """Propose, counter, accept, reject or question, as a member's own agent."""
    view = services.negotiations.respond(caller, agent, negotiation_id, body.turn(), body.client_id)
    return answer(view)


@routes.put(
    "/v1/agents/{agent}/negotiations/key",
    summary="Register an agent's public key",
    response_model=None,
    responses={
        **answers(200, "The key's name", PublicKeyShown),
        **problems("not-found", "conflict", body=True),
    },
)
def register_negotiation_key(
    agent: AgentName, body: PublicKeyIn, caller: ClientWriter, services: Services
) -> Response:
    """Register the key by which a member's agent signs its turns; the private one stays there."""
    key_id = services.negotiations.register_key(caller, agent, body.public_key, body.client_id)
    return answer({"agent": agent, "key_id": key_id})
