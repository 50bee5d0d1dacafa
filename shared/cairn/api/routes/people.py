"""Calls of people, and what they let agents learn."""

from functools import partial
from typing import Annotated
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Options, Services
from cairn.api.documentation import ListOf, PageOf, answers, problems
from cairn.api.fields import Body, ScopeName, Text, at_most
from cairn.api.pages import Cursor, Limit, newest_answer
from cairn.api.routing import router
from cairn.investigations.people.learning import MAX_TEXT_CHARS, MAX_TITLE_CHARS
from cairn.investigations.people.proposing import Proposal, ProposalState
from cairn.investigations.ports import CandidateState, Channel, EscalationState
from cairn.investigations.views import CandidateView, EscalationView, HandOff
from cairn.kernel.access import Scope

routes = router("investigations")

EscalationId = Annotated[UUID, Path(description="The escalation's id.")]


class EscalationChannel(Channel):
    """A channel by which people are called, without its address."""


class ChannelRemoved(TypedDict):
    """The channel that is gone."""

    name: str


class ChannelIn(Body):
    """A Slack incoming webhook. Its address is a secret: it is sealed and never shown."""

    name: Annotated[str, Field(min_length=1, max_length=42)]
    url: Annotated[str, Field(min_length=1, max_length=2_048)]


