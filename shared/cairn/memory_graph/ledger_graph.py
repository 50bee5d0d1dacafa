"""The memory graph over the ledger: each write an entry, reads under the workspace's own rights.

The rows follow from `ingestion.memory_graph_rows`; a rebuild makes them again.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.accounts import keys
from cairn.forgetting.forget import Target
from cairn.forgetting.ports import Reason
from cairn.graph.memory_records import (
    EdgeDump,
    MemoryEdge,
    MemoryNode,
    NodeDump,
    Status,
    clean_edge,
    clean_label,
    clean_node,
    dangling,
    named_subjects,
    owners_of,
    written_over,
)
from cairn.graph.memory_walk import MAX_LIMIT, neighbours, shortest_path
from cairn.graph.node import State
from cairn.kernel.access import Scope
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError, Conflict, NotFound
from cairn.memory_graph.ports import IMPORT_BATCH, ForgetReport, Health, KeptNode
from cairn.memory_graph.rows import edge_body, edge_id, node_body
from cairn.writing.append import principal_actor
from cairn.writing.subjects import SubjectRegisteredMeanwhile, resolve
from cairn.writing.writer import Work, Write, Writer, open_write

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from datetime import datetime

    from cairn.forgetting.forget import Forgotten
    from cairn.graph.memory_records import Dump, Ref
    from cairn.kernel.access import Principal

PAGE = 500
"""Records that an export reads at once."""

Known = dict["Ref", KeptNode]

_NOBODY = UUID(int=0)
_EDGE_NAMES = 5
_FIRST_EDGE = ("",) * _EDGE_NAMES


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Some records of an export, and where to go on: None at its end."""

    records: tuple[Dump, ...]
    position: int
    after: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """How many records were read, and how many of them changed something."""

    read: int
    changed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class GraphChanges:
    """What a write did: the ids in the order of its records, and how many of them it changed."""

    ids: tuple[UUID, ...]
    changed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerGraph:
    """Implements `ports.MemoryGraph`; nodes are of the scope `admin`.

    `principal_of` says as whom a workspace is read and written, and may refuse one; a `reader`'s
    exports are entries.
    """

    writer: Writer
    forget: Callable[[Principal, Target, Reason], Forgotten]
    principal_of: Callable[[UUID], Principal] = system_principal
    reader: Principal | None = None

    def bound_to(self, principal: Principal) -> LedgerGraph:
        """Return the graph of the workspace of an admin or a person; any other is NotFound.

        Denied for other roles, and for keys that have no access to the scope `admin`. What a
        person may write there the database holds to their role.
        """
        principal.require_person()
        principal.require_scope(Scope.ADMIN)

        def own(workspace_id: UUID) -> Principal:
            if workspace_id != principal.workspace_id:
                raise NotFound("There is no such workspace.", reason="workspace")
            return principal

        return replace(self, principal_of=own, reader=principal)

    def upsert_node(
        self,
        workspace_id: UUID,
        label: str,
        natural_key: str,
        properties: Mapping[str, Any],
        provenance: str,
        status: str = Status.PROVISIONAL,
    ) -> UUID:
        """Write a node and return its id."""
        node = clean_node(label, natural_key, properties, provenance, status)
        return self.write(workspace_id, [node], importing=False).ids[0]

    def upsert_edge(
        self,
        workspace_id: UUID,
        from_id: UUID,
        to_id: UUID,
        relation: str,
        weight: float = 1.0,
        properties: Mapping[str, Any] | None = None,
        observed_at: datetime | None = None,
    ) -> UUID:
        """Write an edge and return its id."""
        principal = self.principal_of(workspace_id)
        with self.writer.platform.transactions.reading(principal) as stores:
            nodes = stores.memory_graph.find([from_id, to_id])
            source, target = (_shown(nodes, item).node.dump.ref for item in (from_id, to_id))
            edge = clean_edge(
                source,
                target,
                relation,
                weight,
                properties or {},
                observed_at or self.writer.platform.clock(),
            )
            key = (from_id, to_id, edge.relation)
            present = stores.memory_graph.edges([key]).get(key)
        if present is not None and observed_at is None:
            edge = replace(edge, observed_at=present.dump.observed_at)
        return self.write(workspace_id, [edge], importing=False).ids[0]

    def mark_archived(self, workspace_id: UUID, node_id: UUID) -> None:
        """Hide a node from walks and questions."""
        self._archive(self.principal_of(workspace_id), node_id)

    def forget_subject(self, workspace_id: UUID, subject_natural_key: str) -> ForgetReport:
        """Destroy a subject's key, erase what is its own and archive what speaks of it."""
        principal = self.principal_of(workspace_id)
        owners = named_subjects(subject_natural_key)
        with self.writer.platform.transactions.reading(principal) as stores:
            ids = tuple(stores.subjects.find(owners).values())
            own = stores.memory_graph.owned_by(ids) if ids else ()
        done = [
            report for owner in owners if (report := self._forgotten(principal, owner)) is not None
        ]
        return ForgetReport(
            known=bool(done),
            erased=len(own),
            archived=sum(
                item.forgetting.counts.get("archived", 0) for item in done if not item.already
            ),
            forgettings=tuple(item.forgetting.id for item in done),
        )

    def get_node(self, workspace_id: UUID, label: str, natural_key: str) -> MemoryNode | None:
        """Return a node by what names it."""
        ref = (clean_label(label), natural_key)
        with self.writer.platform.transactions.reading(self.principal_of(workspace_id)) as stores:
            node = stores.memory_graph.named([ref]).get(ref)
        return node.node if node and node.shown else None

    def node(self, workspace_id: UUID, node_id: UUID) -> MemoryNode | None:
        """Return a node by its id, archived ones too."""
        with self.writer.platform.transactions.reading(self.principal_of(workspace_id)) as stores:
            node = stores.memory_graph.find([node_id]).get(node_id)
        return node.node if node and node.shown else None

    def neighbors(
        self,
        workspace_id: UUID,
        node: UUID,
        *,
        depth: int = 1,
        relations: Sequence[str] | None = None,
        limit: int = 10,
    ) -> list[tuple[MemoryNode, MemoryEdge]]:
        """Return visible nodes around a node."""
        with self.writer.platform.transactions.reading(self.principal_of(workspace_id)) as stores:
            touching = stores.memory_graph.touching
            return neighbours(touching, node, depth=depth, relations=relations, limit=limit)

    def path(
        self, workspace_id: UUID, from_id: UUID, to_id: UUID, max_depth: int = 3
    ) -> list[MemoryEdge] | None:
        """Return the edges of a shortest way."""
        with self.writer.platform.transactions.reading(self.principal_of(workspace_id)) as stores:
            touching = stores.memory_graph.touching
            return shortest_path(touching, from_id, to_id, max_depth=max_depth)

    def query_by_labels(
        self, workspace_id: UUID, labels: Sequence[str], limit: int = 50
    ) -> list[MemoryNode]:
        """Return visible nodes of the labels."""
        labels_asked = {clean_label(label, "labels") for label in labels}
        with self.writer.platform.transactions.reading(self.principal_of(workspace_id)) as stores:
            return list(stores.memory_graph.by_labels(labels_asked, min(limit, MAX_LIMIT)))

    def provisional(
        self, workspace_id: UUID, *, before: UUID | None, limit: int
    ) -> Sequence[MemoryNode]:
        """Return what waits for a person, made before a node, the newest first."""
        with self.writer.platform.transactions.reading(self.principal_of(workspace_id)) as stores:
            return stores.memory_graph.provisional(before=before, limit=limit)

    def remembered(
        self, workspace_id: UUID, labels: Sequence[str], *, before: UUID | None, limit: int
    ) -> Sequence[MemoryNode]:
        """Return what a person made of lines of timelines, before a node, the newest first."""
        with self.writer.platform.transactions.reading(self.principal_of(workspace_id)) as stores:
            return stores.memory_graph.remembered(labels, before=before, limit=limit)

    def healthcheck(self) -> Health:
        """Ask the database for nothing, as nobody."""
        try:
            nobody = system_principal(_NOBODY)
            with self.writer.platform.transactions.reading(nobody) as stores:
                stores.memory_graph.find([])
        except CairnError as error:
            return Health(ok=False, backend="postgres", detail=error.reason)
        return Health(ok=True, backend="postgres")

    def export_all(self, workspace_id: UUID) -> Iterator[Dump]:
        """Yield nodes, then edges, a page a transaction; of what there was when it began."""
        page = self.export_page(workspace_id)
        yield from page.records
        while page.after is not None:
            page = self.export_page(workspace_id, page.after, position=page.position)
            yield from page.records

    def export_page(
        self,
        workspace_id: UUID,
        after: Sequence[str] | None = None,
        *,
        position: int | None = None,
        limit: int = PAGE,
    ) -> Page:
        """Return the next records. `after` and `position` are those of the page before.

        `after` is a node's name (two texts) or an edge's (five); nodes made later are left out,
        with their edges.
        """
        names = tuple(after or ())
        if self.reader is not None and position is None:
            self._note_export(self.reader)
        with self.writer.platform.transactions.reading(self.principal_of(workspace_id)) as stores:
            graph = stores.memory_graph
            head = stores.ledger.head().position if position is None else position
            if len(names) != _EDGE_NAMES:
                ref = (names[0], names[1]) if names else None
                nodes = graph.node_page(ref, position=head, limit=limit)
                if len(nodes) == limit:
                    dumps = tuple(node.dump for node in nodes)
                    return Page(records=dumps, position=head, after=nodes[-1].dump.ref)
                return Page(
                    records=tuple(node.dump for node in nodes), position=head, after=_FIRST_EDGE
                )
            key = (names[0], names[1], names[2], names[3], names[4])
            edges = graph.edge_page(key, position=head, limit=limit)
            last = edges[-1].dump.key if len(edges) == limit else None
            return Page(records=tuple(edge.dump for edge in edges), position=head, after=last)

    def import_all(self, workspace_id: UUID, stream: Iterable[Dump]) -> int:
        """Write records as they are, a batch a transaction."""
        return self.import_records(workspace_id, stream).read

    def import_records(self, workspace_id: UUID, stream: Iterable[Dump]) -> Imported:
        """Do the same and return how many records changed something, too."""
        read = changed = 0
        for batch in _batches(stream):
            changed += self.write(workspace_id, batch, importing=True).changed
            read += len(batch)
        return Imported(read=read, changed=changed)

    def write(
        self, workspace_id: UUID, records: Sequence[Dump], *, importing: bool
    ) -> GraphChanges:
        """Write records in one transaction, each name at most once among them."""
        principal = self.principal_of(workspace_id)
        owners = _owners(records)
        work = partial(_write, records, importing, principal.name or "cairn")

        def prepared() -> Work[GraphChanges]:
            with self.writer.platform.transactions.reading(principal) as stores:
                nodes = stores.memory_graph.named(_refs(records))
            held = {subject for item in nodes.values() for subject in item.data_subjects}
            resolution = resolve(self.writer.platform, principal, owners, held)
            return Work(resolution=resolution, do=work, keep=_nothing, read=_never)

        return self.writer.write_once(principal, prepared, None)

    def _note_export(self, principal: Principal) -> None:
        """Let the ledger say who takes the graph out; once an export, with its first page."""
        with self.writer.platform.transactions.writing(principal) as stores:
            keys.record(
                stores,
                workspace_id=principal.workspace_id,
                type_="export.made",
                meta={"of": "memory-graph"},
                actor=principal_actor(principal),
                now=self.writer.platform.clock(),
                new_id=self.writer.platform.new_id,
            )

    def _archive(self, principal: Principal, node_id: UUID) -> None:
        """Archive a node; NotFound for one that is not there."""
        with open_write(self.writer.platform, principal) as write:
            node = _shown(write.stores.memory_graph.find([node_id]), node_id)
            if node.state is not State.ARCHIVED:
                write.note("node.archived", {"node_ids": [str(node_id)], "rule": "marked"})

    def _forgotten(self, principal: Principal, owner: tuple[str, str]) -> Forgotten | None:
        try:
            return self.forget(principal, Target(owner=owner), Reason.REQUEST)
        except NotFound:
            return None


