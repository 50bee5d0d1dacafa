"""Hashes of passwords by argon2id, with the library's parameters (RFC 9106, low memory)."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import BoundedSemaphore

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

AT_ONCE = 2
"""Each takes 64 MiB: more at once would be a way to exhaust a small machine."""


@dataclass(frozen=True)
class Argon2Passwords:
    """Hashes and checks passwords, a few at once."""

    hasher: PasswordHasher = field(default_factory=PasswordHasher)
    turn: BoundedSemaphore = field(default_factory=lambda: BoundedSemaphore(AT_ONCE))

    def hash(self, password: str) -> str:
        """Return the hash that is stored."""
        with self.turn:
            return self.hasher.hash(password)

    def check(self, password_hash: str | None, password: str) -> bool:
        """Return whether a password is the one of a hash; without a hash it takes as long."""
        if password_hash is None:
            self.hash(password)
            return False
        try:
            with self.turn:
                return self.hasher.verify(password_hash, password)
        except (VerificationError, InvalidHashError):
            return False
