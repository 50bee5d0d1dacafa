"""Batches and plans for tests: memories by number."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from decimal import Decimal
from itertools import combinations
from typing import Any
from uuid import UUID

from cairn.consolidation.plan import (
    Add,
    Batch,
    BatchMemory,
    Operation,
    Pair,
    Plan,
    Supersede,
)
from cairn.kernel.text.hashes import content_hash
from cairn.memories.kinds import MemoryKind
from cairn.writing.audience import Audience

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
ADMINS = Audience(scope="admin", agents=None, data_subjects=())
PUBLIC = Audience(scope="public", agents=None, data_subjects=())


def memory(number: int, text: str = "the hut has a stove", **changes: Any) -> BatchMemory:
    """A fact about everybody, without a key, unless changed."""
    given: dict[str, Any] = {
        "id": UUID(int=number),
        "position": number,
        "kind": MemoryKind.FACT,
        "text": text,
        "content_hash": content_hash(text),
        "audience": ADMINS,
        "client_id": "global",
        "occurred_at": NOON,
        "valid_from": NOON,
    }
    return BatchMemory(**(given | changes))


def batch(*memories: BatchMemory, **changes: Any) -> Batch:
    """A batch of one client."""
    return Batch(client_id="global", memories=memories, **changes)


def texts(*given: str) -> Batch:
    """A batch of facts, numbered from 1."""
    return batch(*(memory(at, text) for at, text in enumerate(given, start=1)))


def near(of: Batch, cosine: float = 0.95) -> list[Pair]:
    """All pairs of a batch, equally near."""
    return [Pair(one=a.id, other=b.id, cosine=cosine) for a, b in combinations(of.memories, 2)]


def plan(*operations: Operation) -> Plan:
    """A plan some planner proposes."""
    return Plan(operations=operations, provider="test", model="t", cost_usd=Decimal(0))


def merge(text: str, *numbers: int, ref: str = "m", **changes: Any) -> list[Operation]:
    """Both halves of a merge."""
    sources = tuple(UUID(int=number) for number in numbers)
    return [
        Add(ref=ref, text=text, sources=sources, **changes),
        Supersede(by=ref, sources=sources),
    ]


def of(operations: Iterable[Operation], kind: type) -> Sequence[Any]:
    """The operations of one kind."""
    return [operation for operation in operations if isinstance(operation, kind)]
