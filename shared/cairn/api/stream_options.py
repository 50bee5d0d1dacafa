"""How streams are paced, and how many there are. Not the streams: `streams`."""

from __future__ import annotations

from dataclasses import dataclass

from cairn.kernel.errors import Unavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """How often a stream looks, tells that it lives, asks whether its key is still good; seconds.

    After `longest` it ends, and its reader comes back with the last id.
    """

    look: float = 0.5
    heartbeat: float = 15.0
    admission: float = 60.0
    longest: float = 3_600.0
    patience: float = 60.0


@dataclass(slots=True)
class OpenStreams:
    """How many streams this process has open."""

    most: int = 100
    now: int = 0

    def check(self) -> None:
        """Raise Unavailable when there is no room for another."""
        if self.now >= self.most:
            raise Unavailable("Too many streams are open; poll the steps.", retry_after=5.0)
