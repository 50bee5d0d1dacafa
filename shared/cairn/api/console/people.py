"""The page of people: who signs in, invited by a link, changed, signed out, removed.

Who may is decided by the use cases and the database; the page shows what somebody could press.
"""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Request, Response

from cairn.accounts.people import PersonLink, PersonView
from cairn.api.console import pages
from cairn.api.console.forms import Form, refused_form
from cairn.api.console.guard import Visitor, form_from
from cairn.api.console.routes import Body, ConsoleRoute, Reader, shown
from cairn.api.routes.persons import LINK_PATH
from cairn.kernel.access import PersonRole
from cairn.kernel.errors import Conflict, FieldError, ValidationFailed

PEOPLE = "/console/people"
DONE = {
    "changed": "The change holds from now on.",
    "signed-out": "They are signed out everywhere.",
    "tied": "They see and do under For you what that member may.",
    "untied": "They are that member no more, who stays as they were.",
    "removed": "They are gone, with their password and sessions.",
}
PersonId = Annotated[UUID, Path()]

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(PEOPLE)
def show_people(request: Request, visitor: Reader) -> Response:
    """Show everybody who may sign in."""
    done = DONE.get(request.query_params.get("done", ""), "")
    return _page(request, visitor, done=done)


@routes.post(PEOPLE)
def invite(request: Request, body: Body) -> Response:
    """Let somebody sign in, and show their first link, this once."""
    visitor, form = form_from(request, body)
    login, name = form.get("login", ""), form.get("name", "")
    try:
        link = visitor.services.people.add(
            visitor.principal, login=login, name=name or login, role=_role(form.get("role", ""))
        )
    except (Conflict, ValidationFailed) as error:
        wrong = refused_form(form, error, "login")
        status = 409 if isinstance(error, Conflict) else 422
        return _page(request, visitor, invitation=wrong, status=status)
    return _page(request, visitor, link=link, status=201)


@routes.post(PEOPLE + "/{person_id}/link")
def make_link(request: Request, person_id: PersonId, body: Body) -> Response:
    """Show a new link for somebody, this once."""
    visitor, _ = form_from(request, body)
    link = visitor.services.people.link(visitor.principal, person_id)
    return _page(request, visitor, link=link, status=201)


@routes.post(PEOPLE + "/{person_id}/change")
def change(request: Request, person_id: PersonId, body: Body) -> Response:
    """Change a role, or whether somebody may sign in, as the person who asks has seen them."""
    visitor, form = form_from(request, body)
    disabled = {"yes": True, "no": False}.get(form.get("disabled", ""))
    role = _role(form["role"]) if "role" in form else None
    visitor.services.people.change(
        visitor.principal, person_id, role=role, disabled=disabled, seen=_seen(form)
    )
    return pages.go_to(f"{PEOPLE}?done=changed")


@routes.post(PEOPLE + "/{person_id}/tie")
def tie(request: Request, person_id: PersonId, body: Body) -> Response:
    """Say which member of networks somebody is."""
    visitor, form = form_from(request, body)
    client_id = form.get("client_id", "").strip()
    visitor.services.people.tie(visitor.principal, person_id, client_id=client_id)
    return pages.go_to(f"{PEOPLE}?done=tied")


@routes.post(PEOPLE + "/{person_id}/untie")
def untie(request: Request, person_id: PersonId, body: Body) -> Response:
    """Let somebody be no member of networks."""
    visitor, _ = form_from(request, body)
    visitor.services.people.untie(visitor.principal, person_id)
    return pages.go_to(f"{PEOPLE}?done=untied")


@routes.post(PEOPLE + "/{person_id}/sign-out")
def sign_out(request: Request, person_id: PersonId, body: Body) -> Response:
    """End every session of somebody."""
    visitor, _ = form_from(request, body)
    visitor.services.people.sign_out(visitor.principal, person_id)
    return pages.go_to(f"{PEOPLE}?done=signed-out")


@routes.post(PEOPLE + "/{person_id}/remove")
def remove(request: Request, person_id: PersonId, body: Body) -> Response:
    """Take somebody out; the form says that it is meant."""
    visitor, form = form_from(request, body)
    if form.get("meant") != "yes":
        raise ValidationFailed("Say that they are to be removed: tick the box.")
    visitor.services.people.remove(visitor.principal, person_id, seen=_seen(form))
    return pages.go_to(f"{PEOPLE}?done=removed")


def _page(
    request: Request,
    visitor: Visitor,
    *,
    done: str = "",
    invitation: Form | None = None,
    link: PersonLink | None = None,
    status: int = 200,
) -> Response:
    people = visitor.services.people.all(visitor.principal)
    url = f"{str(request.base_url).rstrip('/')}{LINK_PATH}{link.token}" if link else ""
    values: dict[str, Any] = {
        "people": people,
        "roles": [role for role in PersonRole if _over(visitor, role)],
        "changeable": {each.id for each in people if _over(visitor, each.role)},
        "last_owner": _last_owner(people),
        "invitation": invitation or Form(),
        "link": link,
        "url": url,
        "done": done,
    }
    return shown(request, visitor, "people.html", status=status, **values)


def _over(visitor: Visitor, role: PersonRole) -> bool:
    """Return whether the visitor decides about people of a role."""
    return role is not PersonRole.OWNER or visitor.session.role is PersonRole.OWNER


def _last_owner(people: tuple[PersonView, ...]) -> UUID | None:
    owners = [
        each.id for each in people if each.role is PersonRole.OWNER and each.disabled_at is None
    ]
    return owners[0] if len(owners) == 1 else None


def _role(text: str) -> PersonRole:
    try:
        return PersonRole(text)
    except ValueError as error:
        message = f"is one of {', '.join(PersonRole)}"
        raise ValidationFailed(f"role {message}.", errors=[FieldError("role", message)]) from error


def _seen(form: dict[str, str]) -> datetime | None:
    """Return when the person was changed last, as the form's sender saw them."""
    if "seen" not in form:
        return None
    try:
        return datetime.fromisoformat(form["seen"])
    except ValueError as error:
        raise ValidationFailed("seen is no time.") from error
