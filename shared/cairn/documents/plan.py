"""What storing one version of a document writes, compared with what is stored. No I/O but `write`.

First the new chunks, a batch an entry, then one entry for the rest: sections, kept chunks at new
places, removed parts, edges. A retry finds its own chunks stored and goes on from there.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from cairn.documents.changes import Changes, KeptSection, SectionChanges, diff, diff_sections
from cairn.documents.parsed import (  # noqa: TC001 - read at run time by a TypeAdapter
    ChunkPart,
    DocumentTree,
    SectionPart,
)
from cairn.graph.edge import Relation
from cairn.graph.node import Label
from cairn.kernel.ids import IdSource, derived_id
from cairn.safety.screening import screen
from cairn.writing.append import SYSTEM, append
from cairn.writing.entries import Planned, plan_entry
from cairn.writing.ports import OutboxRow, Topic

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.documents.ports import Ingestion, Place, StoredParts
    from cairn.kernel.stores import Stores
    from cairn.ledger.entry import Entry
    from cairn.ledger.keys import BodyCipher

CHUNKS_PER_ENTRY = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class SummarisedTree:
    """A split document with the summaries of its parts, by ordinal."""

    tree: DocumentTree
    summary: str
    sections: tuple[str, ...]
    chunks: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One transaction of the plan: an entry, and the nodes that need vectors after it."""

    planned: Planned
    node_ids: tuple[UUID, ...]
    reference: UUID
    batch: int
    new_id: IdSource

    def write(self, stores: Stores, now: datetime) -> None:
        """Append, project, and leave an outbox row for the embed state of the machine."""
        entry = append(stores, [self.planned], now, self.new_id).entries[-1]
        if not self.node_ids:
            return
        row = OutboxRow(
            workspace_id=entry.workspace_id,
            id=self.new_id(),
            topic=Topic.EMBED,
            position=entry.position,
            node_ids=self.node_ids,
            reference=self.reference,
            batch=self.batch,
        )
        stores.outbox.add(row, now)


