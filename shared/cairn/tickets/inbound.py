"""Webhooks of help desks: who sends them is proved by a signature, not by a key of ours."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, TypeAlias

from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Conflict, NotFound, RateLimited
from cairn.tickets.intake import From, Outcome
from cairn.tickets.messages import new_ones
from cairn.tickets.polling import receive_all
from cairn.tickets.ticket import SourceState

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.tickets.adapter import Delivered
    from cairn.tickets.intake import Intake
    from cairn.tickets.messages import ReceiveMessages
    from cairn.tickets.polling import Adapters
    from cairn.tickets.ticket import TicketSource


MOST = 300
WINDOW_SECONDS = 60


class RateLimiter:
    """Counts deliveries by source in windows of a minute."""

    def __init__(self, most: int = MOST) -> None:
        self._most, self._window, self._lock = most, 0, Lock()
        self._counts: Counter[UUID] = Counter()

    def __call__(self, source_id: UUID, now: datetime) -> None:
        """Count one; RateLimited when there were too many in this window."""
        window, into = divmod(int(now.timestamp()), WINDOW_SECONDS)
        with self._lock:
            if window != self._window:
                self._window = window
                self._counts.clear()
            self._counts[source_id] += 1
            count = self._counts[source_id]
        if count > self._most:
            raise RateLimited(
                f"A ticket source takes {self._most} deliveries in {WINDOW_SECONDS} s.",
                retry_after=WINDOW_SECONDS - into,
                reason="too-many-deliveries",
            )


MAX_TICKETS = 100
"""Of one delivery, and messages as many; the next poll brings what is beyond."""


WorkspaceOf: TypeAlias = "Callable[[UUID], UUID | None]"
"""Says whose a ticket source is."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventsTaken:
    """What a delivery brought; `duplicate` when it had come before. `nameless` ones had no id.

    `messages` are requesters' later words that were new.
    """

    new: int = 0
    changed: int = 0
    known: int = 0
    nameless: int = 0
    messages: int = 0
    duplicate: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiveEvents:
    """Takes one delivery in. Again, late and out of order are all the same: what is known stays."""

    workspace_of: WorkspaceOf
    transactions: Transactions[Stores]
    adapter: Adapters
    intake: Intake
    messages: ReceiveMessages
    clock: Clock
    limiter: RateLimiter = field(default_factory=RateLimiter)

    def __call__(self, source_id: UUID, delivered: Delivered) -> EventsTaken:
        """Return what it brought.

        NotFound without the source, Unauthenticated for a delivery that is not signed, forged or
        too old, Conflict for a paused source, ValidationFailed for what cannot be read; RateLimited
        before anything is looked at.
        """
        principal, source = self._source(source_id)
        adapter = self.adapter(principal, source)
        adapter.verify(delivered, self.clock())
        if source.state is SourceState.PAUSED:
            raise Conflict("This ticket source is paused.", reason="source-paused")
        events = adapter.read(delivered)
        origin = From(source=source.name, persona=source.persona)
        received = receive_all(self.intake, principal, origin, events.tickets[:MAX_TICKETS])
        said = self.messages(principal, source.name, events.messages[:MAX_TICKETS])
        with self.transactions.writing(principal) as stores:
            first = stores.ticket_sources.event(source_id, events.delivery_id, self.clock())
        outcomes = [one.outcome for one in received]
        return EventsTaken(
            new=outcomes.count(Outcome.NEW),
            changed=outcomes.count(Outcome.CHANGED),
            known=outcomes.count(Outcome.KNOWN),
            nameless=outcomes.count(Outcome.NAMELESS),
            messages=new_ones(said),
            duplicate=not first,
        )

    def check(self, source_id: UUID) -> None:
        """Say that a source is there: help desks ask before they send. NotFound without it."""
        self._source(source_id)

    def _source(self, source_id: UUID) -> tuple[Principal, TicketSource]:
        workspace_id = self.workspace_of(source_id)
        if workspace_id is not None:
            self.limiter(source_id, self.clock())
            principal = system_principal(workspace_id)
            with self.transactions.reading(principal) as stores:
                source = stores.ticket_sources.find(source_id)
            if source is not None:
                return principal, source
        raise NotFound("There is no such ticket source.", source_id=str(source_id))
