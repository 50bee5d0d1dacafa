"""A session as the rest of the program sees it: synchronous, from any thread."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Event
from typing import TYPE_CHECKING, Any

from cairn.connectors.faults import Fault, NotStarted

if TYPE_CHECKING:
    from concurrent.futures import Future

    from cairn.connectors.portal import Portal
    from cairn.connectors.session import Session
    from cairn.connectors.wires import Wire

HANDSHAKE_SECONDS = 20.0
"""From the start of a process to its tools: a cold Lambda imports for several seconds."""
PING_SECONDS = 2.0
LIST_SECONDS = 10.0
SPARE = 15.0
"""Seconds beyond its own after which an event loop that does nothing any more is given up on."""


@dataclass(slots=True)
class Connection:
    """A running connector. `suspect` ones are asked whether they live before they are used,
    `broken` ones are not used again.
    """

    portal: Portal
    session: Session
    serving: Future[Any]
    used_at: float
    suspect: bool = False
    broken: bool = False
    listed: str = field(default="")
    """The hash of what it listed when it shook hands."""

    @property
    def is_alive(self) -> bool:
        """Return whether it may still answer, as far as can be seen without asking."""
        return self.session.is_alive and not self.broken and not self.session.relisted

    @property
    def in_flight(self) -> int:
        """Return how many calls wait for an answer."""
        return self.session.in_flight

    def call(
        self, name: str, arguments: dict[str, Any], meta: dict[str, Any], seconds: float
    ) -> dict[str, Any]:
        """Call a tool; raises the faults of `Session.call`."""
        limit = seconds + SPARE
        return self.portal.run(limit, self.session.call, name, arguments, meta, seconds)

    def ping(self) -> None:
        """Ask whether it is there; raises the faults of `Session.ping`."""
        self.portal.run(PING_SECONDS + SPARE, self.session.ping, PING_SECONDS)
        self.suspect = False

    def listing(self) -> list[dict[str, Any]]:
        """Return what it lists now; raises the faults of `Session.listing`."""
        return self.portal.run(LIST_SECONDS + SPARE, self.session.listing, LIST_SECONDS)

    def close(self) -> None:
        """Let it end: it has 10 s for what is in flight, and 10 s to go."""
        if not self.serving.done():
            self.portal.start(self.session.stop)


def connect(portal: Portal, wire: Wire, now: float, seconds: float) -> Connection:
    """Start a connector and shake hands; raises NotStarted or Unauthorised."""
    from cairn.connectors.session import Session  # loads the SDK

    begun, outcome = Event(), list[Fault | None]()

    def tell(fault: Fault | None) -> None:
        if not outcome:
            outcome.append(fault)
            begun.set()

    session = Session(wire)
    serving = portal.start(session.serve, seconds, tell)
    if not begun.wait(seconds + SPARE):
        portal.start(session.stop)
        raise NotStarted("its event loop stands still")
    if (fault := outcome[0]) is not None:
        raise fault
    return Connection(portal, session, serving, now)
