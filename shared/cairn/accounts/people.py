"""People who sign in to the console: added, changed, removed, and sent a one-time link.

Each change is a ledger entry without names. Not how they sign in (`sessions.py`).
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING

from cairn.accounts.keys import record
from cairn.kernel.access import PersonRole, Role
from cairn.kernel.access.keys import secret_hash
from cairn.kernel.errors import Conflict, Denied, FieldError, NotFound, ValidationFailed
from cairn.writing.append import principal_actor
from cairn.writing.checks import clean_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.kernel.text.json_value import JsonValue
    from cairn.writing.platform import Platform

LINK_LASTS = timedelta(minutes=15)
LOGIN = re.compile(r"[a-z0-9][a-z0-9._+@-]{0,253}")


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonView:
    """Somebody who may sign in. `disabled_at` says since when they may not.

    `client_id` is the member of networks that they are.
    """

    id: UUID
    login: str
    name: str
    role: PersonRole
    created_at: datetime
    changed_at: datetime
    has_password: bool = False
    passkeys: int = 0
    client_id: str | None = None
    disabled_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonLink:
    """A link that signs somebody in once: its token, shown this once and never stored."""

    person: PersonView
    expires_at: datetime
    token: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SignedOut:
    """Somebody whose sessions are over, and how many there were."""

    person: PersonView
    sessions: int


@dataclass(frozen=True, slots=True, kw_only=True)
class People:
    """What owners and admins do about who signs in. Admins do nothing about owners."""

    platform: Platform
    make_token: Callable[[int], str] = secrets.token_urlsafe

    def all(self, principal: Principal) -> tuple[PersonView, ...]:
        """Return everybody by name; Denied unless the principal is an admin."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            return tuple(stores.people.all())

    def name_of(self, principal: Principal, person_id: UUID) -> str:
        """Return what somebody is called, to who signed in too; empty for nobody and keys."""
        principal.require_person()
        with self.platform.transactions.reading(principal) as stores:
            person = stores.people.credentials(person_id)
        return person.name if person else ""

    def add(self, principal: Principal, *, login: str, name: str, role: PersonRole) -> PersonLink:
        """Let somebody sign in, and return their first link; Conflict for a login that is taken."""
        with self.platform.transactions.writing(principal) as stores:
            person = self.added(stores, principal, login, name, role)
            return self._link(stores, principal, person)

    def admit(self, principal: Principal, *, login: str, name: str, role: PersonRole) -> PersonView:
        """Let somebody sign in who has proven elsewhere who they are; no link is made."""
        with self.platform.transactions.writing(principal) as stores:
            return self.added(stores, principal, login, name, role)

    def added(
        self, stores: Stores, principal: Principal, login: str, name: str, role: PersonRole
    ) -> PersonView:
        """Return somebody who is new, within a transaction; Conflict for a login that is taken."""
        require_over(principal, role)
        now = self.platform.clock()
        person = PersonView(
            id=self.platform.new_id(),
            login=clean_login(login),
            name=clean_name(name, "name") or login,
            role=role,
            created_at=now,
            changed_at=now,
        )
        if not stores.people.add(person):
            raise Conflict("Somebody signs in under this name already.", reason="login-taken")
        self._record(stores, principal, "person.added", person, role=role.value)
        return person

    def link(self, principal: Principal, person_id: UUID) -> PersonLink:
        """Return a new link in the place of the one before; it lasts for 15 minutes."""
        with self.platform.transactions.writing(principal) as stores:
            person, _ = self._person(stores, principal, person_id)
            if person.disabled_at is not None:
                raise Conflict("This person may not sign in; enable them first.", reason="disabled")
            return self._link(stores, principal, person)

    def change(
        self,
        principal: Principal,
        person_id: UUID,
        *,
        role: PersonRole | None = None,
        disabled: bool | None = None,
        seen: datetime | None = None,
    ) -> PersonView:
        """Change what somebody may do; their sessions get new tokens, or end when disabled.

        Conflict where the person was changed since `seen`, their `changed_at` as it was looked at.
        """
        with self.platform.transactions.writing(principal) as stores:
            return self.changed(
                stores, principal, person_id, role=role, disabled=disabled, seen=seen
            )

    def changed(
        self,
        stores: Stores,
        principal: Principal,
        person_id: UUID,
        *,
        role: PersonRole | None = None,
        disabled: bool | None = None,
        seen: datetime | None = None,
    ) -> PersonView:
        """Change somebody within a transaction, as `change` does."""
        person, people = self._person(stores, principal, person_id)
        now = self.platform.clock()
        require_over(principal, role or person.role)
        _require_unchanged(person, seen)
        since = person.disabled_at or now
        new = replace(
            person,
            role=role or person.role,
            disabled_at=person.disabled_at if disabled is None else since if disabled else None,
        )
        if new == person:
            return person
        _require_owner_left(people, new)
        self._keep(stores, principal, new, now)
        return replace(new, changed_at=now)

    def give_roles(
        self, stores: Stores, principal: Principal, roles: Mapping[UUID, PersonRole]
    ) -> None:
        """Give people the roles of their groups, within a transaction; the last owner stays one."""
        stores.people.lock()
        people = {person.id: person for person in stores.people.all()}
        now = self.platform.clock()
        for person_id, role in roles.items():
            new = replace(people[person_id], role=role)
            if new == people[person_id]:
                continue
            require_over(principal, people[person_id].role)
            require_over(principal, role)
            if not _leaves_owner(tuple(people.values()), new):
                continue
            people[person_id] = new
            self._keep(stores, principal, new, now)

    def _keep(
        self, stores: Stores, principal: Principal, person: PersonView, now: datetime
    ) -> None:
        """Keep who somebody is now; their sessions get new tokens, or end."""
        stores.people.change(person, now)
        if person.disabled_at is None:
            stores.people.mark_rotation(person.id)
        else:
            stores.people.drop_links(person.id)
            stores.people.end_sessions(person.id)
        self._record(
            stores, principal, "person.changed", person,
            role=person.role.value, disabled=person.disabled_at is not None,
        )  # fmt: skip

    def sign_out(self, principal: Principal, person_id: UUID) -> SignedOut:
        """End every session of somebody, and the link they may have; they may come back."""
        with self.platform.transactions.writing(principal) as stores:
            person, _ = self._person(stores, principal, person_id)
            stores.people.drop_links(person.id)
            ended = stores.people.end_sessions(person.id)
            for session_id in ended:
                self._record(
                    stores, principal, "person.signed_out", person, session_id=str(session_id)
                )
            return SignedOut(person=person, sessions=len(ended))

    def remove(
        self, principal: Principal, person_id: UUID, *, seen: datetime | None = None
    ) -> PersonView:
        """Take somebody out, with their name, password and sessions; the ledger names an id."""
        with self.platform.transactions.writing(principal) as stores:
            person, people = self._person(stores, principal, person_id)
            _require_unchanged(person, seen)
            _require_owner_left(people, replace(person, disabled_at=self.platform.clock()))
            stores.people.remove(person.id)
            self._record(stores, principal, "person.removed", person)
            return person

    def tie(
        self,
        principal: Principal,
        person_id: UUID,
        *,
        client_id: str | None = None,
        member_id: UUID | None = None,
    ) -> PersonView:
        """Say which member of networks somebody is, by its client or its id.

        They do as that member what a member may, and see what it sees. Conflict where one of the
        two is tied already, NotFound where nobody is such a member.
        """
        with self.platform.transactions.writing(principal) as stores:
            person, _ = self._person(stores, principal, person_id)
            members = stores.members
            member = members.of_client(client_id) if client_id else None
            member = members.find(member_id) if member_id else member
            if member is None or member.ghost:
                raise NotFound("There is no such member.", reason="member")
            if person.client_id == member.client_id:
                return person
            if not stores.people.tie(person.id, member.id, member.client_id, self.platform.clock()):
                raise Conflict(
                    "One of the two is tied already; untie them first.", reason="tied-already"
                )
            self._record(stores, principal, "person.tied", person, member_id=str(member.id))
            return replace(person, client_id=member.client_id)

    def untie(self, principal: Principal, person_id: UUID) -> PersonView:
        """Let somebody be no member of networks; the member stays as it is."""
        with self.platform.transactions.writing(principal) as stores:
            person, _ = self._person(stores, principal, person_id)
            member_id = stores.people.untie(person.id)
            if member_id is not None:
                self._record(stores, principal, "person.untied", person, member_id=str(member_id))
            return replace(person, client_id=None)

    def client_of(self, principal: Principal) -> str | None:
        """Return the client of the member that who signed in is; None for no member and keys."""
        if principal.person is None:
            return None
        with self.platform.transactions.reading(principal) as stores:
            return stores.people.tied(principal.principal_id)

    def _person(
        self, stores: Stores, principal: Principal, person_id: UUID
    ) -> tuple[PersonView, Sequence[PersonView]]:
        """Return somebody and everybody, who stay so until the transaction ends."""
        principal.require(Role.ADMIN)
        stores.people.lock()  # two owners who demote each other at once: one stays
        people = stores.people.all()
        person = next((each for each in people if each.id == person_id), None)
        if person is None:
            raise NotFound("There is no such person.", person_id=str(person_id))
        require_over(principal, person.role)
        return person, people

    def _link(self, stores: Stores, principal: Principal, person: PersonView) -> PersonLink:
        token, now = self.make_token(32), self.platform.clock()
        expires_at = now + LINK_LASTS
        stores.people.keep_link(person.id, secret_hash(token), now, expires_at)
        self._record(stores, principal, "person.link_made", person)
        return PersonLink(person=person, token=token, expires_at=expires_at)

    def _record(
        self,
        stores: Stores,
        principal: Principal,
        type_: str,
        person: PersonView,
        **meta: JsonValue,
    ) -> None:
        record(
            stores,
            workspace_id=principal.workspace_id,
            type_=type_,
            meta={"person_id": str(person.id), **meta},
            actor=principal_actor(principal),
            now=self.platform.clock(),
            new_id=self.platform.new_id,
        )


