"""Where identifiers come from. The only module that may create one; the rest take an `IdSource`."""

import hashlib
import re
from collections.abc import Callable
from uuid import UUID

from uuid_utils.compat import uuid7

_RANDOM = re.compile(r"(?i)[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")

IdSource = Callable[[], UUID]
"""Returns a new, never repeated id; ids sort by the time they were made (UUID version 7)."""


def new_id() -> UUID:
    """Return a UUID version 7 (RFC 9562): 48 bits of milliseconds, then random bits."""
    return uuid7()


def derived_id(parent: UUID, *names: object) -> UUID:
    """Return the same id for the same parent and names: a UUID version 7 with the parent's time.

    For rows that a retried step must not make twice. The bits after the 48 of time are taken from
    SHA-256 over the parent and the names.
    """
    text = "\x1f".join([str(parent), *(str(name) for name in names)])
    digest = hashlib.sha256(text.encode()).digest()
    number = int.from_bytes(parent.bytes[:6] + digest[:10], "big")
    number = number & ~(0xF << 76) | (0x7 << 76)
    return UUID(int=number & ~(0x3 << 62) | (0x2 << 62))


def looks_random(name: str) -> bool:
    """Return whether a name is a UUID or 32 hexadecimal digits, which nobody is known by."""
    return _RANDOM.fullmatch(name) is not None
