"""Signing in to the console: passwords, one-time links, sessions. Not who may (`people.py`).

A session is a random token, of which the database has the hash. What a form has to send beside it
is another token, kept with the session. Both are new after each sign-in and each change of rights.
Each of these is a ledger entry without names.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Protocol

from cairn.accounts.addresses import ADDRESS_ATTEMPTS, ADDRESS_WINDOW, address_id
from cairn.accounts.keys import record
from cairn.kernel.access import ALL_SCOPES, PersonRole, Principal, Role
from cairn.kernel.access.keys import secret_hash
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import FieldError, RateLimited, Unauthenticated, ValidationFailed
from cairn.ledger.entry import Actor, ActorKind

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from contextlib import AbstractContextManager
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.stores import Stores
    from cairn.kernel.text.json_value import JsonValue
    from cairn.writing.platform import Platform

SESSION_LASTS, SESSION_IDLES = timedelta(days=7), timedelta(hours=12)
SEEN_EVERY = timedelta(minutes=1)
FREE_ATTEMPTS = 5
FIRST_PAUSE, LONGEST_PAUSE = timedelta(seconds=30), timedelta(hours=1)
MIN_PASSWORD, MAX_PASSWORD = 12, 256
MAX_TOKEN_CHARS = 200
REFUSED = "Name or password is wrong, or there were too many attempts; then wait a while."
ADMINS = (PersonRole.OWNER, PersonRole.ADMIN)


class Passwords(Protocol):
    """Slow hashes of passwords; `check` takes as long for nobody's as for somebody's."""

    def hash(self, password: str) -> str: ...
    def check(self, password_hash: str | None, password: str) -> bool: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What a sign-in of somebody is held to."""

    id: UUID
    login: str
    name: str
    role: PersonRole
    failures: int
    locked_until: datetime | None
    password_hash: str | None = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionRow:
    """A session as the database finds it by a token: the present one, or the one before."""

    workspace_id: UUID
    person_id: UUID
    session_id: UUID
    login: str
    name: str
    role: PersonRole
    csrf: str = field(repr=False)
    present: bool
    rotate: bool
    by_link: bool
    seen_at: datetime
    token_hash: bytes = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionView:
    """Where somebody is signed in."""

    id: UUID
    created_at: datetime
    seen_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Opened:
    """A session's new token, for the cookie, and where it belongs."""

    workspace_id: UUID
    person_id: UUID
    session_id: UUID
    token: str = field(repr=False)
    csrf: str = field(repr=False)