@dataclass(slots=True, kw_only=True)
class _Plan:
    """The entries of one write: what stands already, and what was planned since."""

    write: Write
    importing: bool
    writer: str
    nodes: Known
    edges: Mapping[tuple[UUID, UUID, str], MemoryEdge]
    touched: list[UUID] = field(default_factory=list["UUID"])
    changed: int = 0

    def node(self, new: NodeDump) -> UUID:
        """Plan a node and return its id."""
        stored = self.nodes.get(new.ref)
        _require_usable(stored)
        shown = stored if stored and stored.shown else None
        present = shown.node.dump if shown else None
        after = written_over(present, new, importing=self.importing)
        if after is None and shown:
            return shown.node.id
        return self._entry(stored, after or new)

    def edge(self, new: EdgeDump) -> UUID:
        """Plan an edge and return its id; NotFound and dangling ends are refused."""
        ends = [self.nodes.get(ref) for ref in (new.source, new.target)]
        source, target = (end if end and end.shown else None for end in ends)
        if source is None or target is None:
            refs = {ref for ref, node in self.nodes.items() if node.shown}
            raise dangling(new, refs)
        source_id, target_id = source.node.id, target.node.id
        present = self.edges.get((source_id, target_id, new.relation))
        if present is not None and present.dump == new:
            return present.id
        subjects = tuple(sorted({*source.data_subjects, *target.data_subjects}))
        _require_keys(self.write, subjects)
        self.write.entries.add(
            "graph.edge_upserted",
            {"replaces": str(present.id) if present else None},
            edge_body(new, source_id, target_id),
            data_subjects=subjects,
            occurred_at=self.write.now,
        )
        self.changed += 1
        return edge_id(self.write.entries.planned[-1].entry.id)

    def _entry(self, stored: KeptNode | None, node: NodeDump) -> UUID:
        owners = owners_of(node)
        subjects = self.write.resolution.subjects_of(owners)
        if stored is not None and subjects != tuple(sorted(stored.data_subjects)):
            raise Conflict("Whose data this node is cannot change.", reason="data-subjects")
        _require_keys(self.write, subjects)
        node_id = stored.node.id if stored else self.write.entries.new_id()
        self.write.entries.add(
            "graph.node_upserted",
            {
                "node_id": str(node_id),
                "scope": Scope.ADMIN.value,
                "status": node.status.value,
                "new": stored is None,
                "revives": stored is not None and stored.state is State.DELETED,
            },
            node_body(node, owners, self.writer),
            data_subjects=subjects,
            occurred_at=self.write.now,
        )
        self.nodes[node.ref] = KeptNode(
            node=MemoryNode(id=node_id, dump=node),
            state=State(node.status.value),
            data_subjects=subjects,
        )
        self.touched.append(node_id)
        self.changed += 1
        return node_id


