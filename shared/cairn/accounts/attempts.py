"""A sign-in under way: what it is held to, once and for some minutes, by the browser that began it.

The browser has a random token, the database what stands for it. Not the sign-in itself.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

from cairn.kernel.access.keys import secret_hash
from cairn.kernel.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from cairn.accounts.sessions import SignInFinder
    from cairn.kernel.clock import Clock

ATTEMPT_LASTS = timedelta(minutes=5)
MAX_TOKEN_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """What a browser gets: the token for its cookie, and what it is to answer or where to go."""

    token: str = field(repr=False)
    content: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempts:
    """Begins sign-ins, and takes what they are held to."""

    find: SignInFinder
    clock: Clock
    make_token: Callable[[int], str] = secrets.token_urlsafe

    def begin(self, purpose: str, body: str) -> str:
        """Keep what a sign-in is held to; returns the browser's token."""
        token = self.make_token(32)
        self.keep(purpose, token, body)
        return token

    def keep(self, purpose: str, token: str, body: str) -> None:
        """Keep something under a token that is nobody's guess, and not in use."""
        now = self.clock()
        self.find.begin_attempt(_place(token), purpose, body, now, now + ATTEMPT_LASTS)

    def once(self, purpose: str, name: str, ends: datetime) -> bool:
        """Return whether a name is used for the first time until `ends`."""
        try:
            self.find.begin_attempt(_place(f"{purpose} {name}"), purpose, "", self.clock(), ends)
        except Conflict:
            return False
        return True

    def take(self, purpose: str, token: str) -> str | None:
        """Return what was kept, this once; None where there is nothing, or no longer."""
        if not 0 < len(token) <= MAX_TOKEN_CHARS or not token.isascii():
            return None
        return self.find.take_attempt(_place(token), purpose, self.clock())


def _place(token: str) -> UUID:
    return UUID(bytes=secret_hash(f"sign-in {token}")[:16])
