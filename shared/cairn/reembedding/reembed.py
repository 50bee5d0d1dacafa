"""Vectors of another model beside those in use, and the removal of those no longer wanted.

Fills while everybody writes: a node that changed since it was read is left for the next pass. Not
the comparison (`reembed_compare`), nor which model a deployment uses: that is its setting.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from uuid import UUID

from cairn.embedding.port import gives_tokens
from cairn.enrichment.recipes import (
    embedded,
    lacking,
    note_enriched,
    readable,
    text_hash,
    texts_of,
    vectors_of,
    written,
)
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Conflict, ValidationFailed
from cairn.writing.writer import Write, open_write

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence

    from cairn.embedding.port import Embedder, EmbeddingModel
    from cairn.enrichment.ports import EnrichableNode, NewEmbedding, TextVectors
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.kernel.text.json_value import JsonValue
    from cairn.kernel.transaction import Transactions
    from cairn.writing.platform import Platform


@dataclass(frozen=True, slots=True, kw_only=True)
class StalePage:
    """Some nodes in the order of their ids, and which of them need vectors of a model.

    `last` is the last id looked at, None when there was none left.
    """

    last: UUID | None
    looked_at: int
    node_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Sampled:
    """A stored text that can be asked for."""

    id: UUID
    title: str | None
    text: str


PAGE = 1_000
"""Nodes looked at in one reading transaction."""

BATCH = 50
"""Nodes embedded together and stored in one transaction, which holds the ledger's head."""

PASSES = 10
"""How often the workspace is gone through while it changes; a quiet one needs two."""

DROPPED_AT_ONCE = 5_000

