"""The port a use case opens its transactions through, generic over the stores it declares."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Protocol, TypeVar

from cairn.kernel.access import Principal
from cairn.kernel.errors import Unavailable

S_co = TypeVar("S_co", covariant=True)
T = TypeVar("T")


class LedgerBusy(Unavailable):
    """Another write holds the head of the workspace's ledger for too long; soon it does not."""

    def __init__(self, *, retry_after: float) -> None:
        super().__init__(
            "Another write holds this workspace's ledger; try again.",
            retry_after=retry_after,
            reason="ledger-busy",
        )


class Committing(Protocol[S_co]):
    """Writes that share a transaction with others of their workspace which arrive meanwhile."""

    def __call__(
        self, principal: Principal, work: Callable[[S_co], T], /, *, once: str | None = None
    ) -> T:
        """Return what `work` returns in a writing transaction, when it is committed.

        As `Transactions.writing`, but `work` may run in another thread, and again after what it did
        was undone: a neighbour's refusal is not its own.
        """
        ...


class Transactions(Protocol[S_co]):
    """Opens transactions bound to a principal; the tenancy settings are set before the first read.

    Leaving the block commits; an exception rolls back. Driver errors surface as the errors of
    `cairn.kernel.errors` (Unavailable when the database cannot be had in time, LedgerBusy when a
    lock cannot).
    """

    def writing(
        self, principal: Principal, *, once: str | None = None
    ) -> AbstractContextManager[S_co]:
        """Open a read-write transaction that holds the workspace's ledger head before it reads.

        The lock is waited for at most 2 s. Nothing slow (network, KMS, models) may run inside.
        `once` is the caller's idempotency key: Conflict (`idempotency-in-flight`) while another
        transaction of this principal runs under it.
        """
        ...

    def reading(
        self, principal: Principal, *, timeout_ms: int | None = None
    ) -> AbstractContextManager[S_co]:
        """Open a read-only transaction; `timeout_ms` becomes its statement timeout."""
        ...


class PreparingTransactions(Transactions[S_co], Protocol[S_co]):
    """Transactions that can write before they hold the ledger's head."""

    def preparing(
        self, principal: Principal
    ) -> AbstractContextManager[tuple[S_co, Callable[[], None]]]:
        """Open a read-write transaction, with the function that takes and holds the head.

        Before it is called only rows are written that whoever holds the head has no business with:
        it is to wait for none of them. The head is waited for less than a second.
        """
        ...
