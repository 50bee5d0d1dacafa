"""Where a member's contacts are read from: calendars, kept, read now, read no more.

An address opens what it leads to, so it is a secret: no page shows it again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.discovery.acting import OWN, member_of, of_member
from cairn.api.console.forms import Form, checked, refused_deed
from cairn.api.console.guard import Visitor, form_from, id_of, require_meant
from cairn.api.console.routes import Body, ConsoleRoute, Reader
from cairn.api.routes.contacts import IntegrationIn
from cairn.discovery.contacts.bring import KINDS
from cairn.kernel.errors import CairnError, Conflict, NotFound, ValidationFailed

if TYPE_CHECKING:
    from cairn.discovery.contacts.bring import ContactsImported
    from cairn.kernel.access import Principal

INTEGRATIONS = OWN + "/integrations"
ADDRESS = "secrets.address"
"""The field of the address; what is named so is never shown again."""
FIELDS = (ADDRESS, "address", "own_addresses", "meant")
DONE = {
    "added": "It is kept. It is read when you say so.",
    "removed": "It is read no more. Contacts that came of it stay.",
}

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(INTEGRATIONS)
def show_integrations(request: Request, visitor: Reader) -> Response:
    """Show where contacts are read from, and how it went last."""
    return _integrations(request, visitor, member_of(visitor))


@routes.post(INTEGRATIONS)
def add(request: Request, body: Body) -> Response:
    """Keep the address of a calendar."""
    visitor, form = form_from(request, body)
    member = member_of(visitor)
    own = form.get("own_addresses", "").replace(",", " ").split()
    values = {"kind": KINDS[0], "address": form.get(ADDRESS, "").strip(), "own_addresses": own}
    try:
        new = checked(IntegrationIn, values)
        visitor.services.integrations.add(
            member, new.kind, new.address, own_addresses=new.own_addresses
        )
    except (Conflict, ValidationFailed) as error:
        return _integrations(request, visitor, member, **refused_deed(form, error, "address"))
    return pages.go_to(f"{INTEGRATIONS}?done=added")


@routes.get(INTEGRATIONS + "/{integration_id}/sync")
def lead_to_integrations(visitor: Reader, integration_id: str) -> Response:
    """Lead who comes back to what a calendar came to, to the list."""
    return pages.go_to(f"{INTEGRATIONS}#{id_of(integration_id)}")


@routes.post(INTEGRATIONS + "/{integration_id}/sync")
def sync(request: Request, body: Body, integration_id: str) -> Response:
    """Read it now, and say what became of the people, or why it could not be read."""
    (visitor, _), id_ = form_from(request, body), id_of(integration_id)
    member = member_of(visitor)
    try:
        done = visitor.services.integrations.sync(member, id_)
    except NotFound:
        raise
    except CairnError as error:
        return _integrations(request, visitor, member, wrong=error.detail, status=422)
    return _integrations(request, visitor, member, imported=done)


@routes.post(INTEGRATIONS + "/{integration_id}/remove")
def remove(request: Request, body: Body, integration_id: str) -> Response:
    """Read from there no more; that is meant."""
    (visitor, form), id_ = form_from(request, body), id_of(integration_id)
    member = member_of(visitor)
    try:
        require_meant(form)
    except ValidationFailed as error:
        return _integrations(request, visitor, member, wrong=error.detail, status=422)
    visitor.services.integrations.remove(member, id_)
    return pages.go_to(f"{INTEGRATIONS}?done=removed")


def _integrations(
    request: Request,
    visitor: Visitor,
    member: Principal,
    *,
    form: Form | None = None,
    imported: ContactsImported | None = None,
    wrong: str = "",
    status: int = 200,
) -> Response:
    return of_member(
        request,
        visitor,
        "integrations.html",
        member,
        status=status,
        integrations=visitor.services.integrations.all(member),
        imported=imported,
        passing=imported is not None,
        wrong=wrong,
        form=form or Form(),
        fields=FIELDS,
        done=DONE.get(request.query_params.get("done", ""), ""),
    )
