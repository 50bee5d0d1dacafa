"""The hourly sweep: what the outbox still owes is sent, what waited in vain is let go."""

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Sweep:
    """`send` sends unfinished outbox rows; `expire` drops messages whose time to wait is over.

    Each returns how many there were.
    """

    send: Callable[[], int]
    expire: Callable[[], int]

    def __call__(self) -> dict[str, int]:
        """Do both and return the counts."""
        return {"sent": self.send(), "expired_messages": self.expire()}