class SignInFinder(Protocol):
    """What is found across workspaces, before one is known."""

    def login(self, login: str) -> tuple[UUID, UUID] | None: ...
    def link(self, token_hash: bytes) -> UUID | None: ...
    def passkey(self, credential_id: bytes) -> tuple[UUID, UUID] | None: ...
    def identity(self, issuer: str, subject: str) -> tuple[UUID, UUID] | None: ...
    def begin_attempt(
        self, attempt: UUID, purpose: str, body: str, now: datetime, expires_at: datetime
    ) -> None: ...
    def take_attempt(self, attempt: UUID, purpose: str, now: datetime) -> str | None: ...
    def session(self, token_hash: bytes, now: datetime, idle: timedelta) -> SessionRow | None: ...
    def count_address(
        self, place: UUID, now: datetime, *, most: int, window: timedelta, taken: int
    ) -> float: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Sessions:
    """Opens, renews and ends sessions."""

    platform: Platform
    find: SignInFinder
    passwords: Passwords
    make_token: Callable[[int], str] = secrets.token_urlsafe

    def admit(self, token: str) -> SessionRow:
        """Return the session of a token that is good now.

        Unauthenticated otherwise, with the reason `session-rotated` for the token before: the
        browser has a newer one already.
        """
        now = self.platform.clock()
        row = None
        if 0 < len(token) <= MAX_TOKEN_CHARS and token.isascii():
            row = self.find.session(secret_hash(token), now, SESSION_IDLES)
        if row is None:
            raise Unauthenticated("Sign in to go on.", reason="session")
        if not row.present:
            raise Unauthenticated("This session was renewed.", reason="session-rotated")
        if now - row.seen_at > SEEN_EVERY:
            with self.platform.transactions.writing(system_principal(row.workspace_id)) as stores:
                stores.people.see(row.session_id, now)
        return row

    def with_password(self, login: str, password: str, *, address: str | None = None) -> Opened:
        """Open a session; Unauthenticated says one and the same whatever was wrong.

        The attempt is counted before the password is looked at, so that many at once are no way
        around the pause. RateLimited where the address has tried too often, whoever it names;
        an attempt that succeeds is not held against its address.
        """
        self.count_address(address, 1)
        place = self.find.login(login.strip().lower()) if len(login) <= 254 else None
        person = self.begin_attempt(*place) if place else None
        good = self.passwords.check(
            person.password_hash if person else None, password[: MAX_PASSWORD + 1]
        )
        if place is None or person is None or not good:
            raise Unauthenticated(REFUSED, reason="sign-in")
        with self.writing(place[0]) as stores:
            if _present(stores, person.id) != person.password_hash:
                raise Unauthenticated(REFUSED, reason="sign-in")
            stores.people.count_attempts(person.id, 0, None)
            opened = self.open(stores, place[0], person.id, by="password")
        self.count_address(address, -1)
        return opened

    def with_link(self, token: str, *, address: str | None = None) -> Opened:
        """Open a session by a one-time link, which is spent; RateLimited as with a password."""
        self.count_address(address, 1)
        hash_ = secret_hash(token[:MAX_TOKEN_CHARS])
        workspace_id = self.find.link(hash_) if token.isascii() else None
        if workspace_id is None:
            raise _no_link()
        with self.writing(workspace_id) as stores:
            person_id = stores.people.take_link(hash_, self.platform.clock())
            if person_id is None or stores.people.credentials(person_id) is None:
                raise _no_link()
            opened = self.open(stores, workspace_id, person_id, by="link")
        self.count_address(address, -1)
        return opened

    def set_password(self, session: SessionRow, new: str, *, present: str) -> Opened:
        """Set a password; every other session of the person ends, this one gets a new token.

        The present password is needed, but by who came by a link or has none.
        """
        check_password(new, session.login)
        person = self.require_present(session, present)
        hash_ = self.passwords.hash(new)
        with self.writing(session.workspace_id) as stores:
            stores.people.set_password(person.id, hash_)
            self.record(stores, session.workspace_id, person.id, "person.password_set")
            self._end(stores, session, but=session.session_id)
            return self._rotated(stores, session)

    def require_present(self, session: SessionRow, password: str) -> Credentials:
        """Return who signs in, whose password this is; who came by a link or has none needs none.

        ValidationFailed otherwise.
        """
        with self.platform.transactions.reading(system_principal(session.workspace_id)) as stores:
            person = stores.people.credentials(session.person_id)
        needs = person is not None and person.password_hash is not None and not session.by_link
        if person is None or (needs and not self._right(session, person, password)):
            wrong = "is not the password you have"
            raise ValidationFailed(f"present {wrong}.", errors=[FieldError("present", wrong)])
        return person

    def rotate(self, session: SessionRow) -> Opened:
        """Return a new token in the place of the session's."""
        with self.writing(session.workspace_id) as stores:
            return self._rotated(stores, session)

    def end(self, session: SessionRow, *, everywhere: bool = False) -> None:
        """Sign out, here or wherever the person is signed in."""
        with self.writing(session.workspace_id) as stores:
            self._end(stores, session, id_=None if everywhere else session.session_id)

    def of(self, session: SessionRow) -> Sequence[SessionView]:
        """Return where the person is signed in, the newest first."""
        with self.platform.transactions.reading(system_principal(session.workspace_id)) as stores:
            return stores.people.sessions(session.person_id, self.platform.clock())

    def has_password(self, session: SessionRow) -> bool:
        """Return whether the person has a password."""
        with self.platform.transactions.reading(system_principal(session.workspace_id)) as stores:
            person = stores.people.credentials(session.person_id)
        return person is not None and person.password_hash is not None

    def writing(self, workspace_id: UUID) -> AbstractContextManager[Stores]:
        """Return a transaction of the sign-in itself, which acts for no person."""
        return self.platform.transactions.writing(system_principal(workspace_id))

    def count_address(self, address: str | None, taken: int) -> None:
        """Count an attempt of an address, or with -1 give it back."""
        wait = self.find.count_address(
            address_id(address),
            self.platform.clock(),
            most=ADDRESS_ATTEMPTS,
            window=ADDRESS_WINDOW,
            taken=taken,
        )
        if wait > 0:
            raise RateLimited(
                "Too many attempts to sign in come from this address; wait a while.",
                retry_after=wait,
                reason="sign-in-address",
            )

    def begin_attempt(self, workspace_id: UUID, person_id: UUID) -> Credentials | None:
        """Count an attempt and return what it is held to; None while the person is locked."""
        now = self.platform.clock()
        with self.writing(workspace_id) as stores:
            person = stores.people.credentials(person_id)
            if person is None or (person.locked_until is not None and person.locked_until > now):
                return None
            failures = person.failures + 1
            pause = pause_after(failures)
            stores.people.count_attempts(person_id, failures, now + pause if pause else None)
            seconds = int(pause.total_seconds())
            self.record(
                stores, workspace_id, person_id, "person.attempted",
                failures=failures, locked_seconds=seconds,
            )  # fmt: skip
            return person

    def _right(self, session: SessionRow, person: Credentials, password: str) -> bool:
        attempt = self.begin_attempt(session.workspace_id, person.id)
        good = self.passwords.check(
            attempt.password_hash if attempt else None, password[: MAX_PASSWORD + 1]
        )
        if attempt is None or not good:
            return False
        with self.writing(session.workspace_id) as stores:
            stores.people.count_attempts(person.id, 0, None)
        return True

    def open(self, stores: Stores, workspace_id: UUID, person_id: UUID, *, by: str) -> Opened:
        """Open a session of somebody who has proven who they are, `by` what."""
        now, session_id = self.platform.clock(), self.platform.new_id()
        opened = self._tokens(workspace_id, person_id, session_id)
        stores.people.drop_old_sessions(person_id, now)
        stores.people.add_session(
            session_id,
            person_id,
            token_hash=secret_hash(opened.token),
            csrf=opened.csrf,
            by_link=by == "link",
            now=now,
            expires_at=now + SESSION_LASTS,
        )
        self.record(
            stores, workspace_id, person_id, "person.signed_in", session_id=str(session_id), by=by
        )
        return opened

    def _rotated(self, stores: Stores, session: SessionRow) -> Opened:
        opened = self._tokens(session.workspace_id, session.person_id, session.session_id)
        hash_ = secret_hash(opened.token)
        if not stores.people.rotate(session.session_id, hash_, session.token_hash, opened.csrf):
            raise Unauthenticated("This session was renewed.", reason="session-rotated")
        self.record(
            stores, session.workspace_id, session.person_id, "person.session_renewed",
            session_id=str(session.session_id),
        )  # fmt: skip
        return opened

    def _end(
        self,
        stores: Stores,
        session: SessionRow,
        *,
        id_: UUID | None = None,
        but: UUID | None = None,
    ) -> None:
        for ended in stores.people.end_sessions(session.person_id, id_=id_, but=but):
            self.record(
                stores, session.workspace_id, session.person_id, "person.signed_out",
                session_id=str(ended),
            )  # fmt: skip

    def _tokens(self, workspace_id: UUID, person_id: UUID, session_id: UUID) -> Opened:
        return Opened(
            workspace_id=workspace_id,
            person_id=person_id,
            session_id=session_id,
            token=self.make_token(32),
            csrf=self.make_token(32),
        )

    def record(
        self,
        stores: Stores,
        workspace_id: UUID,
        person_id: UUID,
        type_: str,
        **meta: JsonValue,
    ) -> None:
        """Append what somebody did about their own signing in, without names."""
        record(
            stores,
            workspace_id=workspace_id,
            type_=type_,
            meta={"person_id": str(person_id), **meta},
            actor=Actor(kind=ActorKind.USER, id=str(person_id)),
            now=self.platform.clock(),
            new_id=self.platform.new_id,
        )