def _write(records: Sequence[Dump], importing: bool, writer: str, write: Write) -> GraphChanges:
    write.register()
    graph = write.stores.memory_graph
    nodes = dict(graph.named(_refs(records)))
    plan = _Plan(
        write=write,
        importing=importing,
        writer=writer,
        nodes=nodes,
        edges=graph.edges(_edges_among(records, nodes)),
    )
    ids = tuple(
        plan.node(record) if isinstance(record, NodeDump) else plan.edge(record)
        for record in records
    )
    write.append()
    write.wake_embed(plan.touched)
    return GraphChanges(ids=ids, changed=plan.changed)


def _batches(stream: Iterable[Dump]) -> Iterator[list[Dump]]:
    """Yield records in lists of up to IMPORT_BATCH, none of which has a name twice."""
    batch: list[Dump] = []
    names: set[tuple[str, ...]] = set()
    for record in stream:
        name: tuple[str, ...] = record.ref if isinstance(record, NodeDump) else record.key
        if len(batch) == IMPORT_BATCH or name in names:
            yield batch
            batch, names = [], set()
        batch.append(record)
        names.add(name)
    if batch:
        yield batch


def _refs(records: Sequence[Dump]) -> set[Ref]:
    """Return the names of every node that records are about."""
    refs: set[Ref] = set()
    for record in records:
        refs |= {record.ref} if isinstance(record, NodeDump) else {record.source, record.target}
    return refs


