"""Signing in by an OpenID Connect issuer: who somebody is here, with which role, and the session.

The issuer says who it is; here it is decided whether they may. Not the protocol itself
(`adapters/http/openid.py`).
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from hmac import compare_digest
from typing import TYPE_CHECKING, NoReturn, Protocol

from cairn.accounts.people import clean_login
from cairn.kernel.access import PersonRole
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Conflict, Unauthenticated, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime
    from uuid import UUID

    from cairn.accounts.attempts import Attempts, Begun
    from cairn.accounts.people import People
    from cairn.accounts.sessions import Opened, Sessions

PURPOSE = "issuer"
MAX_CODE_CHARS = 4_096
BY_RANK = tuple(PersonRole)
"""Roles, the one that may most first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """Who the issuer says it is. `email` is empty unless the issuer has verified it."""

    subject: str
    email: str
    name: str
    groups: frozenset[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceremony:
    """What one sign-in is held to at the issuer."""

    redirect_uri: str
    state: str
    nonce: str
    verifier: str


class Issuer(Protocol):
    """The issuer: where it is asked, and who it says came back with a code.

    `identity` raises Unauthenticated for a code or a token that does not hold, Unavailable when the
    issuer does not answer.
    """

    @property
    def issuer(self) -> str: ...
    def address(self, ceremony: Ceremony) -> str: ...
    def identity(self, code: str, ceremony: Ceremony, now: datetime) -> Identity: ...


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
class IssuerSignIn:
    """Sends people to the issuer, and opens a session for who comes back."""

    sessions: Sessions
    people: People
    attempts: Attempts
    issuer: Issuer
    admission: Admission
    make_token: Callable[[int], str] = secrets.token_urlsafe

    def begin(self, redirect_uri: str, goal: str, *, address: str | None) -> Begun:
        """Return the address at the issuer, and the token the browser comes back with.

        RateLimited where the address of the browser has tried too often.
        """
        from cairn.accounts.attempts import Begun

        self.sessions.count_address(address, 1)
        ceremony = Ceremony(
            redirect_uri=redirect_uri,
            state=self.make_token(32),
            nonce=self.make_token(32),
            verifier=self.make_token(48),
        )
        url = self.issuer.address(ceremony)
        body = {"state": ceremony.state, "nonce": ceremony.nonce, "verifier": ceremony.verifier}
        token = self.attempts.begin(PURPOSE, json.dumps(body | {"goal": goal}))
        return Begun(token=token, content=url)

    def finish(
        self, redirect_uri: str, *, attempt: str, state: str, code: str, address: str | None
    ) -> tuple[Opened, str]:
        """Open a session for who came back, and return it with where they were going.

        Unauthenticated says what was wrong.
        """
        content = self.attempts.take(PURPOSE, attempt)
        body: dict[str, str] = json.loads(content) if content else {}
        good = compare_digest(body.get("state", "").encode(), state.encode())
        if not body or not good or not 0 < len(code) <= MAX_CODE_CHARS:
            _refuse("This sign-in was not begun in this browser, took too long, or is over.")
        ceremony = Ceremony(
            redirect_uri=redirect_uri,
            state=state,
            nonce=body["nonce"],
            verifier=body["verifier"],
        )
        identity = self.issuer.identity(code, ceremony, self.sessions.platform.clock())
        workspace_id, person_id = self._person(identity)
        with self.sessions.writing(workspace_id) as stores:
            if stores.people.credentials(person_id) is None:
                _refuse("You may not sign in here: an admin has disabled you.")
            opened = self.sessions.open(stores, workspace_id, person_id, by="issuer")
        self.sessions.count_address(address, -1)
        return opened, body["goal"]

    def _person(self, identity: Identity) -> tuple[UUID, UUID]:
        """Return who it is, linked and with the role of their groups."""
        domain = identity.email.rpartition("@")[2].lower()
        if self.admission.domains and domain not in self.admission.domains:
            _refuse("Your address is of no domain that signs in here.")
        find, role = self.sessions.find, self.admission.role(identity)
        linked = find.identity(self.issuer.issuer, identity.subject)
        where = linked or (find.login(_login(identity)) if identity.email else None)
        if self.admission.roles and role is None:
            if linked:
                self.people.sign_out(system_principal(linked[0]), linked[1])
            _refuse("None of your groups signs in here.")
        if where is None:
            where = self._added(identity, role or PersonRole.READER)
        if not linked:
            self._link(identity, *where)
        if role is not None:
            self._give(role, *where)
        return where

    def _added(self, identity: Identity, role: PersonRole) -> tuple[UUID, UUID]:
        workspace_id = self.admission.workspace_id
        if workspace_id is None:
            _refuse("Nobody has invited you here yet: ask an admin for it.")
        if not identity.email:
            _refuse("Your issuer has not verified your address.")
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

    def _link(self, identity: Identity, workspace_id: UUID, person_id: UUID) -> None:
        with self.sessions.writing(workspace_id) as stores:
            now, issuer = self.sessions.platform.clock(), self.issuer.issuer
            if stores.people.add_identity(person_id, issuer, identity.subject, now):
                self.sessions.record(stores, workspace_id, person_id, "person.linked")
        if self.sessions.find.identity(issuer, identity.subject) != (workspace_id, person_id):
            _refuse("Somebody else of your issuer signs in under this address; ask an admin.")

    def _give(self, role: PersonRole, workspace_id: UUID, person_id: UUID) -> None:
        """Give somebody the role of their groups; the last owner stays one."""
        try:
            self.people.change(system_principal(workspace_id), person_id, role=role)
        except Conflict as error:
            if error.reason != "last-owner":
                raise


def _login(identity: Identity) -> str:
    try:
        return clean_login(identity.email)
    except ValidationFailed:
        _refuse("Your address cannot be a name that signs in here.")


def _refuse(detail: str) -> NoReturn:
    raise Unauthenticated(detail, reason="issuer")