def principal_of(session: SessionRow) -> Principal:
    """Return what somebody who signed in may do."""
    return person_principal(session.workspace_id, session.person_id, session.name, session.role)


def person_principal(workspace_id: UUID, person_id: UUID, name: str, role: PersonRole) -> Principal:
    """Return what a person may do as a principal: owners and admins as admins, others as agents.

    People see every scope and what is tagged for any agent. What they may change the database
    holds to their role.
    """
    return Principal(
        workspace_id=workspace_id,
        principal_id=person_id,
        role=Role.ADMIN if role in ADMINS else Role.AGENT,
        allowed_scopes=ALL_SCOPES,
        name=name,
        person=role,
    )


def pause_after(failures: int) -> timedelta:
    """Return for how long nobody is tried after so many failures in a row."""
    if failures < FREE_ATTEMPTS:
        return timedelta(0)
    return min(FIRST_PAUSE * 2 ** min(failures - FREE_ATTEMPTS, 10), LONGEST_PAUSE)


def check_password(password: str, login: str) -> None:
    """Raise ValidationFailed for a password that is easily guessed or cannot be typed."""
    message = ""
    if len(password) < MIN_PASSWORD:
        message = f"needs {MIN_PASSWORD} characters at least; a sentence is good"
    elif len(password) > MAX_PASSWORD:
        message = f"has {MAX_PASSWORD} characters at most"
    elif len(set(password)) < MIN_PASSWORD // 2 or login in password.lower():
        message = "is easily guessed: it repeats itself, or your name is in it"
    if message:
        raise ValidationFailed(f"password {message}.", errors=[FieldError("password", message)])


def _present(stores: Stores, person_id: UUID) -> str | None:
    person = stores.people.credentials(person_id)
    return person.password_hash if person else ""


def _no_link() -> Unauthenticated:
    return Unauthenticated(
        "This link opens nothing, or no longer: it is good once, for 15 minutes.", reason="link"
    )
