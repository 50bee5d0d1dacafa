"""Add, list, search, import and remove contacts: the use case behind `/v1/contacts`.

A contact is the member's own and about somebody else: its texts are sealed under both their keys,
so that forgetting either leaves none. Who is added again is the same contact.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from cairn.discovery.contacts.draft import Contact, checked, contact_of, merged, texts_of
from cairn.discovery.contacts.rows import ContactRow, Standing
from cairn.discovery.networks.acting import acting, client_of
from cairn.discovery.networks.members import Members
from cairn.kernel.errors import FieldError, NotFound, TooLarge
from cairn.kernel.ids import derived_id
from cairn.kernel.text.canonical import format_timestamp
from cairn.kernel.text.words import words
from cairn.ledger.keys import BodyUnreadable
from cairn.writing.subjects import resolve
from cairn.writing.writer import Work, Writer, open_write

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform
    from cairn.writing.subjects import Resolution
    from cairn.writing.writer import Write

ADDED, CHANGED = "contact.added", "contact.changed"
MOST_CONTACTS = 5_000
"""Of one member: a search opens them all."""
A_WRITE = 200
"""Contacts that one transaction takes."""
_WEIGHTS: Mapping[str, int] = {"name": 4, "address": 3, "organisation": 2, "title": 2, "note": 1}


class Done(StrEnum):
    """What became of a contact that was handed over."""

    ADDED = "added"
    CHANGED = "changed"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True, kw_only=True)
class ContactView:
    """A contact as its member sees it; `member_id` is who they are in the networks, if known."""

    id: UUID
    name: str
    address: str | None
    phone: str | None
    organisation: str | None
    title: str | None
    note: str | None
    met: int
    met_at: datetime | None
    standing: Standing
    member_id: UUID | None
    created_at: datetime
    changed_at: datetime


@dataclass(frozen=True, slots=True)
class Contacts:
    """The contacts of the member that a principal acts for."""

    platform: Platform

    def add(
        self,
        principal: Principal,
        contact: Contact,
        *,
        member_id: UUID | None = None,
        client_id: str | None = None,
    ) -> ContactView:
        """Add somebody, or change what is held of them; what is not given stays.

        `member_id` says which member they are: one of a shared network, else NotFound.
        ValidationFailed names a wrong field.
        """
        confined = acting(principal, client_id)
        contact_id, _ = self.put(confined, [checked(contact)], replacing=True, link_id=member_id)[0]
        return self.get(confined, contact_id)

    def get(
        self, principal: Principal, contact_id: UUID, *, client_id: str | None = None
    ) -> ContactView:
        """Return one; NotFound without it, or when it was forgotten."""
        confined = acting(principal, client_id)
        with self.platform.transactions.reading(confined) as stores:
            row = stores.contacts.find(contact_id)
        views = self.views(confined, [row] if row else [])
        if not views:
            raise missing()
        return views[0]

    def page(
        self,
        principal: Principal,
        *,
        before: UUID | None,
        limit: int,
        client_id: str | None = None,
    ) -> Sequence[ContactView]:
        """Return contacts, the newest first."""
        confined = acting(principal, client_id)
        with self.platform.transactions.reading(confined) as stores:
            member = stores.members.of_client(client_of(confined))
            rows = stores.contacts.page(member.id, before, limit) if member else ()
        return self.views(confined, rows)

    def search(
        self, principal: Principal, query: str, *, limit: int, client_id: str | None = None
    ) -> Sequence[ContactView]:
        """Return contacts that have every word of a query, or words that begin with it."""
        every = self.page(principal, before=None, limit=MOST_CONTACTS, client_id=client_id)
        terms = words(query)
        scored = [(_score(view, terms), view) for view in every]
        scored.sort(key=lambda pair: (-pair[0], -pair[1].met, pair[1].name))
        return [view for score, view in scored if score > 0][:limit]

    def remove(
        self, principal: Principal, contact_id: UUID, *, client_id: str | None = None
    ) -> None:
        """Take one away; NotFound without it."""
        with open_write(self.platform, acting(principal, client_id)) as write:
            row = write.stores.contacts.find(contact_id)
            if row is None or not write.stores.contacts.remove(contact_id):
                raise missing()
            _note(write, "contact.removed", row, None)

    def put(
        self,
        confined: Principal,
        contacts: Sequence[Contact],
        *,
        replacing: bool = False,
        link_id: UUID | None = None,
    ) -> list[tuple[UUID, Done]]:
        """Keep people that were checked, each once, and return the contact of each.

        TooLarge above the limit of a member; what was kept before it stays kept.
        """
        results: list[tuple[UUID, Done]] = []
        for start in range(0, len(contacts), A_WRITE):
            some = contacts[start : start + A_WRITE]
            results += self._put(confined, some, replacing=replacing, link_id=link_id)
        return results

    def _put(
        self,
        confined: Principal,
        contacts: Sequence[Contact],
        *,
        replacing: bool,
        link_id: UUID | None,
    ) -> list[tuple[UUID, Done]]:
        client = ("client", client_of(confined))
        people = [("person", contact.known_by) for contact in contacts]

        def prepare() -> Work[list[tuple[UUID, Done]]]:
            resolution = resolve(self.platform, confined, [client, *people])

            def do(write: Write) -> list[tuple[UUID, Done]]:
                if link_id is not None:
                    _require_shown(write, link_id)
                me = Members.ensure(write, client[1]).id
                ids = [resolution.ids[person] for person in people]
                rows = {row.person_id: row for row in write.stores.contacts.of_people(me, ids)}
                room = MOST_CONTACTS - write.stores.contacts.count(me)
                _require_room(len(set(ids) - rows.keys()), room)
                keeper = _Keeper(self.platform, write, resolution, me, rows, replacing, link_id)
                return [
                    keeper.keep(person, contact)
                    for person, contact in zip(ids, contacts, strict=True)
                ]

            return Work(resolution=resolution, do=do, keep=lambda _: {}, read=lambda _: [])

        return Writer(self.platform).write_once(confined, prepare, None)

    def views(self, principal: Principal, rows: Sequence[ContactRow]) -> list[ContactView]:
        """Return contacts as they are shown; those that were forgotten are left out."""
        subjects = {subject for row in rows for subject in row.data_subjects}
        keys: Mapping[UUID, bytes] = {}
        if subjects:
            keys = self.platform.keys.get(principal.workspace_id, subjects)
        views: list[ContactView] = []
        for row in rows:
            contact = opened(self.platform, principal.workspace_id, row, keys)
            if contact is not None:
                views.append(
                    ContactView(
                        id=row.id,
                        **{name: getattr(contact, name) for name in _TEXTS},
                        met=row.met,
                        met_at=row.met_at,
                        standing=row.standing,
                        member_id=row.link_id or row.used_by,
                        created_at=row.created_at,
                        changed_at=row.changed_at,
                    )
                )
        return views


_TEXTS = ("name", "address", "phone", "organisation", "title", "note")


@dataclass(frozen=True, slots=True)
class _Keeper:
    """Keeps one contact after another in a write. `rows` are the member's, by whom they are of."""

    platform: Platform
    write: Write
    resolution: Resolution
    member_id: UUID
    rows: dict[UUID, ContactRow]
    replacing: bool
    link_id: UUID | None

    def keep(self, person_id: UUID, contact: Contact) -> tuple[UUID, Done]:
        """Add a contact, or what is new of it; return its id."""
        row = self.rows.get(person_id)
        workspace_id = self.resolution.workspace_id
        present = row and opened(self.platform, workspace_id, row, self.resolution.keys)
        if row is None or present is None:
            return self._add(person_id, contact)
        after = merged(present, contact, replace=self.replacing)
        link_id = self.link_id or row.link_id
        if after == present and link_id == row.link_id:
            return row.id, Done.UNCHANGED
        changed = replace(
            row,
            body=self._sealed(row.id, row.data_subjects, after),
            met=after.met,
            met_at=after.met_at,
            link_id=link_id,
            changed_at=self.write.now,
        )
        self.write.stores.contacts.change(changed)
        self.rows[person_id] = changed
        _note(self.write, CHANGED, changed, texts_of(after))
        return row.id, Done.CHANGED

    def _add(self, person_id: UUID, contact: Contact) -> tuple[UUID, Done]:
        contact_id = self.platform.new_id()
        subjects = tuple(sorted({self.member_id, person_id}))
        row = ContactRow(
            id=contact_id,
            member_id=self.member_id,
            person_id=person_id,
            data_subjects=subjects,
            body=self._sealed(contact_id, subjects, contact),
            met=contact.met,
            met_at=contact.met_at,
            link_id=self.link_id,
            created_at=self.write.now,
            changed_at=self.write.now,
        )
        self.write.stores.contacts.add(row)
        self.rows[person_id] = row
        _note(self.write, ADDED, row, texts_of(contact))
        return contact_id, Done.ADDED

    def _sealed(self, row_id: UUID, subjects: tuple[UUID, ...], contact: Contact) -> bytes:
        keys = self.resolution.keys_of(subjects)
        workspace_id = self.resolution.workspace_id
        return self.platform.cipher.seal(row_id, workspace_id, keys, texts_of(contact))


