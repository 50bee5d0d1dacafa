"""Incoming webhooks: services outside that write memories. An admin's routes, but one."""

from dataclasses import dataclass
from typing import Annotated, Any
from uuid import UUID

from fastapi import Depends, Path, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import TypeAdapter, ValidationError
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.batches import BatchOf
from cairn.api.dependencies import Admin, Services
from cairn.api.documentation import ListOf, answers, problems
from cairn.api.fields import Body, Name, ScopeName
from cairn.api.routes.memories import (
    MemoryBatch,
    MemoryIn,
    MemoryItemResult,
    MemoryResult,
    OneOrMany,
    remember_all,
)
from cairn.api.routing import require_json, router
from cairn.api.strict_json import parse
from cairn.kernel.access import Scope
from cairn.kernel.records import convert
from cairn.webhooks.incoming import IncomingWebhook, IncomingWebhookMade, NewIncomingWebhook

routes = router("webhooks")

WebhookId = Annotated[UUID, Path(description="The incoming webhook's id.")]
_BODY: TypeAdapter[MemoryIn | MemoryBatch] = TypeAdapter(OneOrMany)
_REF = "#/components/schemas/"


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingWebhookView(IncomingWebhook):
    """A service that writes memories; its deliveries go to `memories_path`."""

    memories_path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IncomingWebhookWithSecret(IncomingWebhookView):
    """One with its new secret: it is in this answer only."""

    secret: str


class IncomingWebhookRemoved(TypedDict):
    """The incoming webhook that is gone."""

    id: UUID


class IncomingWebhookIn(Body):
    """Who will write, whose memories they are, and who may see them."""

    name: Name
    client_id: Name | None = None
    scope: ScopeName = Scope.ADMIN


@dataclass(frozen=True, slots=True)
class Delivery:
    """A delivery as it came: its signature covers exactly these bytes."""

    headers: dict[str, str]
    body: bytes


async def delivery(request: Request) -> Delivery:
    """Return the delivery of a request that says it is JSON."""
    require_json(request)
    headers = {name.lower(): value for name, value in request.headers.items()}
    return Delivery(headers, await request.body())


@routes.post(
    "/v1/incoming-webhooks",
    summary="Make an incoming webhook",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "It may write from now on", IncomingWebhookWithSecret),
        **problems(body=True),
    },
)
def create_incoming_webhook(body: IncomingWebhookIn, caller: Admin, services: Services) -> Response:
    """Let a service write memories. The secret that it signs them with is shown this once."""
    created = services.incoming_webhooks.create(caller, convert(body, NewIncomingWebhook))
    return answer(_with_secret(created), status=201)


@routes.get(
    "/v1/incoming-webhooks",
    summary="List incoming webhooks",
    response_model=None,
    responses={
        **answers(200, "Every one, newest first", ListOf[IncomingWebhookView]),
        **problems(),
    },
)
def list_incoming_webhooks(caller: Admin, services: Services) -> Response:
    """List the services that may write memories, without their secrets."""
    return answer({"items": [_shown(item) for item in services.incoming_webhooks.all(caller)]})


@routes.post(
    "/v1/incoming-webhooks/{incoming_id}/rotate",
    summary="Give an incoming webhook a new secret",
    response_model=None,
    responses={
        **answers(200, "The new secret", IncomingWebhookWithSecret),
        **problems("not-found"),
    },
)
def rotate_incoming_webhook(incoming_id: WebhookId, caller: Admin, services: Services) -> Response:
    """Make a new secret. The one before is good for 24 hours more; again, and it is not."""
    return answer(_with_secret(services.incoming_webhooks.rotate(caller, incoming_id)))


@routes.delete(
    "/v1/incoming-webhooks/{incoming_id}",
    summary="Remove an incoming webhook",
    response_model=None,
    responses={
        **answers(200, "It writes no more", IncomingWebhookRemoved),
        **problems("not-found"),
    },
)
def remove_incoming_webhook(incoming_id: WebhookId, caller: Admin, services: Services) -> Response:
    """Take a service's right to write. What it wrote stays."""
    services.incoming_webhooks.remove(caller, incoming_id)
    return answer({"id": incoming_id})


@routes.post(
    "/v1/incoming-webhooks/{incoming_id}/memories",
    summary="Take a signed delivery of memories",
    response_model=None,
    responses={
        **answers(200, "What became of them", MemoryResult | BatchOf[MemoryItemResult]),
        **answers(201, "The memory is new, or it superseded another", MemoryResult),
        **problems(
            "unauthenticated",
            "denied",
            "not-found",
            "conflict",
            "rate-limited",
            body=True,
            public=True,
        ),
    },
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {
                        "anyOf": [{"$ref": f"{_REF}{kind}"} for kind in ("MemoryIn", "MemoryBatch")]
                    }
                }
            },
        }
    },
)
def receive_memories(
    incoming_id: WebhookId,
    services: Services,
    received: Annotated[Delivery, Depends(delivery)],
) -> Response:
    """Remember what a service sends: a body of `POST /v1/memories`, signed, with no key of ours."""
    caller, idempotency = services.memory_deliveries(incoming_id, received.headers, received.body)
    try:
        body = _BODY.validate_python(parse(received.body))
    except ValidationError as exc:
        errors = exc.errors(include_url=False, include_input=False)
        located = [{**error, "loc": ("body", *error["loc"])} for error in errors]
        raise RequestValidationError(located) from exc
    return remember_all(services, caller, body, idempotency)


def _shown(webhook: IncomingWebhook) -> dict[str, Any]:
    shown = {name: getattr(webhook, name) for name in IncomingWebhook.__dataclass_fields__}
    return {**shown, "memories_path": f"/v1/incoming-webhooks/{webhook.id}/memories"}


def _with_secret(created: IncomingWebhookMade) -> dict[str, Any]:
    return {**_shown(created.webhook), "secret": created.secret}
