"""Recall over PostgreSQL: the two legs, and the reader of found nodes.

The legs call the candidate functions, which return ids and scores only; nodes are read back under
row level security. Nothing here ranks.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from psycopg.rows import args_row

from cairn.adapters.postgres.database import Connection, Database, bound
from cairn.adapters.postgres.sql import query
from cairn.adapters.postgres.store import Store, record
from cairn.graph.node import Label
from cairn.kernel.access import Role
from cairn.recall.public_names import for_strangers, unnamed
from cairn.recall.records import (
    Candidate,
    Filters,
    FoundNode,
    Neighbours,
    NeighbourText,
    Sketch,
)
from cairn.recall.result_cache import SEARCHABLE
from cairn.recall.second_pass import Evidence

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.embedding.port import Vectors
    from cairn.kernel.access import Principal

_BY_VECTOR = ("search.by_vector", "search.by_vector_as_of")  # the present, the past
_SKETCH = ("search.sketch", "search.sketch_as_of")
_READ = ("search.read", "search.read_as_of")
_SPOKEN = frozenset({Label.MEMORY, Label.MESSAGE})
_BY_KEYWORD = ("search.by_keyword", "search.by_keyword_as_of")


class PostgresVectorLeg:
    """Implements `VectorLeg` with `find_by_vector` and, in the past, its twin."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def search(
        self,
        principal: Principal,
        vector: Vectors,
        filters: Filters,
        *,
        model_id: int,
        minimum: float,
        limit: int,
        timeout_ms: int,
    ) -> Sequence[Candidate]:
        """Return the nearest nodes; the vector travels in binary."""
        # only who searches by vector loads numpy
        from cairn.adapters.postgres.halfvec import halfvecs, knows_halfvec

        parameters = {
            "vector": halfvecs([vector])[0],
            "model_id": model_id,
            "minimum": minimum,
            "limit": limit,
        }
        with bound(self._database, principal, timeout_ms=timeout_ms) as connection:
            knows_halfvec(connection)
            return _candidates(connection, _BY_VECTOR, parameters, filters)


