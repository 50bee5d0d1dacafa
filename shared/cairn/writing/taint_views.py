"""A taint as it is shown, and what has used what it holds. The API makes its schemas of these."""

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from cairn.graph.projection import TaintKind


@dataclass(frozen=True, slots=True, kw_only=True)
class TaintView:
    """A taint as it is shown. `source` is the URI of the documents of a tainted source.

    `nodes` counts what it holds or held, `quarantined` those of them that are out of recall now.
    """

    id: UUID
    kind: TaintKind
    value: str | None
    source: str | None
    roots: tuple[UUID, ...]
    causes: bool
    reason: str
    position: int
    applied_at: datetime
    lifted_position: int | None
    lifted_at: datetime | None
    nodes: int
    quarantined: int


@dataclass(frozen=True, slots=True, kw_only=True)
class UsedIn:
    """An action that was executed on evidence that is tainted."""

    position: int
    entry_id: UUID
    type: str
    recorded_at: datetime
    node_ids: tuple[UUID, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SeenIn:
    """A search that returned tainted nodes: who saw them, and when."""

    search_id: UUID
    principal_id: UUID
    recorded_at: datetime
    node_ids: tuple[UUID, ...]