def _edges_among(records: Sequence[Dump], nodes: Known) -> list[tuple[UUID, UUID, str]]:
    """Return the edges of the records whose ends stand already."""
    return [
        (nodes[record.source].node.id, nodes[record.target].node.id, record.relation)
        for record in records
        if isinstance(record, EdgeDump) and record.source in nodes and record.target in nodes
    ]


def _owners(records: Sequence[Dump]) -> tuple[tuple[str, str], ...]:
    """Return whose data the records are, each once."""
    nodes = (record for record in records if isinstance(record, NodeDump))
    return tuple(dict.fromkeys(owner for node in nodes for owner in owners_of(node)))


def _require_usable(stored: KeptNode | None) -> None:
    """Raise Conflict for a node that is held back, or of which something else was made."""
    if stored is not None and not stored.shown and stored.state is not State.DELETED:
        raise Conflict(
            f"This node is {stored.state.value}.",
            reason="node-state",
            node_id=str(stored.node.id),
        )


def _require_keys(write: Write, subjects: Sequence[UUID]) -> None:
    """Begin again when a node came since the keys were fetched."""
    if any(subject not in write.resolution.keys for subject in subjects):
        raise SubjectRegisteredMeanwhile("A node was written meanwhile.")


def _shown(nodes: Mapping[UUID, KeptNode], node_id: UUID) -> KeptNode:
    node = nodes.get(node_id)
    if node is None or not node.shown:
        raise NotFound("There is no such node.", node_id=str(node_id))
    return node


def _nothing(_: GraphChanges) -> dict[str, Any]:
    return {}


def _never(_: Mapping[str, Any]) -> GraphChanges:
    raise RuntimeError("an upsert has no idempotency key: it is one by itself")
