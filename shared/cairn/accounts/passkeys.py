"""Passkeys (WebAuthn): adding and removing one's own, and signing in with one.

Here: that an answer is good once, whose it is, the pause after failures, the entries. The proofs
themselves are checked by a library (`passkey_proofs.py`).
"""

from __future__ import annotations

import json
import secrets
from base64 import b64decode, b64encode
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cairn.accounts.attempts import Attempts, Begun
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Conflict, NotFound, Unauthenticated, ValidationFailed
from cairn.writing.checks import clean_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.accounts.passkey_proofs import Place
    from cairn.accounts.sessions import Opened, SessionRow, Sessions

MOST = 20
SIGN_IN, ADD = "passkey-sign-in", "passkey-add"
REFUSED = (
    "This passkey signs nobody in: it was removed, is somebody else's, took longer than five "
    "minutes, or there were too many attempts; then wait a while."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Passkey:
    """A passkey of somebody. `sign_count` is 0 where its authenticator counts nothing."""

    id: UUID
    credential_id: bytes = field(repr=False)
    public_key: bytes = field(repr=False)
    sign_count: int
    name: str
    created_at: datetime
    used_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Passkeys:
    """Adds, lists and removes passkeys, and opens sessions by them."""

    sessions: Sessions
    attempts: Attempts
    random_bytes: Callable[[int], bytes] = secrets.token_bytes

    def of(self, session: SessionRow) -> Sequence[Passkey]:
        """Return one's own passkeys, the oldest first."""
        system = system_principal(session.workspace_id)
        with self.sessions.platform.transactions.reading(system) as stores:
            return stores.people.passkeys(session.person_id)

    def begin_adding(self, session: SessionRow, place: Place, *, present: str) -> Begun:
        """Return what a browser makes a passkey of, and the token it brings it back with.

        The present password is needed as for a new one. Conflict above 20 passkeys.
        """
        from cairn.accounts.passkey_proofs import options_to_add

        self.sessions.require_present(session, present)
        others = self.of(session)
        if len(others) >= MOST:
            raise Conflict(f"{MOST} passkeys are the most; remove one first.", reason="passkeys")
        challenge = self.random_bytes(32)
        options = options_to_add(
            place,
            challenge,
            user_id=session.person_id.bytes,
            login=session.login,
            name=session.name,
            others=[each.credential_id for each in others],
        )
        token = self._begin(ADD, challenge, session_id=str(session.session_id))
        return Begun(token=token, content=options)

    def add(
        self, session: SessionRow, place: Place, *, name: str, proof: str, attempt: str
    ) -> Passkey:
        """Keep the passkey that a browser made; ValidationFailed for any other."""
        from cairn.accounts.passkey_proofs import check_added

        body = self._take(ADD, attempt)
        if body is None or body.get("session_id") != str(session.session_id):
            raise ValidationFailed("This took too long, or was done already; add it again.")
        new = check_added(proof, place, b64decode(body["challenge"]))
        if new is None:
            raise ValidationFailed("The browser's answer is none that makes a passkey.")
        passkey = Passkey(
            id=self.sessions.platform.new_id(),
            credential_id=new.credential_id,
            public_key=new.public_key,
            sign_count=new.sign_count,
            name=clean_name(name.strip() or "Passkey", "name") or "Passkey",
            created_at=self.sessions.platform.clock(),
        )
        workspace_id, person_id = session.workspace_id, session.person_id
        with self.sessions.writing(workspace_id) as stores:
            stores.people.lock()
            if len(stores.people.passkeys(person_id)) >= MOST:
                raise Conflict(f"{MOST} passkeys are the most.", reason="passkeys")
            if not stores.people.add_passkey(person_id, passkey):
                raise Conflict("This passkey is in use already.", reason="passkey-taken")
            self.sessions.record(
                stores, workspace_id, person_id, "person.passkey_added", passkey_id=str(passkey.id)
            )
        return passkey

    def remove(self, session: SessionRow, passkey_id: UUID) -> None:
        """Let one of one's own passkeys open nothing any more; NotFound for any other."""
        workspace_id, person_id = session.workspace_id, session.person_id
        with self.sessions.writing(workspace_id) as stores:
            if not stores.people.remove_passkey(person_id, passkey_id):
                raise NotFound("There is no such passkey of yours.", passkey_id=str(passkey_id))
            self.sessions.record(
                stores, workspace_id, person_id, "person.passkey_removed",
                passkey_id=str(passkey_id),
            )  # fmt: skip

    def begin_sign_in(self, place: Place, *, address: str | None) -> Begun:
        """Return what a browser signs, and the token it brings it back with.

        The same whoever signs in. RateLimited where the address has tried too often.
        """
        from cairn.accounts.passkey_proofs import options_to_sign_in

        self.sessions.count_address(address, 1)
        challenge = self.random_bytes(32)
        return Begun(
            token=self._begin(SIGN_IN, challenge), content=options_to_sign_in(place, challenge)
        )

    def sign_in(
        self, place: Place, *, proof: str, attempt: str, login: str = "", address: str | None = None
    ) -> Opened:
        """Open a session by a passkey, of whoever signs in as `login` where that is said.

        Unauthenticated says one and the same whatever was wrong. A failure counts as a wrong
        password does.
        """
        from cairn.accounts.passkey_proofs import check_signed, claimed

        body, claim = self._take(SIGN_IN, attempt), claimed(proof)
        where = self.sessions.find.passkey(claim.credential_id) if body and claim else None
        person = self.sessions.begin_attempt(*where) if where else None
        if body is None or claim is None or where is None or person is None:
            raise _refused()
        system = system_principal(where[0])
        with self.sessions.platform.transactions.reading(system) as stores:
            passkeys = stores.people.passkeys(person.id)
        passkey = next((k for k in passkeys if k.credential_id == claim.credential_id), None)
        other = login.strip().lower() not in ("", person.login)
        if passkey is None or claim.user_id != person.id.bytes or other:
            raise _refused()
        count = check_signed(
            proof,
            place,
            b64decode(body["challenge"]),
            public_key=passkey.public_key,
            sign_count=passkey.sign_count,
        )
        if count is None:
            raise _refused()
        opened = self._open(where[0], person.id, passkey, count)
        self.sessions.count_address(address, -1)
        return opened

    def _open(
        self, workspace_id: UUID, person_id: UUID, passkey: Passkey, sign_count: int
    ) -> Opened:
        with self.sessions.writing(workspace_id) as stores:
            now = self.sessions.platform.clock()
            used = stores.people.use_passkey(passkey.id, sign_count, now)
            if not used or stores.people.credentials(person_id) is None:
                raise _refused()
            stores.people.count_attempts(person_id, 0, None)
            return self.sessions.open(stores, workspace_id, person_id, by="passkey")

    def _begin(self, purpose: str, challenge: bytes, **more: str) -> str:
        body = {"challenge": b64encode(challenge).decode(), **more}
        return self.attempts.begin(purpose, json.dumps(body))

    def _take(self, purpose: str, attempt: str) -> dict[str, str] | None:
        body = self.attempts.take(purpose, attempt)
        return None if body is None else json.loads(body)


def _refused() -> Unauthenticated:
    return Unauthenticated(REFUSED, reason="passkey")
