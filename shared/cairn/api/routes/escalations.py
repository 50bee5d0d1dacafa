"""Escalations: which there are, their hand-offs, and the channels they use. An admin's routes."""

from functools import partial
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Query, Response
from pydantic import Field

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Options, Services
from cairn.api.documentation import answers, items_of, page_of, problems
from cairn.api.fields import Body
from cairn.api.pages import Cursor, Limit, newest_answer
from cairn.api.routing import router
from cairn.investigations.people.ports import EscalationState

routes = router("investigations")

_ROUTE = "escalations"
EscalationId = Annotated[UUID, Path(description="The escalation's id.")]
_ESCALATION: dict[str, Any] = {
    "type": "object",
    "required": ["id", "investigation_id", "verdict", "channel", "state", "queued_at"],
    "properties": {
        "id": {"type": "string", "format": "uuid"},
        "investigation_id": {"type": "string", "format": "uuid"},
        "ticket_id": {"type": "string", "format": "uuid"},
        "verdict": {"type": "string"},
        "channel": {"type": "string", "examples": ["ticket-note"]},
        "state": {"enum": [one.value for one in EscalationState]},
        "why": {"type": ["string", "null"], "description": "One sentence."},
        "attempts": {"type": "integer"},
        "noted": {"type": "boolean", "description": "A note stands at the ticket."},
        "error": {"type": ["string", "null"], "description": "Why the last try failed: a code."},
        "queued_at": {"type": "string", "format": "date-time"},
        "updated_at": {"type": "string", "format": "date-time"},
        "delivered_at": {"type": ["string", "null"], "format": "date-time"},
    },
}
_HAND_OFF: dict[str, Any] = {
    "type": "object",
    "required": ["escalation", "investigation", "transcript", "tool_calls", "citations", "mend"],
    "properties": {
        "escalation": _ESCALATION,
        "investigation": {"type": "object"},
        "transcript": {"type": "array", "items": {"type": "object"}},
        "tool_calls": {"type": "array", "items": {"type": "object"}},
        "citations": {"type": "array", "items": {"type": "string"}},
        "memory": {
            "type": ["object", "null"],
            "description": "The working memory, with placeholders for personal values.",
        },
        "mend": {
            "type": "array",
            "description": "What has to be authorised again.",
            "items": {
                "type": "object",
                "properties": {
                    "kind": {"enum": ["connector", "source"]},
                    "name": {"type": "string"},
                    "path": {"type": "string"},
                    "command": {"type": "string"},
                },
            },
        },
    },
}
_CHANNEL: dict[str, Any] = {
    "type": "object",
    "required": ["name", "kind", "created_at"],
    "properties": {
        "name": {"type": "string"},
        "kind": {"enum": ["slack"]},
        "created_at": {"type": "string", "format": "date-time"},
        "created_by": {"type": "string", "format": "uuid"},
    },
}
_CHANNELS = items_of(_CHANNEL)
_REMOVED: dict[str, Any] = {"type": "object", "properties": {"name": {"type": "string"}}}


class ChannelIn(Body):
    """A Slack incoming webhook. Its address is a secret: it is sealed and never shown."""

    name: Annotated[str, Field(min_length=1, max_length=42)]
    url: Annotated[str, Field(min_length=1, max_length=2_048)]


@routes.get(
    "/v1/escalations",
    summary="List escalations",
    response_model=None,
    responses={**answers(200, "Escalations, the newest first", page_of(_ESCALATION)), **problems()},
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
        partial(services.people.escalations.page, caller, state=state),
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
    responses={**answers(200, "The hand-off", _HAND_OFF), **problems("not-found")},
)
def get_escalation(escalation_id: EscalationId, caller: Admin, services: Services) -> Response:
    """Show why, the timeline, the newest tool calls, what it rests on, and what it knows."""
    return answer(services.people.escalations.show(caller, escalation_id))


@routes.post(
    "/v1/escalations/{escalation_id}/retry",
    summary="Retry an escalation",
    status_code=202,
    response_model=None,
    responses={**answers(202, "It is queued", _ESCALATION), **problems("not-found", "conflict")},
)
def retry_escalation(escalation_id: EscalationId, caller: Admin, services: Services) -> Response:
    """Call a person again where it failed, by the channel the persona has now."""
    return answer(services.people.escalations.retry(caller, escalation_id), status=202)


@routes.post(
    "/v1/escalation-channels",
    summary="Add an escalation channel",
    status_code=201,
    response_model=None,
    responses={**answers(201, "It can be used", _CHANNEL), **problems("conflict", body=True)},
)
def add_escalation_channel(body: ChannelIn, caller: Admin, services: Services) -> Response:
    """Keep a Slack incoming webhook; a persona names it as `slack:<name>`."""
    return answer(services.people.channels.create(caller, name=body.name, url=body.url), status=201)


@routes.get(
    "/v1/escalation-channels",
    summary="List escalation channels",
    response_model=None,
    responses={**answers(200, "Channels without their addresses", _CHANNELS), **problems()},
)
def list_escalation_channels(caller: Admin, services: Services) -> Response:
    """List the channels there are."""
    return answer({"items": services.people.channels.all(caller)})


@routes.delete(
    "/v1/escalation-channels/{name}",
    summary="Remove an escalation channel",
    response_model=None,
    responses={
        **answers(200, "Nobody is called by it any more", _REMOVED),
        **problems("not-found"),
    },
)
def remove_escalation_channel(
    name: Annotated[str, Path(max_length=64, description="The channel's name.")],
    caller: Admin,
    services: Services,
) -> Response:
    """Remove a channel with its address; personas that name it fall back to notes."""
    services.people.channels.remove(caller, name)
    return answer({"name": name})