def opened(
    platform: Platform, workspace_id: UUID, row: ContactRow, keys: Mapping[UUID, bytes]
) -> Contact | None:
    """Return the contact of a row; None when it was forgotten."""
    subjects = tuple(sorted(row.data_subjects))
    try:
        body = platform.cipher.open(row.id, workspace_id, subjects, keys, row.body)
    except BodyUnreadable:
        return None
    return contact_of(body, met=row.met, met_at=row.met_at)


def _require_shown(write: Write, member_id: UUID) -> None:
    """Raise NotFound for a member whom no shared network shows."""
    faces = {member_id: derived_id(member_id, "profile")}
    if member_id not in write.stores.networks.shown_members(faces):
        raise NotFound("There is no such member in your networks.")


def missing() -> NotFound:
    """Return the refusal of a contact that there is not."""
    return NotFound("There is no such contact.")


def _note(write: Write, type_: str, row: ContactRow, texts: Mapping[str, Any] | None) -> None:
    meta = {
        "contact_id": str(row.id),
        "member_id": str(row.member_id),
        "met": row.met,
        "met_at": format_timestamp(row.met_at) if row.met_at else None,
        "link_id": str(row.link_id) if row.link_id else None,
    }
    subjects = row.data_subjects if texts is not None else ()
    write.entries.add(type_, meta, texts, data_subjects=subjects, occurred_at=write.now)


def _require_room(new: int, room: int) -> None:
    if new > room:
        message = f"is one too many: a member has at most {MOST_CONTACTS} contacts"
        raise TooLarge(f"contacts {message}.", errors=[FieldError("contacts", message)])


def _score(view: ContactView, terms: Sequence[str]) -> int:
    """Return how well a contact answers; 0 unless each word is in it."""
    total = 0
    for term in terms:
        best = max(
            (
                weight
                for name, weight in _WEIGHTS.items()
                if any(word.startswith(term) for word in words(getattr(view, name) or ""))
            ),
            default=0,
        )
        if best == 0:
            return 0
        total += best
    return total
