"""The ledger: entries, one of them, verification in the browser, anchors, forgettings.

For owners and admins. Bodies stay on the server: what a browser is given is the clear header.
Taints are in `taints.py`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from uuid import UUID

from fastapi import APIRouter, Request, Response

from cairn.api.console import pages
from cairn.api.console.forms import day_of, number_of, wrong_field
from cairn.api.console.routes import ConsoleRoute, Reader, shown
from cairn.kernel.errors import CairnError, Denied, NotFound
from cairn.ledger.export import export_line, header_line
from cairn.reading.views import LedgerFilter

if TYPE_CHECKING:
    from cairn.api.console.guard import Visitor

LEDGER = "/console/ledger"
PER_PAGE, CHAIN_BATCH = 50, 500
SECTIONS = (
    ("entries", LEDGER, "Entries"),
    ("verify", f"{LEDGER}/verify", "Verify"),
    ("anchors", f"{LEDGER}/anchors", "Anchors"),
    ("forgettings", f"{LEDGER}/forgettings", "Forgettings"),
    ("taints", f"{LEDGER}/taints", "Taints"),
)

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """What the list is narrowed to, as its form writes it; empty texts mean any."""

    type: str = ""
    actor: str = ""
    subject: str = ""
    since: str = ""
    until: str = ""
    upto: str = ""

    def filled(self) -> dict[str, str]:
        """Return what is narrowed, by field."""
        values = {name: getattr(self, name) for name in self.__slots__}
        return {name: value for name, value in values.items() if value}

    def where(self) -> LedgerFilter:
        """Return what the list shows: the newest first."""
        return LedgerFilter(
            type=self.type or None,
            actor_id=self.actor or None,
            subject_id=_subject(self.subject) if self.subject else None,
            recorded_from=day_of(self.since, "since"),
            recorded_to=day_of(self.until, "until"),
            newest_first=True,
        )

    def link(self, **more: object) -> str:
        """Return the path of the list with this selection and what else is to be said."""
        values = self.filled() | more
        return pages.with_query(LEDGER, values)

    def command(self) -> str:
        """Return the same as a command."""
        options = [
            f" --{name} {pages.quoted(_moment(name, value))}"
            for name, value in self.filled().items()
            if name != "upto"
        ]
        return f"cairn ledger list --newest{''.join(options)}"

    def path(self) -> str:
        """Return the same as a path of the API."""
        values = {
            {
                "type": "type",
                "actor": "actor_id",
                "subject": "subject_id",
                "since": "recorded_from",
                "until": "recorded_to",
            }[name]: _moment(name, value)
            for name, value in self.filled().items()
            if name != "upto"
        }
        return f"/v1/ledger?{urlencode({'newest_first': 'true'} | values)}"


def _moment(name: str, value: str) -> str:
    return f"{value}T00:00:00Z" if name in ("since", "until") else value


def _subject(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise wrong_field("subject", "is the id of a data subject") from error


def require_admin(visitor: Visitor) -> None:
    """Raise Denied for who is neither owner nor admin."""
    if not visitor.is_admin:
        raise Denied("Only owners and admins read the ledger. Ask one of them.", reason="role")


@routes.get(LEDGER)
def show_entries(request: Request, visitor: Reader) -> Response:
    """List entries, the newest first, from a position downwards where one is named."""
    require_admin(visitor)
    query = request.query_params
    chosen = Selection(
        **{name: query[name].strip() for name in Selection.__slots__ if query.get(name)}
    )
    after = number_of(query.get("after", ""))
    if after is None and chosen.upto:
        position = number_of(chosen.upto)
        if position is None:
            raise wrong_field("upto", "is a position of the ledger")
        after = position + 1
    page = visitor.services.browse.list_ledger(
        visitor.principal, chosen.where(), limit=PER_PAGE, after=after
    )
    older = chosen.link(after=page.next_after) if page.next_after is not None else None
    return section(
        request, visitor, "ledger.html", "entries", chosen=chosen, entries=page.items, older=older
    )


def section(request: Request, visitor: Visitor, template: str, tab: str, **values: Any) -> Response:
    """Return a page of the ledger with the links to the others."""
    return shown(request, visitor, template, section=tab, sections=SECTIONS, **values)


# Verification in the browser


@routes.get(LEDGER + "/verify")
def show_verify(request: Request, visitor: Reader) -> Response:
    """Let the browser check the chain, or the files of an export, by itself."""
    require_admin(visitor)
    return section(request, visitor, "ledger_verify.html", "verify")


@routes.get(LEDGER + "/chain")
def read_chain(request: Request, visitor: Reader) -> Response:
    """Return a part of the chain in the form of an export, bodies left out."""
    require_admin(visitor)
    after = number_of(request.query_params.get("after", "")) or 0
    head, entries = visitor.services.browse.export_ledger(
        visitor.principal, after=after, limit=CHAIN_BATCH
    )
    lines = [header_line(head)]
    for entry in entries:
        fields: dict[str, object] = json.loads(export_line(replace(entry, body=b"")))
        del fields["body"]
        lines.append(json.dumps(fields, ensure_ascii=False, separators=(",", ":")) + "\n")
    headers = {**pages.HEADERS, "cache-control": "no-store"}
    return Response("".join(lines), media_type="application/x-ndjson", headers=headers)


# What else says whether the ledger holds


@routes.get(LEDGER + "/anchors")
def show_anchors(request: Request, visitor: Reader, run: str = "") -> Response:
    """Let the server verify the chain against the signed heads outside the database.

    The page asks for that once it stands: a long chain takes a while.
    """
    require_admin(visitor)
    report, wrong = None, ""
    try:
        report = visitor.services.verify_anchors(visitor.principal) if run else None
    except CairnError as error:
        wrong = error.detail
    return section(
        request,
        visitor,
        "ledger_anchors.html",
        "anchors",
        report=report,
        wrong=wrong,
        waits=not run,
    )


@routes.get(LEDGER + "/forgettings")
def show_forgettings(request: Request, visitor: Reader) -> Response:
    """List who was forgotten, by ids, and how far it is."""
    require_admin(visitor)
    offset = min(number_of(request.query_params.get("after", "")) or 0, 1_000_000)
    rows = visitor.services.forget.newest(visitor.principal, limit=PER_PAGE + 1, offset=offset)
    older = f"{LEDGER}/forgettings?after={offset + PER_PAGE}" if len(rows) > PER_PAGE else None
    return section(
        request,
        visitor,
        "ledger_forgettings.html",
        "forgettings",
        rows=rows[:PER_PAGE],
        older=older,
    )


# One entry


@routes.get(LEDGER + "/{position}")
def show_entry(position: str, request: Request, visitor: Reader) -> Response:
    """Show an entry: its clear header, its hashes, and its neighbours."""
    require_admin(visitor)
    number = number_of(position)
    where = LedgerFilter(from_position=number or 0)
    page = visitor.services.browse.list_ledger(visitor.principal, where, limit=2, after=None)
    if not number or not page.items or page.items[0].position != number:
        raise NotFound("The ledger has no entry at this position.")
    return section(
        request,
        visitor,
        "ledger_entry.html",
        "entries",
        entry=page.items[0],
        following=len(page.items) > 1,
    )
