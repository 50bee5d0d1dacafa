"""The least a search can cost: the question's embedding plus the slower of the two bare SQL legs.

Runs the very statements recall runs, as the functions' role, without HTTP, fusion or reading.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.database import Database, bound
from cairn.adapters.postgres.halfvec import halfvecs, knows_halfvec
from cairn.adapters.postgres.memory.recall import narrowing
from cairn.adapters.postgres.sql import query
from cairn.kernel.access import ALL_SCOPES, Principal, Role
from cairn.recall.questions.understanding import understand
from cairn.recall.recipes import DEFAULT
from cairn.recall.records import Filters

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from uuid import UUID

    from cairn.embedding.port import Embedder


@dataclass(frozen=True, kw_only=True)
class Floor:
    """Times what no search can do without. One database connection."""

    embedder: Embedder
    database: Database
    stopwatch: Callable[[], float]

    def ms(self, workspace_id: UUID, question: str, asked_at: datetime) -> float:
        """Return milliseconds: embed `question`, then the slower of the vector and keyword legs."""
        start = self.stopwatch()
        vector = self.embedder.embed([question])[0]
        embedding = self.stopwatch() - start
        asked = understand(question, asked_at)
        principal = Principal(
            workspace_id=workspace_id,
            principal_id=workspace_id,
            role=Role.ADMIN,
            allowed_scopes=ALL_SCOPES,
        )
        with bound(self.database, principal) as connection:
            knows_halfvec(connection)
            common = _no_filters() | {"limit": DEFAULT.candidates}
            by_vector = common | {
                "vector": halfvecs([vector])[0],
                "model_id": self.embedder.model.id,
                "minimum": DEFAULT.minimum_cosine,
            }
            legs = [
                self._timed(connection, "search.by_vector", by_vector),
                self._timed(
                    connection,
                    "search.by_keyword",
                    common | {"terms": list(asked.terms), "language": asked.language},
                ),
            ]
        return (embedding + max(legs)) * 1000

    def _timed(self, connection: Any, name: str, parameters: dict[str, Any]) -> float:
        start = self.stopwatch()
        connection.execute(query(name), parameters, prepare=True).fetchall()
        return self.stopwatch() - start


def _no_filters() -> dict[str, Any]:
    """Return the parameters of a search that filters nothing: empty tuples are NULL."""
    filters = Filters()
    given = {name: value or None for name, value in asdict(filters).items()}
    return {**given, **narrowing(filters), "include_superseded": False}
