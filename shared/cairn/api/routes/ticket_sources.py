"""Ticket sources: help desks that are polled and that send webhooks. An admin's routes, but one."""

from dataclasses import dataclass
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Depends, Path, Request, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services
from cairn.api.documentation import ListOf, answers, problems
from cairn.api.fields import Body, Name, examples
from cairn.api.routing import any_query, router
from cairn.kernel.records import convert
from cairn.oauth_client.sign_in import SignInShown
from cairn.tickets.adapter import Delivered
from cairn.tickets.personas import DEFAULT
from cairn.tickets.polling import EventsTaken, PollResult
from cairn.tickets.sources import (
    LEAST_POLL_SECONDS,
    MOST_POLL_SECONDS,
    NewSource,
    SourceChange,
)
from cairn.tickets.ticket import SourceKind, TicketSource

routes = router("ticket-sources")

POLL_SECONDS = 20.0
"""What a poll from here may take: the answer waits for it. What is left is fetched later."""

SourceId = Annotated[UUID, Path(description="The source's id.")]
Seconds = Annotated[int, Field(ge=LEAST_POLL_SECONDS, le=MOST_POLL_SECONDS)]
Kind = Annotated[SourceKind, Field(strict=False, examples=["zoho-desk"])]


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketSourceView(TicketSource):
    """A help desk and how polling it goes. Webhooks go to `events_path`."""

    events_path: str


class TicketSourceRemoved(TypedDict):
    """The source that is gone."""

    id: UUID


class WebhookExpected(TypedDict):
    """Webhooks of this source arrive here."""

    status: Literal["ok"]


class ChallengeAnswered(TypedDict):
    """What a source that looks whether anybody is there gets back."""

    challenge: str


class SourceIn(Body):
    """A help desk. `config` and `secrets` are its kind's: see the guide to tickets."""

    model_config = examples(
        {
            "name": "issues",
            "kind": "github-issues",
            "config": {"owner": "harbour-lane", "repository": "portal", "labels": ["support"]},
            "secrets": {"token": "github_pat_...", "webhook_secret": "..."},
            "poll_seconds": 120,
        }
    )

    name: Annotated[str, Field(min_length=1, max_length=64)]
    kind: Kind
    config: dict[str, Any] = Field(default_factory=dict[str, Any])
    secrets: dict[str, str] = Field(default_factory=dict[str, str], repr=False)
    persona: Name = DEFAULT.name
    poll_seconds: Seconds = 300


class SourceChangeIn(Body):
    """What to change; what is left out stays. Secrets are replaced one by one, null removes."""

    config: dict[str, Any] | None = None
    secrets: dict[str, str | None] | None = Field(default=None, repr=False)
    persona: Name | None = None
    poll_seconds: Seconds | None = None
    paused: bool | None = None


async def delivered(request: Request) -> Delivered:
    """Return a webhook's request as it came: its signature covers exactly these bytes."""
    headers = {name.lower(): value for name, value in request.headers.items()}
    return Delivered(body=await request.body(), headers=headers)


@routes.post(
    "/v1/ticket-sources",
    summary="Register a ticket source",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "It is polled from now on", TicketSourceView),
        **problems("not-found", "conflict", body=True),
    },
)
def register_ticket_source(body: SourceIn, caller: Admin, services: Services) -> Response:
    """Keep a help desk. Its secrets are sealed, and never shown again."""
    services.personas.get(caller, body.persona)
    created = services.ticket_sources.create(caller, convert(body, NewSource))
    return answer(_shown(created), status=201)


@routes.get(
    "/v1/ticket-sources",
    summary="List ticket sources",
    response_model=None,
    responses={**answers(200, "Every source, by name", ListOf[TicketSourceView]), **problems()},
)
def list_ticket_sources(caller: Admin, services: Services) -> Response:
    """List help desks and how polling them goes; the plain source, `api`, is not among them."""
    return answer({"items": [_shown(item) for item in services.ticket_sources.all(caller)]})


@routes.get(
    "/v1/ticket-sources/{source_id}",
    summary="Show a ticket source",
    response_model=None,
    responses={**answers(200, "The source", TicketSourceView), **problems("not-found")},
)
def get_ticket_source(source_id: SourceId, caller: Admin, services: Services) -> Response:
    """Show a help desk and how polling it goes."""
    return answer(_shown(services.ticket_sources.get(caller, source_id)))


@routes.patch(
    "/v1/ticket-sources/{source_id}",
    summary="Change a ticket source",
    response_model=None,
    responses={
        **answers(200, "The source as it is now", TicketSourceView),
        **problems("not-found", body=True),
    },
)
def change_ticket_source(
    source_id: SourceId, body: SourceChangeIn, caller: Admin, services: Services
) -> Response:
    """Change a help desk. New secrets mend one that `needs-auth`, and its tickets go on."""
    if body.persona is not None:
        services.personas.get(caller, body.persona)
    change = convert(body, SourceChange)
    return answer(_shown(services.ticket_sources.change(caller, source_id, change)))


