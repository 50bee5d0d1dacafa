"""A run of the consolidation as it is stored and shown: ids, counts and times. Not its doing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from cairn.consolidation.plan import (
    Add,
    AddEntity,
    Flag,
    Link,
    Operation,
    Plan,
    Recategorise,
    Relate,
    Supersede,
)
from cairn.kernel.records import convert

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from datetime import datetime
    from uuid import UUID


class RunState(StrEnum):
    """How a run stands: waiting -> running -> finished or failed; waiting -> failed."""

    WAITING = "waiting"  # asked for; its machine has not begun
    RUNNING = "running"
    FINISHED = "finished"
    FAILED = "failed"  # what it did stands; the next run goes on with the rest


class Trigger(StrEnum):
    """What made a run."""

    SCHEDULE = "schedule"
    REQUEST = "request"


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One run over the memories of a workspace, or of one of its clients.

    `client` is the client's data subject, the workspace's own id for memories of no client, None
    for all. `counts` says what was done and what was not, by name. `cost_usd` is None when a model
    without a known price was asked.
    """

    id: UUID
    workspace_id: UUID
    state: RunState
    trigger: Trigger
    created_at: datetime
    updated_at: datetime
    dry_run: bool = False
    client: UUID | None = None
    requested_by: UUID | None = None
    provider: str | None = None
    model: str | None = None
    counts: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    cost_usd: Decimal | None = None
    undone: tuple[str, ...] = ()
    error: Mapping[str, Any] | None = None
    execution: str | None = None
    started_at: datetime | None = None
    ended_at: datetime | None = None

    @property
    def ended(self) -> bool:
        """Return whether nothing more will happen to it."""
        return self.state in (RunState.FINISHED, RunState.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Progress:
    """What one batch, or one step, adds to its run; a batch in the transaction that applies it.

    Without `provider` and `model`, those that planned before stay.
    """

    counts: Mapping[str, int]
    provider: str | None = None
    model: str | None = None
    cost_usd: Decimal | None = Decimal(0)
    undone: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunView:
    """A run as it is shown. `client` is a data subject's id, or the workspace's for no client."""

    id: UUID
    state: str
    trigger: str
    dry_run: bool
    client: UUID | None
    provider: str | None
    model: str | None
    counts: Mapping[str, int]
    cost_usd: float | None
    undone: tuple[str, ...]
    error: Mapping[str, Any] | None
    execution: str | None
    created_at: datetime
    started_at: datetime | None
    ended_at: datetime | None


def run_view(run: Run) -> RunView:
    """Return a run as it is shown."""
    cost_usd = float(run.cost_usd) if run.cost_usd is not None else None
    return convert(run, RunView, cost_usd=cost_usd)


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """A client as the machine names it: its data subject, the workspace's id for no client."""

    id: UUID
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """A memory under the ledger's lock: what a plan made before has to be compared with."""

    position: int
    consolidated: bool
    metadata: Mapping[str, Any]


WorkspaceStep: TypeAlias = "Callable[[UUID, UUID | None, float], Mapping[str, int | bool]]"
"""Something done to a workspace once its memories are consolidated: (workspace, run, seconds).

Safe to repeat and to run twice at once. Returns counts, and `more` when time ran out before all
was done.
"""


_COUNTED: Mapping[type, str] = {
    Add: "merged",
    Flag: "flagged",
    Link: "linked",
    Recategorise: "recategorised",
    Relate: "related",
    AddEntity: "entities",
}


def counts_of(plan: Plan) -> Counter[str]:
    """Return how many of each operation a plan has, and what its check refused, by reason."""
    counts = Counter(
        _COUNTED[type(operation)] for operation in plan.operations if type(operation) in _COUNTED
    )
    counts["superseded"] = sum(
        len(operation.sources) for operation in plan.operations if isinstance(operation, Supersede)
    )
    counts.update({f"refused_{why.value}": number for why, number in plan.refused.items()})
    return +counts


def operations_json(plan: Plan, texts: Mapping[UUID, str]) -> list[dict[str, Any]]:
    """Return the operations of a plan as JSON objects, each naming its memories with their text."""
    return [each for operation in plan.operations if (each := _operation_view(operation, texts))]


def _operation_view(operation: Operation, texts: Mapping[UUID, str]) -> dict[str, Any] | None:
    match operation:
        case Add():
            return {
                "operation": "merge",
                "kind": operation.kind.value,
                "text": operation.text,
                "why": operation.why,
                "memories": _memories(operation.sources, texts),
            }
        case Flag():
            return {
                "operation": "flag",
                "clash": operation.clash.value,
                "why": operation.why,
                "memories": _memories((operation.one, operation.other), texts),
            }
        case Link():
            return {
                "operation": "link",
                "why": operation.description,
                "memories": _memories(operation.memories, texts),
            }
        case Recategorise():
            return {
                "operation": "recategorise",
                "category": operation.category.value,
                "memories": _memories((operation.memory,), texts),
            }
        case Relate() | AddEntity():
            return _graph_operation_view(operation, texts)
        case Supersede():
            return None


def _graph_operation_view(
    operation: Relate | AddEntity, texts: Mapping[UUID, str]
) -> dict[str, Any]:
    memories = _memories(operation.memories, texts)
    if isinstance(operation, AddEntity):
        return {
            "operation": "entity",
            "name": operation.entity.name,
            "type": operation.entity.type,
            "aliases": list(operation.aliases),
            "memories": memories,
        }
    return {
        "operation": "relate",
        "source": operation.source.name,
        "relation": operation.relation.value,
        "target": operation.target.name,
        "strength": operation.strength,
        "memories": memories,
    }


def _memories(ids: Iterable[UUID], texts: Mapping[UUID, str]) -> list[dict[str, Any]]:
    return [{"id": str(id_), "text": texts.get(id_, "")} for id_ in ids]
