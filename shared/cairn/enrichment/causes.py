"""What caused a node, by rules over what it says itself. Pure; no model is asked.

A cause stated as `parent_id` is direct. The others are inferred and weigh less; they are listed
with the weights below.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from cairn.events.draft import is_failure
from cairn.graph.node import Label

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from cairn.enrichment.ports import EnrichableNode, TraceStep

DIRECT_WEIGHT = 1.0
REFERENCE_WEIGHT = 0.7  # the payload names the cause under a key for it
TEXT_WEIGHT = 0.6  # the text says "because of" or "due to" before the cause's id
FAILURE_WEIGHT = 0.5  # a failure right after a tool's event of the same trace
MAX_CAUSES = 10  # of one node

CAUSE_KEYS = frozenset(
    {
        "caused_by",
        "cause_id",
        "retry_of",
        "parent_id",
        "parent_event_id",
        "triggered_by",
        "in_reply_to",
        "in_response_to",
    }
)
"""Keys of a payload, casefolded, whose value is the id of what caused the event."""

_UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
_SAID = re.compile(
    rf"\b(?:because of|due to|caused by|as a result of)\s+(?:\w+\s+){{0,2}}({_UUID})\b", re.I
)
_ID = re.compile(_UUID, re.I)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """A node came of another one."""

    node_id: UUID
    cause_id: UUID
    mechanism: str  # direct or inferred
    weight: float


def asks_trace(node: EnrichableNode) -> bool:
    """Return whether what came before an event in its trace may be its cause."""
    if node.label != Label.EVENT or node.trace_id is None or node.parent_id is not None:
        return False
    return is_failure(node.kind or "", node.metadata.get("status"))


def stated_causes(node: EnrichableNode) -> list[Cause]:
    """Return the causes a node names itself, unchecked: whether they exist is not known here.

    The `parent_id` of an event made its edge when it was observed; others get it here.
    """
    found: list[Cause] = []
    if node.parent_id is not None and node.label == Label.MEMORY:
        found.append(_cause(node, node.parent_id, "direct", DIRECT_WEIGHT))
    if node.label == Label.EVENT:
        payload = cast("Mapping[str, Any]", node.metadata.get("payload") or {})
        found += [_cause(node, one, "inferred", REFERENCE_WEIGHT) for one in _referred(payload)]
    found += [_cause(node, UUID(one), "inferred", TEXT_WEIGHT) for one in _SAID.findall(node.text)]
    return found[:MAX_CAUSES]


def failure_cause(step: TraceStep) -> Cause | None:
    """Return the cause of a failure: the event just before it, if a tool ran there."""
    if step.tool_name is None and not step.type.startswith("tool."):
        return None
    return Cause(
        node_id=step.node_id,
        cause_id=step.before_id,
        mechanism="inferred",
        weight=FAILURE_WEIGHT,
    )


def good_causes(
    nodes: Mapping[UUID, EnrichableNode],
    causes: Iterable[Cause],
    audiences: Mapping[UUID, tuple[str, tuple[str, ...] | None]],
    held: Iterable[tuple[UUID, UUID]],
) -> Sequence[Cause]:
    """Return the causes that are there, are not the node itself, and are not known already.

    A cause has to be of the node's own audience, or untagged in its scope: what its writer could
    not see must not be told by an edge. A pair is kept once, with its highest weight.
    """
    known = set(held)
    best: dict[tuple[UUID, UUID], Cause] = {}
    for one in sorted(causes, key=lambda cause: -cause.weight):
        pair = (one.node_id, one.cause_id)
        scope, agents = nodes[one.node_id].audience
        if one.node_id == one.cause_id or pair in known:
            continue
        if audiences.get(one.cause_id) in ((scope, agents), (scope, None)):
            best.setdefault(pair, one)
    return list(best.values())


def _referred(payload: Mapping[str, Any]) -> list[UUID]:
    found: list[UUID] = []
    for key, value in payload.items():
        if key.casefold() not in CAUSE_KEYS:
            continue
        values = cast("list[Any]", value) if isinstance(value, list) else [value]
        found += [UUID(one) for one in values if isinstance(one, str) and _ID.fullmatch(one)]
    return found


def _cause(node: EnrichableNode, cause_id: UUID, mechanism: str, weight: float) -> Cause:
    return Cause(node_id=node.id, cause_id=cause_id, mechanism=mechanism, weight=weight)
