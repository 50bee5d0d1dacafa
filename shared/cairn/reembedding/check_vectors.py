"""Compute vectors again and hold the cache to them, which a rebuild takes as given.

A vector swapped in the rows in use shows in a rebuild's checksums; one swapped in the cache as well
shows here only. Changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from uuid import UUID

from cairn.enrichment.node_texts import embedded, text_hash, texts_of
from cairn.kernel.access.system import system_principal

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from cairn.embedding.port import Embedder, Vectors
    from cairn.enrichment.ports import EnrichableNode
    from cairn.kernel.transaction import Transactions

SAMPLE = 200
"""Nodes drawn at random; each check draws others."""

PAGE = 200

ALIKE = 0.99
"""What a model says of a text depends a little on what is embedded with it; another text is far."""

NAMED = 20
"""Nodes that are named of those that are wrong."""


class VectorsInUse(Protocol):
    """The nodes with vectors, and the cache of vectors by text, of the transaction's workspace."""

    def drawn(self, model_id: int, *, limit: int) -> Sequence[UUID]:
        """Return nodes that have a vector of the model, drawn at random."""
        ...

    def following(self, model_id: int, *, after: UUID, limit: int) -> Sequence[UUID]:
        """Return the next such nodes by id."""
        ...

    def enrichable(self, node_ids: Collection[UUID]) -> Sequence[EnrichableNode]:
        """Return those of the nodes that are to be found."""
        ...

    def cached(self, hashes: Collection[bytes], model_id: int) -> Mapping[bytes, Vectors]:
        """Return the cached vectors by SHA-256 of their text."""
        ...


class CheckStores(Protocol):
    """What checking vectors needs of a transaction."""

    @property
    def embeddings(self) -> VectorsInUse: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class VectorsChecked:
    """How many nodes were looked at, how many texts computed again, and which nodes are wrong."""

    model: str
    nodes: int
    texts: int
    wrong: tuple[UUID, ...]

    def as_json(self) -> dict[str, Any]:
        """Return it as people and machines are told it."""
        return {
            "model": self.model,
            "nodes": self.nodes,
            "texts": self.texts,
            "wrong": len(self.wrong),
            "wrong_nodes": [str(one) for one in self.wrong[:NAMED]],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckVectors:
    """Embeds texts of a workspace again: of a sample of its nodes, or with `deep` of all."""

    transactions: Transactions[CheckStores]
    embedder: Embedder

    def __call__(self, workspace_id: UUID, *, deep: bool = False) -> VectorsChecked:
        """Return what was found. Raises Unavailable when the embedder does not answer."""
        nodes = texts = 0
        wrong: list[UUID] = []
        after, more = UUID(int=0), True
        while more:
            ids, found, known = self._page(workspace_id, after if deep else None)
            asked = [one for one in texts_of(found, self.embedder) if text_hash(one) in known]
            fresh = embedded(self.embedder, asked)
            bad = {one for one, vector in fresh.items() if _cosine(vector, known[one]) < ALIKE}
            wrong += [one.id for one in found if self._is_of(one, bad)]
            nodes, texts = nodes + len(found), texts + len(fresh)
            more, after = deep and bool(ids), ids[-1] if ids else after
        return VectorsChecked(
            model=self.embedder.model.name, nodes=nodes, texts=texts, wrong=tuple(wrong)
        )

    def _page(
        self, workspace_id: UUID, after: UUID | None
    ) -> tuple[Sequence[UUID], Sequence[EnrichableNode], Mapping[bytes, Vectors]]:
        model_id = self.embedder.model.id
        with self.transactions.reading(system_principal(workspace_id)) as stores:
            if after is None:
                ids = stores.embeddings.drawn(model_id, limit=SAMPLE)
            else:
                ids = stores.embeddings.following(model_id, after=after, limit=PAGE)
            found = stores.embeddings.enrichable(ids)
            hashes = {text_hash(one) for one in texts_of(found, self.embedder)}
            return ids, found, stores.embeddings.cached(hashes, model_id)

    def _is_of(self, node: EnrichableNode, bad: Collection[bytes]) -> bool:
        return bool(bad) and any(text_hash(one) in bad for one in texts_of([node], self.embedder))


def _cosine(one: Vectors, other: Vectors) -> float:
    lengths = float((one @ one) ** 0.5) * float((other @ other) ** 0.5)
    return float(one @ other) / lengths if lengths else 0.0
