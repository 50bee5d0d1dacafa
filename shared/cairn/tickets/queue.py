"""How long the queue is, how long it will take, and when it is too long. Pure, but for one read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.kernel.access.system import system_principal

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.transaction import Transactions
    from cairn.tickets.ports import QueueNumbers, TicketStores

DEGRADED_ABOVE = 50
"""Queued tickets above which low-priority ones skip retrieval, unless set otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueView:
    """The queue as it is shown. `expected_wait_s` is a new ticket's, None before any has ended.

    `held` tickets are queued for personas that are off; `new` ones are not screened yet.
    """

    depth: int
    held: int
    new: int
    investigating: int
    discarded: int
    at_once: int
    average_s: float | None
    expected_wait_s: float | None
    degraded: bool
    degraded_above: int


def view_of(numbers: QueueNumbers, *, at_once: int, above: int = DEGRADED_ABOVE) -> QueueView:
    """Return the view: expected wait = queue length x average duration / how many run at once."""
    wait = None
    if numbers.average_s is not None:
        wait = numbers.depth * numbers.average_s / at_once
    return QueueView(
        depth=numbers.depth,
        held=numbers.held,
        new=numbers.new,
        investigating=numbers.investigating,
        discarded=numbers.discarded,
        at_once=at_once,
        average_s=numbers.average_s,
        expected_wait_s=wait,
        degraded=is_degraded(numbers.depth, above=above),
        degraded_above=above,
    )


def is_degraded(depth: int, *, above: int = DEGRADED_ABOVE) -> bool:
    """Return whether low-priority tickets are to skip retrieval so that the queue drains."""
    return depth > above


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchQueue:
    """Reads the queue of a workspace. `at_once` is how many investigations run at once."""

    transactions: Transactions[TicketStores]
    at_once: int
    above: int = DEGRADED_ABOVE

    def __call__(self, principal: Principal) -> QueueView:
        """Return how the queue is."""
        with self.transactions.reading(principal) as stores:
            return view_of(stores.tickets.numbers(), at_once=self.at_once, above=self.above)

    def degraded(self, workspace_id: UUID) -> bool:
        """Return whether a workspace's queue is too long; it is counted no further than that."""
        with self.transactions.reading(system_principal(workspace_id)) as stores:
            return is_degraded(stores.tickets.depth(self.above + 1), above=self.above)
