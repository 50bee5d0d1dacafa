"""Workspaces of several sizes, filled through the stores that the stages use.

Only the ledger is left out: what is measured never reads it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

from cairn.enrichment.enrich import NewEmbedding
from cairn.graph.node import Label, Node, State
from cairn.graph.projection import Projection
from cairn.kernel.access import ALL_SCOPES, Principal, Role
from cairn.kernel.text.hashes import content_hash

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence
    from datetime import datetime
    from uuid import UUID

    from benchmarks.scale.corpus import Row
    from cairn.adapters.postgres.database import Database
    from cairn.kernel.ids import IdSource

BIG, SMALL, OTHERS = "20%", "0.2%", 8
BATCH = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Workspace:
    """One workspace of the benchmark; `key` is its admin's."""

    name: str
    principal: Principal
    rows: int
    key: str = field(repr=False)


def shares(total: int) -> dict[str, int]:
    """Return how many rows each workspace gets: a fifth, a five-hundredth, the rest evenly."""
    big, small = total // 5, max(1, total // 500)
    rest = total - big - small
    others = {f"other {at}": rest // OTHERS for at in range(OTHERS - 1)}
    others[f"other {OTHERS - 1}"] = rest - sum(others.values())
    return {BIG: big, SMALL: small, **others}


def workspace_of(name: str, workspace_id: UUID, key: str, rows: int) -> Workspace:
    """Return the workspace with a principal that sees all of it."""
    principal = Principal(
        workspace_id=workspace_id,
        principal_id=workspace_id,
        role=Role.ADMIN,
        allowed_scopes=ALL_SCOPES,
    )
    return Workspace(name=name, principal=principal, rows=rows, key=key)


@dataclass(frozen=True, slots=True, kw_only=True)
class Loader:
    """Writes rows as one model's nodes."""

    database: Database
    model_id: int
    now: datetime
    new_id: IdSource

    def load(self, workspace: Workspace, rows: Iterable[Row], done: Callable[[int], None]) -> None:
        """Write the workspace's rows, in transactions of 500."""
        waiting = iter(rows)
        position = 0
        while part := list(islice(waiting, BATCH)):
            self._write(workspace.principal, part, position)
            position += len(part)
            done(len(part))

    def _write(self, principal: Principal, rows: Sequence[Row], before: int) -> None:
        from cairn.adapters.postgres.database import bound
        from cairn.adapters.postgres.memory.embeddings import PostgresEmbeddings
        from cairn.adapters.postgres.stores import PostgresNodes

        nodes = [
            self._node(principal.workspace_id, row, before + number)
            for number, row in enumerate(rows, start=1)
        ]
        vectors = [
            NewEmbedding(node_id=node.id, vectors=[row.vector])
            for node, row in zip(nodes, rows, strict=True)
        ]
        with bound(self.database, principal, read_only=False) as connection:
            PostgresNodes(connection, principal).apply([Projection(nodes=tuple(nodes))])
            store = PostgresEmbeddings(connection, principal)
            store.store(vectors, self.model_id, before + len(rows))

    def _node(self, workspace_id: UUID, row: Row, position: int) -> Node:
        return Node(
            workspace_id=workspace_id,
            id=self.new_id(),
            label=Label.MEMORY,
            kind="event",
            text=row.text,
            content_hash=content_hash(row.text),
            data_subjects=(),
            state=State.ACTIVE,
            occurred_at=self.now,
            valid_from=self.now,
            recorded_at=self.now,
            entry_id=self.new_id(),
            position=position,
            source_agent="bench",
            observed_by=("bench",),
            observation_count=1,
        )