@dataclass(frozen=True, kw_only=True)
class DocumentPlan:
    """Compares a new version with the stored one; ids of new parts follow from the ingestion."""

    ingestion: Ingestion
    received: Entry
    described: Mapping[str, Any]
    summarised: SummarisedTree
    parts: StoredParts
    keys: Mapping[UUID, bytes]
    cipher: BodyCipher
    new_id: IdSource

    @cached_property
    def chunk_changes(self) -> Changes:
        """Return which chunks stay, come and go."""
        return diff(self.parts.chunks, self.summarised.tree)

    @cached_property
    def section_changes(self) -> SectionChanges:
        """Return which sections stay, come and go."""
        return diff_sections(self.parts.sections, self.summarised.tree)

    @cached_property
    def section_ids(self) -> dict[int, UUID]:
        """Return the node id of each section of the new version, by ordinal."""
        ids = {item.section.ordinal: item.id for item in self.section_changes.kept}
        for section in self.section_changes.added:
            ids[section.ordinal] = self._new(Label.SECTION, section.ordinal)
        return ids

    @cached_property
    def chunk_ids(self) -> dict[int, UUID]:
        """Return the node id of each chunk of the new version, by ordinal."""
        ids = {item.chunk.ordinal: item.id for item in self.chunk_changes.kept}
        for chunk in self.chunk_changes.added:
            ids[chunk.ordinal] = self._new(Label.CHUNK, chunk.ordinal)
        return ids

    def counts(self) -> dict[str, int]:
        """Return what the plan does, for people."""
        return {
            "sections": len(self.summarised.tree.sections),
            "chunks": len(self.summarised.tree.chunks),
            "chunks_added": len(self.chunk_changes.added),
            "chunks_kept": len(self.chunk_changes.kept),
            "chunks_removed": len(self.chunk_changes.removed),
        }

    def steps(self) -> Iterator[Step]:
        """Yield the transactions in order; none when nothing changed."""
        added = self.chunk_changes.added
        for start in range(0, len(added), CHUNKS_PER_ENTRY):
            yield self._chunks(added[start : start + CHUNKS_PER_ENTRY])
        if not self._unchanged():
            yield self._whole()

    def _unchanged(self) -> bool:
        edges_added, edges_closed = self._edges()
        return (
            self.chunk_changes.nothing
            and not edges_added
            and not edges_closed
            and not self._moved_chunks()
            and not self.section_changes.added
            and not self.section_changes.removed
            and not self._revived
        )

    def _chunks(self, chunks: Sequence[ChunkPart]) -> Step:
        ids = [self.chunk_ids[chunk.ordinal] for chunk in chunks]
        body = {"document": self.described, "chunks": [self._chunk(chunk) for chunk in chunks]}
        meta = {"node_ids": [str(id_) for id_ in ids]}
        return self._step("document.chunks_stored", meta, body, tuple(ids), chunks[0].ordinal)

    def _whole(self) -> Step:
        tree, changes = self.summarised.tree, self.section_changes
        edges_added, edges_closed = self._edges()
        rewritten = [item for item in changes.kept if item.changed or self._revived]
        body: dict[str, Any] = {
            "document": self.described,
            "title": tree.title,
            "summary": self.summarised.summary,
            "content_hash": tree.content_hash,
            "sections_added": [self._section(section) for section in changes.added],
            "sections_kept": [self._kept_section(item) for item in changes.kept],
            "chunks_kept": self._moved_chunks(),
            "removed": [str(item) for item in (*self.chunk_changes.removed, *changes.removed)],
            "edges_added": edges_added,
            "edges_closed": edges_closed,
        }
        written = [*(item.section for item in rewritten), *changes.added]
        vectors = (
            self.ingestion.document_id,
            *(self.section_ids[section.ordinal] for section in written),
        )
        return self._step("document.stored", self.counts(), body, vectors, len(tree.chunks))

    @property
    def _revived(self) -> bool:
        document = self.parts.document
        return document.deleted_at is not None or document.archived

    def _moved_chunks(self) -> list[dict[str, Any]]:
        """Return kept chunks whose row changes: another place, path or parent, or revived."""
        moved: list[dict[str, Any]] = []
        parents = self._parents
        for item in self.chunk_changes.kept:
            chunk = item.chunk
            same_place = self.parts.places.get(item.id) == place(chunk)
            same_parent = self.parts.parents.get(item.id) == parents[chunk.ordinal]
            stays = same_place and same_parent and not (item.renumbered or item.reheaded)
            if not stays or self._revived:
                part = self._chunk(chunk)
                moved.append({k: v for k, v in part.items() if k not in ("text", "summary")})
        return moved

    @cached_property
    def _parents(self) -> dict[int, UUID]:
        return {
            chunk.ordinal: self.section_ids[section.ordinal]
            for section in self.summarised.tree.sections
            for chunk in section.chunks
        }

    def _edges(self) -> tuple[list[list[str]], list[str]]:
        """Return the edges to add and the ids of those to close."""
        edges = set(self._wanted_edges())
        held = {
            (edge.relation, edge.source_id, edge.target_id): edge.id for edge in self.parts.edges
        }
        added = [
            [
                str(derived_id(self.ingestion.id, "edge", relation, source, target)),
                relation,
                str(source),
                str(target),
            ]
            for relation, source, target in sorted(edges - held.keys())
        ]
        closed = sorted(str(held[edge]) for edge in held.keys() - edges)
        return added, closed

    def _wanted_edges(self) -> Iterator[tuple[str, UUID, UUID]]:
        parents, ids = self._parents, self.chunk_ids
        for ordinal, chunk_id in ids.items():
            yield Relation.PART_OF.value, chunk_id, parents[ordinal]
            if ordinal > 0:
                yield Relation.FOLLOWS.value, chunk_id, ids[ordinal - 1]
        for section_id in self.section_ids.values():
            yield Relation.PART_OF.value, section_id, self.ingestion.document_id

    def _chunk(self, chunk: ChunkPart) -> dict[str, Any]:
        return {
            **asdict(chunk),
            "id": str(self.chunk_ids[chunk.ordinal]),
            "parent_id": str(self._parents[chunk.ordinal]),
            "summary": self.summarised.chunks[chunk.ordinal],
            "screening": screen(chunk.text).verdict.value.lower(),
        }

    def _kept_section(self, section: KeptSection) -> dict[str, Any]:
        """Return a kept section; one of the same text keeps its summary, whoever wrote that."""
        part = self._section(section.section)
        if section.changed or not part["summary"]:
            return part
        return {name: value for name, value in part.items() if name not in ("text", "summary")}

    def _section(self, section: SectionPart) -> dict[str, Any]:
        summary = self.summarised.sections[section.ordinal]
        return {
            "id": str(self.section_ids[section.ordinal]),
            "parent_id": str(self.ingestion.document_id),
            "ordinal": section.ordinal,
            "headings": list(section.headings),
            "text": summary or " > ".join(section.headings) or self.summarised.tree.title,
            "summary": summary,
            "screening": screen(summary).verdict.value.lower(),
            "content_hash": section.content_hash,
            "line_from": section.line_from,
            "line_to": section.line_to,
            "page_from": section.page_from,
            "page_to": section.page_to,
        }

    def _step(
        self,
        type_: str,
        meta: Mapping[str, Any],
        body: Mapping[str, Any],
        node_ids: tuple[UUID, ...],
        batch: int,
    ) -> Step:
        entry_id, workspace_id = self.new_id(), self.received.workspace_id
        entry = plan_entry(
            id=entry_id,
            workspace_id=workspace_id,
            type=type_,
            actor=SYSTEM,
            occurred_at=self.received.occurred_at,
            data_subjects=self.received.data_subjects,
            meta={
                "document_id": str(self.ingestion.document_id),
                "ingestion_id": str(self.ingestion.id),
                "scope": self.received.meta["scope"],
                **meta,
            },
            body=dict(body),
            cipher=self.cipher,
            keys=self.keys,
            parent_id=self.received.id,
        )
        return Step(
            planned=entry,
            node_ids=node_ids,
            reference=self.ingestion.id,
            batch=batch,
            new_id=self.new_id,
        )

    def _new(self, label: str, ordinal: int) -> UUID:
        return derived_id(self.ingestion.id, label, ordinal)


def place(part: ChunkPart) -> Place:
    """Return where a chunk stands in its source."""
    return (part.line_from, part.line_to, part.page_from, part.page_to)


def with_summaries(tree: DocumentTree, summarise: Callable[[str, str], str]) -> SummarisedTree:
    """Return the tree with a summary of every part; the document's is made of its sections'."""
    sections = tuple(
        summarise("\n".join(chunk.text for chunk in section.chunks), "section")
        for section in tree.sections
    )
    return SummarisedTree(
        tree=tree,
        summary=summarise("\n".join(sections), "document"),
        sections=sections,
        chunks=tuple(summarise(chunk.text, "chunk") for chunk in tree.chunks),
    )