BEGINNING = UUID(int=0)
_EMPTY = ("nodes", "entities", "references", "follows", "strengths", "causes", "similar", "closed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """What a fill did: nodes that got vectors, texts the model was asked for, passes.

    `left` are nodes that still need vectors: changed by somebody during the last pass.
    """

    model: str
    nodes: int
    embedded: int
    passes: int
    left: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What was made of a batch before the ledger is locked."""

    nodes: Sequence[EnrichableNode]
    keys: Mapping[UUID, bytes]
    known: TextVectors
    fresh: TextVectors


@dataclass(frozen=True, slots=True, kw_only=True)
class Fill:
    """Gives every findable node of a workspace vectors of `embedder`'s model.

    May be killed anywhere and repeated: a batch is stored whole or not at all, and its texts are
    not embedded again.
    """

    platform: Platform
    embedder: Embedder

    def __call__(
        self, workspace_id: UUID, *, report: Callable[[int, int], None] | None = None
    ) -> Filled:
        """Go through the workspace until nothing needs vectors; `report` gets looked at, of all.

        Raises Unavailable when the model, the database or the ledger's head cannot be had; what is
        stored stays.
        """
        worker = system_principal(workspace_id)
        nodes = embedded_count = passes = 0
        more = True
        while more and passes < PASSES:
            stored, fresh, node_count = self._pass(worker, report)
            nodes, embedded_count, passes = nodes + stored, embedded_count + fresh, passes + 1
            more = node_count > 0 and stored > 0
        return Filled(
            model=self.embedder.model.name,
            nodes=nodes,
            embedded=embedded_count,
            passes=passes,
            left=self.left(workspace_id),
        )

    def left(self, workspace_id: UUID) -> int:
        """Return how many nodes need vectors of the model and can get them."""
        worker, after, number = system_principal(workspace_id), BEGINNING, 0
        while True:
            with self.platform.transactions.reading(worker) as stores:
                page = self._stale(stores, after)
                nodes = stores.embeddings.enrichable(page.node_ids)
            number += len(readable(self.platform.keys, workspace_id, nodes)[0])
            if page.last is None:
                return number
            after = page.last

    def _stale(self, stores: Stores, after: UUID) -> StalePage:
        return stores.model_vectors.stale(
            self.embedder.model.id,
            after=after,
            limit=PAGE,
            with_tokens=gives_tokens(self.embedder),
        )

    def _pass(
        self, worker: Principal, report: Callable[[int, int], None] | None
    ) -> tuple[int, int, int]:
        """Return how many nodes were stored, texts embedded, and nodes that needed vectors."""
        with self.platform.transactions.reading(worker) as stores:
            total = stores.model_vectors.findable()
        after: UUID | None = BEGINNING
        looked_at = stored = fresh = nodes_read = 0
        while after is not None:
            with self.platform.transactions.reading(worker) as stores:
                page = self._stale(stores, after)
            nodes_read += len(page.node_ids)
            for start in range(0, len(page.node_ids), BATCH):
                done, texts = self._batch(worker, page.node_ids[start : start + BATCH])
                stored, fresh = stored + done, fresh + texts
                if report:
                    report(looked_at + start, total)
            after, looked_at = page.last, looked_at + page.looked_at
            if report:
                report(looked_at, total)
        return stored, fresh, nodes_read

    def _batch(self, worker: Principal, node_ids: Collection[UUID]) -> tuple[int, int]:
        with self.platform.transactions.reading(worker) as stores:
            stored_nodes = stores.embeddings.enrichable(node_ids)
        nodes, keys = readable(self.platform.keys, worker.workspace_id, stored_nodes)
        texts = texts_of(nodes, self.embedder)
        with self.platform.transactions.reading(worker) as stores:
            hashes = {text_hash(text) for text in texts}
            cached = stores.embeddings.cached(hashes, self.embedder.model.id)
        fresh = embedded(self.embedder, lacking(texts, cached, self.embedder))
        work = _Work(nodes=nodes, keys=keys, known=cached, fresh=fresh)
        return (self._store(worker, work) if nodes else 0), len(fresh.vectors)

    def _store(self, worker: Principal, work: _Work) -> int:
        """Store what is still as it was read, at the position its text is of.

        The vectors of all models of one text stand at one position, so the older is seen at once.
        """
        model_id = self.embedder.model.id
        with open_write(self.platform, worker, keys=work.keys) as write:
            stores = write.stores
            nodes = _unchanged(stores, work.nodes)
            if not nodes:
                return 0
            cached = stores.embeddings.cached(work.fresh.vectors.keys(), model_id)
            texts = work.fresh | work.known | cached
            rows = [vectors_of(node, self.embedder, texts) for node in nodes]
            new = work.fresh.only({text_hash(text) for text in texts_of(nodes, self.embedder)})
            positions = _positions(stores, nodes)
            stores.embeddings.cache(new, model_id, write.now)
            for position in sorted(set(positions.values())):
                some = [row for row in rows if positions[row.node_id] == position]
                stores.embeddings.store(some, model_id, position)
            self._note(write, nodes, rows, positions)
        return len(nodes)

    def _note(
        self,
        write: Write,
        nodes: Sequence[EnrichableNode],
        rows: Sequence[NewEmbedding],
        positions: Mapping[UUID, int],
    ) -> None:
        """Plan an entry a set of data subjects that tells of the vectors and nothing else."""
        about: dict[tuple[UUID, ...], list[NewEmbedding]] = {}
        for node, row in zip(nodes, rows, strict=True):
            about.setdefault(node.data_subjects, []).append(row)
        model = self.embedder.model
        for subjects, some in about.items():
            body: dict[str, JsonValue] = {name: [] for name in _EMPTY}
            newest = max(positions[row.node_id] for row in some)
            own = {row.node_id: at for row in some if (at := positions[row.node_id]) != newest}
            body["vectors"] = written(some, model.id, newest, own)
            ids = [row.node_id for row in some]
            note_enriched(write, body, model=model.name, node_ids=ids, data_subjects=subjects)


@dataclass(frozen=True, slots=True, kw_only=True)
class DropOthers:
    """Removes the vectors of all models but the one in use; only when nothing lacks one of it."""

    transactions: Transactions[Stores]
    fill: Fill
    present: EmbeddingModel

    def __call__(self, workspace_id: UUID) -> int:
        """Return how many vectors and cached vectors went.

        ValidationFailed (`model-not-in-use`) unless the deployment uses the model that was filled,
        Conflict (`vectors-missing`) while a node needs vectors of it.
        """
        target = self.fill.embedder.model
        if self.present != target:
            raise ValidationFailed(
                f"The deployment uses {self.present.name}, not {target.name}.",
                reason="model-not-in-use",
            )
        if left := self.fill.left(workspace_id):
            raise Conflict(
                f"{left} nodes have no vector of {self.fill.embedder.model.name}, or an old one.",
                reason="vectors-missing",
            )
        worker, dropped = system_principal(workspace_id), 0
        while True:
            with self.transactions.writing(worker) as stores:
                gone = stores.model_vectors.drop_others(
                    self.fill.embedder.model.id, limit=DROPPED_AT_ONCE
                )
            if not gone:
                return dropped
            dropped += gone


def _unchanged(stores: Stores, nodes: Sequence[EnrichableNode]) -> list[EnrichableNode]:
    """Return the nodes whose texts are what was embedded, and about nobody who is forgotten."""
    now = {item.id: item for item in stores.embeddings.enrichable([node.id for node in nodes])}
    about = {subject for node in nodes for subject in node.data_subjects}
    forgotten = set(stores.subjects.forgotten(about)) if about else set[UUID]()
    return [
        node
        for node in nodes
        if (there := now.get(node.id)) is not None
        and _embedded_part(there) == _embedded_part(node)
        and forgotten.isdisjoint(node.data_subjects)
    ]


def _positions(stores: Stores, nodes: Sequence[EnrichableNode]) -> dict[UUID, int]:
    """Return which version of its text each node has; the ledger's head where nobody asked."""
    head = stores.ledger.head().position
    positions = stores.model_vectors.text_positions([node.id for node in nodes])
    return {node.id: positions.get(node.id, head) for node in nodes}


def _embedded_part(node: EnrichableNode) -> tuple[object, ...]:
    return node.label, node.text, node.context, node.wholes, node.data_subjects
