"""API keys as text: how they are made, read and compared. Not their storage.

A key is `cairn_<prefix>.<secret>`: the prefix (16 hex characters) finds the row, the secret (256
random bits, base64url) proves it. Only SHA-256 of the secret is stored; the secret is random, so
no slow hash is needed.
"""

import base64
import hashlib
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from cairn.kernel.access.principal import ALL_SCOPES, Role, Scope

KEY_PATTERN = re.compile(r"cairn_([0-9a-f]{16})\.([A-Za-z0-9_-]{43})", re.ASCII)

DEFAULT_SCOPES = {
    Role.ADMIN: ALL_SCOPES,
    Role.AGENT: frozenset({Scope.ADMIN, Scope.PUBLIC}),  # shared only by explicit grant
    Role.PUBLIC: frozenset({Scope.PUBLIC}),
}
"""What a key of each role may see when its maker does not say."""

_PREFIX_BYTES = 8
_SECRET_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class KeySecret:
    """A new key: `text` is what its holder gets, `prefix` and `hash` are what is stored."""

    prefix: str
    text: str = field(repr=False)
    hash: bytes


def make_key(random_bytes: Callable[[int], bytes]) -> KeySecret:
    """Return a new key from 40 random bytes."""
    prefix = random_bytes(_PREFIX_BYTES).hex()
    secret = base64.urlsafe_b64encode(random_bytes(_SECRET_BYTES)).rstrip(b"=").decode()
    return KeySecret(prefix=prefix, text=f"cairn_{prefix}.{secret}", hash=secret_hash(secret))


def read_key(text: str) -> tuple[str, bytes] | None:
    """Return (prefix, hash of the secret), or None for what is no whole key."""
    match = KEY_PATTERN.fullmatch(text)
    return (match[1], secret_hash(match[2])) if match else None


def secret_hash(secret: str) -> bytes:
    """Return SHA-256 of a secret, 32 bytes."""
    return hashlib.sha256(secret.encode()).digest()
