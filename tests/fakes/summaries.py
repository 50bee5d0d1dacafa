"""What summarising reads, in memory, over the tables of `stores`. For tests."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.consolidation.episodes import Source, fingerprint
from cairn.consolidation.summary_ports import (
    MOST_PARTS,
    PART_CHARS,
    SOURCE_CHARS,
    SUMMARISED,
    EntityState,
    Group,
    GroupState,
    HeldEdge,
    PartState,
    StoredSummary,
)
from cairn.graph.edge import Relation, Role, View
from cairn.graph.node import Label, Node, State
from cairn.text.canonical import parse_timestamp

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Mapping, Sequence
    from uuid import UUID

    from tests.fakes.stores import Tables

    from cairn.consolidation.episodes import Place
    from cairn.graph.edge import Edge

_SAID = (Label.EVENT, Label.MEMORY, Label.MESSAGE)
_HOLDS = (State.ACTIVE, State.PROVISIONAL)
_DERIVED = {
    (View.HIERARCHICAL, Relation.SUMMARIZES.value),
    (View.PROVENANCE, Relation.DERIVED_FROM.value),
}


@dataclass(frozen=True)
class InMemorySummaries:
    """Implements `consolidation.summary_ports.SummaryStore`."""

    tables: Tables

    def sessions(self, after: str, *, limit: int) -> Sequence[GroupState]:
        """Return the groups of the next sessions."""
        found = [
            (one, _group(one, session_id=one.session_id))
            for one in self._summarised(*_SAID)
            if one.session_id is not None
        ]
        return _page(found, after, limit)

    def traces(self, after: str, *, limit: int) -> Sequence[GroupState]:
        """Return the groups of the next traces outside any session."""
        found = [
            (one, _group(one, trace_id=one.trace_id))
            for one in self._summarised(Label.EVENT)
            if one.session_id is None and one.trace_id is not None
        ]
        return _page(found, after, limit)

    def agents(self, after: str, *, limit: int) -> Sequence[GroupState]:
        """Return the groups of the next agents."""
        found = [
            (one, _group(one, agent=agent))
            for one in self._below_agents()
            for agent in one.observed_by
        ]
        return _page(found, after, limit)

    def sources(self, group: Group, after: Place | None, *, limit: int) -> Sequence[Source]:
        """Return a page of a group's sources."""
        if group.session_id is not None:
            nodes = [
                one
                for one in self._summarised(*_SAID)
                if _group(one, session_id=one.session_id) == group
            ]
        else:
            nodes = [
                one
                for one in self._summarised(Label.EVENT)
                if one.session_id is None and _group(one, trace_id=one.trace_id) == group
            ]
        found = sorted((_source(one) for one in nodes), key=lambda one: one.place)
        return [one for one in found if after is None or one.place > after][:limit]

    def children(self, group: Group, *, limit: int) -> Sequence[Source]:
        """Return the newest summaries below, oldest first."""
        if group.agent is not None:
            nodes = [
                one
                for one in self._below_agents()
                if group.agent in one.observed_by and _group(one, agent=group.agent) == group
            ]
        else:
            nodes = [
                one
                for one in self._summarised(Label.SUMMARY)
                if one.kind == "episode" and _summary_group(one) == group
            ]
        found = sorted(nodes, key=lambda one: (one.occurred_at, one.id))
        return [_child(one) for one in found[-limit:]]

    def of_group(self, group: Group) -> Sequence[StoredSummary]:
        """Return the summaries of a session's or trace's group."""
        return [
            _stored(one)
            for one in self.tables.nodes.values()
            if one.label == Label.SUMMARY
            and one.kind != "agent"
            and _is_made(one)
            and one.state != State.DELETED
            and _summary_group(one) == group
        ]

    def summed_up(self, session_ids: Collection[str]) -> frozenset[str]:
        """Return those of the sessions that have any summary."""
        found = (one.session_id for one in self._summarised(Label.SUMMARY))
        return frozenset(one for one in found if one is not None and one in session_ids)

    def stored(self, ids: Collection[UUID]) -> Mapping[UUID, StoredSummary]:
        """Return those of the summaries there are."""
        nodes = (self.tables.nodes[one] for one in ids if one in self.tables.nodes)
        return {one.id: _stored(one) for one in nodes if one.label == Label.SUMMARY}

    def orphans(self, kind: str, after: UUID, *, limit: int) -> Sequence[UUID]:
        """Return summaries that nothing is left of."""
        kept = {
            edge.source_id
            for edge in self.tables.edges.values()
            if edge.relation == Relation.SUMMARIZES and self._may(edge.target_id)
        }
        return sorted(
            one.id
            for one in self._summarised(Label.SUMMARY)
            if one.kind == kind and one.id > after and one.id not in kept
        )[:limit]

    def entities(self, after: UUID, *, limit: int) -> Sequence[EntityState]:
        """Return the next entities with facts or a compiled truth."""
        found = [
            self._entity(one, self._facts(one))
            for one in self.tables.nodes.values()
            if one.label == Label.ENTITY and one.state in _HOLDS and one.id > after
        ]
        kept = [one for one in found if one.sources or one.compiled_truth is not None]
        return sorted(kept, key=lambda one: one.id)[:limit]

    def entity(self, entity_id: UUID) -> EntityState | None:
        """Return an entity that is there."""
        node = self.tables.nodes.get(entity_id)
        if node is None or node.label != Label.ENTITY or node.state not in _HOLDS:
            return None
        return self._entity(node, ())

    def facts(self, entity_id: UUID, *, limit: int) -> Sequence[Source]:
        """Return what refers to an entity, in its own audience."""
        found = sorted(
            self._facts(self.tables.nodes[entity_id]),
            key=lambda one: (one.importance, one.valid_from, one.id),
            reverse=True,
        )
        return [_source(one) for one in found[:limit]]

    def undescribed(
        self, label: str, covering: str, after: UUID, *, limit: int
    ) -> Sequence[PartState]:
        """Return documents or sections that are not described as they are now."""
        found = [
            one
            for one in self._parts(self.tables.nodes)
            if one.label == label and one.id > after and one.content_hash
        ]
        return sorted(
            (one for one in found if one.covers != f"{covering}{one.content_hash}"),
            key=lambda one: one.id,
        )[:limit]

    def parts(self, ids: Collection[UUID]) -> Sequence[PartState]:
        """Return those of the documents and sections that are there."""
        return list(self._parts(ids))

    def tokens_of(self, part: PartState) -> int:
        """Return how long a part's text is, in tokens."""
        return sum(one.token_count or 0 for one in self._inside(part, Label.CHUNK))

    def texts_of(self, part: PartState) -> Sequence[str]:
        """Return what a part's summary is made of."""
        if part.label == Label.SECTION:
            texts = [one.text for one in self._inside(part, Label.CHUNK)]
        else:
            found = self._inside(part, Label.SECTION)
            texts = [one.summary for one in found if one.summary]
        return [text[:PART_CHARS] for text in texts[:MOST_PARTS]]

    def contents(self, ids: Collection[UUID]) -> Mapping[UUID, str]:
        """Return the content hashes of those that may be summarised now."""
        return {one: self.tables.nodes[one].content_hash for one in ids if self._may(one)}

    def edges(self, ids: Collection[UUID]) -> Sequence[HeldEdge]:
        """Return the open edges from derived nodes to their sources."""
        found = [
            HeldEdge(
                id=one.id,
                relation=one.relation,
                source_id=one.source_id,
                target_id=one.target_id,
            )
            for one in self.tables.edges.values()
            if one.source_id in ids and (one.view, str(one.relation)) in _DERIVED
        ]
        return sorted(found, key=lambda one: one.id)

    def _parts(self, ids: Iterable[UUID]) -> Iterable[PartState]:
        for node_id in ids:
            node = self.tables.nodes.get(node_id)
            if node is None or node.state not in _HOLDS or node.document_id is None:
                continue
            if node.label in (Label.DOCUMENT, Label.SECTION):
                yield PartState(
                    id=node.id,
                    label=node.label,
                    document_id=node.document_id,
                    data_subjects=node.data_subjects,
                    content_hash=node.content_hash,
                    metadata=node.metadata,
                )

    def _inside(self, part: PartState, label: Label) -> list[Node]:
        found = [
            one
            for one in self.tables.nodes.values()
            if one.document_id == part.document_id
            and one.label == label
            and one.state in _HOLDS
            and (part.label == Label.DOCUMENT or one.parent_id == part.id)
        ]
        return sorted(found, key=lambda one: (one.ordinal or 0, one.id))

    def _summarised(self, *labels: Label) -> Iterable[Node]:
        return (
            one
            for one in self.tables.nodes.values()
            if one.label in labels and one.state in SUMMARISED and _is_made(one)
        )

    def _below_agents(self) -> Iterable[Node]:
        return (
            one
            for one in self._summarised(Label.SUMMARY)
            if one.kind == "session" or (one.kind == "episode" and one.session_id is None)
        )

    def _may(self, node_id: UUID) -> bool:
        node = self.tables.nodes.get(node_id)
        return node is not None and node.state in SUMMARISED

    def _facts(self, entity: Node) -> list[Node]:
        return [
            node
            for edge in self.tables.edges.values()
            if edge.target_id == entity.id and _refers(edge)
            for node in [self.tables.nodes.get(edge.source_id)]
            if node is not None and _is_of(node, entity)
        ]

    def _entity(self, node: Node, facts: Sequence[Node]) -> EntityState:
        return EntityState(
            id=node.id,
            data_subjects=node.data_subjects,
            metadata=node.metadata,
            compiled_truth=node.compiled_truth,
            sources=len(facts),
            fingerprint=fingerprint((one.id, one.content_hash) for one in facts),
        )


