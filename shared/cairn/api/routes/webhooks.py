"""Webhooks: who is told of what happens, and how the telling went. An admin's routes."""

from dataclasses import asdict, dataclass
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import Admin, Services
from cairn.api.documentation import ListOf, answers, problems
from cairn.api.fields import Body
from cairn.api.routing import router
from cairn.webhooks.webhooks import MAX_URL_CHARS, DeliveryView, NewWebhook, Webhook
from cairn.writing.webhook_events import WebhookEvent

routes = router("webhooks")

WebhookId = Annotated[UUID, Path(description="The webhook's id.")]


@dataclass(frozen=True, slots=True, kw_only=True)
class WebhookWithSecret(Webhook):
    """A new webhook, with the secret that signs its deliveries: it is in this answer only."""

    secret: str


class WebhookRemoved(TypedDict):
    """The webhook that is gone."""

    id: UUID


class WebhookIn(Body):
    """Where to, and of what; of everything unless said."""

    url: Annotated[str, Field(min_length=1, max_length=MAX_URL_CHARS)]
    events: Annotated[list[Annotated[WebhookEvent, Field(strict=False)]], Field(max_length=20)] = (
        Field(default_factory=lambda: list(WebhookEvent))
    )


@routes.post(
    "/v1/webhooks",
    summary="Make a webhook",
    status_code=201,
    response_model=None,
    responses={**answers(201, "It is told from now on", WebhookWithSecret), **problems(body=True)},
)
def create_webhook(body: WebhookIn, caller: Admin, services: Services) -> Response:
    """Tell an address of what happens. The secret that signs each delivery is shown this once."""
    created = services.webhooks.create(caller, NewWebhook(url=body.url, events=tuple(body.events)))
    return answer({**_shown(created.webhook), "secret": created.secret}, status=201)


@routes.get(
    "/v1/webhooks",
    summary="List webhooks",
    response_model=None,
    responses={**answers(200, "Every webhook, newest first", ListOf[Webhook]), **problems()},
)
def list_webhooks(caller: Admin, services: Services) -> Response:
    """List webhooks with what waits and what failed; never their secrets."""
    return answer({"items": [_shown(item) for item in services.webhooks.all(caller)]})


@routes.delete(
    "/v1/webhooks/{webhook_id}",
    summary="Remove a webhook",
    response_model=None,
    responses={**answers(200, "It is told nothing more", WebhookRemoved), **problems("not-found")},
)
def remove_webhook(webhook_id: WebhookId, caller: Admin, services: Services) -> Response:
    """Remove a webhook with its deliveries."""
    services.webhooks.remove(caller, webhook_id)
    return answer({"id": webhook_id})


@routes.get(
    "/v1/webhooks/{webhook_id}/deliveries",
    summary="List the newest deliveries of a webhook",
    response_model=None,
    responses={**answers(200, "The newest hundred", ListOf[DeliveryView]), **problems("not-found")},
)
def list_webhook_deliveries(webhook_id: WebhookId, caller: Admin, services: Services) -> Response:
    """List deliveries: waiting, delivered or failed, with the last answer's status."""
    deliveries = services.webhooks.deliveries(caller, webhook_id)
    return answer({"items": [asdict(item) for item in deliveries]})


def _shown(webhook: Webhook) -> dict[str, Any]:
    return asdict(webhook)
