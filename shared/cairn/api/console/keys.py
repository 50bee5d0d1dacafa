"""The page of keys: made and shown once, replaced, revoked; what each may, and when it was used.

Owners make keys; the use cases and the database hold to it.
"""

from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Request, Response

from cairn.api.console import pages
from cairn.api.console.forms import Form, checked, number_of, refused_form
from cairn.api.console.guard import Visitor, form_from
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.api.routes.keys import KeyIn
from cairn.kernel.access import PersonRole, Role, Scope
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import Conflict, FieldError, NotFound, ValidationFailed
from cairn.reading.views import KeyCreated, NewKey

KEYS = "/console/keys"
DONE = {"revoked": "The key opens nothing any more."}
FIELDS = ("name", "role", "scopes", "agent", "client_id", "tools", "days")
MOST_DAYS = 3_650
KeyId = Annotated[UUID, Path()]

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(KEYS)
def show_keys(request: Request, visitor: Reader) -> Response:
    """Show every key of the workspace, without secrets."""
    return _page(request, visitor, done=DONE.get(request.query_params.get("done", ""), ""))


@routes.post(KEYS)
def make_key(request: Request, body: Body) -> Response:
    """Make a key and show it, this once."""
    visitor, form = form_from(request, body)
    try:
        created = visitor.services.create_key(visitor.principal, _new_key(form))
    except (Conflict, ValidationFailed) as error:
        return _page(request, visitor, form=refused_form(form, error, "name"), status=422)
    return _page(request, visitor, created=created, status=201)


@routes.post(KEYS + "/{key_id}/replace")
def replace_key(request: Request, key_id: KeyId, body: Body) -> Response:
    """Make a key like another one and show it; the other is good until it is revoked."""
    visitor, _ = form_from(request, body)
    every = visitor.services.list_keys(visitor.principal)
    key = next((each for each in every if each.id == key_id), None)
    if key is None:
        raise NotFound("There is no such key.", key_id=str(key_id))
    new = NewKey(
        name=key.name,
        role=key.role,
        scopes=frozenset(key.scopes),
        agent_slug=key.agent_slug,
        tools=None if key.tools is None else frozenset(key.tools),
        client_id=key.client_id,
        agent=key.agent,
        person=key.person and key.role is not Role.ADMIN,
        token_subject=key.token_subject,
    )
    created = visitor.services.create_key(visitor.principal, new)
    return _page(request, visitor, created=created, status=201)


@routes.post(KEYS + "/{key_id}/revoke")
def revoke_key(request: Request, key_id: KeyId, body: Body) -> Response:
    """Let a key open nothing any more; the form says that it is meant."""
    visitor, form = form_from(request, body)
    if form.get("meant") != "yes":
        raise ValidationFailed("Say that the key is to open nothing: tick the box.")
    visitor.services.revoke_key(visitor.principal, key_id)
    return pages.go_to(f"{KEYS}?done=revoked")


def _new_key(form: dict[str, str]) -> NewKey:
    """Return the key that a form asks for; ValidationFailed names each field that is wrong."""
    scopes = [scope for scope in Scope if form.get(f"scope_{scope.value}") == "yes"]
    role, agent = form.get("role", ""), form.get("agent", "").strip() or None
    own_memory = role == Role.PUBLIC.value
    days = form.get("days", "").strip()
    values = {
        "name": form.get("name", ""),
        "role": role,
        "scopes": scopes or None,
        "agent_slug": agent if own_memory else None,
        "agent": agent,
        "tools": form.get("tools", "").split() or None,
        "client_id": form.get("client_id", "").strip() or None,
        "expires_at": _ends(days) if days else None,
    }
    return checked(KeyIn, values).record()


def _ends(days: str) -> str:
    """Return when a key ends, as the API takes it."""
    number = number_of(days)
    if not number or number > MOST_DAYS:
        message = f"is 1 to {MOST_DAYS}, or empty for a key that does not end"
        raise ValidationFailed(f"days {message}.", errors=[FieldError("days", message)])
    return (utc_now() + timedelta(days=number)).isoformat()


def _page(
    request: Request,
    visitor: Visitor,
    *,
    done: str = "",
    form: Form | None = None,
    created: KeyCreated | None = None,
    status: int = 200,
) -> Response:
    values: dict[str, Any] = {
        "keys": visitor.services.list_keys(visitor.principal),
        "makes": visitor.session.role is PersonRole.OWNER,
        "roles": list(Role),
        "scopes": list(Scope),
        "fields": FIELDS,
        "form": form or Form(),
        "created": created,
        "done": done,
    }
    return shown(request, visitor, "keys.html", status=status, **values)