def _is_made(node: Node) -> bool:
    """Return whether a node is no summary that a caller wrote."""
    return node.label != Label.SUMMARY or "made_of" in node.metadata


def _refers(edge: Edge) -> bool:
    named = (edge.view, edge.relation) == (View.ENTITY, Relation.REFERENCES)
    return named and edge.properties.get("role") != Role.SOURCE


def _is_of(node: Node, entity: Node) -> bool:
    return (
        node.label == Label.MEMORY
        and node.kind in ("fact", "status")
        and node.state in _HOLDS
        and (node.scope, node.agents) == (entity.scope, entity.agents)
        and node.data_subjects == entity.data_subjects
    )


def _group(
    node: Node,
    *,
    session_id: str | None = None,
    trace_id: str | None = None,
    agent: str | None = None,
) -> Group:
    said = node.label == Label.MESSAGE and agent is None
    return Group(
        client_id=node.client_id,
        scope=node.scope,
        agents=node.agents,
        data_subjects=node.data_subjects,
        session_id=session_id,
        trace_id=trace_id,
        agent=agent,
        conversation_id=node.parent_id if said else None,
    )


def _summary_group(node: Node) -> Group:
    """Return the group of a session's or trace's summary."""
    return Group(
        client_id=node.client_id,
        scope=node.scope,
        agents=node.agents,
        data_subjects=node.data_subjects,
        session_id=node.session_id,
        trace_id=node.trace_id if node.session_id is None else None,
        conversation_id=node.parent_id,
    )


