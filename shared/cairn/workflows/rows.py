"""Rows of workflows and their runs, and the node that a finished step becomes. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.graph.edge import Edge, Relation, View
from cairn.graph.node import Label, Node
from cairn.graph.projection import Projection
from cairn.kernel.ids import derived_id
from cairn.kernel.text.hashes import content_hash
from cairn.writing.row_fields import edge_fields, node_fields

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from cairn.ledger.entry import Entry


class RunState(StrEnum):
    """How far a run is. running <-> waiting; failed -> running; done and cancelled are ends."""

    RUNNING = "running"
    WAITING = "waiting"  # for a person's word
    DONE = "done"
    FAILED = "failed"  # at a step, which may be tried again
    CANCELLED = "cancelled"


class StepState(StrEnum):
    """What came of a step."""

    DONE = "done"
    FAILED = "failed"


class Trigger(StrEnum):
    """What began a run."""

    REQUEST = "request"
    SCHEDULE = "schedule"


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkflowRow:
    """One version of a workflow; `body` is its definition as JSON, `due_at` when it runs next."""

    id: UUID
    name: str
    version: int
    body: Mapping[str, Any]
    removed: bool
    changed_at: datetime
    changed_by: UUID
    due_at: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunRow:
    """A run. `step` is the place of the next step, `seq` how many results there are.

    `execution` counts executions of the machine: only the present one moves the run. `input` is
    sealed for `data_subjects` under the run's id. `code` says why it failed, `deadline` until when
    it waits. `began` says that the next step's tool was called, `approval` what a person was asked
    about it, and who said yes.
    """

    id: UUID
    workflow_id: UUID
    workflow: str
    version: int
    state: RunState
    step: int
    seq: int
    execution: int
    trigger: Trigger
    client_id: str | None
    principal_id: UUID
    data_subjects: tuple[UUID, ...]
    input: bytes
    code: str | None
    deadline: datetime | None
    began: bool = False
    approval: Mapping[str, Any] | None = None
    traceparent: str
    created_at: datetime
    moved_at: datetime
    ended_at: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ResultRow:
    """What came of a step, as its node says."""

    id: UUID
    seq: int
    step: str
    kind: str
    state: StepState
    output: Mapping[str, Any]
    error: str | None
    started_at: str
    ended_at: str
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NewNode:
    """One of what is new."""

    id: UUID
    label: str
    kind: str | None
    text: str
    importance: int
    data_subjects: tuple[UUID, ...]


ENDED = "workflow.step_ended"


def result_id(run_id: UUID, seq: int) -> UUID:
    """Return the id of the node of a run's result: the same step done twice is the same node."""
    return derived_id(run_id, f"step-result-{seq}")


def step_ended(entry: Entry, meta: Mapping[str, Any], body: Mapping[str, Any]) -> Projection:
    """Return the StepResult, and the edge to the report that it wrote.

    It has no text of its own, so no search finds it beside what it is made of.
    """
    run_id = UUID(meta["run_id"])
    node_id = result_id(run_id, meta["seq"])
    ids = {name: meta[name] for name in ("run_id", "seq", "kind", "state", "error")}
    spans = {name: meta[name] for name in ("started_at", "ended_at")}
    output: Mapping[str, Any] = body["output"]
    node = Node(
        **node_fields(entry, meta, body),
        id=node_id,
        label=Label.STEP_RESULT,
        kind=meta["kind"],
        text="",
        content_hash=content_hash(""),
        metadata={**ids, **spans, "workflow": body["workflow"], "step": body["step"]}
        | {"output": output},
    )
    edges = ()
    if meta["report_id"] is not None:
        edge = Edge(
            **edge_fields(entry),
            id=derived_id(node_id, "PRODUCED"),
            view=View.PROVENANCE,
            relation=Relation.PRODUCED,
            source_id=node_id,
            target_id=UUID(meta["report_id"]),
        )
        edges = (edge,)
    return Projection(nodes=(node,), edges=edges)
