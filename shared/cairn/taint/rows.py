"""From the entries of taints to rows: what is held back, and what comes back. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.graph.node import NodeChange, State
from cairn.graph.projection import Projection, Taint, TaintHold, TaintKind, TaintLift
from cairn.kernel.text.canonical import parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.ledger.entry import Entry


def applied(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Return the taint itself; what it holds comes with `taint.extended`."""
    taint = Taint(
        workspace_id=entry.workspace_id,
        id=UUID(meta["taint_id"]),
        kind=TaintKind(meta["kind"]),
        value=body.get("value"),
        roots=tuple(UUID(root) for root in meta["roots"]),
        causes=meta["causes"],
        reason=body.get("reason", ""),
        position=entry.position,
        applied_at=entry.recorded_at,
    )
    return Projection(taints=(taint,))


def extended(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Return the nodes that go out of recall, and the predecessors that stand again for them."""
    held = {UUID(id_): State(state) for state, ids in meta["held"].items() for id_ in ids}
    revived = {UUID(item): UUID(by) for item, by in meta["revived"]}
    hold = TaintHold(
        workspace_id=entry.workspace_id,
        taint_id=UUID(meta["taint_id"]),
        held=held,
        revived=revived,
        position=entry.position,
    )
    changes = [
        *(_change(entry, item, state=State.QUARANTINED) for item in held),
        *(_change(entry, UUID(item), compiled_truth="") for item in meta["cleared"]),
        *(_change(entry, item, revive=True, consolidated=False) for item in revived),
    ]
    return Projection(nodes=tuple(changes), taints=(hold,))


def lifted(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Return what has its state again, and what is superseded again or by another now."""
    lift = TaintLift(
        workspace_id=entry.workspace_id,
        taint_id=UUID(meta["taint_id"]),
        position=entry.position,
        lifted_at=entry.recorded_at,
    )
    replaced = [
        _change(
            entry,
            UUID(item),
            state=State.SUPERSEDED,
            superseded_by=UUID(by),
            superseded_at=entry.recorded_at,
            valid_to=parse_timestamp(until) if until else None,
        )
        for item, by, until in meta["superseded"]
    ]
    restored = [
        _change(entry, UUID(id_), state=State(state))
        for state, ids in meta["restored"].items()
        for id_ in ids
    ]
    return Projection(nodes=(*replaced, *restored), taints=(lift,))


def _change(entry: Entry, node_id: UUID, **changed: Any) -> NodeChange:
    return NodeChange(
        workspace_id=entry.workspace_id, id=node_id, position=entry.position, **changed
    )
