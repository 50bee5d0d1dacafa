"""Contacts of a member, and where they are read from."""

from functools import partial
from typing import Annotated, Any
from uuid import UUID

from fastapi import Path, Response
from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.answers import answer
from cairn.api.dependencies import ClientGiven, ClientWriter, Options, Services
from cairn.api.documentation import ListOf, PageOf, answers, problems
from cairn.api.fields import Body, Name, Text, at_most, examples
from cairn.api.pages import Cursor, Limit, newest_answer
from cairn.api.routing import router
from cairn.discovery.contacts.bring import ContactsImported, Format, IntegrationView, Kind
from cairn.discovery.contacts.draft import MOST_CHARS, Contact
from cairn.discovery.contacts.inviting import ContactInvited
from cairn.discovery.contacts.keep import ContactView
from cairn.kernel.records import convert

routes = router("contacts")

MOST_IMPORT_CHARS = 2_500_000
MOST_QUERY_CHARS = 200
MOST_URL_CHARS = 2_000

ContactId = Annotated[UUID, Path(description="The contact's id.")]
IntegrationId = Annotated[UUID, Path(description="The integration's id.")]
OwnAddresses = Annotated[list[Name], Field(max_length=20)]


def _up_to(field: str) -> Any:
    return at_most(MOST_CHARS[field])


class ContactIn(Body):
    """Somebody the member knows. Who is there by their address is changed, not added again."""

    model_config = examples(
        {"name": "Ada Byron", "address": "ada@example.org", "organisation": "Mill & Daughters"}
    )

    name: Annotated[Text, _up_to("name")]
    address: Annotated[str, _up_to("address")] | None = None
    phone: Annotated[str, _up_to("phone")] | None = None
    organisation: Annotated[str, _up_to("organisation")] | None = None
    title: Annotated[str, _up_to("title")] | None = None
    note: Annotated[str, _up_to("note")] | None = None
    member_id: Annotated[UUID, Field(strict=False)] | None = None
    client_id: Name | None = None


class ContactSearchIn(Body):
    """Words that a contact has, or begins with."""

    model_config = examples({"query": "ada mill"})

    query: Annotated[Text, at_most(MOST_QUERY_CHARS)]
    limit: Annotated[int, Field(ge=1, le=200)] = 20
    client_id: Name | None = None


class ContactImportIn(Body):
    """A file of people as text; of a mailbox or a calendar only names, addresses and times."""

    model_config = examples({"format": "csv", "text": "name,email\nAda Byron,ada@example.org\n"})

    format: Format
    text: Annotated[Text, at_most(MOST_IMPORT_CHARS)]
    own_addresses: OwnAddresses = Field(default_factory=list[str])
    client_id: Name | None = None


class ContactInviteIn(Body):
    """Into which network."""

    model_config = examples({"network_id": "0197a1f0-5f4e-7cc3-9a5e-0d7e0a1b2c3d"})

    network_id: Annotated[UUID, Field(strict=False)]
    client_id: Name | None = None


class IntegrationIn(Body):
    """Where contacts are read from: the address of a calendar, as its owner can publish it."""

    model_config = examples(
        {"kind": "calendar", "address": "https://calendar.example.org/ada/private.ics"}
    )

    kind: Kind
    address: Annotated[Text, at_most(MOST_URL_CHARS)]
    own_addresses: OwnAddresses = Field(default_factory=list[str])
    client_id: Name | None = None


class ContactGone(TypedDict):
    """The contact, or the integration, that is gone."""

    id: UUID


@routes.post(
    "/v1/contacts",
    summary="Add a contact",
    response_model=None,
    responses={**answers(200, "The contact", ContactView), **problems("not-found", body=True)},
)
def add_contact(body: ContactIn, caller: ClientWriter, services: Services) -> Response:
    """Add somebody the member knows, or change what is held of them; nobody else sees it."""
    contact = convert(body, Contact)
    view = services.contacts.add(
        caller, contact, member_id=body.member_id, client_id=body.client_id
    )
    return answer(view)


