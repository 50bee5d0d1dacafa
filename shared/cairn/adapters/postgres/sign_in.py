"""People, their links and their sessions in PostgreSQL, and what leads to their workspace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from psycopg.rows import dict_row

from cairn.accounts.passkeys import Passkey
from cairn.accounts.people import PersonView
from cairn.accounts.sessions import Credentials, SessionRow, SessionView
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store, record, scalar
from cairn.kernel.access import PersonRole

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime, timedelta
    from uuid import UUID

    from cairn.adapters.postgres.database import Database


class PostgresPeople(Store):
    """The people of a workspace."""

    def all(self) -> Sequence[PersonView]:
        """Return everybody, by login."""
        return self.all_of(record(PersonView, role=PersonRole), "person.all")

    def lock(self) -> None:
        """Let nobody else change who signs in until the transaction ends."""
        self.run("person.lock")

    def add(self, person: PersonView) -> bool:
        """Keep somebody; False where the login is taken, in whatever workspace."""
        added = self.values(
            "person.add",
            id=person.id,
            login=person.login,
            called=person.name,
            role=person.role.value,
            now=person.created_at,
        )
        return bool(added)

    def change(self, person: PersonView, now: datetime) -> None:
        """Keep somebody's role and whether they may sign in."""
        role, disabled_at = person.role.value, person.disabled_at
        self.run("person.change", id=person.id, role=role, disabled_at=disabled_at, now=now)

    def rename(self, person_id: UUID, login: str, name: str, now: datetime) -> bool:
        """Keep another login and name of somebody; False where the login is taken."""
        return bool(self.values("person.rename", id=person_id, login=login, called=name, now=now))

    def drop_credentials(self, person_id: UUID) -> None:
        """Take away all that somebody signs in with."""
        self.run("person.drop_credentials", id=person_id)

    def remove(self, person_id: UUID) -> None:
        """Take somebody out, with links and sessions."""
        self.run("person.remove", id=person_id)

    def credentials(self, person_id: UUID) -> Credentials | None:
        """Return what a sign-in is held to; None for who may not sign in."""
        factory = record(Credentials, role=PersonRole)
        return self.first_of(factory, "person.credentials", id=person_id)

    def count_attempts(self, person_id: UUID, failures: int, locked_until: datetime | None) -> None:
        """Keep how many sign-ins failed in a row, and until when none is tried."""
        self.run(
            "person.count_attempts", id=person_id, failures=failures, locked_until=locked_until
        )

    def set_password(self, person_id: UUID, password_hash: str) -> None:
        """Keep a new password's hash."""
        self.run("person.set_password", id=person_id, password_hash=password_hash)

    def keep_link(
        self, person_id: UUID, token_hash: bytes, now: datetime, expires_at: datetime
    ) -> None:
        """Keep a link in the place of the one before."""
        times = {"now": now, "expires_at": expires_at}
        self.run("person.keep_link", person_id=person_id, token_hash=token_hash, **times)

    def take_link(self, token_hash: bytes, now: datetime) -> UUID | None:
        """Spend a link and return whose it was."""
        return self.value("person.take_link", token_hash=token_hash, now=now)

    def drop_links(self, person_id: UUID) -> None:
        """Let no link of somebody open anything."""
        self.run("person.drop_links", person_id=person_id)

    def add_session(
        self,
        session_id: UUID,
        person_id: UUID,
        *,
        token_hash: bytes,
        csrf: str,
        by_link: bool,
        now: datetime,
        expires_at: datetime,
    ) -> None:
        """Keep a session."""
        self.run(
            "person.add_session",
            id=session_id,
            person_id=person_id,
            token_hash=token_hash,
            csrf=csrf,
            by_link=by_link,
            now=now,
            expires_at=expires_at,
        )

    def drop_old_sessions(self, person_id: UUID, now: datetime) -> None:
        """Take away sessions that are over."""
        self.run("person.drop_old_sessions", person_id=person_id, now=now)

    def rotate(self, session_id: UUID, token_hash: bytes, token_before: bytes, csrf: str) -> bool:
        """Keep a session's new tokens; False where another request has renewed it."""
        changed = self.values(
            "person.rotate",
            id=session_id,
            token_hash=token_hash,
            token_before=token_before,
            csrf=csrf,
        )
        return bool(changed)

    def see(self, session_id: UUID, now: datetime) -> None:
        """Note that a session was used."""
        self.run("person.see", id=session_id, now=now)

    def end_sessions(
        self, person_id: UUID, *, id_: UUID | None = None, but: UUID | None = None
    ) -> Sequence[UUID]:
        """End a session of somebody, or all but perhaps one; returns which."""
        return self.values("person.end_sessions", person_id=person_id, id=id_, but=but)

    def mark_rotation(self, person_id: UUID) -> None:
        """Let each session of somebody get a new token."""
        self.run("person.mark_rotation", person_id=person_id)

    def sessions(self, person_id: UUID, now: datetime) -> Sequence[SessionView]:
        """Return where somebody is signed in."""
        return self.all_of(record(SessionView), "person.sessions", person_id=person_id, now=now)

    def add_passkey(self, person_id: UUID, passkey: Passkey) -> bool:
        """Keep a passkey; False where its credential is known already, in whatever workspace."""
        added = self.values(
            "person.add_passkey",
            id=passkey.id,
            person_id=person_id,
            credential_id=passkey.credential_id,
            public_key=passkey.public_key,
            sign_count=passkey.sign_count,
            called=passkey.name,
            now=passkey.created_at,
        )
        return bool(added)

    def passkeys(self, person_id: UUID) -> Sequence[Passkey]:
        """Return somebody's passkeys, the oldest first."""
        return self.all_of(record(Passkey), "person.passkeys", person_id=person_id)

    def use_passkey(self, passkey_id: UUID, sign_count: int, now: datetime) -> bool:
        """Note that a passkey was used; False where it is gone or counts backwards."""
        return bool(
            self.values("person.use_passkey", id=passkey_id, sign_count=sign_count, now=now)
        )

    def remove_passkey(self, person_id: UUID, passkey_id: UUID) -> bool:
        """Take a passkey of somebody away; False where there is none."""
        return bool(self.values("person.remove_passkey", person_id=person_id, id=passkey_id))

    def add_identity(self, person_id: UUID, issuer: str, subject: str, now: datetime) -> bool:
        """Link somebody to who they are at an issuer; False where either is linked already."""
        parameters = {"person_id": person_id, "issuer": issuer, "subject": subject, "now": now}
        return bool(self.values("person.add_identity", **parameters))

    def tie(self, person_id: UUID, member_id: UUID, client_id: str, now: datetime) -> bool:
        """Say which member somebody is; False where either is tied already."""
        member = {"member_id": member_id, "client_id": client_id}
        return bool(self.values("person.tie", person_id=person_id, now=now, **member))

    def untie(self, person_id: UUID) -> UUID | None:
        """Let somebody be no member; returns which one they were."""
        return self.value("person.untie", person_id=person_id)

    def tied(self, person_id: UUID) -> str | None:
        """Return the client of the member that somebody is."""
        return self.value("person.tied", person_id=person_id)


