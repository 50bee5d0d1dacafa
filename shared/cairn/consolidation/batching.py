"""Which memories are looked at together: the next ones, each with what is near to it.

Not a plan. The batch follows from what is stored alone, so a run that was killed goes on with the
batches it would have made.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cairn.consolidation.plan import BATCH_SIZE, Batch, BatchMemory, Pair

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    from cairn.consolidation.ports import Client, ConsolidationStores
    from cairn.kernel.access import Principal
    from cairn.kernel.transaction import Transactions

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

    transactions: Transactions[ConsolidationStores]
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
            near = waiting.near([one.id for one in new], self.model_id, minimum=NEAR, wanted=WANTED)
            ids = {one.id for one in new}
            others = {end for pair in near for end in (pair.one, pair.other)} - ids - {*without}
            outside = waiting.find(others) if others else ()
            members = composed(new, near, outside)
            pairs = waiting.pairs([one.id for one in members], self.model_id, minimum=PAIRS_FROM)
            audiences = {(one.audience.scope, one.audience.agents) for one in members}
            aliases = {one: stores.aliases.aliases(*one) for one in audiences}
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
    known = {one.id: one for one in (*new, *outside)}
    members: dict[UUID, BatchMemory] = {}
    for one in new:
        near_by = [known[other] for other in others.get(one.id, ()) if other in known]
        before = [other for other in near_by if other.known][:KNOWN]
        for other in (one, *(each for each in near_by if not each.known or each in before)):
            if len(members) < BATCH_SIZE:
                members.setdefault(other.id, other)
    return tuple(members.values())


def _others(pairs: Sequence[Pair]) -> Mapping[UUID, list[UUID]]:
    found: defaultdict[UUID, list[UUID]] = defaultdict(list)
    for pair in pairs:
        found[pair.one].append(pair.other)
        found[pair.other].append(pair.one)
    return found


def reduced(batch: Batch, gone: Collection[UUID]) -> Batch:
    """Return the batch without some of its memories."""
    return replace(batch, memories=tuple(one for one in batch.memories if one.id not in gone))
