"""What every store of a transaction is made of. It knows no use case."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.sql import query

if TYPE_CHECKING:
    import psycopg

    from cairn.kernel.access import Principal


@dataclass(frozen=True)
class Store:
    """What every store has: the transaction's connection and who it is for."""

    connection: psycopg.Connection[Any]
    principal: Principal

    def run(self, name: str, **parameters: Any) -> psycopg.Cursor[Any]:
        """Run a named query of this workspace."""
        workspace = {"workspace_id": self.principal.workspace_id}
        return self.connection.execute(query(name), workspace | parameters)

    def run_binary(self, name: str, **parameters: Any) -> psycopg.Cursor[Any]:
        """Run a named query whose rows come in binary, as vectors should."""
        workspace = {"workspace_id": self.principal.workspace_id}
        return self.connection.execute(query(name), workspace | parameters, binary=True)
