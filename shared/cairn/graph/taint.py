"""Rows about taints: what is held back, why, and since when. Not the walk that finds it."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from cairn.graph.node import State


class TaintKind(StrEnum):
    """What is not trusted any more."""

    AGENT = "agent"  # all an agent wrote; `value` is its slug
    SESSION = "session"  # all that was written in a session; `value` is its id
    SOURCE = "source"  # the documents of a source; `roots` are they
    NODE = "node"  # one node; `roots` is it


@dataclass(frozen=True, slots=True, kw_only=True)
class Taint:
    """One taint as it is first written. `causes`: what it caused is held back too."""

    workspace_id: UUID
    id: UUID
    kind: TaintKind
    value: str | None
    roots: tuple[UUID, ...]
    causes: bool
    reason: str
    position: int
    applied_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class TaintHold:
    """Nodes a taint holds back, by the state each is to have again.

    `revived` are predecessors that stand again, each with the held node that had replaced it.
    """

    workspace_id: UUID
    taint_id: UUID
    held: Mapping[UUID, State]
    revived: Mapping[UUID, UUID]
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TaintLift:
    """A taint no longer stands. What it held is kept: it says what was held."""

    workspace_id: UUID
    taint_id: UUID
    position: int
    lifted_at: datetime


TaintRow = Taint | TaintHold | TaintLift
