"""The page of directories: their tokens, and which of their groups give which role.

Owners make tokens; a token is shown once, where it is made.
"""

from typing import Any

from fastapi import APIRouter, Request, Response

from cairn.accounts.scim import MAX_DAYS, MAX_PAGE
from cairn.api.console import pages
from cairn.api.console.forms import Form, number_of, refused_deed, wrong_field
from cairn.api.console.guard import Visitor, form_from, id_of, require_meant
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.kernel.access import PersonRole, Role
from cairn.kernel.errors import Denied, ValidationFailed

SCIM = "/console/scim"
DONE = {
    "revoked": "The token opens nothing any more.",
    "role": "The role holds from now on, for everybody in the group.",
}

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(SCIM)
def show_scim(request: Request, visitor: Reader) -> Response:
    """Show tokens and groups, or that the edition has none."""
    visitor.principal.require(Role.ADMIN)
    return _page(request, visitor, done=DONE.get(request.query_params.get("done", ""), ""))


@routes.post(SCIM)
def make_token(request: Request, body: Body) -> Response:
    """Make a token, which is shown this once."""
    visitor, form = form_from(request, body)
    try:
        created = visitor.services.scim.make(
            visitor.principal, name=form.get("name", ""), days=_days(form.get("days", "").strip())
        )
    except ValidationFailed as error:
        return _page(request, visitor, **refused_deed(form, error, "name"))
    return _page(request, visitor, secret=(created.token.name, created.secret), status=201)


@routes.post(SCIM + "/{token_id}/revoke")
def revoke_token(request: Request, token_id: str, body: Body) -> Response:
    """Revoke a token; the form says that it is meant."""
    visitor, form = form_from(request, body)
    require_meant(form)
    visitor.services.scim.revoke(visitor.principal, id_of(token_id))
    return pages.go_to(f"{SCIM}?done=revoked")


@routes.post(SCIM + "/groups/{group_id}")
def give_role(request: Request, group_id: str, body: Body) -> Response:
    """Let a group give a role, or none."""
    visitor, form = form_from(request, body)
    text = form.get("role", "")
    role = pages.choice(PersonRole, text) if text else None
    visitor.services.scim.give(visitor.principal, id_of(group_id), role)
    return pages.go_to(f"{SCIM}?done=role")


def _days(text: str) -> int | None:
    days = number_of(text)
    if text and not (days and days <= MAX_DAYS):
        raise wrong_field("days", f"is a number from 1 to {MAX_DAYS}, or empty")
    return days


def _page(
    request: Request,
    visitor: Visitor,
    *,
    done: str = "",
    form: Form | None = None,
    secret: tuple[str, str] | None = None,
    status: int = 200,
) -> Response:
    """`secret` is the name of a token and its text."""
    scim, refusal = visitor.services.scim, ""
    values: dict[str, Any] = {"tokens": (), "groups": ()}
    try:
        values = {
            "tokens": scim.tokens(visitor.principal),
            "groups": scim.groups(visitor.principal),
        }
    except Denied as error:
        refusal = error.detail
    owns = visitor.session.role is PersonRole.OWNER
    return shown(
        request,
        visitor,
        "scim.html",
        status=status,
        **values,
        refusal=refusal,
        owns=owns,
        roles=[role.value for role in PersonRole if owns or role is not PersonRole.OWNER],
        most=MAX_PAGE,
        form=form or Form(),
        secret=secret,
        done=done,
        address=f"{str(request.base_url).rstrip('/')}/scim/v2",
    )
