"""Whether a merge says what was merged before: by the vector of its text, before the lock is taken.

Its own sources never count, and what is found leaves the merge out and changes nothing else. Equal
texts are found under the lock (`apply`), by their identity.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING

from cairn.consolidation.plan import SOURCE_AGENT, Add, BatchMemory, Plan
from cairn.consolidation.tokens import difference, tokens
from cairn.enrichment.ports import NewEmbedding

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.consolidation.plan import Batch
    from cairn.consolidation.ports import ConsolidationStores
    from cairn.embedding.port import Embedder, Vectors
    from cairn.enrichment.ports import Found
    from cairn.kernel.access import Principal
    from cairn.kernel.transaction import Transactions

SEMANTIC_DEDUP_THRESHOLD = 0.92
"""A merged memory as near as this to one merged before says the same."""

NEAREST = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Merges:
    """The vectors of a plan's merged texts, by the merge's ref, and which merges exist already."""

    windows: Mapping[str, tuple[bytes, ...]] = field(default_factory=lambda: MappingProxyType({}))
    vectors: Mapping[bytes, Vectors] = field(default_factory=lambda: MappingProxyType({}))
    existing: frozenset[str] = frozenset()

    def of(self, ref: str) -> list[Vectors]:
        """Return the vectors of a merge, one a window of its text."""
        return [self.vectors[one] for one in self.windows[ref]]

    def cacheable(self, ref: str) -> dict[bytes, Vectors]:
        """Return the vectors of a merge by the SHA-256 of their text."""
        return {one: self.vectors[one] for one in self.windows[ref]}


@dataclass(frozen=True, slots=True, kw_only=True)
class FindMerges:
    """Embeds merged texts and looks for merges that say the same.

    Near vectors alone do not tell: the texts agree in every number, date, name and negation too.
    """

    transactions: Transactions[ConsolidationStores]
    embedder: Embedder

    def __call__(self, principal: Principal, batch: Batch, plan: Plan) -> Merges:
        """Return the vectors and what exists. Raises Unavailable when the embedder is not there."""
        adds = [one for one in plan.operations if isinstance(one, Add)]
        if not adds:
            return Merges()
        texts = {one.ref: self.embedder.windows(one.text) for one in adds}
        vectors = self._vectors(principal, [text for each in texts.values() for text in each])
        windows = {ref: tuple(_hash(text) for text in each) for ref, each in texts.items()}
        found = Merges(windows=windows, vectors=vectors)
        memories = {one.id: one for one in batch.memories}
        existing = self._existing(principal, adds, found, memories)
        return Merges(windows=windows, vectors=vectors, existing=existing)

    def _vectors(self, principal: Principal, texts: Sequence[str]) -> dict[bytes, Vectors]:
        model_id = self.embedder.model.id
        wanted = {_hash(text): text for text in texts}
        with self.transactions.reading(principal) as stores:
            known = dict(stores.embeddings.cached(wanted.keys(), model_id))
        missing = [one for one in wanted if one not in known]
        if missing:
            made = self.embedder.embed([wanted[one] for one in missing])
            known |= {one: made[at] for at, one in enumerate(missing)}
        return known

    def _existing(
        self,
        principal: Principal,
        adds: Sequence[Add],
        merges: Merges,
        memories: Mapping[UUID, BatchMemory],
    ) -> frozenset[str]:
        """Return the refs of merges that were made before, by others than their own sources."""
        asked = [
            NewEmbedding(node_id=one.sources[0], vectors=merges.of(one.ref)[:1]) for one in adds
        ]
        with self.transactions.reading(principal) as stores:
            near = stores.embeddings.similar(
                asked,
                self.embedder.model.id,
                minimum=SEMANTIC_DEDUP_THRESHOLD,
                wanted=NEAREST,
            )
            others = {
                one.id: one for one in stores.unconsolidated.find({one.other_id for one in near})
            }
        return frozenset(
            add.ref
            for add in adds
            if any(_repeats(add, memories[add.sources[0]], one, others) for one in near)
        )


def _repeats(
    add: Add, source: BatchMemory, found: Found, others: Mapping[UUID, BatchMemory]
) -> bool:
    """Return whether what was found near a merge's first source is the same merge, made before."""
    other = others.get(found.other_id)
    return (
        other is not None
        and found.node_id == source.id
        and other.id not in add.sources
        and other.source_agent == SOURCE_AGENT
        and (other.kind, other.client_id) == (add.kind, source.client_id)
        and other.audience == source.audience
        and difference(tokens(add.text), tokens(other.text)) is None
    )


def _hash(text: str) -> bytes:
    return hashlib.sha256(text.encode()).digest()