@routes.delete(
    "/v1/ticket-sources/{source_id}",
    summary="Remove a ticket source",
    response_model=None,
    responses={
        **answers(200, "It is gone, its tickets stay", TicketSourceRemoved),
        **problems("not-found"),
    },
)
def remove_ticket_source(source_id: SourceId, caller: Admin, services: Services) -> Response:
    """Remove a help desk with its secrets. Its tickets stay; nothing is written back to it."""
    services.ticket_sources.remove(caller, source_id)
    return answer({"id": source_id})


@routes.post(
    "/v1/ticket-sources/{source_id}/poll",
    summary="Fetch a source's new tickets now",
    response_model=None,
    responses={
        **answers(200, "What came in", PollResult),
        **problems("not-found", "conflict"),
    },
)
def poll_ticket_source(source_id: SourceId, caller: Admin, services: Services) -> Response:
    """Fetch what is new at a help desk, for up to twenty seconds."""
    return answer(services.poll_source(caller, source_id, seconds=POLL_SECONDS))


@routes.post(
    "/v1/ticket-sources/{source_id}/sign-in",
    summary="Begin to sign in to a ticket source",
    response_model=None,
    responses={
        **answers(200, "The code to type, and where", SignInShown),
        **problems("not-found", "conflict"),
    },
)
def begin_source_sign_in(source_id: SourceId, caller: Admin, services: Services) -> Response:
    """Ask its authorization server for a device code; the one under way while it has time left."""
    return answer(services.ticket_sources.sign_in(caller, source_id))


@routes.get(
    "/v1/ticket-sources/{source_id}/sign-in",
    summary="Show how signing in to a ticket source stands",
    response_model=None,
    responses={
        **answers(200, "How it stands", SignInShown),
        **problems("not-found", "conflict"),
    },
)
def get_source_sign_in(source_id: SourceId, caller: Admin, services: Services) -> Response:
    """Show how signing in stands. Nobody is asked."""
    return answer(services.ticket_sources.signed_in(caller, source_id))


@routes.post(
    "/v1/ticket-sources/{source_id}/sign-in/poll",
    summary="Ask whether a sign-in to a ticket source is done",
    response_model=None,
    responses={
        **answers(200, "How it stands", SignInShown),
        **problems("not-found", "conflict"),
    },
)
def poll_source_sign_in(source_id: SourceId, caller: Admin, services: Services) -> Response:
    """Ask the authorization server, if it is time to: `ask_again_in` says when it is again."""
    return answer(services.ticket_sources.poll_sign_in(caller, source_id))


@routes.delete(
    "/v1/ticket-sources/{source_id}/sign-in",
    summary="Sign out of a ticket source",
    response_model=None,
    responses={
        **answers(200, "Its token is gone", TicketSourceRemoved),
        **problems("not-found", "conflict"),
    },
)
def end_source_sign_in(source_id: SourceId, caller: Admin, services: Services) -> Response:
    """Forget the token, and the sign-in under way."""
    services.ticket_sources.sign_out(caller, source_id)
    return answer({"id": source_id})


@routes.get(
    "/v1/ticket-sources/{source_id}/events",
    dependencies=[Depends(any_query)],
    summary="Say that a source's webhooks arrive here",
    response_model=None,
    responses={
        **answers(200, "Yes", WebhookExpected),
        **problems("not-found", "validation-failed", "rate-limited", public=True),
    },
)
def confirm_ticket_webhook(source_id: SourceId, services: Services) -> Response:
    """Answer a help desk that looks whether anybody is there before it sends. Needs no key."""
    services.receive_events.check(source_id)
    return answer({"status": "ok"})


@routes.post(
    "/v1/ticket-sources/{source_id}/events",
    dependencies=[Depends(any_query)],
    summary="Take a help desk's webhook",
    response_model=None,
    responses={
        **answers(200, "What it brought", EventsTaken | ChallengeAnswered),
        **problems(
            "unauthenticated", "not-found", "conflict", "validation-failed", "too-large",
            "rate-limited", public=True,
        ),
    },
)  # fmt: skip
def receive_ticket_webhook(
    source_id: SourceId,
    services: Services,
    received: Annotated[Delivered, Depends(delivered)],
) -> Response:
    """Take a delivery in. Who sends it is proved by its signature, not by a key of ours.

    A challenge (of Slack, which looks whether anybody is there) is answered by itself.
    """
    taken = services.receive_events(source_id, received)
    if taken.challenge is not None:
        return answer({"challenge": taken.challenge})
    return answer(taken)


def _shown(source: TicketSource) -> dict[str, Any]:
    shown = {name: getattr(source, name) for name in TicketSource.__dataclass_fields__}
    return {**shown, "events_path": f"/v1/ticket-sources/{source.id}/events"}
