"""Taints over `Tables`, as `storage.postgres.taints` has them. Not fast: a walk looks at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.graph.edge import Relation
from cairn.graph.node import Label, State
from cairn.graph.taint import Taint, TaintHold, TaintKind, TaintLift
from cairn.ingestion.taint_ports import Held, Revived, Walked
from cairn.ingestion.taint_views import SeenIn, TaintView, UsedIn

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence
    from uuid import UUID

    from tests.fakes.stores import Tables

    from cairn.graph.edge import Edge
    from cairn.graph.node import Node
    from cairn.graph.taint import TaintRow

_FOUND = (State.ACTIVE, State.PROVISIONAL)
_GONE = (State.DELETED, State.QUARANTINED)
_Row = tuple[State, "UUID | None", int]
"""The state to have again, the node it is revived for (None: held), the entry's position."""


@dataclass(frozen=True)
class InMemoryTaints:
    """Implements `ingestion.taint_ports.TaintStore`; searches are not kept in memory."""

    tables: Tables

    def apply(self, rows: Sequence[TaintRow]) -> None:
        """Apply rows in order."""
        for row in rows:
            if isinstance(row, Taint):
                self.tables.taints.setdefault(row.id, row)
            elif isinstance(row, TaintLift):
                self.tables.lifted_taints.setdefault(row.taint_id, row)
            else:
                self._hold(row)

    def arrived(self, node_ids: Collection[UUID]) -> Mapping[UUID, Mapping[UUID, State]]:
        """Return, by standing taint, those of these nodes that it must hold."""
        found: dict[UUID, dict[UUID, State]] = {}
        for taint in self._standing():
            for node in self._nodes(node_ids):
                fresh = node.state not in _GONE and node.label != Label.ENTITY
                if fresh and self._falls_under(node, taint):
                    found.setdefault(taint.id, {})[node.id] = node.state
        return found

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
        nodes = self.tables.nodes
        reached = {one for one in roots if one in nodes}
        reached |= {
            one.id
            for one in nodes.values()
            if one.label != Label.ENTITY and _is_named(one, kind, value)
        }
        todo = list(reached)
        while todo:
            at = todo.pop()
            if nodes[at].label == Label.ENTITY and at not in roots:
                continue
            new = {one for one in self._made_of(at, causes=causes) if one in nodes} - reached
            reached |= new
            todo += new
        seen = sorted(reached)[:limit]
        entities = {one for one in seen if nodes[one].label == Label.ENTITY and one not in roots}
        return Walked(
            node_ids=tuple(one for one in seen if one not in entities),
            entities=tuple(one for one in seen if one in entities),
            complete=len(reached) <= limit,
        )

    def to_hold(self, taint_id: UUID, node_ids: Collection[UUID]) -> Mapping[UUID, State]:
        """Return those of the nodes that the taint does not hold, with their states."""
        held = set(self.held(taint_id))
        return {
            node.id: self._state_without(node)
            for node in self._nodes(node_ids)
            if node.state != State.DELETED and node.id not in held
        }

    def revivable(
        self, node_ids: Collection[UUID], reached: Collection[UUID]
    ) -> Mapping[UUID, UUID]:
        """Return what was superseded by one of the nodes and can stand again."""
        newest: dict[str, Node] = {}
        for node in sorted(self.tables.nodes.values(), key=lambda one: (one.valid_from, one.id)):
            fits = node.superseded_by in node_ids and node.state == State.SUPERSEDED
            if not fits or node.id in reached or node.label == Label.ENTITY:
                continue
            if not any(one.id not in node_ids for one in self._in_place_of(node)):
                newest[node.chain_key or str(node.id)] = node
        return {one.id: one.superseded_by for one in newest.values() if one.superseded_by}

    def truths(self, entities: Collection[UUID]) -> Sequence[UUID]:
        """Return those of the entities that have a compiled truth."""
        return sorted(one.id for one in self._nodes(entities) if one.compiled_truth)

    def documents(self, source_uri: str) -> Sequence[UUID]:
        """Return the documents of a source, deleted ones too."""
        documents = (one for one in self.tables.nodes.values() if one.label == Label.DOCUMENT)
        return sorted(one.id for one in documents if one.source_uri == source_uri)

    def exists(self, node_id: UUID) -> bool:
        """Return whether there is such a node that is not deleted."""
        return any(one.state != State.DELETED for one in self._nodes([node_id]))

    def standing(
        self, kind: TaintKind, value: str | None, roots: Collection[UUID], *, causes: bool
    ) -> Taint | None:
        """Return the standing taint of exactly this."""
        asked = (kind, value, tuple(roots), causes)
        for taint in self._standing():
            if (taint.kind, taint.value, taint.roots, taint.causes) == asked:
                return taint
        return None

    def find(self, taint_id: UUID) -> Taint | None:
        """Return a taint, lifted or not."""
        return self.tables.taints.get(taint_id)

    def is_lifted(self, taint_id: UUID) -> bool:
        """Return whether a taint was lifted."""
        return taint_id in self.tables.lifted_taints

    def to_restore(self, taint_id: UUID, limit: int) -> Sequence[Held]:
        """Return quarantined nodes that this taint holds and no standing one."""
        others = {
            one for taint in self._standing() if taint.id != taint_id for one in self.held(taint.id)
        }
        mine = {one for one in self.held(taint_id) if one not in others}
        waiting = [one for one in self._nodes(mine) if one.state == State.QUARANTINED]
        waiting.sort(key=lambda one: (self.tables.created[one.id], one.id))
        return [self._held(taint_id, one) for one in waiting[:limit]]

    def revived_by(self, taint_id: UUID, node_ids: Collection[UUID]) -> Sequence[Revived]:
        """Return predecessors that stand in the place of one of these nodes."""
        nodes = self.tables.nodes
        return [
            Revived(id=one, by=by, valid_from=nodes[by].valid_from)
            for one, (_, by, _) in sorted(self._rows(taint_id).items())
            if by is not None and by in node_ids and one in nodes and nodes[one].state in _FOUND
        ]

    def view(self, taint_id: UUID) -> TaintView | None:
        """Return a taint as it is shown."""
        taint = self.find(taint_id)
        return self._view(taint) if taint else None

    def views(self, *, after: int | None, limit: int) -> Sequence[TaintView]:
        """Return taints by falling position."""
        newest = sorted(self.tables.taints.values(), key=lambda one: -one.position)
        return [self._view(one) for one in newest if after is None or one.position < after][:limit]

    def held(self, taint_id: UUID) -> Sequence[UUID]:
        """Return every node a taint holds or held."""
        return sorted(one for one, (_, by, _) in self._rows(taint_id).items() if by is None)

    def actions(self, node_ids: Collection[UUID], limit: int) -> Sequence[UsedIn]:
        """Return executed actions on evidence that is among these nodes."""
        names = {str(one): one for one in node_ids}
        found: list[UsedIn] = []
        for entry in reversed(self.tables.entries):
            if not entry.type.startswith("action."):
                continue
            evidence = entry.meta.get("evidence_ids")
            used = (
                [names[one] for one in evidence if one in names]
                if isinstance(evidence, list)
                else []
            )
            if used:
                found.append(
                    UsedIn(
                        position=entry.position,
                        entry_id=entry.id,
                        type=entry.type,
                        recorded_at=entry.recorded_at,
                        node_ids=tuple(sorted(used)),
                    )
                )
        return found[:limit]

    def searches(self, node_ids: Collection[UUID], limit: int) -> Sequence[SeenIn]:
        """Return nothing: searches are kept in PostgreSQL only."""
        return []

    def _hold(self, row: TaintHold) -> None:
        rows = dict(self._rows(row.taint_id))
        for one, state in row.held.items():
            if one not in rows or rows[one][1] is not None:
                rows[one] = (state, None, row.position)
        for one, by in row.revived.items():
            rows.setdefault(one, (State.SUPERSEDED, by, row.position))
        self.tables.tainted_nodes[row.taint_id] = rows

    def _rows(self, taint_id: UUID) -> Mapping[UUID, _Row]:
        return self.tables.tainted_nodes.get(taint_id, {})

    def _standing(self) -> Iterator[Taint]:
        taints = sorted(self.tables.taints.values(), key=lambda one: one.position)
        return (one for one in taints if one.id not in self.tables.lifted_taints)

    def _nodes(self, ids: Collection[UUID]) -> Iterator[Node]:
        return (self.tables.nodes[one] for one in ids if one in self.tables.nodes)

    def _edges(self) -> Iterator[Edge]:
        yield from self.tables.edges.values()
        yield from (edge for edge, _ in self.tables.closed_edges.values())

    def _falls_under(self, node: Node, taint: Taint) -> bool:
        held = set(self.held(taint.id))
        if _is_named(node, taint.kind, taint.value) or {node.id, node.document_id} & held:
            return True
        if node.label == Label.MESSAGE and node.parent_id in held:
            return True
        made_of = _made_of(causes=taint.causes)
        return any(
            (edge.source_id == node.id and edge.relation in made_of and edge.target_id in held)
            or (
                edge.target_id == node.id
                and edge.relation == Relation.PRODUCED
                and edge.source_id in held
            )
            for edge in self.tables.edges.values()
        )

    def _made_of(self, node_id: UUID, *, causes: bool) -> Iterator[UUID]:
        made_of = _made_of(causes=causes)
        for edge in self._edges():
            if edge.target_id == node_id and edge.relation in made_of:
                yield edge.source_id
            if edge.source_id == node_id and edge.relation == Relation.PRODUCED:
                yield edge.target_id
        for node in self.tables.nodes.values():
            if node.document_id == node_id:
                yield node.id
            if node.parent_id == node_id and node.label == Label.MESSAGE:
                yield node.id

    def _state_without(self, node: Node) -> State:
        if node.state != State.QUARANTINED:
            return node.state
        for taint in self._standing():
            row = self._rows(taint.id).get(node.id)
            if row and row[1] is None:
                return row[0]
        return State.ACTIVE

    def _in_place_of(self, node: Node) -> list[Node]:
        return [
            one
            for one in self.tables.nodes.values()
            if one.id != node.id
            and one.state in _FOUND
            and (
                (one.dedup_key is not None and one.dedup_key == node.dedup_key)
                or (one.chain_key is not None and one.chain_key == node.chain_key)
            )
        ]

    def _held(self, taint_id: UUID, node: Node) -> Held:
        rows = self._rows(taint_id)
        state = rows[node.id][0]
        others = [
            one
            for one in self._in_place_of(node)
            if (row := rows.get(one.id)) is None or row[1] != node.id
        ]
        others.sort(key=lambda one: one.id)
        others.sort(key=lambda one: one.valid_from, reverse=True)
        return Held(
            id=node.id,
            state=state,
            dedup_key=node.dedup_key,
            chain_key=node.chain_key,
            valid_from=node.valid_from,
            stands=others[0].id if others and state in _FOUND else None,
        )

    def _view(self, taint: Taint) -> TaintView:
        held = self.held(taint.id)
        lift = self.tables.lifted_taints.get(taint.id)
        sources = [one.source_uri for one in self._nodes(taint.roots) if one.source_uri]
        return TaintView(
            id=taint.id,
            kind=taint.kind,
            value=taint.value,
            source=min(sources, default=None) if taint.kind is TaintKind.SOURCE else None,
            roots=taint.roots,
            causes=taint.causes,
            reason=taint.reason,
            position=taint.position,
            applied_at=taint.applied_at,
            lifted_position=lift.position if lift else None,
            lifted_at=lift.lifted_at if lift else None,
            nodes=len(held),
            quarantined=sum(one.state == State.QUARANTINED for one in self._nodes(held)),
        )


def _made_of(*, causes: bool) -> tuple[Relation, ...]:
    return (Relation.DERIVED_FROM, Relation.CAUSED_BY) if causes else (Relation.DERIVED_FROM,)


def _is_named(node: Node, kind: TaintKind, value: str | None) -> bool:
    if kind is TaintKind.AGENT:
        return node.source_agent == value
    return kind is TaintKind.SESSION and node.session_id == value
