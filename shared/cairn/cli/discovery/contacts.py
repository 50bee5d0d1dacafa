"""`cairn contact`: whom a member knows, imported from files, read from calendars, invited."""

from itertools import islice
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import urlencode

import typer

from cairn.cli.options import (
    Client,
    Json,
    deps_of,
    escape,
    moment,
    print_done,
    print_json,
    table,
    without_none,
)

app = typer.Typer(help="Contacts: whom a member knows.", no_args_is_help=True)
integrations_app = typer.Typer(help="Where contacts are read from.", no_args_is_help=True)
app.add_typer(integrations_app, name="integrations")

Contact = Annotated[str, typer.Argument(help="The contact's id.")]
Integration = Annotated[str, typer.Argument(help="The integration's id.")]
Own = Annotated[
    list[str] | None, typer.Option("--own", help="An address of the member's own; repeatable.")
]


@app.command()
def add(
    ctx: typer.Context,
    name: Annotated[str, typer.Argument(help="Their name.")],
    address: Annotated[str | None, typer.Option(help="Their mail address.")] = None,
    phone: Annotated[str | None, typer.Option(help="Their phone number.")] = None,
    organisation: Annotated[str | None, typer.Option(help="Where they work.")] = None,
    title: Annotated[str | None, typer.Option(help="What they do there.")] = None,
    note: Annotated[str | None, typer.Option(help="What else to keep.")] = None,
    member: Annotated[str | None, typer.Option(help="The id of the member they are.")] = None,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Add a contact; one of the same address is changed."""
    deps = deps_of(ctx)
    body = {
        "name": name,
        "address": address,
        "phone": phone,
        "organisation": organisation,
        "title": title,
        "note": note,
        "member_id": member,
        "client_id": client,
    }
    done = deps.client.post("/v1/contacts", without_none(body))
    text = f"[green]known[/] {escape(done['name'])}  {done['id']}"
    print_done(deps, done, text, as_json=as_json)


@app.command("list")
def list_contacts(
    ctx: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=5_000)] = 50,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """List contacts, the newest first."""
    deps = deps_of(ctx)
    items = list(islice(deps.client.pages("/v1/contacts", client_id=client), limit))
    print_json(items) if as_json else _show(ctx, items)


@app.command()
def search(
    ctx: typer.Context,
    query: Annotated[str, typer.Argument(help="Words they have, or begin with.")],
    limit: Annotated[int, typer.Option(min=1, max=200)] = 20,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Find contacts by name, address, organisation, title or note."""
    body = without_none({"query": query, "limit": limit, "client_id": client})
    items = deps_of(ctx).client.post("/v1/contacts/search", body)["items"]
    print_json(items) if as_json else _show(ctx, items)


@app.command("import")
def import_file(
    ctx: typer.Context,
    file: Annotated[
        Path, typer.Argument(exists=True, dir_okay=False, help="A .csv, .vcf, .mbox or .ics file.")
    ],
    format: Annotated[
        str | None, typer.Option(help="csv, vcard, mailbox or calendar; else by the file's name.")
    ] = None,
    own: Own = None,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Import contacts from a file; the same file again changes nothing."""
    from cairn.discovery.contacts.formats import ENDINGS

    chosen = format or ENDINGS.get(file.suffix.lower())
    if chosen is None:
        raise typer.BadParameter(f"{file.name} does not say what it is; give --format")
    text = file.read_text(encoding="utf-8-sig", errors="replace").replace("\x00", "")
    body = {"format": chosen, "text": text, "own_addresses": own or [], "client_id": client}
    deps = deps_of(ctx)
    done = deps.client.post("/v1/contacts/import", without_none(body))
    if as_json:
        return print_json(done)
    counts = ", ".join(f"{done[name]} {name}" for name in ("added", "changed", "unchanged"))
    deps.out.print(f"{counts}, {done['refused_count']} refused")
    for each in done["refused"]:
        deps.out.print(f"  {each['place']}: {escape(each['why'])}", highlight=False)


@app.command()
def invite(
    ctx: typer.Context,
    contact: Contact,
    network: Annotated[str, typer.Argument(help="The network's id.")],
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Make an invite for a contact; the member sends it."""
    deps = deps_of(ctx)
    body = without_none({"network_id": network, "client_id": client})
    done = deps.client.post(f"/v1/contacts/{contact}/invite", body)
    if as_json:
        return print_json(done)
    deps.out.print(done["text"], markup=False, highlight=False)
    deps.out.print(f"token: {done['token']}", markup=False, highlight=False)


@app.command()
def remove(
    ctx: typer.Context, contact: Contact, client: Client = None, as_json: Json = False
) -> None:
    """Remove a contact."""
    deps = deps_of(ctx)
    gone = deps.client.delete(f"/v1/contacts/{contact}", client_id=client)
    print_done(deps, gone, f"[green]removed[/] {contact}", as_json=as_json)


@integrations_app.command("list")
def list_integrations(ctx: typer.Context, client: Client = None, as_json: Json = False) -> None:
    """List where contacts are read from."""
    deps = deps_of(ctx)
    items = deps.client.get("/v1/integrations", client_id=client)["items"]
    if as_json:
        return print_json(items)
    shown = table("id", "kind", "host", "people", "read", "problem", whole="id")
    for each in items:
        read = moment(each["synced_at"]) if each["synced_at"] else ""
        people = "" if each["people"] is None else str(each["people"])
        cells = each["id"], each["kind"], escape(each["host"]), people, read, each["problem"] or ""
        shown.add_row(*cells)
    deps.out.print(shown)


@integrations_app.command("add")
def add_integration(
    ctx: typer.Context,
    address: Annotated[str, typer.Argument(help="The calendar's address, as its owner shares it.")],
    own: Own = None,
    client: Client = None,
    as_json: Json = False,
) -> None:
    """Add a calendar that contacts are read from."""
    deps = deps_of(ctx)
    body = {
        "kind": "calendar",
        "address": address,
        "own_addresses": own or [],
        "client_id": client,
    }
    done = deps.client.post("/v1/integrations", without_none(body))
    text = f"[green]added[/] {escape(done['host'])}  {done['id']}"
    print_done(deps, done, text, as_json=as_json)


@integrations_app.command("sync")
def sync_integration(
    ctx: typer.Context, integration: Integration, client: Client = None, as_json: Json = False
) -> None:
    """Read the people whom the member met, now."""
    deps = deps_of(ctx)
    query = f"?{urlencode({'client_id': client})}" if client else ""
    done = deps.client.post(f"/v1/integrations/{integration}/sync{query}", {})
    text = f"{done['added']} added, {done['changed']} changed, {done['unchanged']} unchanged"
    print_done(deps, done, text, as_json=as_json)


@integrations_app.command("remove")
def remove_integration(
    ctx: typer.Context, integration: Integration, client: Client = None, as_json: Json = False
) -> None:
    """Read from there no more."""
    deps = deps_of(ctx)
    gone = deps.client.delete(f"/v1/integrations/{integration}", client_id=client)
    print_done(deps, gone, f"[green]removed[/] {integration}", as_json=as_json)


def _show(ctx: typer.Context, items: list[dict[str, Any]]) -> None:
    shown = table("id", "name", "address", "organisation", "met", "", whole="id")
    for each in items:
        texts = (each[name] or "" for name in ("name", "address", "organisation"))
        standing = "" if each["standing"] == "contact" else each["standing"]
        shown.add_row(each["id"], *map(escape, texts), str(each["met"] or ""), standing)
    deps_of(ctx).out.print(shown)
