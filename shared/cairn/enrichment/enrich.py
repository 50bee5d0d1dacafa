"""Give nodes their vectors and their place in the graph: the use case of the embed stage.

Safe at least once: a row of the outbox names the nodes, and lives until what was made of them is
stored in the transaction that removes it. Vectors come from the cache first, and are stored before
the ledger's head is held; what the graph gains is decided under it, over what it has then. Not the
queue's protocol, and no rules: those are in `causes` and `plan`.
"""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from cairn.enrichment.causes import (
    MAX_SIMILAR,
    MIN_SIMILARITY,
    asks_trace,
    failure_cause,
    found_pairs,
    good_causes,
    pairs_within,
    stated_causes,
    strongest_similar,
)
from cairn.enrichment.plan import bodies, derive, typed, unclear_names
from cairn.enrichment.ports import EnrichableNode, NewEmbedding, TextVectors
from cairn.enrichment.recipes import (
    embedded,
    lacking,
    mixed,
    note_enriched,
    readable,
    text_hash,
    texts_of,
    vectors_of,
    written,
)
from cairn.graph.edge import Relation
from cairn.graph.node import Label
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError
from cairn.kernel.stores import Stores
from cairn.kernel.transaction import LedgerBusy
from cairn.writing.append import principal_actor
from cairn.writing.ports import Topic
from cairn.writing.subjects import Resolution
from cairn.writing.writer import Write

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.embedding.port import Embedder
    from cairn.enrichment.causes import Cause
    from cairn.enrichment.drawing import MessageStatements
    from cairn.enrichment.plan import Derived
    from cairn.enrichment.ports import Likeness
    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform
    from cairn.writing.ports import OutboxRow


Messages: TypeAlias = "tuple[Sequence[EnrichableNode], Sequence[EnrichableNode]]"

STORE_ATTEMPTS = 5


