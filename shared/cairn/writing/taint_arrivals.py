"""What is written while a taint stands and falls under it goes out of recall as it arrives.

In the write's own transaction, by an entry after the write's. So no reader ever finds it, and what
is made of a quarantined node by somebody who read it before is held back too.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

from cairn.graph.node import Label, Node
from cairn.kernel.ids import derived_id
from cairn.ledger.entry import SYSTEM
from cairn.writing.entries import Planned, plan_entry

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    from cairn.graph.node import State
    from cairn.graph.projection import Projection
    from cairn.kernel.stores import Stores
    from cairn.ledger.entry import Entry
    from cairn.writing.items import WarnedOutcome

QUARANTINED = "quarantined"
"""The warning of a write that was stored and is out of recall: who or what wrote it is tainted."""

OutcomeT = TypeVar("OutcomeT", bound="WarnedOutcome")


def arrivals(projections: Sequence[Projection]) -> list[UUID]:
    """Return the nodes these projections make, or let stand again; entities are left out."""
    rows = [row for projection in projections for row in projection.nodes]
    created = [row.id for row in rows if isinstance(row, Node) and row.label != Label.ENTITY]
    again = [row.id for row in rows if not isinstance(row, Node) and row.revive]
    return [*created, *again]


def with_quarantine(outcome: OutcomeT, held: Collection[UUID]) -> OutcomeT:
    """Return the outcome of an item, with a warning when it went into quarantine."""
    if outcome.id is None or outcome.id not in held:
        return outcome
    return replace(outcome, warnings=(*outcome.warnings, QUARANTINED))


def held_back(
    stores: Stores, projections: Sequence[Projection], after: Entry
) -> tuple[list[Planned], frozenset[UUID]]:
    """Return the entries that hold back what `after` and those before it made, and which nodes."""
    ids = arrivals(projections)
    if not ids:
        return [], frozenset()
    results = stores.taints.arrived(ids)
    planned = [
        plan_entry(
            id=derived_id(after.id, "taint", taint_id),
            workspace_id=after.workspace_id,
            type="taint.extended",
            actor=SYSTEM,
            occurred_at=after.recorded_at,
            meta=hold_meta(stores, taint_id, held, reached=list(held)),
        )
        for taint_id, held in sorted(results.items())
    ]
    return planned, frozenset(item for held in results.values() for item in held)


def hold_meta(
    stores: Stores,
    taint_id: UUID,
    held: Mapping[UUID, State],
    *,
    reached: Collection[UUID],
    cleared: Sequence[UUID] = (),
) -> Mapping[str, Any]:
    """Return what the entry says by which a taint holds nodes, `held` by the state each had.

    `reached` are all the nodes the taint reaches: none of them stands again for another. Of the
    `cleared` entities the compiled truth goes.
    """
    revived = stores.taints.revivable(list(held), reached)
    by_state: dict[str, list[str]] = {}
    for node_id, state in sorted(held.items()):
        by_state.setdefault(state.value, []).append(str(node_id))
    return {
        "taint_id": str(taint_id),
        "held": by_state,
        "revived": [[str(item_id), str(by)] for item_id, by in sorted(revived.items())],
        "cleared": [str(id_) for id_ in cleared],
    }
