"""Who somebody of an issuer is here, and with which role, whatever protocol the issuer speaks.

The issuer says who it is; here it is decided whether they may.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NoReturn

from cairn.accounts.people import clean_login
from cairn.kernel.access import PersonRole
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Conflict, Unauthenticated, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

    from cairn.accounts.people import People
    from cairn.accounts.sessions import Opened, Sessions

BY_RANK = tuple(PersonRole)
"""Roles, the one that may most first."""

MAX_GROUPS = 1_000
MAX_CLAIM_CHARS = 255


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who the issuer says it is. `email` is empty unless the issuer has verified it."""

    subject: str
    email: str
    name: str
    groups: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Admission:
    """Whom of the issuer's a deployment lets in.

    `domains` are those of addresses, any when empty. `roles` are by group; when there are any, they
    decide at each sign-in. `workspace_id` is where who is not known is added; None: nobody is.
    """

    domains: frozenset[str] = frozenset()
    roles: Mapping[str, PersonRole]
    workspace_id: UUID | None = None

    def role(self, identity: Identity) -> PersonRole | None:
        """Return the role that may most among those of somebody's groups; None without one."""
        roles = {self.roles[group] for group in identity.groups & self.roles.keys()}
        return next((role for role in BY_RANK if role in roles), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class LetIn:
    """Lets in who an issuer says it is."""

    sessions: Sessions
    people: People
    admission: Admission

    def person(self, issuer: str, identity: Identity) -> tuple[UUID, UUID]:
        """Return who it is, linked and with the role of their groups; or Unauthenticated."""
        domain = identity.email.rpartition("@")[2].lower()
        if self.admission.domains and domain not in self.admission.domains:
            refuse("Your address is of no domain that signs in here.")
        find, role = self.sessions.find, self.admission.role(identity)
        linked = find.identity(issuer, identity.subject)
        where = linked or (find.login(_login(identity)) if identity.email else None)
        if self.admission.roles and role is None:
            if linked:
                self.people.sign_out(system_principal(linked[0]), linked[1])
            refuse("None of your groups signs in here.")
        if where is None:
            where = self._added(identity, role or PersonRole.READER)
        if not linked:
            self._link(issuer, identity, *where)
        if role is not None:
            self._give(role, *where)
        return where

    def open(self, workspace_id: UUID, person_id: UUID, *, by: str, address: str | None) -> Opened:
        """Open a session of who came in, and give the attempt back to their address."""
        with self.sessions.writing(workspace_id) as stores:
            if stores.people.credentials(person_id) is None:
                refuse("You may not sign in here: an admin has disabled you.")
            opened = self.sessions.open(stores, workspace_id, person_id, by=by)
        self.sessions.count_address(address, -1)
        return opened

    def _added(self, identity: Identity, role: PersonRole) -> tuple[UUID, UUID]:
        workspace_id = self.admission.workspace_id
        if workspace_id is None:
            refuse("Nobody has invited you here yet: ask an admin for it.")
        if not identity.email:
            refuse("Your issuer has not verified your address.")
        login = _login(identity)
        try:
            person = self.people.admit(
                system_principal(workspace_id), login=login, name=identity.name or login, role=role
            )
        except Conflict:  # another first sign-in was faster
            where = self.sessions.find.login(login)
            if where is None:
                raise
            return where
        return workspace_id, person.id

    def _link(self, issuer: str, identity: Identity, workspace_id: UUID, person_id: UUID) -> None:
        with self.sessions.writing(workspace_id) as stores:
            now = self.sessions.platform.clock()
            if stores.people.add_identity(person_id, issuer, identity.subject, now):
                self.sessions.record(stores, workspace_id, person_id, "person.linked")
        if self.sessions.find.identity(issuer, identity.subject) != (workspace_id, person_id):
            refuse("Somebody else of your issuer signs in under this address; ask an admin.")

    def _give(self, role: PersonRole, workspace_id: UUID, person_id: UUID) -> None:
        """Give somebody the role of their groups; the last owner stays one."""
        try:
            self.people.change(system_principal(workspace_id), person_id, role=role)
        except Conflict as error:
            if error.reason != "last-owner":
                raise


def text_claim(value: object) -> str:
    """Return what an issuer says as text that can be stored, empty for anything else."""
    if not isinstance(value, str) or not value.isprintable() or len(value) > MAX_CLAIM_CHARS:
        return ""
    return value.strip()


def refuse(detail: str) -> NoReturn:
    """Raise Unauthenticated: the issuer knows them, and they do not come in here."""
    raise Unauthenticated(detail, reason="issuer")


def _login(identity: Identity) -> str:
    try:
        return clean_login(identity.email)
    except ValidationFailed:
        refuse("Your address cannot be a name that signs in here.")
