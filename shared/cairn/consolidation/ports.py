"""What consolidating needs of the stores. Contracts; adapters live in `storage`.

Not what a plan is (`plan`) nor the record of a run (`runs`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from uuid import UUID


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
