"""Taints in PostgreSQL. Thin: each method is one named query and its mapping."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store, keyed, record
from cairn.graph.node import State
from cairn.graph.projection import Taint, TaintHold, TaintKind
from cairn.writing.taint_ports import HeldNode, Revived, Walked
from cairn.writing.taint_views import SeenIn, TaintView, UsedIn

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    from psycopg.rows import RowFactory

    from cairn.graph.projection import TaintRow


class PostgresTaints(Store):
    """Taints, what each holds, and what it would hold."""

    def apply(self, rows: Sequence[TaintRow]) -> None:
        """Apply rows in order."""
        for row in rows:
            if isinstance(row, Taint):
                self._insert(row)
            elif isinstance(row, TaintHold):
                self._hold(row)
            else:
                self.run(
                    "taint.lift",
                    taint_id=row.taint_id,
                    position=row.position,
                    lifted_at=row.lifted_at,
                )

    def arrived(self, node_ids: Collection[UUID]) -> Mapping[UUID, Mapping[UUID, State]]:
        """Return, by standing taint, those of these nodes that it must hold."""
        states: dict[UUID, dict[UUID, State]] = {}
        factory = keyed(_held, "taint_id")
        for taint_id, (node_id, state) in self.all_of(factory, "taint.arrived", ids=list(node_ids)):
            states.setdefault(taint_id, {})[node_id] = state
        return states

    def walk(
        self,
        kind: TaintKind,
        value: str | None,
        roots: Collection[UUID],
        *,
        causes: bool,
        limit: int,
    ) -> Walked:
        """Follow provenance from what is named to everything made of it."""
        rows = self.run(
            "taint.walk",
            kind=kind.value,
            value=value,
            roots=list(roots),
            causes=causes,
            limit=limit + 1,
        ).fetchall()
        seen = rows[:limit]
        return Walked(
            node_ids=tuple(id_ for id_, entity in seen if not entity),
            entities=tuple(id_ for id_, entity in seen if entity),
            complete=len(rows) <= limit,
        )

    def to_hold(self, taint_id: UUID, node_ids: Collection[UUID]) -> Mapping[UUID, State]:
        """Return those of the nodes that the taint does not hold, with their states."""
        rows = self.run("taint.to_hold", taint_id=taint_id, ids=list(node_ids))
        return {node_id: State(state) for node_id, state in rows}

    def revivable(
        self, node_ids: Collection[UUID], reached: Collection[UUID]
    ) -> Mapping[UUID, UUID]:
        """Return what was superseded by one of the nodes and can stand again."""
        rows = self.run("taint.revivable", ids=list(node_ids), reached=list(reached))
        return dict(rows.fetchall())

    def truths(self, entities: Collection[UUID]) -> Sequence[UUID]:
        """Return those of the entities that have a compiled truth."""
        return self.values("taint.truths", ids=list(entities))

    def documents(self, source_uri: str) -> Sequence[UUID]:
        """Return the documents of a source, deleted ones too."""
        return self.values("taint.documents", source_uri=source_uri)

    def exists(self, node_id: UUID) -> bool:
        """Return whether the principal sees such a node."""
        return self.run("taint.exists", id=node_id).fetchone() is not None

    def standing(
        self, kind: TaintKind, value: str | None, roots: Collection[UUID], *, causes: bool
    ) -> Taint | None:
        """Return the standing taint of exactly this."""
        parameters = {"kind": kind.value, "value": value, "roots": list(roots), "causes": causes}
        return self.first_of(self._row_factory, "taint.standing", **parameters)

    def find(self, taint_id: UUID) -> Taint | None:
        """Return a taint, lifted or not."""
        return self.first_of(self._row_factory, "taint.find", id=taint_id)

    def is_lifted(self, taint_id: UUID) -> bool:
        """Return whether a taint was lifted."""
        return self.value("taint.is_lifted", id=taint_id) or False

    def to_restore(self, taint_id: UUID, limit: int) -> Sequence[HeldNode]:
        """Return quarantined nodes that this taint holds and no standing one."""
        held = record(HeldNode, state=State)
        return self.all_of(held, "taint.to_restore", taint_id=taint_id, limit=limit)

    def revived_by(self, taint_id: UUID, node_ids: Collection[UUID]) -> Sequence[Revived]:
        """Return predecessors that stand in the place of one of these nodes."""
        parameters = {"taint_id": taint_id, "ids": list(node_ids)}
        return self.all_of(record(Revived), "taint.revived_by", **parameters)

    def view(self, taint_id: UUID) -> TaintView | None:
        """Return a taint as it is shown."""
        views = self._views(id_=taint_id, after=None, limit=1)
        return views[0] if views else None

    def views(self, *, after: int | None, limit: int) -> Sequence[TaintView]:
        """Return taints by falling position."""
        return self._views(id_=None, after=after, limit=limit)

    def held(self, taint_id: UUID) -> Sequence[UUID]:
        """Return every node a taint holds or held."""
        return self.values("taint.held", taint_id=taint_id)

    def actions(self, node_ids: Collection[UUID], limit: int) -> Sequence[UsedIn]:
        """Return executed actions on evidence that is among these nodes."""
        ids = [str(node_id) for node_id in node_ids]
        return self.all_of(record(UsedIn), "taint.actions", ids=ids, limit=limit)

    def searches(self, node_ids: Collection[UUID], limit: int) -> Sequence[SeenIn]:
        """Return searches that returned one of these nodes."""
        return self.all_of(record(SeenIn), "taint.searches", ids=list(node_ids), limit=limit)

    def _insert(self, row: Taint) -> None:
        self.write("taint.insert", row)

    def _hold(self, row: TaintHold) -> None:
        holds = [(id_, state.value, None) for id_, state in row.held.items()]
        holds += [(id_, State.SUPERSEDED.value, by) for id_, by in row.revived.items()]
        self.run(
            "taint.hold",
            taint_id=row.taint_id,
            position=row.position,
            node_ids=[id_ for id_, _, _ in holds],
            states=[state for _, state, _ in holds],
            revived_for=[by for _, _, by in holds],
        )

    @property
    def _row_factory(self) -> RowFactory[Taint]:
        return record(partial(Taint, workspace_id=self.principal.workspace_id), kind=TaintKind)

    def _views(self, *, id_: UUID | None, after: int | None, limit: int) -> list[TaintView]:
        view = record(TaintView, kind=TaintKind)
        return self.all_of(view, "taint.views", id=id_, after=after, limit=limit)


def _held(*, id: UUID, state: str) -> tuple[UUID, State]:
    return id, State(state)
