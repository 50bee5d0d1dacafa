"""What writing and lifting taints ask of their store. Adapters live in `storage`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.graph.node import State
    from cairn.graph.projection import Taint, TaintKind, TaintRow
    from cairn.writing.taint_views import SeenIn, TaintView, UsedIn


@dataclass(frozen=True, slots=True, kw_only=True)
class Walked:
    """All that a taint reaches. Of the `entities` only what was compiled of it is not trusted.

    `complete` False: the bound was met, there is more.
    """

    node_ids: tuple[UUID, ...]
    entities: tuple[UUID, ...]
    complete: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
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


class TaintStore(Protocol):
    """Taints of the transaction's workspace, and what they reach. Scopes are the principal's."""

    def apply(self, rows: Sequence[TaintRow]) -> None:
        """Apply rows in order; one that is there already stays."""
        ...

    def arrived(self, node_ids: Collection[UUID]) -> Mapping[UUID, Mapping[UUID, State]]:
        """Return, by standing taint, those of these nodes that it must hold, with their states.

        They were written by a tainted agent, in a tainted session, into a tainted document, or
        derived from or produced by a node that a standing taint holds.
        """
        ...

    def walk(
        self,
        kind: TaintKind,
        value: str | None,
        roots: Collection[UUID],
        *,
        causes: bool,
        limit: int,
    ) -> Walked:
        """Follow provenance from what is named to everything made of it; cycles end by themselves.

        Followed: DERIVED_FROM backwards, PRODUCED, the parts of documents, the messages of
        conversations, and with `causes` CAUSED_BY backwards. Not past an entity.
        """
        ...

    def to_hold(self, taint_id: UUID, node_ids: Collection[UUID]) -> Mapping[UUID, State]:
        """Return those of the nodes that the taint does not hold, with the state each would have.

        A node that another taint holds has the state it had before that. Deleted ones are left out.
        """
        ...

    def revivable(
        self, node_ids: Collection[UUID], reached: Collection[UUID]
    ) -> Mapping[UUID, UUID]:
        """Return what was superseded by one of the nodes and can stand again, with that node.

        Nothing of `reached`, and nothing whose place another node has taken.
        """
        ...

    def truths(self, entities: Collection[UUID]) -> Sequence[UUID]:
        """Return those of the entities that have a compiled truth."""
        ...

    def documents(self, source_uri: str) -> Sequence[UUID]:
        """Return the documents of a source, deleted ones too."""
        ...

    def exists(self, node_id: UUID) -> bool:
        """Return whether the principal sees such a node that is not deleted."""
        ...

    def standing(
        self, kind: TaintKind, value: str | None, roots: Collection[UUID], *, causes: bool
    ) -> Taint | None:
        """Return the standing taint of exactly this."""
        ...

    def find(self, taint_id: UUID) -> Taint | None:
        """Return a taint, lifted or not."""
        ...

    def is_lifted(self, taint_id: UUID) -> bool:
        """Return whether a taint was lifted."""
        ...

    def to_restore(self, taint_id: UUID, limit: int) -> Sequence[Held]:
        """Return quarantined nodes that this taint holds and no standing one, oldest first."""
        ...

    def revived_by(self, taint_id: UUID, node_ids: Collection[UUID]) -> Sequence[Revived]:
        """Return predecessors that this taint let stand in the place of one of these nodes."""
        ...

    def view(self, taint_id: UUID) -> TaintView | None:
        """Return a taint as it is shown."""
        ...

    def views(self, *, after: int | None, limit: int) -> Sequence[TaintView]:
        """Return taints by falling position, below `after`."""
        ...

    def held(self, taint_id: UUID) -> Sequence[UUID]:
        """Return every node a taint holds or held."""
        ...

    def actions(self, node_ids: Collection[UUID], limit: int) -> Sequence[UsedIn]:
        """Return executed actions whose `meta.evidence_ids` name one of the nodes, newest first."""
        ...

    def searches(self, node_ids: Collection[UUID], limit: int) -> Sequence[SeenIn]:
        """Return searches that returned one of the nodes, newest first."""
        ...
