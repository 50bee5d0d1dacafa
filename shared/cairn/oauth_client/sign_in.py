"""Signing a holder in by a device code: begun, asked about, ended. Not the use of what it gives.

The authorization server is asked no more often than it allows, whoever looks how often: the time
of the next question is kept with the attempt, and taken by one process at a time.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from cairn.kernel.access import Role
from cairn.kernel.errors import CairnError, NotFound, Unavailable
from cairn.kernel.text.canonical import format_timestamp
from cairn.oauth_client.ports import Endpoints, SignInRow, TokenRefused
from cairn.oauth_client.revoking import endpoints_of, revoke_grant
from cairn.writing.append import append_unprojected, principal_actor
from cairn.writing.entries import plan_entry

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.oauth_client.client import Holder
    from cairn.oauth_client.ports import AuthorizationServer, TokenAnswer
    from cairn.writing.platform import Platform
    from cairn.writing.secrets import Secrets

SLOWER = 5
"""Seconds that `slow_down` adds to the interval (RFC 8628 3.5)."""

SLOWEST = 60
STILL_GOOD = timedelta(seconds=60)
"""An attempt with less time left is begun anew."""

PENDING, DONE, DENIED, EXPIRED, FAILED = "pending", "done", "denied", "expired", "failed"
_ENDS = {"access_denied": DENIED, "authorization_declined": DENIED, "expired_token": EXPIRED}
"""Of errors what becomes of the attempt; the second is Microsoft's word for the first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInShown:
    """How a holder's sign-in stands.

    `state` is `none`, `pending`, `denied`, `expired`, `failed`, `signed-in` or `refused`.
    `signed_in` says whether there is a token to use, whatever a later attempt became. Seconds count
    from now.
    """

    state: str
    signed_in: bool
    user_code: str | None = None
    verification_uri: str | None = None
    verification_uri_complete: str | None = None
    seconds_left: int | None = None
    ask_again_in: int | None = None
    token_expires_at: datetime | None = None
    reason: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIns:
    """Sign-ins of holders: an admin's work. `states` writes without holding the ledger."""

    platform: Platform
    states: Transactions[Stores]
    secrets: Secrets
    server: AuthorizationServer

    def begin(self, principal: Principal, holder: Holder) -> SignInShown:
        """Return the code to type; that of the attempt under way while it has time left."""
        principal.require(Role.ADMIN)
        row = self._find(principal, holder)
        if row is not None and self._is_under_way(row, holder):
            return self._shown(principal, holder, row)
        endpoints = self.server.endpoints(holder.client)
        code = self.server.device_code(holder.client, endpoints)
        now, attempt_id = self.platform.clock(), self.platform.new_id()
        sealed = self._sealed(
            principal, attempt_id, {**asdict(code), **_endpoint_fields(endpoints)}
        )
        begun = SignInRow(
            bound_to=holder.bound_to,
            attempt=PENDING,
            attempt_id=attempt_id,
            sealed_attempt=sealed,
            ask_after=now + timedelta(seconds=code.interval),
            ask_every=code.interval,
            code_expires_at=now + timedelta(seconds=code.expires_in),
        )
        with self.platform.transactions.writing(principal) as stores:
            present = stores.oauth_sign_ins.find(holder.id)
            if present is None or not self._is_under_way(present, holder):
                stores.oauth_sign_ins.begin(holder.id, begun, now)
                self._record(stores, principal, holder.begun, holder)
        return self.show(principal, holder)

    def show(self, principal: Principal, holder: Holder) -> SignInShown:
        """Return how it stands; nobody is asked."""
        principal.require(Role.ADMIN)
        row = self._find(principal, holder)
        return SignInShown(state="none", signed_in=False) if row is None else self._shown(
            principal, holder, row
        )  # fmt: skip

    def poll(self, principal: Principal, holder: Holder) -> SignInShown:
        """Ask the authorization server, if it is time to; NotFound when nothing was begun."""
        principal.require(Role.ADMIN)
        row = self._find(principal, holder)
        if row is None or row.attempt is None:
            raise NotFound("No sign-in was begun; begin one first.", reason="no-sign-in")
        if row.attempt == PENDING:
            self._ask(principal, holder, row)
        return self.show(principal, holder)

    def end(self, principal: Principal, holder: Holder) -> None:
        """Forget the token, and the attempt under way; NotFound without either.

        The authorization server is told that the token is not used any more, if it can be.
        """
        principal.require(Role.ADMIN)
        with self.platform.transactions.writing(principal) as stores:
            row = stores.oauth_sign_ins.find(holder.id)
            if not stores.oauth_sign_ins.remove(holder.id):
                raise NotFound("It is not signed in.", reason="no-sign-in")
            self._record(stores, principal, holder.ended, holder)
        self.revoke(principal, holder, row)

    def revoke(self, principal: Principal, holder: Holder, row: SignInRow | None) -> None:
        """Tell the authorization server that the grant of a sign-in that is gone is not used.

        Called after the sign-in was removed; what the server says to it changes nothing.
        """
        if row is None or row.sealed_grant is None or row.grant_bound_to != holder.bound_to:
            return
        try:
            body = self.secrets.opened(principal.workspace_id, holder.id, row.sealed_grant)
        except CairnError as problem:
            fields: dict[str, Any] = {"holder_id": str(holder.id), "reason": problem.reason}
            self.platform.warn("sign_in_not_revoked", fields)
            return
        revoke_grant(self.platform, self.server, holder, body)

    def _ask(self, principal: Principal, holder: Holder, row: SignInRow) -> None:
        now = self.platform.clock()
        if row.bound_to != holder.bound_to:
            return self._settle(principal, holder, row, FAILED, "settings-changed")
        if row.code_expires_at is None or now >= row.code_expires_at:
            return self._settle(principal, holder, row, EXPIRED, "expired_token")
        with self.states.writing(principal) as stores:
            if not stores.oauth_sign_ins.take_question(
                holder.id, cast("UUID", row.attempt_id), now
            ):
                return None  # it is not time yet, or another process asks
        codes = self._attempt(principal, row)
        try:
            answer = self.server.redeem(
                holder.client, endpoints_of(codes), str(codes["device_code"])
            )
        except TokenRefused as refused:
            return self._refused(principal, holder, row, refused.reason)
        except Unavailable:
            return self._slower(principal, holder, row, min(row.ask_every * 2, SLOWEST))
        return self._keep(principal, holder, row, answer, endpoints_of(codes))

    def _refused(self, principal: Principal, holder: Holder, row: SignInRow, error: str) -> None:
        if error == "authorization_pending":
            return
        if error == "slow_down":
            return self._slower(principal, holder, row, row.ask_every + SLOWER)
        self._settle(principal, holder, row, _ENDS.get(error, FAILED), error)

    def _slower(self, principal: Principal, holder: Holder, row: SignInRow, seconds: int) -> None:
        with self.states.writing(principal) as stores:
            after = self.platform.clock() + timedelta(seconds=seconds)
            stores.oauth_sign_ins.ask_later(holder.id, cast("UUID", row.attempt_id), after, seconds)

    def _settle(
        self, principal: Principal, holder: Holder, row: SignInRow, attempt: str, reason: str
    ) -> None:
        with self.states.writing(principal) as stores:
            stores.oauth_sign_ins.settle(
                holder.id, cast("UUID", row.attempt_id), attempt, reason, self.platform.clock()
            )

    def _keep(
        self,
        principal: Principal,
        holder: Holder,
        row: SignInRow,
        answer: TokenAnswer,
        endpoints: Endpoints,
    ) -> None:
        """Keep the grant; what another attempt or settings made void meanwhile is thrown away."""
        now = self.platform.clock()
        body, expires_at = grant_body(answer, endpoints, now)
        sealed = self._sealed(principal, holder.id, body)
        with self.platform.transactions.writing(principal) as stores:
            ours = stores.oauth_sign_ins.settle(
                holder.id, cast("UUID", row.attempt_id), DONE, None, now
            )
            if ours:
                stores.oauth_sign_ins.keep_grant(
                    holder.id, holder.bound_to, sealed, expires_at, now
                )
                self._record(stores, principal, holder.done, holder)

    def _is_under_way(self, row: SignInRow, holder: Holder) -> bool:
        ends = row.code_expires_at
        return (
            row.attempt == PENDING
            and row.bound_to == holder.bound_to
            and ends is not None
            and ends - self.platform.clock() > STILL_GOOD
        )

    def _find(self, principal: Principal, holder: Holder) -> SignInRow | None:
        with self.platform.transactions.reading(principal) as stores:
            return stores.oauth_sign_ins.find(holder.id)

    def _shown(self, principal: Principal, holder: Holder, row: SignInRow) -> SignInShown:
        mine = row.grant_bound_to == holder.bound_to and row.sealed_grant is not None
        signed_in = mine and row.refused is None
        settled = "signed-in" if signed_in else "refused" if mine else "none"
        shown = SignInShown(
            state=settled if row.attempt in (DONE, None) else row.attempt,
            signed_in=signed_in,
            token_expires_at=row.grant_expires_at if signed_in else None,
            reason=row.reason or (row.refused if mine else None),
        )
        if row.attempt != PENDING:
            return shown
        now = self.platform.clock()
        left = int((row.code_expires_at - now).total_seconds()) if row.code_expires_at else 0
        if left <= 0 or row.bound_to != holder.bound_to:
            return replace(shown, state=EXPIRED)
        codes = self._attempt(principal, row)
        wait = (row.ask_after - now).total_seconds() if row.ask_after else 0.0
        return replace(
            shown,
            user_code=codes["user_code"],
            verification_uri=codes["verification_uri"],
            verification_uri_complete=codes["verification_uri_complete"] or None,
            seconds_left=left,
            ask_again_in=max(1, -int(-wait // 1)),
        )

    def _attempt(self, principal: Principal, row: SignInRow) -> dict[str, str]:
        attempt_id, sealed = cast("UUID", row.attempt_id), row.sealed_attempt or b""
        return self.secrets.opened(principal.workspace_id, attempt_id, sealed)

    def _sealed(self, principal: Principal, thing_id: UUID, body: dict[str, Any]) -> bytes:
        texts = {name: "" if value is None else str(value) for name, value in body.items()}
        return self.secrets.sealed(principal.workspace_id, thing_id, texts)

    def _record(self, stores: Stores, principal: Principal, type_: str, holder: Holder) -> None:
        now = self.platform.clock()
        entry = plan_entry(
            id=self.platform.new_id(),
            workspace_id=principal.workspace_id,
            type=type_,
            actor=principal_actor(principal),
            occurred_at=now,
            meta={"holder_id": str(holder.id)},
        )
        append_unprojected(stores, [entry], now)


def grant_body(
    answer: TokenAnswer, endpoints: Endpoints, now: datetime, refresh_token: str | None = None
) -> tuple[dict[str, Any], datetime | None]:
    """Return what is sealed of a grant, and when it ends.

    The refresh token before stays good where the answer brings no other (RFC 6749 6).
    """
    ends = None if answer.expires_in is None else now + timedelta(seconds=answer.expires_in)
    body = {
        "access_token": answer.access_token,
        "refresh_token": answer.refresh_token or refresh_token,
        "obtained_at": format_timestamp(now),
        **_endpoint_fields(endpoints),
    }
    return body, ends


def _endpoint_fields(endpoints: Endpoints) -> dict[str, Any]:
    return {f"at_{name}": value for name, value in asdict(endpoints).items()}