@routes.get(
    "/v1/escalations",
    summary="List escalations",
    response_model=None,
    responses={
        **answers(200, "Escalations, the newest first", PageOf[EscalationView]),
        **problems(),
    },
)
def list_escalations(
    caller: Admin,
    services: Services,
    options: Options,
    state: Annotated[EscalationState | None, Query(description="Only those in this state.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List where investigations called a person, by which channel, and whether they were told."""
    return newest_answer(
        partial(services.escalations.page, caller, state=state),
        limit=limit,
        cursor=cursor,
        key="queued_at",
        route="escalations",
        filters={"state": state},
        options=options,
    )


@routes.get(
    "/v1/escalations/{escalation_id}",
    summary="Show an escalation with its hand-off",
    response_model=None,
    responses={**answers(200, "The hand-off", HandOff), **problems("not-found")},
)
def get_escalation(escalation_id: EscalationId, caller: Admin, services: Services) -> Response:
    """Show why, the timeline, the newest tool calls, what it rests on, and what it knows."""
    return answer(services.escalations.show(caller, escalation_id))


@routes.post(
    "/v1/escalations/{escalation_id}/retry",
    summary="Retry an escalation",
    status_code=202,
    response_model=None,
    responses={**answers(202, "It is queued", EscalationView), **problems("not-found", "conflict")},
)
def retry_escalation(escalation_id: EscalationId, caller: Admin, services: Services) -> Response:
    """Call a person again where it failed, by the channel the persona has now."""
    return answer(services.escalations.retry(caller, escalation_id), status=202)


@routes.post(
    "/v1/escalation-channels",
    summary="Add an escalation channel",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "It can be used", EscalationChannel),
        **problems("conflict", body=True),
    },
)
def add_escalation_channel(body: ChannelIn, caller: Admin, services: Services) -> Response:
    """Keep a Slack incoming webhook; a persona names it as `slack:<name>`."""
    return answer(services.channels.create(caller, name=body.name, url=body.url), status=201)


@routes.get(
    "/v1/escalation-channels",
    summary="List escalation channels",
    response_model=None,
    responses={
        **answers(200, "Channels without their addresses", ListOf[EscalationChannel]),
        **problems(),
    },
)
def list_escalation_channels(caller: Admin, services: Services) -> Response:
    """List the channels there are."""
    return answer({"items": services.channels.all(caller)})


@routes.delete(
    "/v1/escalation-channels/{name}",
    summary="Remove an escalation channel",
    response_model=None,
    responses={
        **answers(200, "Nobody is called by it any more", ChannelRemoved),
        **problems("not-found"),
    },
)
def remove_escalation_channel(
    name: Annotated[str, Path(max_length=64, description="The channel's name.")],
    caller: Admin,
    services: Services,
) -> Response:
    """Remove a channel with its address; personas that name it fall back to notes."""
    services.channels.remove(caller, name)
    return answer({"name": name})


_PROPOSALS = "proposals"
MAX_REASON_CHARS = 1_000
CandidateId = Annotated[UUID, Path(description="The candidate's id.")]
NodeId = Annotated[UUID, Path(description="The proposed node's id.")]


class AcceptIn(Body):
    """Who may find the document."""

    scope: ScopeName = Scope.ADMIN


class RejectIn(Body):
    """Why it is not to be learned."""

    reason: Annotated[Text, at_most(MAX_REASON_CHARS)]


class EditIn(Body):
    """What it is to say instead; what is left out stays."""

    title: Annotated[str, Field(min_length=1), at_most(MAX_TITLE_CHARS)] | None = None
    text: Annotated[Text, at_most(MAX_TEXT_CHARS)] | None = None

    @model_validator(mode="after")
    def says_something(self) -> "EditIn":
        """Refuse an edit that changes nothing."""
        if self.title is None and self.text is None:
            raise PydanticCustomError("edit", "Send title, text or both")
        return self


@routes.get(
    "/v1/candidates",
    summary="List what may be learned",
    response_model=None,
    responses={**answers(200, "Candidates, the newest first", PageOf[CandidateView]), **problems()},
)
def list_candidates(
    caller: Admin,
    services: Services,
    options: Options,
    state: Annotated[CandidateState | None, Query(description="Only those in this state.")] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List resolutions that wait for a person, and what became of others."""
    return newest_answer(
        partial(services.candidates.page, caller, state=state),
        limit=limit,
        cursor=cursor,
        key="staged_at",
        route="candidates",
        filters={"state": state},
        options=options,
    )


@routes.get(
    "/v1/candidates/{candidate_id}",
    summary="Show a candidate",
    response_model=None,
    responses={**answers(200, "What it says", CandidateView), **problems("not-found")},
)
def get_candidate(candidate_id: CandidateId, caller: Admin, services: Services) -> Response:
    """Show the redacted ticket, how it was resolved and what was done."""
    return answer(services.candidates.show(caller, candidate_id))


@routes.post(
    "/v1/candidates/{candidate_id}/accept",
    summary="Accept a candidate",
    status_code=202,
    response_model=None,
    responses={
        **answers(202, "It becomes a document; follow its ingestion", CandidateView),
        **problems("not-found", "conflict", body=True),
    },
)
def accept_candidate(
    candidate_id: CandidateId, body: AcceptIn, caller: Admin, services: Services
) -> Response:
    """Make it a verified document. Again finishes what was interrupted and changes nothing else."""
    accepted = services.candidates.accept(caller, candidate_id, scope=body.scope)
    return answer(accepted, status=202)


@routes.post(
    "/v1/candidates/{candidate_id}/edit",
    summary="Edit a candidate",
    response_model=None,
    responses={
        **answers(200, "What it says now", CandidateView),
        **problems("not-found", "conflict", body=True),
    },
)
def edit_candidate(
    candidate_id: CandidateId, body: EditIn, caller: Admin, services: Services
) -> Response:
    """Replace its title or text; it waits on."""
    return answer(services.candidates.edit(caller, candidate_id, title=body.title, text=body.text))


@routes.post(
    "/v1/candidates/{candidate_id}/reject",
    summary="Reject a candidate",
    response_model=None,
    responses={
        **answers(200, "It stays as a record", CandidateView),
        **problems("not-found", "conflict", body=True),
    },
)
def reject_candidate(
    candidate_id: CandidateId, body: RejectIn, caller: Admin, services: Services
) -> Response:
    """Say no, and why."""
    return answer(services.candidates.reject(caller, candidate_id, reason=body.reason))


@routes.get(
    "/v1/proposals",
    summary="List proposed nodes",
    response_model=None,
    responses={
        **answers(200, "Nodes of the memory graph, the newest first", PageOf[Proposal]),
        **problems(),
    },
)
def list_proposals(
    caller: Admin,
    services: Services,
    options: Options,
    state: Annotated[
        ProposalState, Query(description="What waits for a person, or lines that were remembered.")
    ] = ProposalState.PROPOSED,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List what was seen again and again, for a person to make active; or what people marked."""
    proposals = services.proposals
    newest = proposals.remembered if state is ProposalState.REMEMBERED else proposals.page
    return newest_answer(
        partial(newest, caller),
        limit=limit,
        cursor=cursor,
        key="label",
        route=_PROPOSALS,
        filters={"state": state.value},
        options=options,
    )


@routes.post(
    "/v1/proposals/{node_id}/accept",
    summary="Accept a proposed node",
    response_model=None,
    responses={**answers(200, "It is active", Proposal), **problems("not-found", "conflict")},
)
def accept_proposal(node_id: NodeId, caller: Admin, services: Services) -> Response:
    """Make it active: planners are shown it from now on."""
    return answer(services.proposals.accept(caller, node_id))


@routes.post(
    "/v1/proposals/{node_id}/reject",
    summary="Reject a proposed node",
    response_model=None,
    responses={**answers(200, "It is archived", Proposal), **problems("not-found", "conflict")},
)
def reject_proposal(node_id: NodeId, caller: Admin, services: Services) -> Response:
    """Archive it; it is not proposed again."""
    return answer(services.proposals.reject(caller, node_id))
