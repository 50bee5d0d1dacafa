"""What writing and lifting taints ask of their store. Adapters live in `storage`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cairn.graph.node import State


@dataclass(frozen=True, slots=True, kw_only=True)
class Walked:
    """All that a taint reaches. Of the `entities` only what was compiled of it is not trusted.

    `complete` False: the bound was met, there is more.
    """

    node_ids: tuple[UUID, ...]
    entities: tuple[UUID, ...]
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldNode:
    """A node held back by a taint that is lifted, and by no other.

    `state` is what it had; `stands` is the node that took its place meanwhile (the same identity
    or the same chain), unless that is a predecessor this taint let stand again.
    """

    id: UUID
    state: State
    dedup_key: str | None
    chain_key: str | None
    valid_from: datetime
    stands: UUID | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Revived:
    """A predecessor that stands only while `by` is held back; `valid_from` is that of `by`."""

    id: UUID
    by: UUID
    valid_from: datetime
