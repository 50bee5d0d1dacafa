"""Sign-ins by a device code, and their grants, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store, record
from cairn.oauth_client.ports import SignInRow

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID


class PostgresOAuthSignIns(Store):
    """How the holders of the transaction's workspace are signed in."""

    def find(self, holder_id: UUID) -> SignInRow | None:
        """Return how one stands."""
        return self.first_of(record(SignInRow), "oauth_sign_in.find", id=holder_id)

    def begin(self, holder_id: UUID, row: SignInRow, now: datetime) -> None:
        """Keep another attempt in the place of the one before."""
        self.write("oauth_sign_in.begin", row, id=holder_id, now=now)

    def take_question(self, holder_id: UUID, attempt_id: UUID, now: datetime) -> bool:
        """Take the right to ask now; False when it is not time, or somebody else asks."""
        return self._changed(
            "oauth_sign_in.take_question", holder_id, attempt_id=attempt_id, now=now
        )

    def ask_later(self, holder_id: UUID, attempt_id: UUID, after: datetime, every: int) -> None:
        """Ask next after a moment, and `every` so many seconds from then on."""
        self._changed(
            "oauth_sign_in.ask_later", holder_id, attempt_id=attempt_id, after=after, every=every
        )

    def settle(
        self, holder_id: UUID, attempt_id: UUID, attempt: str, reason: str | None, now: datetime
    ) -> bool:
        """Keep what became of an attempt; False when it is under way no more."""
        return self._changed(
            "oauth_sign_in.settle",
            holder_id,
            attempt_id=attempt_id,
            attempt=attempt,
            reason=reason,
            now=now,
        )

    def keep_grant(
        self,
        holder_id: UUID,
        bound_to: bytes,
        sealed: bytes,
        expires_at: datetime | None,
        now: datetime,
    ) -> None:
        """Keep the grant of an attempt that is done."""
        self._changed(
            "oauth_sign_in.keep_grant",
            holder_id,
            bound_to=bound_to,
            sealed=sealed,
            expires_at=expires_at,
            now=now,
        )

    def take_renewal(
        self, holder_id: UUID, generation: int, lease: UUID, now: datetime, until: datetime
    ) -> bool:
        """Take the right to renew a grant; False when somebody else has it, or has done it."""
        return self._changed(
            "oauth_sign_in.take_renewal",
            holder_id,
            generation=generation,
            lease=lease,
            now=now,
            until=until,
        )

    def keep_renewed(
        self,
        holder_id: UUID,
        generation: int,
        sealed: bytes,
        expires_at: datetime | None,
        now: datetime,
    ) -> bool:
        """Keep a renewed grant; False when there is another by now, or none."""
        return self._changed(
            "oauth_sign_in.keep_renewed",
            holder_id,
            generation=generation,
            sealed=sealed,
            expires_at=expires_at,
            now=now,
        )

    def end_renewal(self, holder_id: UUID, lease: UUID) -> None:
        """Give the right to renew back."""
        self._changed("oauth_sign_in.end_renewal", holder_id, lease=lease)

    def refuse(self, holder_id: UUID, generation: int, reason: str, now: datetime) -> bool:
        """Keep that a grant is good no more, and why; False when there is another by now."""
        return self._changed(
            "oauth_sign_in.refuse", holder_id, generation=generation, reason=reason, now=now
        )

    def remove(self, holder_id: UUID) -> bool:
        """Remove attempt and grant; False when there is neither."""
        return self._changed("oauth_sign_in.remove", holder_id)

    def _changed(self, name: str, holder_id: UUID, **parameters: object) -> bool:
        return self.run(name, id=holder_id, **parameters).rowcount == 1