@dataclass(frozen=True)
class FindSignIn:
    """What leads to a workspace: a login, a link's token, a session's token."""

    database: Database

    def login(self, login: str) -> tuple[UUID, UUID] | None:
        """Return the workspace and the person of a login."""
        return self._person("person.workspace_of_login", login=login)

    def link(self, token_hash: bytes) -> UUID | None:
        """Return the workspace of a link."""
        with self.database.connection() as connection:
            return scalar(connection, "person.workspace_of_link", {"token_hash": token_hash})

    def passkey(self, credential_id: bytes) -> tuple[UUID, UUID] | None:
        """Return the workspace and the person of a passkey."""
        return self._person("person.workspace_of_passkey", credential_id=credential_id)

    def identity(self, issuer: str, subject: str) -> tuple[UUID, UUID] | None:
        """Return the workspace and the person of who somebody is at an issuer."""
        return self._person("person.workspace_of_identity", issuer=issuer, subject=subject)

    def begin_attempt(
        self, attempt: UUID, purpose: str, body: str, now: datetime, expires_at: datetime
    ) -> None:
        """Keep what a sign-in under way is held to."""
        times = {"now": now, "expires_at": expires_at}
        parameters = {"attempt": attempt, "purpose": purpose, "body": body, **times}
        with self.database.connection() as connection:
            scalar(connection, "person.begin_attempt", parameters)

    def take_attempt(self, attempt: UUID, purpose: str, now: datetime) -> str | None:
        """Return what a sign-in is held to, this once."""
        parameters = {"attempt": attempt, "purpose": purpose, "now": now}
        with self.database.connection() as connection:
            return scalar(connection, "person.take_attempt", parameters)

    def session(self, token_hash: bytes, now: datetime, idle: timedelta) -> SessionRow | None:
        """Return the session of a token, or of the one before."""
        parameters = {"token_hash": token_hash, "now": now, "idle": idle}
        with self.database.connection() as connection:
            cursor = connection.cursor(row_factory=record(SessionRow, role=PersonRole))
            return cursor.execute(query("person.admit_session"), parameters).fetchone()

    def count_address(
        self, place: UUID, now: datetime, *, most: int, window: timedelta, taken: int
    ) -> float:
        """Take an attempt out of an address's, or give it back; returns the seconds to wait."""
        parameters = {
            "place": place,
            "now": now,
            "most": most,
            "per_second": most / window.total_seconds(),
            "taken": taken,
        }
        with self.database.connection() as connection:
            return scalar(connection, "person.count_address", parameters)

    def _person(self, name: str, **parameters: object) -> tuple[UUID, UUID] | None:
        with self.database.connection() as connection:
            cursor = connection.cursor(row_factory=dict_row)
            row = cursor.execute(query(name), parameters).fetchone()
        return (row["workspace_id"], row["person_id"]) if row else None
