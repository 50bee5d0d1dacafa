"""Import contacts of files, read them from calendars, and invite them into networks."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

from cairn.discovery.contacts.draft import address_of
from cairn.discovery.contacts.formats import Parsed, Refused, read_csv, read_vcard
from cairn.discovery.contacts.keep import Contacts, Done
from cairn.discovery.contacts.meetings import read_calendar, read_mailbox
from cairn.discovery.contacts.rows import IntegrationRow
from cairn.discovery.networks.acting import acting, client_of
from cairn.discovery.networks.members import Members
from cairn.kernel.errors import CairnError, Conflict, FieldError, NotFound, ValidationFailed
from cairn.kernel.text.canonical import check_characters
from cairn.writing.sealing import Sealer
from cairn.writing.subjects import resolve
from cairn.writing.writer import Work, Writer, open_write

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.documents.pages import Fetch
    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform
    from cairn.writing.writer import Write

Format: TypeAlias = Literal["csv", "vcard", "mailbox", "calendar"]
FORMATS: tuple[Format, ...] = get_args(Format)
Kind: TypeAlias = Literal["calendar"]
KINDS: tuple[Kind, ...] = get_args(Kind)
"""What an integration may be. Each is read only: nothing is ever written there."""

CALENDAR = frozenset({"text/calendar", "text/plain"})
"""Media types that a calendar comes as."""
MOST_INTEGRATIONS = 10
MOST_SHOWN = 50
"""Refused people that an answer names; their number is always whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactsImported:
    """What became of the people of a file; `refused` are those that could not be taken."""

    added: int
    changed: int
    unchanged: int
    refused_count: int
    refused: Sequence[Refused]


