"""Typed, weighted edges between nodes, keyed by (view, relation). Not traversal."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID


class View(StrEnum):
    """The orthogonal views of the graph; the same relation in two views is two edges."""

    TEMPORAL = "temporal"
    CAUSAL = "causal"
    SEMANTIC = "semantic"
    ENTITY = "entity"
    HIERARCHICAL = "hierarchical"
    DOCUMENT = "document"


class Relation(StrEnum):
    """The relations Cairn itself writes so far."""

    FOLLOWS = "FOLLOWS"  # document: chunk -> the chunk before it
    PART_OF = "PART_OF"  # document: chunk -> section -> document
    SUPERSEDES = "SUPERSEDES"  # temporal: memory -> its predecessor


@dataclass(frozen=True, slots=True, kw_only=True)
class Edge:
    """One row of `edge`, as it is first written. Field names are the column names."""

    workspace_id: UUID
    id: UUID
    view: View
    relation: str
    source_id: UUID
    target_id: UUID
    valid_from: datetime
    recorded_at: datetime
    position: int
    weight: float = 1.0
    properties: Mapping[str, Any] = field(default_factory=dict[str, Any])


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeClosure:
    """An edge stops holding on our clock; its history stays."""

    workspace_id: UUID
    id: UUID
    superseded_at: datetime
    position: int
