"""The transaction port: how a use case gets its stores. Not a unit of work with change tracking."""

from cairn.transaction.port import Committing, Transactions

__all__ = ["Committing", "Transactions"]
