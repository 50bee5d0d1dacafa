"""Finds what has aged, in memory, for tests. No search waits to be counted here."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from cairn.ageing.rules import AgeingPage, EntityPage, Place, Rule
from cairn.graph.edge import View
from cairn.graph.node import Label, State
from cairn.memories.kinds import MemoryKind, importance_band

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from tests.fakes.stores import Tables

    from cairn.ageing.rules import Cutoffs
    from cairn.graph.node import Node

_BY_HAND = ("node.written", "entity.split")
_FOUND = (State.ACTIVE, State.PROVISIONAL)
FAR = datetime(2200, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class InMemoryAgeing:
    """`PostgresAgeing` in memory; its own clock is always ahead."""

    tables: Tables

    def now(self) -> datetime:
        """Return a moment no other clock has reached."""
        return FAR

    def page(self, rule: Rule, cutoffs: Cutoffs, *, after: Place, limit: int) -> AgeingPage:
        """Look at the next nodes a rule is about."""
        looked_at = sorted(
            (Place(at=at, id=node.id), node)
            for node in self.tables.nodes.values()
            if (at := _aged(node, rule, cutoffs)) is not None and Place(at=at, id=node.id) > after
        )[:limit]
        return AgeingPage(
            last=looked_at[-1][0] if looked_at else None,
            due=tuple(one.id for _, one in looked_at if self._due(one, rule, cutoffs)),
        )

    def document_parts(self, document_id: UUID, *, limit: int) -> Sequence[UUID]:
        """Return active parts of a document, and last the document itself."""
        parts = [
            node
            for node in self.tables.nodes.values()
            if node.state == State.ACTIVE and document_id in (node.document_id, node.id)
        ]
        parts.sort(key=lambda part: (part.id == document_id, part.ordinal or 0, part.id))
        return [part.id for part in parts[:limit]]

    def entities(self, before: datetime, *, after: tuple[int, UUID], limit: int) -> EntityPage:
        """Look at the next entities."""
        looked_at = sorted(
            (self.tables.created[node.id], node.id)
            for node in self.tables.nodes.values()
            if node.label == Label.ENTITY and (self.tables.created[node.id], node.id) > after
        )[:limit]
        return EntityPage(
            last=looked_at[-1] if looked_at else None,
            unreferenced=tuple(
                node_id
                for _, node_id in looked_at
                if self._unreferenced(self.tables.nodes[node_id], before)
            ),
        )

    def archived(self, used: Sequence[UUID]) -> Sequence[UUID]:
        """Return what of the used nodes is archived and may become active."""
        nodes = self.tables.nodes
        found = [nodes[id_] for id_ in used if id_ in nodes]
        documents = {item.document_id or item.id for item in found}
        wanted = {item.id for item in found} | documents
        return sorted(
            node.id
            for node in nodes.values()
            if node.state == State.ARCHIVED
            and (node.id in wanted or node.document_id in documents)
            and not any(_twin(node, other) for other in nodes.values())
        )

    def _due(self, node: Node, rule: Rule, cutoffs: Cutoffs) -> bool:
        used_at = node.last_accessed_at or node.recorded_at
        if rule == Rule.EVENT_TTL:
            low = importance_band(node.importance) in ("medium", "low")
            return node.access_count == 0 and low
        if rule in (Rule.FACT_UNUSED, Rule.GRAPH_UNUSED):
            verified = node.metadata.get("verified") is True
            return used_at < (cutoffs.knowledge if verified else cutoffs.fact)
        if rule == Rule.KNOWLEDGE_UNUSED:
            return used_at < cutoffs.knowledge and not self._document_in_use(node, cutoffs)
        return True

    def _document_in_use(self, document: Node, cutoffs: Cutoffs) -> bool:
        uses = [
            max(node.last_accessed_at or node.recorded_at, node.recorded_at)
            for node in self.tables.nodes.values()
            if node.document_id == document.id
        ]
        runs = self.tables.ingestions.values()
        uses += [run.created_at for run in runs if run.document_id == document.id]
        return any(use >= cutoffs.knowledge for use in uses)

    def _unreferenced(self, entity: Node, before: datetime) -> bool:
        made = self.tables.entries[self.tables.created[entity.id] - 1].type
        return (
            entity.recorded_at < before
            and entity.state != State.DELETED
            and made not in _BY_HAND
            and entity.superseded_by not in self.tables.nodes
            and not self._known(entity.id)
        )

    def _known(self, entity_id: UUID) -> bool:
        for edge in self.tables.edges.values():
            if entity_id in (edge.source_id, edge.target_id):
                other = edge.target_id if edge.source_id == entity_id else edge.source_id
                found = self.tables.nodes.get(other)
                if found and (found.label != Label.ENTITY or edge.view != View.ENTITY):
                    return True
        return False


_STATED = frozenset({"Fact", "Observation", "Resolution"})


def _aged(node: Node, rule: Rule, cutoffs: Cutoffs) -> datetime | None:
    """Return since when a node a rule is about exists, if that is long enough ago."""
    if rule == Rule.DELETED:
        at = node.deleted_at if node.state == State.DELETED else None
        return at if at and at < cutoffs.deleted else None
    if rule == Rule.GRAPH_UNUSED:
        stated = node.state == State.ACTIVE and node.kind is None and node.label in _STATED
        return node.recorded_at if stated and node.recorded_at < cutoffs.fact else None
    label, kind, before = {
        Rule.EVENT_TTL: (Label.MEMORY, MemoryKind.EVENT, cutoffs.event),
        Rule.FACT_UNUSED: (Label.MEMORY, MemoryKind.FACT, cutoffs.fact),
        Rule.KNOWLEDGE_UNUSED: (Label.DOCUMENT, None, cutoffs.knowledge),
    }[rule]
    about = node.state == State.ACTIVE and (node.label, node.kind) == (label, kind)
    return node.recorded_at if about and node.recorded_at < before else None


def _twin(node: Node, other: Node) -> bool:
    """Return whether another node stands where this archived one would come back."""
    same = (node.dedup_key is not None and node.dedup_key == other.dedup_key) or (
        node.chain_key is not None and node.chain_key == other.chain_key
    )
    younger = other.state == State.ARCHIVED and other.id > node.id
    return same and node.id != other.id and (other.state in _FOUND or younger)
