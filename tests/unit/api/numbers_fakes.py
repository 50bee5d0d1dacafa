"""The numbers of a workspace behind the fake API."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from cairn.kernel.access import Principal, Role
from cairn.operations.stats import ChainHead, FeedbackCount, Rate, Stats
from cairn.rebuild.missing_keys import Orphan, Orphans


def rate(count: int, of: int, *, exact: bool = True) -> Rate:
    return Rate(count=count, of=of, share=count / of, exact=exact)


STATS = Stats(
    feedback=(
        FeedbackCount(
            recipe="default",
            retrieval_reason="proactive",
            signal="entity_context",
            judged=10,
            useful=4,
            share=0.4,
        ),
    ),
    muted_signals=("entity_context",),
    nodes=12,
    labels={"Entity": 2, "Memory": 10},
    kinds={"event": 4, "fact": 6},
    states={"active": 9, "archived": 3},
    categories={"semantic": 10},
    knowledge_categories={"general": 10},
    active_memories=8,
    decayed_below_50pct=3,
    decayed=rate(3, 100, exact=False),
    junk=rate(1, 8),
    duplicates=rate(2, 8),
    contradictions=rate(0, 8),
    chain_head=ChainHead(
        position=40, hash="ab" * 32, recorded_at=datetime(2026, 5, 1, 12, tzinfo=UTC)
    ),
    storage_bytes={"ledger": 4096, "nodes": 2048},
    vectors={"all-MiniLM-L6-v2-int8": 10},
    outbox={"embed": 1},
)


@dataclass
class NumbersWorld:
    """`orphaned` are the ids that lost something, by kind."""

    orphaned: dict[Orphan, tuple[UUID, ...]] = field(default_factory=dict)

    def get(self, principal: Principal) -> Stats:
        principal.require(Role.ADMIN)
        return STATS

    def orphans(self, principal: Principal) -> Mapping[str, Orphans]:
        principal.require(Role.ADMIN)
        found = {kind.value: self.orphaned.get(kind, ()) for kind in Orphan}
        return {kind: Orphans(count=len(ids), examples=ids) for kind, ids in found.items()}
