"""How well two models find stored texts again, and whether stored vectors are the model's.

Both are searched exactly, by the same function, so that what differs is the models. Absolute
numbers flatter (a question repeats words of what it asks for); the difference is what counts. Not
a benchmark with questions of people: `cairn bench` is.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.embedding.port import embed_question
from cairn.enrichment.recipes import embedded, text_hash, texts_of
from cairn.kernel.access.system import system_principal
from cairn.kernel.text.words import sentences
from cairn.recall.records import Filters

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from cairn.embedding.port import Embedder, Vectors
    from cairn.enrichment.ports import EnrichableNode
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.recall.ports import VectorLeg
    from cairn.recall.records import Candidate
    from cairn.reembedding.reembed import Sampled


SAMPLE = 200
"""Nodes drawn at random; each check draws others."""

PAGE = 200

ALIKE = 0.99
"""What a model says of a text depends a little on what is embedded with it; another text is far."""

NAMED = 20
"""Nodes that are named of those that are wrong."""


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
            "wrong_nodes": [str(item) for item in self.wrong[:NAMED]],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckVectors:
    """Embeds texts of a workspace again: of a sample of its nodes, or with `deep` of all."""

    transactions: Transactions[Stores]
    embedder: Embedder

    def __call__(self, workspace_id: UUID, *, deep: bool = False) -> VectorsChecked:
        """Return what was found. Raises Unavailable when the embedder does not answer."""
        nodes = texts = 0
        wrong: list[UUID] = []
        after, more = UUID(int=0), True
        while more:
            ids, enrichable, cached = self._page(workspace_id, after if deep else None)
            texts_read = texts_of(enrichable, self.embedder)
            to_embed = [item for item in texts_read if text_hash(item) in cached]
            fresh = embedded(self.embedder, to_embed)
            vectors = fresh.vectors.items()
            bad = {digest for digest, vector in vectors if _cosine(vector, cached[digest]) < ALIKE}
            wrong += [item.id for item in enrichable if self._is_of(item, bad)]
            nodes, texts = nodes + len(enrichable), texts + len(fresh.vectors)
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
            nodes = stores.embeddings.enrichable(ids)
            hashes = {text_hash(item) for item in texts_of(nodes, self.embedder)}
            return ids, nodes, stores.embeddings.cached(hashes, model_id).vectors

    def _is_of(self, node: EnrichableNode, bad: Collection[bytes]) -> bool:
        return bool(bad) and any(text_hash(item) in bad for item in texts_of([node], self.embedder))


def _cosine(first: Vectors, other: Vectors) -> float:
    lengths = float((first @ first) ** 0.5) * float((other @ other) ** 0.5)
    return float(first @ other) / lengths if lengths else 0.0


DEPTH = 10
TIMEOUT_MS = 120_000
"""For one exact search: it reads every vector of the workspace."""

ROUNDING = 1e-4
"""Cosines nearer than this are the same: vectors are kept in half precision."""

_SHORT = 6
"""Texts of fewer words are asked for whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """What a model found: shares of the questions, and the mean of 1/rank (0 below rank ten)."""

    model: str
    recall_at_1: float
    recall_at_10: float
    mrr: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Both models over the same questions.

    `overlap_at_10` is the share of the present model's ten that the target finds too. The last is
    the share of the target's exact ten that its HNSW index finds (or others as near); None without
    an index.
    """

    asked: int
    present: Score
    target: Score
    overlap_at_10: float
    hnsw_recall_at_10: float | None

    @property
    def loss(self) -> float:
        """Return how much less the target recalls among ten; negative when it is more."""
        return self.present.recall_at_10 - self.target.recall_at_10

    def as_json(self) -> dict[str, Any]:
        """Return it for machines."""
        return asdict(self) | {"loss": round(self.loss, 4)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _TopResults:
    """The first ten of each search for one question."""

    present: Sequence[Candidate]
    target: Sequence[Candidate]
    by_index: Sequence[Candidate]


@dataclass(frozen=True, slots=True, kw_only=True)
class Compare:
    """Asks for a sample of what is stored, with both models."""

    transactions: Transactions[Stores]
    vectors: VectorLeg
    present: Embedder
    target: Embedder

    def __call__(self, workspace_id: UUID, *, sample: int) -> Comparison | None:
        """Return the comparison, None when no node has vectors of both models, or they are one."""
        if self.present.model == self.target.model:
            return None
        worker = system_principal(workspace_id)
        with self.transactions.reading(worker, timeout_ms=TIMEOUT_MS) as stores:
            items = stores.model_vectors.sample(
                self.target.model.id, self.present.model.id, limit=sample
            )
            indexed = stores.model_vectors.indexed(self.target.model.id)
            head = stores.ledger.head().position
        if not items:
            return None
        answers = [(item.id, self._ask(worker, question(item), head)) for item in items]
        return Comparison(
            asked=len(answers),
            present=_score(self.present, [(item_id, ten.present) for item_id, ten in answers]),
            target=_score(self.target, [(item_id, ten.target) for item_id, ten in answers]),
            overlap_at_10=_mean([_shared(ten.present, ten.target) for _, ten in answers]),
            hnsw_recall_at_10=_mean([_as_near(ten.target, ten.by_index) for _, ten in answers])
            if indexed
            else None,
        )

    def _ask(self, worker: Principal, text: str, head: int) -> _TopResults:
        exactly = Filters(as_of_position=head)
        return _TopResults(
            present=self._search(worker, self.present, text, exactly),
            target=self._search(worker, self.target, text, exactly),
            by_index=self._search(worker, self.target, text, Filters()),
        )

    def _search(
        self, worker: Principal, embedder: Embedder, text: str, filters: Filters
    ) -> Sequence[Candidate]:
        return self.vectors.search(
            worker,
            embed_question(embedder, embedder.windows(text)[0])[0],
            filters,
            model_id=embedder.model.id,
            minimum=-1.0,
            limit=DEPTH,
            timeout_ms=TIMEOUT_MS,
        )


def question(item: Sampled) -> str:
    """Return what a node is asked for by: its title, else one of its sentences, else its end.

    Which sentence depends on the node's id only. The only sentence of a text loses its first half.
    """
    if item.title:
        return item.title
    parts = sentences(item.text)
    if len(parts) > 1:
        return parts[hashlib.sha256(item.id.bytes).digest()[0] % len(parts)]
    words = item.text.split()
    return " ".join(words[len(words) // 2 :]) if len(words) >= _SHORT else item.text


def _score(embedder: Embedder, answers: Sequence[tuple[UUID, Sequence[Candidate]]]) -> Score:
    ranks = [_rank(item_id, ten) for item_id, ten in answers]
    return Score(
        model=embedder.model.name,
        recall_at_1=sum(rank == 1 for rank in ranks) / len(ranks),
        recall_at_10=sum(rank > 0 for rank in ranks) / len(ranks),
        mrr=sum(1 / rank for rank in ranks if rank) / len(ranks),
    )


def _rank(node_id: UUID, ten: Sequence[Candidate]) -> int:
    return next((rank for rank, candidate in enumerate(ten, 1) if candidate.node_id == node_id), 0)


def _shared(ten: Sequence[Candidate], others: Sequence[Candidate]) -> float:
    """Return the share of ten that the others have too; all of nothing is found."""
    ids = {other.node_id for other in others}
    return sum(candidate.node_id in ids for candidate in ten) / len(ten) if ten else 1.0


def _as_near(exact: Sequence[Candidate], candidates: Sequence[Candidate]) -> float:
    """Return how many were found that are no farther than the last of the exact, as a share."""
    if not exact:
        return 1.0
    least = exact[-1].score - ROUNDING
    return min(1.0, sum(candidate.score >= least for candidate in candidates) / len(exact))


def _mean(shares: Sequence[float]) -> float:
    return sum(shares) / len(shares)
