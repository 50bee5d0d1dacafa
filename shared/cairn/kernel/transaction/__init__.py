"""The transaction port: how a use case gets its stores. Not a unit of work with change tracking."""

from cairn.kernel.transaction.port import (
    Committing,
    LedgerBusy,
    PreparingTransactions,
    Transactions,
)

__all__ = ["Committing", "LedgerBusy", "PreparingTransactions", "Transactions"]
