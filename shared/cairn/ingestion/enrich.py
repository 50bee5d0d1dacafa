"""Give nodes their vectors: the use case of the embed stage. Not the queue's protocol.

Safe at least once: a row of the outbox names the nodes, and lives until their vectors are stored
in the transaction that removes it. Vectors come from the cache first.
"""

from __future__ import annotations

import hashlib
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cairn.access.system import system_principal
from cairn.embedding.port import PASSAGE_TOKENS
from cairn.errors import CairnError, Unavailable
from cairn.graph.node import Label
from cairn.ingestion.appending import SYSTEM, append_and_project
from cairn.ingestion.planning import Planned
from cairn.ingestion.ports import WriteStores
from cairn.ledger.entry import NewEntry

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.access import Principal
    from cairn.clock import Clock
    from cairn.embedding.port import Embedder, Vectors
    from cairn.ids import IdSource
    from cairn.ingestion.ports import OutboxRow
    from cairn.text.json_value import JsonValue
    from cairn.transaction import Transactions


STORE_ATTEMPTS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class EnrichableNode:
    """A node as the embed stage needs it; `context` are the texts of the messages before it."""

    id: UUID
    label: str
    text: str
    context: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NewEmbedding:
    """The vectors of one node: a row a window of its text."""

    node_id: UUID
    vectors: Sequence[Vectors]


class EmbeddingStore(Protocol):
    """Vectors of nodes and the cache of vectors by text."""

    def enrichable(self, node_ids: Collection[UUID]) -> Sequence[EnrichableNode]:
        """Return those of the nodes that are to be found (active, provisional, superseded)."""
        ...

    def cached(self, hashes: Collection[bytes], model_id: int) -> Mapping[bytes, Vectors]:
        """Return the cached vectors by SHA-256 of their text."""
        ...

    def cache(self, vectors: Mapping[bytes, Vectors], model_id: int, now: datetime) -> None:
        """Keep vectors by SHA-256 of their text."""
        ...

    def store(self, rows: Sequence[NewEmbedding], model_id: int, position: int) -> None:
        """Replace the nodes' vectors, unless newer ones (a higher position) are stored."""
        ...


class OutboxQueue(Protocol):
    """The part of the outbox the embed stage works off."""

    def find(self, ids: Collection[UUID]) -> Sequence[OutboxRow]:
        """Return the rows still unfinished among these."""
        ...

    def find_batch(self, reference: UUID, batch: int) -> OutboxRow | None:
        """Return one batch of an ingestion, None when it is done."""
        ...

    def done(self, ids: Collection[UUID]) -> None:
        """Remove finished rows."""
        ...

    def failed(self, ids: Collection[UUID], error: str) -> None:
        """Keep why rows failed; they stay to be tried again."""
        ...


