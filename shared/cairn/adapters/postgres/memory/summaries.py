"""What summarising reads, from PostgreSQL: groups of sources, summaries, facts of entities."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.store import Store
from cairn.graph.node import Label, State
from cairn.kernel.text.canonical import parse_timestamp
from cairn.summaries.ports import (
    MOST_PARTS,
    PART_CHARS,
    SOURCE_CHARS,
    EntityState,
    Group,
    GroupState,
    HeldEdge,
    PartState,
    Source,
    StoredSummary,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from uuid import UUID

    from cairn.summaries.ports import Place

_GROUP = (
    "client_id", "scope", "agents", "data_subjects", "session_id", "trace_id", "agent",
    "conversation_id",
)  # fmt: skip
_MASK = 2**64 - 1


class PostgresSummaries(Store):
    """Sources and summaries, whatever their audience; only what is not deleted.

    The `page` methods go through names in their order, from the one after `after` on.
    """

    def sessions(self, after: str, *, limit: int) -> Sequence[GroupState]:
        """Return the groups of the next `limit` sessions that have sources, by session."""
        return [_state(row) for row in self.rows("summary.sessions", after=after, limit=limit)]

    def traces(self, after: str, *, limit: int) -> Sequence[GroupState]:
        """Return the groups of the next traces outside any session."""
        return [_state(row) for row in self.rows("summary.traces", after=after, limit=limit)]

    def agents(self, after: str, *, limit: int) -> Sequence[GroupState]:
        """Return the groups of the next `limit` agents that have a part in summaries, by agent.

        Their sources are the summaries of sessions, and of traces without a session.
        """
        return [_state(row) for row in self.rows("summary.agents", after=after, limit=limit)]

    def sources(self, group: Group, after: Place | None, *, limit: int) -> Sequence[Source]:
        """Return up to `limit` sources of a session or trace behind a place, by their places.

        Long texts are cut at `SOURCE_CHARS`.
        """
        name = "session" if group.session_id is not None else "trace"
        trace, moment, sequence, last = after or (None, None, None, None)
        rows = self.rows(
            f"summary.{name}_sources",
            **_of(group),
            trace=trace,
            moment=moment,
            sequence=sequence,
            id=last,
            limit=limit,
            characters=SOURCE_CHARS,
        )
        return [_source(row) for row in rows]

    def children(self, group: Group, *, limit: int) -> Sequence[Source]:
        """Return the newest summaries that a session's or an agent's is made of, oldest first."""
        name = "agent" if group.agent is not None else "session"
        rows = self.rows(f"summary.{name}_children", **_of(group), limit=limit)
        return [_child(row) for row in reversed(rows)]

    def of_group(self, group: Group) -> Sequence[StoredSummary]:
        """Return the summaries of a session's or trace's group."""
        name = "session" if group.session_id is not None else "trace"
        return [_stored(row) for row in self.rows(f"summary.of_{name}", **_of(group))]

    def summed_up(self, session_ids: Collection[str]) -> frozenset[str]:
        """Return those of the sessions that have any summary."""
        return frozenset(self.values("summary.summed_up", sessions=list(session_ids)))

    def stored(self, ids: Collection[UUID]) -> Mapping[UUID, StoredSummary]:
        """Return those of the summaries there are; in a writing transaction deleted ones too."""
        return {row["id"]: _stored(row) for row in self.rows("summary.stored", ids=list(ids))}

    def orphans(self, kind: str, after: UUID, *, limit: int) -> Sequence[UUID]:
        """Return summaries of one kind none of whose sources is there any more, by rising id."""
        return self.values("summary.orphans", kind=kind, after=after, limit=limit)

    def entities(self, after: UUID, *, limit: int) -> Sequence[EntityState]:
        """Return entities that facts or statuses refer to, or that have a compiled truth, by id.

        Their sources are the found facts and statuses of exactly their scope, agents and data
        subjects that refer to them, other than as who said it.
        """
        return [_entity(row) for row in self.rows("summary.entities", after=after, limit=limit)]

    def entity(self, entity_id: UUID) -> EntityState | None:
        """Return an entity that is there; its sources are not counted."""
        rows = self.rows("summary.entity", id=entity_id)
        return _entity(rows[0]) if rows else None

    def facts(self, entity_id: UUID, *, limit: int) -> Sequence[Source]:
        """Return an entity's sources, the most important first, then those valid the latest."""
        rows = self.rows("summary.facts", id=entity_id, limit=limit, characters=SOURCE_CHARS)
        return [_source(row) for row in rows]

    def undescribed(
        self, label: str, covering: str, after: UUID, *, limit: int
    ) -> Sequence[PartState]:
        """Return stored documents or sections nobody described as they are now, by rising id.

        What was described says so in `metadata.cairn.summary.covers`: `covering`, then the hash.
        """
        rows = self.rows(
            "summary.undescribed", label=label, covering=covering, after=after, limit=limit
        )
        return [_part(row) for row in rows]

    def parts(self, ids: Collection[UUID]) -> Sequence[PartState]:
        """Return those of the documents and sections that are there."""
        return [_part(row) for row in self.rows("summary.described_parts", ids=list(ids))]

    def tokens_of(self, part: PartState) -> int:
        """Return how many tokens the chunks of a document or section have together."""
        section = part.id if part.label == Label.SECTION else None
        parameters = {"document_id": part.document_id, "section_id": section}
        return self.value("summary.part_tokens", **parameters)

    def texts_of(self, part: PartState) -> Sequence[str]:
        """Return what a part's summary is made of, in order: chunks, or summaries of sections.

        At most `MOST_PARTS`, each cut at `PART_CHARS`.
        """
        parameters = {
            "document_id": part.document_id,
            "characters": PART_CHARS,
            "limit": MOST_PARTS,
        }
        if part.label == Label.SECTION:
            return self.values("summary.section_texts", id=part.id, **parameters)
        return self.values("summary.document_texts", **parameters)

    def contents(self, ids: Collection[UUID]) -> Mapping[UUID, str]:
        """Return the content hashes of those that may be summarised now."""
        return dict(self.run("summary.contents", ids=list(ids)).fetchall())

    def edges(self, ids: Collection[UUID]) -> Sequence[HeldEdge]:
        """Return the open edges from derived nodes to their sources."""
        return [HeldEdge(**row) for row in self.rows("summary.edges", ids=list(ids))]


