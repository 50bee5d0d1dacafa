"""Which memories are looked at together: the next ones, what is near, what exists of them.

Not a plan. The batch follows from what is stored alone, so a run that was killed goes on with the
batches it would have made.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from cairn.consolidation.plan import BATCH_SIZE, SOURCE_AGENT, Add, Batch, BatchMemory, Pair, Plan
from cairn.consolidation.tokens import difference, tokens
from cairn.enrichment.ports import NewEmbedding, TextVectors
from cairn.enrichment.recipes import embedded, lacking, text_hash

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    from cairn.consolidation.runs import Client
    from cairn.embedding.port import Embedder, Vectors
    from cairn.enrichment.ports import SimilarNode
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions


SEMANTIC_DEDUP_THRESHOLD = 0.92
"""A merged memory as near as this to one merged before says the same."""

NEAREST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Merges:
    """The vectors of a plan's merged texts, by the merge's ref, and which merges exist already."""

    windows: Mapping[str, tuple[bytes, ...]] = field(default_factory=lambda: MappingProxyType({}))
    texts: TextVectors = field(default_factory=TextVectors)
    existing: frozenset[str] = frozenset()

    def of(self, ref: str) -> list[Vectors]:
        """Return the vectors of a merge, one a window of its text."""
        return [self.texts.vectors[item] for item in self.windows[ref]]

    def tokens_of(self, ref: str) -> list[bytes | None]:
        """Return the token vectors of each window."""
        return [self.texts.tokens.get(item) for item in self.windows[ref]]

    def cacheable(self, ref: str) -> TextVectors:
        """Return the vectors of a merge by the SHA-256 of their text."""
        return self.texts.only(self.windows[ref])


@dataclass(frozen=True, slots=True, kw_only=True)
class FindMerges:
    """Embeds merged texts and looks for merges that say the same.

    Near vectors alone do not tell: the texts agree in every number, date, name and negation too.
    """

    transactions: Transactions[Stores]
    embedder: Embedder

    def __call__(self, principal: Principal, batch: Batch, plan: Plan) -> Merges:
        """Return the vectors and what exists. Raises Unavailable when the embedder is not there."""
        adds = [operation for operation in plan.operations if isinstance(operation, Add)]
        if not adds:
            return Merges()
        texts = {add.ref: self.embedder.windows(add.text) for add in adds}
        read = self._read(principal, [text for each in texts.values() for text in each])
        windows = {ref: tuple(text_hash(text) for text in each) for ref, each in texts.items()}
        merges = Merges(windows=windows, texts=read)
        memories = {memory.id: memory for memory in batch.memories}
        existing = self._existing(principal, adds, merges, memories)
        return Merges(windows=windows, texts=read, existing=existing)

    def _read(self, principal: Principal, texts: Sequence[str]) -> TextVectors:
        by_hash = {text_hash(text): text for text in texts}
        with self.transactions.reading(principal) as stores:
            cached = stores.embeddings.cached(by_hash.keys(), self.embedder.model.id)
        missing = lacking(list(by_hash.values()), cached, self.embedder)
        return embedded(self.embedder, missing) | cached

    def _existing(
        self,
        principal: Principal,
        adds: Sequence[Add],
        merges: Merges,
        memories: Mapping[UUID, BatchMemory],
    ) -> frozenset[str]:
        """Return the refs of merges that were made before, by others than their own sources."""
        embeddings = [
            NewEmbedding(node_id=add.sources[0], vectors=merges.of(add.ref)[:1]) for add in adds
        ]
        with self.transactions.reading(principal) as stores:
            near = stores.embeddings.similar(
                embeddings,
                self.embedder.model.id,
                minimum=SEMANTIC_DEDUP_THRESHOLD,
                limit=NEAREST,
            )
            others = {
                item.id: item
                for item in stores.unconsolidated.find({item.other_id for item in near})
            }
        return frozenset(
            add.ref
            for add in adds
            if any(_repeats(add, memories[add.sources[0]], item, others) for item in near)
        )


def _repeats(
    add: Add, source: BatchMemory, similar: SimilarNode, others: Mapping[UUID, BatchMemory]
) -> bool:
    """Return whether what was found near a merge's first source is the same merge, made before."""
    other = others.get(similar.other_id)
    return (
        other is not None
        and similar.node_id == source.id
        and other.id not in add.sources
        and other.source_agent == SOURCE_AGENT
        and (other.kind, other.client_id) == (add.kind, source.client_id)
        and other.audience == source.audience
        and difference(tokens(add.text), tokens(other.text)) is None
    )


NEAR = 0.72
"""A memory from this cosine on is looked at with the one it is near to, wherever it stands."""

WANTED = 5
"""Memories near to one that are asked for."""

KNOWN = 2
"""Of these, so many that were consolidated before: a batch is there for what was not."""

PAIRS_FROM = 0.5
"""Pairs of a batch from this cosine on are given to the planner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """A batch and the near pairs within it."""

    batch: Batch
    pairs: tuple[Pair, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gather:
    """Reads the next batch of a client in one reading transaction."""

    transactions: Transactions[Stores]
    model_id: int

    def __call__(
        self, principal: Principal, client: Client, *, without: Collection[UUID]
    ) -> Gathered | None:
        """Return the next batch, None when there is none; `without` were tried already."""
        with self.transactions.reading(principal) as stores:
            waiting = stores.unconsolidated
            new = waiting.next(client.name, self.model_id, without=without, limit=BATCH_SIZE)
            if not new:
                return None
            near = waiting.near(
                [item.id for item in new], self.model_id, minimum=NEAR, limit=WANTED
            )
            ids = {item.id for item in new}
            others = {end for pair in near for end in (pair.one, pair.other)} - ids - {*without}
            outside = waiting.find(others) if others else ()
            members = composed(new, near, outside)
            pairs = waiting.pairs(
                [member.id for member in members], self.model_id, minimum=PAIRS_FROM
            )
            audiences = {(member.audience.scope, member.audience.agents) for member in members}
            aliases = {audience: stores.aliases.aliases(*audience) for audience in audiences}
        batch = Batch(client_id=client.name, memories=members, aliases=aliases)
        return Gathered(batch=batch, pairs=tuple(pairs))


def composed(
    new: Sequence[BatchMemory], near: Sequence[Pair], outside: Sequence[BatchMemory]
) -> tuple[BatchMemory, ...]:
    """Return at most BATCH_SIZE memories: new ones in their order, each with those near to it.

    `near` are pairs, the nearest first; `outside` the memories they name beside `new`. What does
    not fit waits for its own turn.
    """
    others: Mapping[UUID, list[UUID]] = _others(near)
    by_id = {memory.id: memory for memory in (*new, *outside)}
    members: dict[UUID, BatchMemory] = {}
    for memory in new:
        near_by = [by_id[other] for other in others.get(memory.id, ()) if other in by_id]
        before = [other for other in near_by if other.known][:KNOWN]
        for other in (memory, *(each for each in near_by if not each.known or each in before)):
            if len(members) < BATCH_SIZE:
                members.setdefault(other.id, other)
    return tuple(members.values())


def _others(pairs: Sequence[Pair]) -> Mapping[UUID, list[UUID]]:
    others: defaultdict[UUID, list[UUID]] = defaultdict(list)
    for pair in pairs:
        others[pair.one].append(pair.other)
        others[pair.other].append(pair.one)
    return others


def reduced(batch: Batch, gone: Collection[UUID]) -> Batch:
    """Return the batch without some of its memories."""
    return replace(
        batch, memories=tuple(memory for memory in batch.memories if memory.id not in gone)
    )