def clean_login(login: str) -> str:
    """Return the name somebody signs in under, in small letters; refused when it is none."""
    lowered = login.strip().lower()
    if LOGIN.fullmatch(lowered) is None:
        message = "is 1 to 254 letters, digits and . _ + @ -, as an address of mail is"
        raise ValidationFailed(f"login {message}.", errors=[FieldError("login", message)])
    return lowered


def require_over(principal: Principal, role: PersonRole) -> None:
    """Raise Denied where the principal may not decide about a person of this role."""
    principal.require(Role.ADMIN)
    if role is PersonRole.OWNER and principal.person not in (None, PersonRole.OWNER):
        raise Denied("Only an owner decides about owners.", reason="role")


def _require_unchanged(person: PersonView, seen: datetime | None) -> None:
    """Raise Conflict where somebody else has changed a person meanwhile."""
    if seen is not None and person.changed_at != seen:
        raise Conflict(
            "Somebody else has changed this person meanwhile; look at them again.",
            reason="person-changed",
        )


def _require_owner_left(people: Sequence[PersonView], changed: PersonView) -> None:
    """Raise Conflict where nobody would be left who may do everything."""
    if not _leaves_owner(people, changed):
        raise Conflict("The last owner stays an owner.", reason="last-owner")


def _leaves_owner(people: Sequence[PersonView], changed: PersonView) -> bool:
    after = [changed if each.id == changed.id else each for each in people]
    return any(map(_owns, after)) or not any(map(_owns, people))


def _owns(person: PersonView) -> bool:
    return person.role is PersonRole.OWNER and person.disabled_at is None
