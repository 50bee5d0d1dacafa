"""Vectors over the wire in binary: text is eight to eleven times slower. Loads numpy; embed and
retrieve only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from pgvector import HalfVector
from pgvector.psycopg.halfvec import register_halfvec_info
from psycopg.types import TypeInfo

if TYPE_CHECKING:
    from collections.abc import Iterable

    import psycopg

    from cairn.embedding.port import Vectors

_ready: WeakSet[psycopg.Connection[Any]] = WeakSet()


def knows_halfvec(connection: psycopg.Connection[Any]) -> None:
    """Teach a connection the type, once."""
    if connection in _ready:
        return
    info = TypeInfo.fetch(connection, "halfvec")
    if info is None:
        raise RuntimeError("the database has no pgvector")
    register_halfvec_info(connection, info)
    _ready.add(connection)


def halfvecs(vectors: Iterable[Vectors]) -> list[HalfVector]:
    """Return vectors of shape (dimensions,) as parameters for halfvec."""
    return [HalfVector(vector) for vector in vectors]
