"""A member's own contacts: found, added, brought in by a file, invited, taken away.

Nobody else is shown them, and nobody is written to: an invite is sent by the member.
"""

from pathlib import PurePath
from typing import Any

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.discovery.acting import OWN, member_of, of_member
from cairn.api.console.files import FileForm, Sent
from cairn.api.console.forms import Form, checked, refused_deed, wrong_field
from cairn.api.console.guard import Visitor, form_from, id_of, require_meant
from cairn.api.console.routes import Body, ConsoleRoute, Reader
from cairn.api.routes.contacts import MOST_QUERY_CHARS, ContactImportIn, ContactIn
from cairn.discovery.contacts.bring import FORMATS, ContactsImported
from cairn.discovery.contacts.draft import MOST_CHARS, Contact
from cairn.discovery.contacts.formats import ENDINGS
from cairn.discovery.contacts.inviting import ContactInvited
from cairn.kernel.access import Principal
from cairn.kernel.errors import Conflict, Denied, FieldError, ValidationFailed
from cairn.kernel.records import convert

CONTACTS = OWN + "/contacts"
SHOWN = 25
BY_NAME = "by its name"
TEXTS = tuple(MOST_CHARS)
FIELDS = (*TEXTS, "file", "text", "format", "own_addresses", "network_id", "meant")
DONE = {
    "added": "They are among your contacts.",
    "removed": "They are no longer among your contacts.",
}

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@routes.get(CONTACTS)
def show_contacts(request: Request, visitor: Reader) -> Response:
    """Show the member's contacts, the newest first, or those that have every word."""
    return _contacts(request, visitor, member_of(visitor))


@routes.post(CONTACTS)
def add(request: Request, body: Body) -> Response:
    """Add somebody, or change what is held of who has the address."""
    visitor, form = form_from(request, body)
    member = member_of(visitor)
    try:
        view = visitor.services.contacts.add(member, _contact(form))
    except (Conflict, ValidationFailed) as error:
        return _contacts(request, visitor, member, **refused_deed(form, error, "name"))
    return pages.go_to(f"{CONTACTS}/{view.id}?done=added")


@routes.post(CONTACTS + "/import")
def bring(request: Request, sent: FileForm) -> Response:
    """Take the people of a file in, and say what became of them."""
    visitor = sent.visitor(request)
    member = member_of(visitor)
    try:
        new = _import(sent)
        done = visitor.services.import_contacts(
            member, new.format, new.text, own_addresses=new.own_addresses
        )
    except (Conflict, ValidationFailed) as error:
        return _contacts(request, visitor, member, **refused_deed(sent.fields, error, "file"))
    return _contacts(request, visitor, member, imported=done)


@routes.get(CONTACTS + "/import")
def lead_to_contacts(visitor: Reader) -> Response:
    """Lead who comes back to what a file came to, to the contacts."""
    return pages.go_to(CONTACTS)


@routes.get(CONTACTS + "/{contact_id}/invite")
def lead_to_contact(visitor: Reader, contact_id: str) -> Response:
    """Lead who comes back to an invite, which is shown once, to the contact."""
    return pages.go_to(f"{CONTACTS}/{id_of(contact_id)}")


@routes.get(CONTACTS + "/{contact_id}")
def show_contact(request: Request, visitor: Reader, contact_id: str) -> Response:
    """Show one: what is held of them, and what can be done."""
    return _contact_page(request, visitor, contact_id)


@routes.post(CONTACTS + "/{contact_id}/remove")
def remove(request: Request, body: Body, contact_id: str) -> Response:
    """Take one away; that is meant."""
    (visitor, form), id_ = form_from(request, body), id_of(contact_id)
    member = member_of(visitor)
    try:
        require_meant(form)
    except ValidationFailed as error:
        return _contact_page(request, visitor, contact_id, **refused_deed(form, error, "meant"))
    visitor.services.contacts.remove(member, id_)
    return pages.go_to(f"{CONTACTS}?done=removed")


@routes.post(CONTACTS + "/{contact_id}/invite")
def invite(request: Request, body: Body, contact_id: str) -> Response:
    """Make an invite for one, and show its link, this once."""
    (visitor, form), id_ = form_from(request, body), id_of(contact_id)
    member = member_of(visitor)
    try:
        network_id = id_of(form.get("network_id", ""))
        invited = visitor.services.invite_contact(member, id_, network_id)
    except (Conflict, ValidationFailed) as error:
        refused = refused_deed(form, error, "network_id")
        return _contact_page(request, visitor, contact_id, **refused)
    except Denied as error:
        refused_form = Form(values=form, wrong=(FieldError("network_id", error.detail),))
        return _contact_page(request, visitor, contact_id, form=refused_form, status=403)
    return _contact_page(request, visitor, contact_id, invited=invited, status=201)


def _contact(form: dict[str, str]) -> Contact:
    """Return the contact that a form describes; ValidationFailed names each wrong field."""
    texts = {name: form.get(name, "").replace("\r\n", "\n").strip() or None for name in TEXTS}
    return convert(checked(ContactIn, texts | {"name": texts["name"] or ""}), Contact)


def _import(sent: Sent) -> ContactImportIn:
    """Return what a form with a file asks for; ValidationFailed names each wrong field."""
    kind, text = sent.fields.get("format", BY_NAME), sent.text()
    if not sent.name or not text.strip():
        raise wrong_field("file", "is missing, or empty")
    if kind == BY_NAME:
        kind = ENDINGS.get(PurePath(sent.name).suffix.lower(), "")
    if kind not in FORMATS:
        raise wrong_field("format", f"is not told by the file's name; choose {', '.join(FORMATS)}")
    own = sent.fields.get("own_addresses", "").replace(",", " ").split()
    return checked(ContactImportIn, {"format": kind, "text": text, "own_addresses": own})


def _contacts(
    request: Request,
    visitor: Visitor,
    member: Principal,
    *,
    form: Form | None = None,
    imported: ContactsImported | None = None,
    status: int = 200,
) -> Response:
    contacts, query = visitor.services.contacts, request.query_params
    q, before = query.get("q", "").strip()[:MOST_QUERY_CHARS], query.get("before")
    if q:
        listed: dict[str, Any] = {
            "contacts": contacts.search(member, q, limit=SHOWN), "older": None
        }  # fmt: skip
    else:
        rows = contacts.page(member, before=id_of(before) if before else None, limit=SHOWN + 1)
        listed = pages.cut("contacts", rows, SHOWN)
    return of_member(
        request,
        visitor,
        "contacts.html",
        member,
        status=status,
        **listed,
        q=q,
        imported=imported,
        passing=imported is not None,
        formats=[BY_NAME, *FORMATS],
        form=form or Form(),
        fields=FIELDS,
        done=DONE.get(query.get("done", ""), ""),
    )


def _contact_page(
    request: Request,
    visitor: Visitor,
    contact_id: str,
    *,
    form: Form | None = None,
    invited: ContactInvited | None = None,
    status: int = 200,
) -> Response:
    member, services = member_of(visitor), visitor.services
    link = f"{request.base_url}v1/networks/join#{invited.token}" if invited else ""
    return of_member(
        request,
        visitor,
        "contact.html",
        member,
        status=status,
        each=services.contacts.get(member, id_of(contact_id)),
        networks=services.networks.page(member, joined=True),
        invited=invited,
        passing=invited is not None,
        link=link,
        form=form or Form(),
        fields=FIELDS,
        done=DONE.get(request.query_params.get("done", ""), ""),
    )
