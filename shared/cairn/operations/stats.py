"""What a workspace holds and how good it is, in numbers: behind `GET /v1/stats`. Changes nothing.

Rates are of active memories. They are exact while that is cheap and of a random sample otherwise;
which of the two, and of how many, stands beside each. Examples are `audit_memory`'s.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from cairn.kernel.access import Principal, Role
from cairn.kernel.access.system import system_principal
from cairn.kernel.clock import Clock
from cairn.kernel.stores import Stores
from cairn.kernel.transaction import Transactions
from cairn.memories.audit.records import junk_of
from cairn.recall.ports import ReadSettings
from cairn.recall.proactive import JUDGED_DAYS, muted
from cairn.recall.scoring import decayed
from cairn.workspace.documents import CurrentSettings

EXACT = 2_000
"""Memories up to which every one is looked at."""

FACT_SAMPLE = 100
"""Random facts whose confidence is looked at beyond that."""

MEMORY_SAMPLE = 500
"""Random memories that are read for junk, duplicates and contradictions beyond that."""

HALF = 0.5

DUPLICATE_COSINE = 0.92
"""From this cosine on two memories of one audience say the same."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FactAge:
    """What a fact's effective confidence follows from."""

    confidence: float
    since: datetime  # last accessed, or recorded


@dataclass(frozen=True, slots=True, kw_only=True)
class MemorySketch:
    """A memory as the rates see it: `duplicate` of an older one of its readers, `contradicted`."""

    id: UUID
    text: str
    duplicate: bool
    contradicted: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """`count` of `of` memories looked at; `exact` when these were all."""

    count: int
    of: int
    share: float
    exact: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ChainHead:
    """Where the ledger ends."""

    position: int
    hash: str
    recorded_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class FeedbackCount:
    """What readers said of results: of a recipe, for a reason, by a signal if it was proactive.

    `recipe` is None where it was not kept, `share` that of useful ones.
    """

    recipe: str | None
    retrieval_reason: str
    signal: str | None
    judged: int
    useful: int
    share: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """The numbers of a workspace. `storage_bytes` counts rows, without indexes."""

    nodes: int
    labels: Mapping[str, int]
    kinds: Mapping[str, int]
    states: Mapping[str, int]
    categories: Mapping[str, int]
    knowledge_categories: Mapping[str, int]
    active_memories: int
    decayed_below_50pct: int
    decayed: Rate
    junk: Rate
    duplicates: Rate
    contradictions: Rate
    chain_head: ChainHead
    storage_bytes: Mapping[str, int]
    vectors: Mapping[str, int]
    outbox: Mapping[str, int]
    feedback: tuple[FeedbackCount, ...]
    muted_signals: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    """How many nodes there are, by column and value; `memories` and `facts` are active ones."""

    nodes: int
    memories: int
    facts: int
    by: Mapping[str, Mapping[str, int]]


@dataclass(frozen=True, slots=True, kw_only=True)
class GetStats:
    """Counts over the whole workspace, whatever scopes the admin's key has: numbers, no texts."""

    transactions: Transactions[Stores]
    clock: Clock
    settings: ReadSettings | None = None

    def __call__(self, principal: Principal, /) -> Stats:
        """Return the numbers; Denied unless the principal is an admin."""
        principal.require(Role.ADMIN)
        held = self.settings(principal) if self.settings else CurrentSettings()
        with self.transactions.reading(system_principal(principal.workspace_id)) as stores:
            store = stores.stats
            counts = store.counts()
            decay = _decay(stores, counts.facts, self.clock(), held.settings.recall.decay_factor)
            junk, duplicates, contradictions = _rates(stores, counts.memories)
            return Stats(
                nodes=counts.nodes,
                labels=counts.by["label"],
                kinds=counts.by["kind"],
                states=counts.by["state"],
                categories=counts.by["category"],
                knowledge_categories=counts.by["knowledge_category"],
                active_memories=counts.memories,
                decayed_below_50pct=decay.count,
                decayed=decay,
                junk=junk,
                duplicates=duplicates,
                contradictions=contradictions,
                chain_head=store.chain_head(),
                storage_bytes=store.storage_bytes(),
                vectors=store.vectors(),
                outbox=store.outbox(),
                feedback=tuple(store.feedback()),
                muted_signals=_muted(stores, self.clock(), held.settings.recall.proactive_signals),
            )


def _muted(stores: Stores, now: datetime, chosen: Mapping[str, bool]) -> tuple[str, ...]:
    return tuple(sorted(muted(stores.stats.judged(now - JUDGED_DAYS), chosen)))


def _decay(stores: Stores, facts: int, now: datetime, factor: float) -> Rate:
    """Count facts whose effective confidence is below a half: of 100 random ones, or of all."""
    exact = facts <= EXACT
    ages = stores.stats.facts(EXACT if exact else FACT_SAMPLE, random=not exact)
    below = sum(decayed(item.confidence, item.since, now, factor) < HALF for item in ages)
    return _rate(below, len(ages), exact=exact)


def _rates(stores: Stores, memories: int) -> tuple[Rate, Rate, Rate]:
    """Return the rates of junk, duplicates and contradictions."""
    exact = memories <= EXACT
    sketches = stores.stats.memories(
        EXACT if exact else MEMORY_SAMPLE, random=not exact, cosine=DUPLICATE_COSINE
    )
    junk = sum(junk_of(item.text) is not None for item in sketches)
    duplicates = sum(item.duplicate for item in sketches)
    contradicted = sum(item.contradicted for item in sketches)
    return (
        _rate(junk, len(sketches), exact=exact),
        _rate(duplicates, len(sketches), exact=exact),
        _rate(contradicted, len(sketches), exact=exact),
    )


def _rate(count: int, of: int, *, exact: bool) -> Rate:
    return Rate(count=count, of=of, share=round(count / of, 4) if of else 0.0, exact=exact)