class EnrichStores(WriteStores, Protocol):
    """What enriching needs of a transaction."""

    @property
    def embeddings(self) -> EmbeddingStore: ...
    @property
    def queue(self) -> OutboxQueue: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Enrich:
    """Embeds the nodes of outbox rows and stores their vectors."""

    transactions: Transactions[EnrichStores]
    embedder: Embedder
    clock: Clock
    new_id: IdSource
    pause: Callable[[float], None] = time.sleep

    def rows(self, workspace_id: UUID, outbox_ids: Collection[UUID]) -> int:
        """Enrich what these outbox rows name and return how many nodes got vectors.

        Rows already finished are nothing to do. Raises Unavailable when the embedder does not
        answer; the rows then stay, and their nodes are found by keyword meanwhile.
        """
        principal = system_principal(workspace_id)
        with self.transactions.reading(principal) as stores:
            found = stores.queue.find(outbox_ids)
        return self._enrich(principal, found)

    def batch(self, workspace_id: UUID, ingestion_id: UUID, batch: int) -> int:
        """Enrich one batch of an ingestion; 0 when it is done already."""
        principal = system_principal(workspace_id)
        with self.transactions.reading(principal) as stores:
            row = stores.queue.find_batch(ingestion_id, batch)
        return self._enrich(principal, [row] if row else [])

    def _enrich(self, principal: Principal, rows: Sequence[OutboxRow]) -> int:
        try:
            return self._embed_rows(principal, rows) if rows else 0
        except CairnError as error:
            self._keep_reason(principal, rows, error.reason)
            raise

    def _keep_reason(self, principal: Principal, rows: Sequence[OutboxRow], reason: str) -> None:
        """Let the workspace's status count the rows as failed, if the database can be written."""
        with suppress(CairnError), self.transactions.writing(principal) as stores:
            stores.queue.failed([row.id for row in rows], reason)

    def _embed_rows(self, principal: Principal, rows: Sequence[OutboxRow]) -> int:
        model_id = self.embedder.model.id
        wanted = list(dict.fromkeys(one for row in rows for one in row.node_ids))
        with self.transactions.reading(principal) as stores:
            nodes = stores.embeddings.enrichable(wanted)
            texts = _texts(nodes, self.embedder)
            known = dict(stores.embeddings.cached({text_hash(one) for one in texts}, model_id))
        fresh = self._embed([one for one in texts if text_hash(one) not in known])
        embeddings = [_embedding(node, self.embedder, known | fresh) for node in nodes]
        self._when_free(lambda: self._store(principal, rows, fresh, embeddings))
        return len(embeddings)

    def _store(
        self,
        principal: Principal,
        rows: Sequence[OutboxRow],
        fresh: Mapping[bytes, Vectors],
        embeddings: Sequence[NewEmbedding],
    ) -> None:
        model_id, position = self.embedder.model.id, max(row.position for row in rows)
        with self.transactions.writing(principal) as stores:
            now = self.clock()
            stores.embeddings.cache(fresh, model_id, now)
            stores.embeddings.store(embeddings, model_id, position)
            if embeddings:
                append_and_project(stores, [self._entry(principal, embeddings, now)], now)
            stores.queue.done([row.id for row in rows])

    def _when_free(self, store: Callable[[], None]) -> None:
        """Run `store`, again while writers hold the ledger: the vectors need not be made anew."""
        from tenacity import Retrying, retry_if_exception, stop_after_attempt, wait_random

        attempts = Retrying(
            retry=retry_if_exception(_ledger_is_busy),
            stop=stop_after_attempt(STORE_ATTEMPTS),
            wait=wait_random(0, 0.5),
            sleep=self.pause,
            reraise=True,
        )
        attempts(store)

    def _embed(self, texts: Sequence[str]) -> dict[bytes, Vectors]:
        if not texts:
            return {}
        vectors = self.embedder.embed(texts)
        return {text_hash(text): vectors[index] for index, text in enumerate(texts)}

    def _entry(
        self, principal: Principal, embeddings: Sequence[NewEmbedding], now: datetime
    ) -> Planned:
        meta: dict[str, JsonValue] = {
            "model": self.embedder.model.name,
            "node_ids": [str(one.node_id) for one in embeddings],
        }
        entry = NewEntry(
            id=self.new_id(),
            workspace_id=principal.workspace_id,
            type="node.enriched",
            actor=SYSTEM,
            occurred_at=now,
            meta=meta,
        )
        return Planned(entry=entry, body={})


def _ledger_is_busy(error: BaseException) -> bool:
    return isinstance(error, Unavailable) and error.reason == "ledger-busy"


def text_hash(text: str) -> bytes:
    """Return the SHA-256 under which a text's vector is cached."""
    return hashlib.sha256(text.encode()).digest()


def _windows(node: EnrichableNode, embedder: Embedder) -> list[str]:
    whole_up_to = PASSAGE_TOKENS if node.label == Label.CHUNK else None
    return embedder.windows(node.text, whole_up_to=whole_up_to)


def _texts(nodes: Sequence[EnrichableNode], embedder: Embedder) -> list[str]:
    """Return every text whose vector is needed, once each."""
    needed: dict[str, None] = {}
    for node in nodes:
        needed |= dict.fromkeys(_windows(node, embedder))
        needed |= dict.fromkeys(text for text in node.context)
    return list(needed)


def _embedding(
    node: EnrichableNode, embedder: Embedder, vectors: Mapping[bytes, Vectors]
) -> NewEmbedding:
    from cairn.embedding.pooling import pooled  # numpy is loaded only where vectors are made

    own = [vectors[text_hash(text)] for text in _windows(node, embedder)]
    if node.context:
        context = [vectors[text_hash(text)] for text in node.context]
        own = [pooled(vector, context) for vector in own]
    return NewEmbedding(node_id=node.id, vectors=own)