class PostgresKeywordLeg:
    """Implements `KeywordLeg` with PostgreSQL's full text."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def search(
        self,
        principal: Principal,
        terms: Sequence[str],
        filters: Filters,
        *,
        limit: int,
        timeout_ms: int,
    ) -> Sequence[Candidate]:
        """Return the nodes with any of the words, best first."""
        if not terms:
            return ()
        parameters = {"terms": list(terms), "limit": limit}
        with bound(self._database, principal, timeout_ms=timeout_ms) as connection:
            return _candidates(connection, _BY_KEYWORD, parameters, filters)


class PostgresNodeReader(Store):
    """Reads found nodes inside one transaction, under row level security."""

    def sketch(self, node_ids: Sequence[UUID], filters: Filters) -> Sequence[Sketch]:
        """Return what ranking needs of the nodes the principal can see, in any order.

        With `filters.as_of_position` the version that held there, else the present row. Ids that
        are gone, hidden or unknown are left out. Up to 400 ids; a search's widest read.
        """
        with self.connection.cursor(row_factory=args_row(Sketch), binary=True) as cursor:
            return cursor.execute(*self._of_nodes(_SKETCH, node_ids, filters)).fetchall()

    def evidence(
        self,
        node_ids: Sequence[UUID],
        terms: Sequence[str],
        filters: Filters,
        *,
        vector: Vectors | None,
        model_id: int,
    ) -> Sequence[Evidence]:
        """Return what the second pass measures, of nodes the principal can see, in any order.

        Without `vector` there are no cosines. Up to 400 ids.
        """
        parameters: dict[str, Any] = {
            "workspace_id": self.principal.workspace_id,
            "ids": _array(node_ids),
            "terms": list(terms),
            "language": filters.language,
            "vector": None,
            "model_id": model_id,
            "as_of_position": filters.as_of_position,
        }
        if vector is not None:
            # only who searches by vector loads numpy
            from cairn.adapters.postgres.halfvec import halfvecs, knows_halfvec

            knows_halfvec(self.connection)
            parameters["vector"] = halfvecs([vector])[0]
        with self.connection.cursor(row_factory=args_row(Evidence), binary=True) as cursor:
            return cursor.execute(query("search.evidence"), parameters).fetchall()

    def read(
        self, node_ids: Sequence[UUID], filters: Filters, *, subscribed: Collection[UUID] = ()
    ) -> Sequence[FoundNode]:
        """Return the nodes themselves, under the same terms as `sketch`. Up to 100 ids.

        A principal's agent reads only what is tagged for it, except of the ids in `subscribed`:
        those its subscriptions found. Workspace, scope and state hold for them as for all.
        Strangers are not told where documents are from: see `recall.public_names`.
        """
        nodes = self._read(node_ids, filters, subscribed)
        if self.principal.role is not Role.PUBLIC:
            return nodes
        documents = self._read(unnamed(nodes), filters, subscribed)
        return for_strangers(nodes, {each.id: each.title for each in documents})

    def _read(
        self, node_ids: Sequence[UUID], filters: Filters, subscribed: Collection[UUID]
    ) -> Sequence[FoundNode]:
        if not node_ids:
            return ()
        statement, parameters = self._of_nodes(_READ, node_ids, filters)
        parameters["subscribed"] = _array(subscribed)
        with self.connection.cursor(row_factory=record(FoundNode), binary=True) as cursor:
            return cursor.execute(statement, parameters).fetchall()

    def _of_nodes(
        self, names: tuple[str, str], node_ids: Sequence[UUID], filters: Filters
    ) -> tuple[bytes, dict[str, Any]]:
        parameters: dict[str, Any] = {
            "workspace_id": self.principal.workspace_id,
            "ids": _array(node_ids),
            "records": Label.MESSAGE in (filters.labels or ()),
            **narrowing(filters),
        }
        present, past = names
        if filters.as_of_position is None:
            return query(present), parameters
        return query(past), parameters | {"as_of_position": filters.as_of_position}

    def neighbours(
        self, nodes: Sequence[FoundNode], count: int, filters: Filters
    ) -> Mapping[UUID, Neighbours]:
        """Return up to `count` visible neighbours on each side of each node, in reading order.

        A memory's are the nearest by `sequence` of the same session, client and scope, also when
        numbers are missing between; a message's those of its conversation; a chunk's the nearest by
        `ordinal` of the same document; other nodes have none. In the past, what was written later
        is left out; what was deleted since stays hidden.
        """
        if count < 1:
            return {}
        beside: dict[UUID, Neighbours] = {}
        messages = [node for node in nodes if node.session_id and node.label in _SPOKEN]
        chunks = [node for node in nodes if node.document_id and node.label == Label.CHUNK]
        common = {"count": count, "as_of_position": filters.as_of_position}
        if messages:
            beside |= self._beside("search.neighbours_in_session", messages, **common)
        if chunks:
            beside |= self._beside("search.neighbours_in_document", chunks, **common)
        return beside

    def _beside(
        self, name: str, nodes: Sequence[FoundNode], **common: int | None
    ) -> dict[UUID, Neighbours]:
        factory = record(_neighbour)
        texts: dict[UUID, tuple[list[NeighbourText], list[NeighbourText]]] = {}
        for of_id, before, text in self.all_of(factory, name, **_places(nodes), **common):
            texts.setdefault(of_id, ([], []))[0 if before else 1].append(text)
        return {
            of_id: Neighbours(
                before=tuple(sorted(before, key=_reading_order)),
                after=tuple(sorted(after, key=_reading_order)),
            )
            for of_id, (before, after) in texts.items()
        }

    def without_vector(self, node_ids: Sequence[UUID], model_id: int) -> Sequence[UUID]:
        """Return which of the nodes have no vector of the model."""
        return self.values("search.without_vector", ids=_array(node_ids), model_id=model_id)

    def position_at(self, moment: datetime) -> int:
        """Return the last ledger position recorded at or before `moment`; 0 when there is none."""
        return self.value("ledger.position_at", moment=moment)

    def moment_at(self, position: int) -> datetime | None:
        """Return when the entry at a ledger position was recorded; None when there is none."""
        return self.value("ledger.moment_at", position=position)

    def head_position(self) -> int:
        """Return the position of the last ledger entry."""
        return self.value("ledger.head") or 0

    def changed_since(self, position: int) -> bool:
        """Return whether an entry after a position changed what a search can find."""
        return self.value("ledger.changed_since", position=position, types=list(SEARCHABLE))


def narrowing(filters: Filters) -> dict[str, str | None]:
    """Return what narrows a search to some memories, as parameters."""
    return {
        "namespace": filters.namespace,
        "below": filters.namespace_prefix,
        "matching": filters.matching,
    }


def _array(ids: Iterable[UUID]) -> str:
    """Return ids as PostgreSQL writes an array; the driver takes ten times as long for a list."""
    return "{" + ",".join([node_id.hex for node_id in ids]) + "}"


def _candidates(
    connection: Connection, names: tuple[str, str], parameters: dict[str, Any], filters: Filters
) -> Sequence[Candidate]:
    return tuple(Candidate._make(row) for row in matches(connection, names, parameters, filters))


def matches(
    connection: Connection, names: tuple[str, str], parameters: dict[str, Any], filters: Filters
) -> list[Any]:
    """Return the rows of a candidate function: of the present, or of its twin for the past."""
    parameters |= {
        "labels": list(filters.labels) or None,
        "kinds": list(filters.kinds) or None,
        "client_id": filters.client_id,
        "scopes": list(filters.scopes) or None,
        "occurred_from": filters.occurred_from,
        "occurred_to": filters.occurred_to,
        "valid_at": filters.valid_at,
        "include_superseded": filters.include_superseded,
        "language": filters.language,
        **narrowing(filters),
    }
    name, past = names
    if filters.as_of_position is not None:
        name, parameters["as_of_position"] = past, filters.as_of_position
    with connection.cursor(binary=True) as cursor:
        return cursor.execute(query(name), parameters).fetchall()


def _places(nodes: Sequence[FoundNode]) -> dict[str, list[Any]]:
    return {
        "ids": [node.id for node in nodes],
        "sessions": [node.session_id for node in nodes],
        "sequences": [node.sequence for node in nodes],
        "clients": [node.client_id for node in nodes],
        "node_scopes": [node.scope for node in nodes],
        "node_labels": [node.label for node in nodes],
        "parents": [node.parent_id for node in nodes],
        "documents": [node.document_id for node in nodes],
        "ordinals": [node.ordinal for node in nodes],
    }


def _neighbour(of_id: UUID, *, before: bool, **row: Any) -> tuple[UUID, bool, NeighbourText]:
    return of_id, before, NeighbourText(**row)


def _reading_order(text: NeighbourText) -> tuple[int, UUID]:
    place = text.sequence if text.sequence is not None else text.ordinal
    return (place or 0, text.node_id)
