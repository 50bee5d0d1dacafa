"""A change of models over a filled workspace: two hashing models of different dimensions."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from tests.support.embedding import HASHING, HashingEmbedder
from tests.support.everything import MODEL, Everything
from tests.support.platform import platform_of

from cairn.adapters.postgres.memory.recall import PostgresVectorLeg
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.enrichment.enrich import Enrich
from cairn.recall.records import Filters
from cairn.reembedding.compare import Compare
from cairn.reembedding.reembed import DropOthers, Fill

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.embedding.port import EmbeddingModel

TARGET = replace(HASHING, id=4, dimensions=768)
"""A model the database knows, of twice the dimensions of `MODEL`."""


def transactions(of: Everything) -> StoreTransactions:
    return StoreTransactions(of.pool)


def filling(of: Everything, embedder: Any = None) -> Fill:
    return Fill(
        platform=platform_of(transactions(of), keys=of.keys),
        embedder=embedder or HashingEmbedder(TARGET),
    )


def comparing(of: Everything, target: Any = None) -> Compare:
    return Compare(
        transactions=transactions(of),
        vectors=PostgresVectorLeg(of.pool),
        present=HashingEmbedder(MODEL),
        target=target or HashingEmbedder(TARGET),
    )


def dropping(of: Everything, embedder: Any = None) -> DropOthers:
    fill = filling(of, embedder)
    return DropOthers(transactions=transactions(of), fill=fill, present=fill.embedder.model)


def embed_with(of: Everything, model: EmbeddingModel) -> None:
    """Do the embed stage's work with a model, as functions that were switched do."""
    enrich = Enrich(
        platform=platform_of(of.transactions, keys=of.keys), embedder=HashingEmbedder(model)
    )
    rows = [row.id for row in of.sent.rows if row.topic == "embed"]
    enrich.rows(of.workspace_id, rows)
    of.sent.rows.clear()


def vectors(of: Everything, model: EmbeddingModel) -> dict[UUID, int]:
    """Return the position of each node's vectors of a model."""
    rows = of.rows(
        "SELECT node_id, max(position) FROM embedding WHERE workspace_id = $w AND model_id = %s "
        "GROUP BY node_id",
        model.id,
    )
    return dict(rows)


def found(of: Everything, text: str, model: EmbeddingModel) -> list[UUID]:
    """Return what the vector leg finds with a model."""
    hits = PostgresVectorLeg(of.pool).search(
        of.admin,
        HashingEmbedder(model).embed([text])[0],
        Filters(),
        model_id=model.id,
        minimum=0.3,
        limit=5,
        timeout_ms=20_000,
    )
    return [hit.node_id for hit in hits]
