"""Escalations: which there are, their hand-offs, and the channels they use. An admin's routes."""

from functools import partial
from typing import Annotated
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Options, Services
from cairn.api.documentation import ListOf, PageOf, answers, problems
from cairn.api.fields import Body
from cairn.api.pages import Cursor, Limit, newest_answer
from cairn.api.routing import router
from cairn.investigations.people.ports import Channel, EscalationState
from cairn.investigations.views import EscalationView, HandOff

routes = router("investigations")

_ROUTE = "escalations"
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
        route=_ROUTE,
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