def _of(group: Group) -> dict[str, Any]:
    parameters = asdict(group)
    parameters["agents"] = list(group.agents) if group.agents is not None else None
    parameters["data_subjects"] = list(group.data_subjects)
    return parameters


def _state(row: Mapping[str, Any]) -> GroupState:
    values = {name: row[name] for name in _GROUP}
    agents = values["agents"]
    values["agents"] = tuple(agents) if agents is not None else None
    values["data_subjects"] = tuple(values["data_subjects"])
    return GroupState(group=Group(**values), sources=row["sources"], fingerprint=_print(row))


def _print(row: Mapping[str, Any]) -> str:
    return f"{row['sources']}:{row['mixed'] & _MASK:016x}"


def _source(row: Mapping[str, Any]) -> Source:
    values = dict(row)
    agent = values.pop("source_agent")
    return Source(**values, agents=(agent,) if agent else ())


def _child(row: Mapping[str, Any]) -> Source:
    values = dict(row)
    metadata = values.pop("metadata")
    return Source(
        **{name: value for name, value in values.items() if name != "observed_by"},
        agents=tuple(values["observed_by"]),
        event_count=metadata["event_count"],
        last_at=parse_timestamp(metadata["time_range"][1]),
    )


def _stored(row: Mapping[str, Any]) -> StoredSummary:
    metadata = row["metadata"]
    return StoredSummary(
        id=row["id"],
        kind=row["kind"],
        state=State(row["state"]),
        covers=metadata.get("covers", ""),
        made_of=metadata.get("made_of", ""),
    )


def _part(row: Mapping[str, Any]) -> PartState:
    values = dict(row)
    return PartState(data_subjects=tuple(values.pop("data_subjects")), **values)


def _entity(row: Mapping[str, Any]) -> EntityState:
    return EntityState(
        id=row["id"],
        data_subjects=tuple(row["data_subjects"]),
        metadata=row["metadata"],
        compiled_truth=row["compiled_truth"],
        sources=row["sources"],
        fingerprint=_print(row),
    )