@dataclass(frozen=True, slots=True, kw_only=True)
class IntegrationView:
    """Where contacts are read from. The address stays a secret: its host is shown."""

    id: UUID
    kind: str
    host: str
    people: int | None
    problem: str | None
    created_at: datetime
    synced_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportContacts:
    """Takes a file of people in."""

    platform: Platform
    contacts: Contacts

    def __call__(
        self,
        principal: Principal,
        format: Format,
        text: str,
        *,
        own_addresses: Collection[str] = (),
        client_id: str | None = None,
    ) -> ContactsImported:
        """Keep the people of a file; the same file again changes nothing.

        What is held of somebody stays, gaps are filled. ValidationFailed for what is no such file,
        TooLarge above the limit of a member.
        """
        confined = acting(principal, client_id)
        check_characters(text, "text")
        own = own_of(own_addresses, client_of(confined))
        now = self.platform.clock()
        readers: dict[Format, Callable[[], Parsed]] = {
            "csv": lambda: read_csv(text),
            "vcard": lambda: read_vcard(text),
            "mailbox": lambda: read_mailbox(text, own=own, now=now),
            "calendar": lambda: read_calendar(text, own=own, now=now),
        }
        return self.keep(confined, readers[format]())

    def keep(self, confined: Principal, parsed: Parsed) -> ContactsImported:
        """Keep people that were read."""
        results = self.contacts.put(confined, parsed.contacts)
        counts = Counter(done for _, done in results)
        return ContactsImported(
            added=counts[Done.ADDED],
            changed=counts[Done.CHANGED],
            unchanged=counts[Done.UNCHANGED],
            refused_count=len(parsed.refused),
            refused=parsed.refused[:MOST_SHOWN],
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Integrations:
    """Where a member's contacts are read from; `fetch` reads an address, from outside only."""

    platform: Platform
    take: ImportContacts
    fetch: Fetch

    def add(
        self,
        principal: Principal,
        kind: Kind,
        address: str,
        *,
        own_addresses: Collection[str] = (),
        client_id: str | None = None,
    ) -> IntegrationView:
        """Keep where to read from; it is read when `sync` is called.

        Conflict (`too-many`) above the limit of a member.
        """
        confined = acting(principal, client_id)
        if not address.startswith("https://") and not address.startswith("http://"):
            raise _wrong("address", "is an address that begins with https://")
        client = ("client", client_of(confined))
        own = sorted(own_of(own_addresses, client[1]))
        row_id = self.platform.new_id()

        def prepare() -> Work[UUID]:
            resolution = resolve(self.platform, confined, [client])

            def do(write: Write) -> UUID:
                me = Members.ensure(write, client[1]).id
                if len(write.stores.contacts.integrations(me)) >= MOST_INTEGRATIONS:
                    detail = f"A member has at most {MOST_INTEGRATIONS} integrations; remove one."
                    raise Conflict(detail, reason="too-many")
                body: dict[str, Any] = {"address": address, "own_addresses": own}
                keys = resolution.keys_of((me,))
                row = IntegrationRow(
                    id=row_id,
                    member_id=me,
                    kind=kind,
                    data_subjects=(me,),
                    body=self.platform.cipher.seal(row_id, confined.workspace_id, keys, body),
                    people=None,
                    problem=None,
                    created_at=write.now,
                    synced_at=None,
                )
                write.stores.contacts.add_integration(row)
                _note(write, "integration.added", row, body)
                return row_id

            return Work(resolution=resolution, do=do, keep=lambda _: {}, read=lambda _: row_id)

        Writer(self.platform).write_once(confined, prepare, None)
        return self._view(confined, self._find(confined, row_id))

    def all(
        self, principal: Principal, *, client_id: str | None = None
    ) -> Sequence[IntegrationView]:
        """Return them, the oldest first."""
        confined = acting(principal, client_id)
        with self.platform.transactions.reading(confined) as stores:
            member = stores.members.of_client(client_of(confined))
            rows = stores.contacts.integrations(member.id) if member else ()
        return [self._view(confined, row) for row in rows]

    def remove(
        self, principal: Principal, integration_id: UUID, *, client_id: str | None = None
    ) -> None:
        """Read from there no more; contacts that came of it stay. NotFound without it."""
        with open_write(self.platform, acting(principal, client_id)) as write:
            row = write.stores.contacts.integration(integration_id)
            if row is None or not write.stores.contacts.remove_integration(integration_id):
                raise _missing()
            _note(write, "integration.removed", row)

    def sync(
        self, principal: Principal, integration_id: UUID, *, client_id: str | None = None
    ) -> ContactsImported:
        """Read it now. NotFound without it; what kept it from being read is said and kept."""
        confined = acting(principal, client_id)
        row = self._find(confined, integration_id)
        body = self._opened(confined, row)
        if not body:
            raise _missing()
        try:
            page = self.fetch(confined.workspace_id, body["address"])
            text = page.body.decode("utf-8", errors="replace").replace("\x00", "")
            now = self.platform.clock()
            parsed = read_calendar(text, own=frozenset(body["own_addresses"]), now=now)
            done = self.take.keep(confined, parsed)
        except CairnError as error:
            self._synced(confined, row.id, people=None, problem=error.reason)
            raise
        self._synced(confined, row.id, people=len(parsed.contacts), problem=None)
        return done

    def _find(self, confined: Principal, integration_id: UUID) -> IntegrationRow:
        with self.platform.transactions.reading(confined) as stores:
            row = stores.contacts.integration(integration_id)
        if row is None:
            raise _missing()
        return row

    def _synced(
        self, confined: Principal, row_id: UUID, *, people: int | None, problem: str | None
    ) -> None:
        with self.platform.transactions.preparing(confined) as (stores, _):
            now = self.platform.clock()
            stores.contacts.synced(row_id, now, people=people, problem=problem)

    def _opened(self, confined: Principal, row: IntegrationRow) -> dict[str, Any]:
        workspace_id = confined.workspace_id
        return Sealer.of(self.platform, workspace_id, row.id, row.data_subjects).open(row.body)

    def _view(self, confined: Principal, row: IntegrationRow) -> IntegrationView:
        address = str(self._opened(confined, row).get("address", ""))
        return IntegrationView(
            id=row.id,
            kind=row.kind,
            host=address.partition("://")[2].partition("/")[0],
            people=row.people,
            problem=row.problem,
            created_at=row.created_at,
            synced_at=row.synced_at,
        )


def own_of(addresses: Collection[str], client_id: str) -> frozenset[str]:
    """Return a member's own addresses: those given, else their name if it is one."""
    own: set[str] = set()
    for place, text in enumerate(addresses):
        address = address_of(text)
        if address is None:
            raise _wrong(f"own_addresses.{place}", "is no mail address")
        own.add(address)
    itself = address_of(client_id)
    return frozenset(own or ({itself} if itself else ()))


def _note(
    write: Write, type_: str, row: IntegrationRow, body: Mapping[str, Any] | None = None
) -> None:
    meta = {"integration_id": str(row.id), "member_id": str(row.member_id), "kind": row.kind}
    write.entries.add(type_, meta, body, data_subjects=(row.member_id,), occurred_at=write.now)


def _missing() -> NotFound:
    return NotFound("There is no such integration.")


def _wrong(field: str, message: str) -> ValidationFailed:
    return ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])
