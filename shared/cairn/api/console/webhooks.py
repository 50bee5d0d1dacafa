"""The page of webhooks: who is told of what happens, and who writes memories from outside.

A secret is shown once, where it is made.
"""

from typing import Any

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.forms import Form, checked, refused_deed, wrong_field
from cairn.api.console.guard import Visitor, form_from, id_of, require_meant
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.api.routes.incoming_webhooks import IncomingWebhookIn
from cairn.api.routes.webhooks import WebhookIn
from cairn.kernel.access import Scope
from cairn.kernel.errors import Conflict, ValidationFailed
from cairn.kernel.records import convert
from cairn.webhooks.incoming import NewIncomingWebhook
from cairn.webhooks.webhooks import NewWebhook
from cairn.writing.webhook_events import WebhookEvent

WEBHOOKS, INCOMING = "/console/webhooks", "/console/webhooks/incoming"
DONE = {"removed": "It is gone."}

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(WEBHOOKS)
def show_webhooks(request: Request, visitor: Reader) -> Response:
    """Show both kinds."""
    return _page(request, visitor, done=DONE.get(request.query_params.get("done", ""), ""))


@routes.post(WEBHOOKS)
def make_webhook(request: Request, body: Body) -> Response:
    """Tell an address of what happens; its secret is shown this once."""
    visitor, form = form_from(request, body)
    events = [each.value for each in WebhookEvent if form.get(f"event_{each.value}") == "yes"]
    try:
        if not events:
            raise wrong_field("events", "are needed, one at least")
        new = checked(WebhookIn, {"url": form.get("url", "").strip(), "events": events})
        created = visitor.services.webhooks.create(
            visitor.principal, NewWebhook(url=new.url, events=tuple(new.events))
        )
    except (Conflict, ValidationFailed) as error:
        return _page(request, visitor, **refused_deed(form, error, "url"))
    secret = (created.webhook.url, "", created.secret)
    return _page(request, visitor, secret=secret, status=201)


@routes.post(INCOMING)
def make_incoming(request: Request, body: Body) -> Response:
    """Let a service write memories; its secret is shown this once."""
    visitor, form = form_from(request, body)
    values = {name: form.get(name, "").strip() or None for name in ("name", "client_id")}
    try:
        new = checked(IncomingWebhookIn, {**values, "scope": form.get("scope", "")})
        created = visitor.services.incoming_webhooks.create(
            visitor.principal, convert(new, NewIncomingWebhook)
        )
    except (Conflict, ValidationFailed) as error:
        return _page(request, visitor, **refused_deed(form, error, "name"))
    return _secret(request, visitor, created)


@routes.post(INCOMING + "/{webhook_id}/rotate")
def rotate_incoming(request: Request, webhook_id: str, body: Body) -> Response:
    """Give one a new secret; the one before is good for a day more."""
    visitor, _ = form_from(request, body)
    created = visitor.services.incoming_webhooks.rotate(visitor.principal, id_of(webhook_id))
    return _secret(request, visitor, created)


@routes.post(INCOMING + "/{webhook_id}/remove")
def remove_incoming(request: Request, webhook_id: str, body: Body) -> Response:
    """Take a service's right to write; what it wrote stays."""
    visitor, form = form_from(request, body)
    require_meant(form)
    visitor.services.incoming_webhooks.remove(visitor.principal, id_of(webhook_id))
    return pages.go_to(f"{WEBHOOKS}?done=removed")


@routes.get(WEBHOOKS + "/{webhook_id}")
def show_deliveries(request: Request, visitor: Reader, webhook_id: str) -> Response:
    """Show how the newest deliveries of one went."""
    id_ = id_of(webhook_id)
    deliveries = visitor.services.webhooks.deliveries(visitor.principal, id_)
    webhooks = visitor.services.webhooks.all(visitor.principal)
    return shown(
        request,
        visitor,
        "deliveries.html",
        webhook=next(each for each in webhooks if each.id == id_),
        deliveries=deliveries,
    )


@routes.post(WEBHOOKS + "/{webhook_id}/remove")
def remove_webhook(request: Request, webhook_id: str, body: Body) -> Response:
    """Tell an address nothing more; its deliveries go."""
    visitor, form = form_from(request, body)
    require_meant(form)
    visitor.services.webhooks.remove(visitor.principal, id_of(webhook_id))
    return pages.go_to(f"{WEBHOOKS}?done=removed")


def _secret(request: Request, visitor: Visitor, created: Any) -> Response:
    base = str(request.base_url).rstrip("/")
    path = f"{base}/v1/incoming-webhooks/{created.webhook.id}/memories"
    secret = (created.webhook.name, path, created.secret)
    return _page(request, visitor, secret=secret, status=201)


def _page(
    request: Request,
    visitor: Visitor,
    *,
    done: str = "",
    form: Form | None = None,
    secret: tuple[str, str, str] | None = None,
    status: int = 200,
) -> Response:
    """`secret` is whose it is, where their deliveries go to, and the secret."""
    return shown(
        request,
        visitor,
        "webhooks.html",
        status=status,
        webhooks=visitor.services.webhooks.all(visitor.principal),
        incoming=visitor.services.incoming_webhooks.all(visitor.principal),
        events=[each.value for each in WebhookEvent],
        scopes=[each.value for each in Scope],
        form=form or Form(),
        secret=secret,
        done=done,
        fields=("url", "events", "name", "client_id", "scope"),
        base=str(request.base_url).rstrip("/"),
    )