def _page(found: Iterable[tuple[Node, Group]], after: str, limit: int) -> list[GroupState]:
    by_name: dict[str, dict[Group, list[Node]]] = defaultdict(lambda: defaultdict(list))
    for node, group in found:
        name = group.agent or group.session_id or group.trace_id or ""
        if name > after:
            by_name[name][group].append(node)
    return [
        GroupState(
            group=group,
            sources=len(nodes),
            fingerprint=fingerprint((one.id, _content(one)) for one in nodes),
        )
        for name in sorted(by_name)[:limit]
        for group, nodes in by_name[name].items()
    ]


def _content(node: Node) -> str:
    """Return what tells a source from what it was: of a summary, all that is below it."""
    return node.metadata["covers"] if node.label == Label.SUMMARY else node.content_hash


def _source(node: Node) -> Source:
    return Source(
        id=node.id,
        text=node.text[:SOURCE_CHARS],
        content_hash=node.content_hash,
        occurred_at=node.occurred_at,
        sequence=-1 if node.sequence is None else node.sequence,
        trace_id=node.trace_id,
        agents=(node.source_agent,) if node.source_agent else (),
        importance=node.importance,
    )


def _child(node: Node) -> Source:
    return Source(
        id=node.id,
        text=node.text,
        content_hash=node.content_hash,
        occurred_at=node.occurred_at,
        agents=node.observed_by,
        importance=node.importance,
        event_count=node.metadata["event_count"],
        last_at=parse_timestamp(node.metadata["time_range"][1]),
    )


def _stored(node: Node) -> StoredSummary:
    return StoredSummary(
        id=node.id,
        kind=node.kind or "",
        state=node.state,
        covers=node.metadata.get("covers", ""),
        made_of=node.metadata.get("made_of", ""),
    )
