"""Where identifiers come from. The only module that may create one; the rest take an `IdSource`."""

from collections.abc import Callable
from uuid import UUID

from uuid_utils.compat import uuid7

IdSource = Callable[[], UUID]
"""Returns a new, never repeated id; ids sort by the time they were made (UUID version 7)."""


def new_id() -> UUID:
    """Return a UUID version 7 (RFC 9562): 48 bits of milliseconds, then random bits."""
    return uuid7()
