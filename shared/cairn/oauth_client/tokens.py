"""The access token of a holder, good when it is given: renewed before it ends, by one process.

A refresh token may be good once (rotation). So whoever renews takes a lease first, and the token
before stays until the new one is kept: after a crash in between it is tried again. A new one that
cannot be kept at once is used and kept by this process until it can.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeAlias

from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Unavailable
from cairn.kernel.text.canonical import parse_timestamp
from cairn.oauth_client.ports import SignInNeeded, TokenRefused
from cairn.oauth_client.revoking import endpoints_of, revoke_grant
from cairn.oauth_client.sign_in import grant_body

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.oauth_client.client import Holder
    from cairn.oauth_client.ports import AuthorizationServer, Bearer, SignInRow
    from cairn.writing.platform import Platform
    from cairn.writing.secrets import Secrets

LEASE = timedelta(seconds=60)
"""How long whoever renews has it alone: longer than any request to a token endpoint takes."""

EARLY = timedelta(minutes=5)
EARLY_SHARE = 5
"""Renewed so long before its end, or a fifth of its life, whichever is less."""

Key: TypeAlias = "tuple[UUID, UUID, bytes]"
"""The grant of a holder, and what it is bound to: it follows to no other address."""

KEPT_FOR = timedelta(seconds=60)
"""How old what this process knows of a grant may be: a sign-out holds everywhere after that."""

WAIT, WAITS = 0.5, 20
"""Seconds between two looks at what another process renews, and how often."""

_FINAL = frozenset({"invalid_grant", "invalid_client", "unauthorized_client", "invalid_scope",
                    "unsupported_grant_type", "invalid_request"})  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class _Grant:
    body: dict[str, str] = field(repr=False)
    expires_at: datetime | None
    generation: int
    seen_at: datetime

    @property
    def token(self) -> str:
        return self.body["access_token"]

    def is_good(self, now: datetime, refused: str | None) -> bool:
        """Return whether it may be sent."""
        return self.token != refused and (self.expires_at is None or now < self.expires_at)

    def is_early(self, now: datetime) -> bool:
        """Return whether there is time until it has to be renewed."""
        if self.expires_at is None:
            return True
        life = self.expires_at - parse_timestamp(self.body["obtained_at"])
        return now < self.expires_at - min(EARLY, life / EARLY_SHARE)


@dataclass(slots=True, kw_only=True)
class Tokens:
    """Tokens of holders of every workspace. Safe between threads, and between processes."""

    platform: Platform
    states: Transactions[Stores]
    secrets: Secrets
    server: AuthorizationServer
    pause: Callable[[float], None]
    _known: dict[Key, _Grant] = field(default_factory=dict[Key, _Grant])
    _unkept: dict[Key, _Grant] = field(default_factory=dict[Key, _Grant])
    _lock: Lock = field(default_factory=Lock)

    def of(self, workspace_id: UUID, holder: Holder) -> Bearer:
        """Return what gives the holder's token whenever it is asked."""
        return lambda refused=None: self._token(workspace_id, holder, refused)

    def _token(self, workspace_id: UUID, holder: Holder, refused: str | None) -> str:
        now, key = self.platform.clock(), _key(workspace_id, holder)
        if key in self._unkept:
            self._keep_late(workspace_id, holder)
        with self._lock:
            last = self._known.get(key)
        if (
            last
            and last.is_good(now, refused)
            and last.is_early(now)
            and (key in self._unkept or now - last.seen_at < KEPT_FOR)
        ):
            return last.token
        for _ in range(WAITS):
            grant = self._read(workspace_id, holder, now)
            good = grant.is_good(now, refused)
            if good and (grant.is_early(now) or not grant.body["refresh_token"]):
                return self._learned(key, grant).token
            if not grant.body["refresh_token"]:
                self._refuse(workspace_id, holder, grant, "expired")
                raise _needed("expired")
            lease = self._lease(workspace_id, holder, grant)
            if lease is not None:
                token = self._renewed(workspace_id, holder, grant, lease, good=good)
                if token is not None:
                    return token
                continue  # another process was faster
            if good:
                return grant.token  # another process renews it; this one lasts a while
            self.pause(WAIT)
            now = self.platform.clock()
        raise Unavailable(
            "Another process renews the sign-in.", reason="sign-in-under-way", retry_after=5.0
        )

    def _read(self, workspace_id: UUID, holder: Holder, now: datetime) -> _Grant:
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            row: SignInRow | None = stores.oauth_sign_ins.find(holder.id)
        if row is None or row.sealed_grant is None or row.grant_bound_to != holder.bound_to:
            raise _needed("not-signed-in")
        if row.refused is not None:
            raise _needed(row.refused)
        return _Grant(
            body=self.secrets.opened(workspace_id, holder.id, row.sealed_grant),
            expires_at=row.grant_expires_at,
            generation=row.generation,
            seen_at=now,
        )

    def _lease(self, workspace_id: UUID, holder: Holder, grant: _Grant) -> UUID | None:
        lease, now = self.platform.new_id(), self.platform.clock()
        with self.states.writing(system_principal(workspace_id)) as stores:
            taken = stores.oauth_sign_ins.take_renewal(
                holder.id, grant.generation, lease, now, now + LEASE
            )
        return lease if taken else None

    def _renewed(
        self, workspace_id: UUID, holder: Holder, grant: _Grant, lease: UUID, *, good: bool
    ) -> str | None:
        """Return a new token, the one before where it lasts; None where another grant is there."""
        try:
            answer = self.server.renew(
                holder.client, endpoints_of(grant.body), grant.body["refresh_token"]
            )
        except TokenRefused as refused:
            if refused.reason in _FINAL:
                if not self._refuse(workspace_id, holder, grant, refused.reason):
                    return None
                raise _needed(refused.reason) from refused
            return self._got_over(workspace_id, holder, grant, lease, refused.reason, good=good)
        except Unavailable as problem:
            return self._got_over(workspace_id, holder, grant, lease, problem.reason, good=good)
        now = self.platform.clock()
        body, ends = grant_body(answer, endpoints_of(grant.body), now, grant.body["refresh_token"])
        texts = {name: "" if value is None else str(value) for name, value in body.items()}
        new = _Grant(body=texts, expires_at=ends, generation=grant.generation + 1, seen_at=now)
        key = _key(workspace_id, holder)
        with self._lock:
            self._known[key] = self._unkept[key] = new
        self._keep_late(workspace_id, holder)
        return new.token

    def _got_over(
        self,
        workspace_id: UUID,
        holder: Holder,
        grant: _Grant,
        lease: UUID,
        reason: str,
        *,
        good: bool,
    ) -> str:
        """Give the lease back; the token before is used while it lasts, else Unavailable."""
        fields: dict[str, Any] = {"holder_id": str(holder.id), "reason": reason}
        self.platform.warn("sign_in_not_renewed", fields)
        with self.states.writing(system_principal(workspace_id)) as stores:
            stores.oauth_sign_ins.end_renewal(holder.id, lease)
        if good:
            return grant.token
        raise Unavailable(
            "The authorization server does not renew the sign-in now.",
            reason="sign-in-not-renewed",
            retry_after=30.0,
        )

    def _keep_late(self, workspace_id: UUID, holder: Holder) -> None:
        """Keep a renewed grant that is not kept yet; what fails is tried again at the next use."""
        key = _key(workspace_id, holder)
        with self._lock:
            grant = self._unkept.get(key)
        if grant is None:
            return
        sealed = self.secrets.sealed(workspace_id, holder.id, grant.body)
        try:
            with self.states.writing(system_principal(workspace_id)) as stores:
                stored = stores.oauth_sign_ins.keep_renewed(
                    holder.id, grant.generation, sealed, grant.expires_at, self.platform.clock()
                )
                signed_out = stores.oauth_sign_ins.find(holder.id) is None
        except Unavailable as problem:
            fields: dict[str, Any] = {"holder_id": str(holder.id), "reason": problem.reason}
            self.platform.warn("sign_in_not_kept", fields)
            return
        with self._lock:
            if self._unkept.get(key) is grant:
                del self._unkept[key]
            if not stored:  # somebody signed in anew, or out
                self._known.pop(key, None)
        if signed_out:
            revoke_grant(self.platform, self.server, holder, grant.body)

    def _refuse(self, workspace_id: UUID, holder: Holder, grant: _Grant, reason: str) -> bool:
        """Keep that a grant is good no more; False when there is another by now."""
        with self._lock:
            self._known.pop(_key(workspace_id, holder), None)
        with self.states.writing(system_principal(workspace_id)) as stores:
            return stores.oauth_sign_ins.refuse(
                holder.id, grant.generation, reason, self.platform.clock()
            )

    def _learned(self, key: Key, grant: _Grant) -> _Grant:
        with self._lock:
            self._known[key] = grant
        return grant


def _key(workspace_id: UUID, holder: Holder) -> Key:
    return workspace_id, holder.id, holder.bound_to


def _needed(reason: str) -> SignInNeeded:
    return SignInNeeded("A person has to sign in to it by a device code.", reason=reason)