@routes.get(
    "/v1/contacts",
    summary="List contacts",
    response_model=None,
    responses={**answers(200, "The newest first", PageOf[ContactView]), **problems()},
)
def list_contacts(
    caller: ClientWriter,
    services: Services,
    options: Options,
    client_id: ClientGiven,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List the contacts of one member."""
    return newest_answer(
        partial(services.contacts.page, caller, client_id=client_id),
        limit=limit,
        cursor=cursor,
        key="created_at",
        route="contacts",
        filters={"client_id": client_id},
        options=options,
    )


@routes.post(
    "/v1/contacts/search",
    summary="Search contacts",
    response_model=None,
    responses={**answers(200, "The best first", ListOf[ContactView]), **problems(body=True)},
)
def search_contacts(body: ContactSearchIn, caller: ClientWriter, services: Services) -> Response:
    """Find contacts by words of their names, addresses, organisations, titles and notes."""
    items = services.contacts.search(caller, body.query, limit=body.limit, client_id=body.client_id)
    return answer({"items": items})


@routes.post(
    "/v1/contacts/import",
    summary="Import contacts from a file",
    response_model=None,
    responses={**answers(200, "What became of them", ContactsImported), **problems(body=True)},
)
def import_contacts(body: ContactImportIn, caller: ClientWriter, services: Services) -> Response:
    """Take in a CSV of an address book, vCards, a mailbox (mbox) or a calendar (iCalendar).

    The same file again changes nothing. Of what is held already, gaps are filled.
    """
    done = services.import_contacts(
        caller,
        body.format,
        body.text,
        own_addresses=body.own_addresses,
        client_id=body.client_id,
    )
    return answer(done)


@routes.get(
    "/v1/contacts/{contact_id}",
    summary="Show a contact",
    response_model=None,
    responses={**answers(200, "The contact", ContactView), **problems("not-found")},
)
def get_contact(
    contact_id: ContactId, caller: ClientWriter, services: Services, client_id: ClientGiven
) -> Response:
    """Show one contact of the member."""
    return answer(services.contacts.get(caller, contact_id, client_id=client_id))


@routes.delete(
    "/v1/contacts/{contact_id}",
    summary="Remove a contact",
    response_model=None,
    responses={**answers(200, "It is gone", ContactGone), **problems("not-found")},
)
def remove_contact(
    contact_id: ContactId, caller: ClientWriter, services: Services, client_id: ClientGiven
) -> Response:
    """Remove a contact; to erase all that is held of somebody, forget them."""
    services.contacts.remove(caller, contact_id, client_id=client_id)
    return answer({"id": contact_id})


@routes.post(
    "/v1/contacts/{contact_id}/invite",
    summary="Invite a contact into a network",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "A link for them, to be sent by the member", ContactInvited),
        **problems("not-found", "conflict", body=True),
    },
)
def invite_contact(
    contact_id: ContactId, body: ContactInviteIn, caller: ClientWriter, services: Services
) -> Response:
    """Make an invite for a contact, who is a ghost until they take it. Nobody is written to."""
    invited = services.invite_contact(caller, contact_id, body.network_id, client_id=body.client_id)
    return answer(invited, status=201)


@routes.get(
    "/v1/integrations",
    summary="List integrations",
    response_model=None,
    responses={**answers(200, "The oldest first", ListOf[IntegrationView]), **problems()},
)
def list_integrations(caller: ClientWriter, services: Services, client_id: ClientGiven) -> Response:
    """List where a member's contacts are read from, and how it went last."""
    return answer({"items": services.integrations.all(caller, client_id=client_id)})


@routes.post(
    "/v1/integrations",
    summary="Add an integration",
    status_code=201,
    response_model=None,
    responses={
        **answers(201, "It can be synchronised", IntegrationView),
        **problems("conflict", body=True),
    },
)
def add_integration(body: IntegrationIn, caller: ClientWriter, services: Services) -> Response:
    """Keep where contacts are read from. It is only ever read, and its address stays sealed."""
    view = services.integrations.add(
        caller,
        body.kind,
        body.address,
        own_addresses=body.own_addresses,
        client_id=body.client_id,
    )
    return answer(view, status=201)


@routes.post(
    "/v1/integrations/{integration_id}/sync",
    summary="Synchronise an integration",
    response_model=None,
    responses={**answers(200, "What became of them", ContactsImported), **problems("not-found")},
)
def sync_integration(
    integration_id: IntegrationId,
    caller: ClientWriter,
    services: Services,
    client_id: ClientGiven,
) -> Response:
    """Read the people the member met, now; what keeps it from being read is said and kept."""
    return answer(services.integrations.sync(caller, integration_id, client_id=client_id))


@routes.delete(
    "/v1/integrations/{integration_id}",
    summary="Remove an integration",
    response_model=None,
    responses={**answers(200, "It is read no more", ContactGone), **problems("not-found")},
)
def remove_integration(
    integration_id: IntegrationId,
    caller: ClientWriter,
    services: Services,
    client_id: ClientGiven,
) -> Response:
    """Read from there no more; contacts that came of it stay."""
    services.integrations.remove(caller, integration_id, client_id=client_id)
    return answer({"id": integration_id})