class _Overtaken(Exception):
    """Another worker was faster, or nodes have gone meanwhile: look again at what is left."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """What was made of a batch before the ledger is locked. `causes` are stated, not checked."""

    nodes: Mapping[UUID, EnrichableNode]
    embeddings: Sequence[NewEmbedding]
    texts: TextVectors
    fresh: TextVectors
    derived: Sequence[Derived]
    pairs: Sequence[Likeness]
    causes: Sequence[Cause]
    audiences: Mapping[UUID, tuple[str, tuple[str, ...] | None]]
    keys: Mapping[UUID, bytes]
    said: Sequence[MessageStatements]


@dataclass(frozen=True, slots=True, kw_only=True)
class Enrich:
    """Enriches the nodes of outbox rows: vectors, keywords, entities, likenesses, causes.

    `finds_similar` False leaves SIMILAR_TO edges out, which saves a search a new node. Memories
    drawn from messages wait for their own vectors.
    """

    platform: Platform
    embedder: Embedder
    finds_similar: bool = True
    pause: Callable[[float], None] = time.sleep

    def rows(self, workspace_id: UUID, outbox_ids: Collection[UUID]) -> int:
        """Enrich what these outbox rows name and return how many nodes got vectors.

        Rows already finished are nothing to do. Raises Unavailable when the embedder does not
        answer; the rows then stay, and their nodes are found by keyword meanwhile.
        """
        principal = system_principal(workspace_id)
        with self.platform.transactions.reading(principal) as stores:
            rows = stores.outbox.find(outbox_ids)
        return self._enrich(principal, rows)

    def batch(self, workspace_id: UUID, ingestion_id: UUID, batch: int) -> int:
        """Enrich one batch of an ingestion; 0 when it is done already."""
        principal = system_principal(workspace_id)
        with self.platform.transactions.reading(principal) as stores:
            row = stores.outbox.find_batch(ingestion_id, batch)
        return self._enrich(principal, [row] if row else [])

    def _enrich(self, principal: Principal, rows: Sequence[OutboxRow]) -> int:
        try:
            return self._enrich_rows(principal, rows) if rows else 0
        except CairnError as error:
            self._keep_reason(principal, rows, error.reason)
            raise

    def _keep_reason(self, principal: Principal, rows: Sequence[OutboxRow], reason: str) -> None:
        """Let the workspace's status count the rows as failed, if the database can be written."""
        with suppress(CairnError), self.platform.transactions.writing(principal) as stores:
            stores.outbox.failed([row.id for row in rows], reason)

    def _enrich_rows(self, principal: Principal, rows: Sequence[OutboxRow]) -> int:
        model_id = self.embedder.model.id
        node_ids = list(dict.fromkeys(id_ for row in rows for id_ in row.node_ids))
        with self.platform.transactions.reading(principal) as stores:
            enrichable = stores.embeddings.enrichable(node_ids)
            texts = texts_of(enrichable, self.embedder)
            cached = stores.embeddings.cached({text_hash(text) for text in texts}, model_id)
            audiences = {node.audience for node in enrichable}
            aliases = {audience: stores.aliases.aliases(*audience) for audience in audiences}
        nodes, keys = readable(self.platform.keys, principal.workspace_id, enrichable)
        needed = texts_of(nodes, self.embedder)
        fresh = embedded(self.embedder, lacking(needed, cached, self.embedder))
        read = fresh | cached
        embeddings = [vectors_of(node, self.embedder, read) for node in nodes]
        derived = [derive(node, aliases[node.audience]) for node in nodes]
        work = self._looked_up(principal, nodes, embeddings, (read, fresh), derived, keys)
        try:
            more = self._when_free(lambda: self._store(principal, rows, work))
        except _Overtaken:
            return self.rows(principal.workspace_id, [row.id for row in rows])
        if more:
            self.platform.dispatcher.send(more)
        return len(embeddings)

    def _looked_up(
        self,
        principal: Principal,
        nodes: Sequence[EnrichableNode],
        embeddings: Sequence[NewEmbedding],
        read: tuple[TextVectors, TextVectors],
        derived: Sequence[Derived],
        keys: Mapping[UUID, bytes],
    ) -> _Work:
        """Search for what is alike and for causes, while nobody waits for the ledger."""
        by_id = {node.id: node for node in nodes}
        causes = [cause for node in nodes for cause in stated_causes(node)]
        traced = [node.id for node in nodes if asks_trace(node)]
        with self.platform.transactions.reading(principal) as stores:
            if traced:
                steps = stores.graph_state.before_in_trace(traced)
                causes += [cause for step in steps if (cause := failure_cause(step))]
            ids = {cause.cause_id for cause in causes}
            audiences = stores.graph_state.audiences(ids)
            pairs = self._pairs(stores, by_id, embeddings) if self.finds_similar else []
            types = {
                audience: stores.aliases.types(*audience, names)
                for audience, names in unclear_names(derived).items()
            }
            messages = _messages(stores, nodes)
        drawn_messages = _statements_in(messages)
        drawn = {each.message.id for each in drawn_messages}
        derived = [replace(item, drawn=item.node.id in drawn) for item in derived]
        return _Work(
            nodes=by_id,
            embeddings=embeddings,
            texts=read[0],
            fresh=read[1],
            derived=typed(derived, types),
            pairs=pairs,
            causes=causes,
            audiences=audiences,
            keys=keys,
            said=drawn_messages,
        )

    def _pairs(
        self,
        stores: Stores,
        nodes: Mapping[UUID, EnrichableNode],
        embeddings: Sequence[NewEmbedding],
    ) -> list[Likeness]:
        """Return what the new nodes are like, among themselves and among what is stored."""
        new = [embedding for embedding in embeddings if _is_new(nodes[embedding.node_id])]
        if not new:
            return []
        similar = stores.embeddings.similar(
            new, self.embedder.model.id, minimum=MIN_SIMILARITY, limit=MAX_SIMILAR
        )
        return [*found_pairs(nodes, similar), *pairs_within(nodes, new)]

    def _store(
        self, principal: Principal, rows: Sequence[OutboxRow], work: _Work
    ) -> Sequence[OutboxRow]:
        """Store vectors and entries in one transaction; raise _Overtaken, and store nothing.

        Returns the rows of memories that were drawn, which are to be sent.

        The vectors come before the head: an index takes longer to have them than all the rest
        takes, and no writer is to wait for that.
        """
        model_id, position = self.embedder.model.id, max(row.position for row in rows)
        ids = [row.id for row in rows]
        with self.platform.transactions.preparing(principal) as (stores, hold_head):
            added = stores.embeddings.add(work.embeddings, model_id, position)
            hold_head()
            there = stores.outbox.find(ids) and stores.embeddings.settle(work.nodes, model_id)
            if not there:
                raise _Overtaken
            keys = Resolution(workspace_id=principal.workspace_id, ids={}, new=(), keys=work.keys)
            write = Write.begin(self.platform, stores, keys, principal_actor(principal))
            self._keep_vectors(stores, work, added, position, write.now)
            if work.embeddings:
                self._note(write, work, position)
                write.append()
                _draw(write, work.said)
            stores.outbox.done(ids)
            # who is told by webhooks is told by a sweep: this stage has no queue of theirs
            return [row for row in write.rows if row.topic == Topic.EMBED]

    def _keep_vectors(
        self,
        stores: Stores,
        work: _Work,
        added: Collection[UUID],
        position: int,
        now: datetime,
    ) -> None:
        """Store what is new to the cache, and the rows that could not be stored before."""
        model_id = self.embedder.model.id
        cached = stores.embeddings.cached(work.fresh.vectors.keys(), model_id)
        stores.embeddings.cache(work.fresh, model_id, now)
        stores.embeddings.own(work.embeddings, model_id)
        others = [
            embedding
            for embedding in work.embeddings
            if embedding.node_id not in added
            or (embedding.recipe and embedding.recipe.names_any(cached.vectors))
        ]
        stores.embeddings.store(self._as_cached(work, others, cached), model_id, position)

    def _as_cached(
        self, work: _Work, rows: Sequence[NewEmbedding], cached: TextVectors
    ) -> Sequence[NewEmbedding]:
        """Return the rows, made of another worker's vectors where it embedded a text meanwhile.

        What a model says of a text depends a little on what is embedded with it; rows are always
        of what the cache has, so that a rebuild makes the same.
        """
        if not cached.vectors:
            return rows
        texts = work.texts | cached
        embeddings = (mixed(row.node_id, row.recipe, texts) for row in rows if row.recipe)
        return [item for item in embeddings if item is not None]

    def _note(self, write: Write, work: _Work, position: int) -> None:
        """Plan an entry a set of data subjects, over what the graph has at this moment."""
        stores = write.stores
        held = stores.graph_state.outgoing(list(work.nodes))
        caused = [(e.source_id, e.target_id) for e in held if e.relation == Relation.CAUSED_BY]
        touched = {end for pair in work.pairs for end in (pair.source_id, pair.target_id)}
        stored = stores.graph_state.likenesses(touched) if touched else ()
        by_subjects = bodies(
            write.entries.workspace_id,
            work.derived,
            held,
            good_causes(work.nodes, work.causes, work.audiences, caused),
            strongest_similar(work.pairs, stored),
        )
        rows: dict[tuple[UUID, ...], list[NewEmbedding]] = {}
        for row in work.embeddings:
            rows.setdefault(work.nodes[row.node_id].data_subjects, []).append(row)
        model = self.embedder.model
        for subjects, body in by_subjects.items():
            note_enriched(
                write,
                {**body, "vectors": written(rows[subjects], model.id, position)},
                model=model.name,
                node_ids=[
                    id_ for id_, node in work.nodes.items() if node.data_subjects == subjects
                ],
                data_subjects=subjects,
            )

    def _when_free(self, store: Callable[[], Sequence[OutboxRow]]) -> Sequence[OutboxRow]:
        """Run `store`, again while writers hold the ledger: the vectors need not be made anew."""
        from tenacity import Retrying, retry_if_exception_type, stop_after_attempt, wait_random

        attempts = Retrying(
            retry=retry_if_exception_type(LedgerBusy),
            stop=stop_after_attempt(STORE_ATTEMPTS),
            wait=wait_random(0, 0.5),
            sleep=self.pause,
            reraise=True,
        )
        return attempts(store)


def _draw(write: Write, drawn: Sequence[MessageStatements]) -> None:
    """Write the memories that messages state, as any other write does."""
    if not any(each.statements or each.taken_back for each in drawn):
        return
    from cairn.enrichment.drawing import planned

    touched = planned(write.stores, write.entries, drawn)
    write.append()
    write.wake_embed(touched)


def _messages(stores: Stores, nodes: Sequence[EnrichableNode]) -> Messages | None:
    """Return the messages to draw from, with those before; None for most batches.

    The rules of extraction are imported for a message only: a cold start need not wait for them.
    """
    if all(node.label != Label.MESSAGE for node in nodes):
        return None
    from cairn.enrichment.drawing import heard

    return heard(stores, nodes)


def _statements_in(messages: Messages | None) -> list[MessageStatements]:
    if messages is None:
        return []
    from cairn.enrichment.drawing import said_in

    return said_in(*messages)


def _is_new(node: EnrichableNode) -> bool:
    """Return whether its likenesses are still to be found; a summary is like what it is of."""
    return not node.keywords and node.label != Label.SUMMARY


__all__ = ["Enrich", "EnrichableNode", "NewEmbedding", "Stores", "text_hash"]
