"""The stores of the write path in memory, for tests. One process, one writer at a time."""

from __future__ import annotations

from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, fields, replace
from threading import RLock
from typing import TYPE_CHECKING, Any
from uuid import UUID

from tests.fakes.ageing import InMemoryAgeing
from tests.fakes.agent import (
    InMemoryActions,
    InMemoryApprovals,
    InMemoryInvestigations,
    InMemorySlots,
)
from tests.fakes.connectors import InMemoryConnectors
from tests.fakes.documents import (
    InMemoryDocuments,
    InMemoryIngestions,
    InMemoryUploads,
)
from tests.fakes.embeddings import (
    InMemoryEmbeddings,
    InMemoryGraphState,
    InMemoryOutbox,
)
from tests.fakes.events import InMemoryEvents
from tests.fakes.grants import InMemoryGrants
from tests.fakes.graph_nodes import InMemoryAliases, InMemoryGraphNodes
from tests.fakes.people import (
    InMemoryCandidates,
    InMemoryChannels,
    InMemoryEscalations,
    InMemoryOpinions,
)
from tests.fakes.taints import NoTaints
from tests.fakes.tickets import (
    InMemoryPersonas,
    InMemoryTicketMessages,
    InMemoryTickets,
    InMemoryTicketSources,
    InMemoryWriteBacks,
)
from tests.fakes.webhooks import InMemoryWebhooks, NoMessaging

from cairn.graph.edge import Edge, EdgeStrength
from cairn.graph.node import Label, Node, NodeChange, State
from cairn.graph.projection import Alias
from cairn.kernel.errors import Conflict, NotFound
from cairn.ledger.chain import empty_head, head_of
from cairn.memories.identity import Link, Message, Session, StoredMemory
from cairn.writing.audience import Audience
from cairn.writing.corroboration import KnownMemory
from cairn.writing.ports import OutboxRow, StoredAnswer, Subject

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Generator, Iterable, Mapping, Sequence
    from datetime import datetime

    from cairn.connectors.connector import Registered
    from cairn.documents.ports import Ingestion, Upload
    from cairn.embedding.port import Vectors
    from cairn.forgetting.ports import Forgetting
    from cairn.graph.projection import DocumentRemoval, EdgeRow, NodeRow, Projection
    from cairn.investigations.ports import (
        ActionRow,
        Approval,
        Candidate,
        Channel,
        Escalation,
        Opinion,
        StepRow,
    )
    from cairn.investigations.state import Investigation
    from cairn.kernel.access import Principal
    from cairn.ledger.entry import Entry, Head
    from cairn.safety.grants import GrantRow
    from cairn.tickets.ticket import (
        MessageRow,
        PersonaVersion,
        ReplyRow,
        TicketRow,
        TicketSource,
        WriteBackPart,
    )
    from cairn.webhooks.webhooks import DeliveryView, Webhook
    from cairn.writing.webhook_events import Delivery

_FOUND = (State.ACTIVE, State.PROVISIONAL)
_GONE = (State.DELETED, State.QUARANTINED)
_AROUND = 4  # messages read on either side of a span
_CLEARED = ("context_text", "compiled_truth")  # "" clears these
_UNCHANGED = {"workspace_id", "id", "revive", *_CLEARED, "accesses", "last_accessed_at"}
_CHANGES = tuple(field.name for field in fields(NodeChange) if field.name not in _UNCHANGED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Version:
    """A node as it stood over ledger positions [from_position, to_position)."""

    from_position: int
    to_position: int | None
    node: Node


@dataclass
class Tables:
    """The rows of one workspace. Values are frozen, so a copy of the containers is a snapshot."""

    head: Head
    entries: list[Entry] = field(default_factory=list["Entry"])
    nodes: dict[UUID, Node] = field(default_factory=dict[UUID, Node])
    created: dict[UUID, int] = field(default_factory=dict[UUID, int])
    versions: dict[UUID, tuple[Version, ...]] = field(
        default_factory=dict[UUID, "tuple[Version, ...]"]
    )
    edges: dict[UUID, Edge] = field(default_factory=dict[UUID, Edge])
    closed_edges: dict[UUID, tuple[Edge, datetime]] = field(
        default_factory=dict[UUID, "tuple[Edge, datetime]"]
    )
    aliases: dict[tuple[str, str, str], Alias] = field(
        default_factory=dict[tuple[str, str, str], Alias]
    )
    subjects: dict[tuple[str, str], UUID] = field(default_factory=dict[tuple[str, str], UUID])
    outbox: dict[UUID, OutboxRow] = field(default_factory=dict[UUID, OutboxRow])
    unsent: set[UUID] = field(default_factory=set[UUID])
    failed: dict[UUID, str] = field(default_factory=dict[UUID, str])
    ingestions: dict[UUID, Ingestion] = field(default_factory=dict[UUID, "Ingestion"])
    executions: dict[UUID, str] = field(default_factory=dict[UUID, str])
    uploads: dict[tuple[UUID, UUID], Upload] = field(
        default_factory=dict[tuple[UUID, UUID], "Upload"]
    )
    cached_vectors: dict[tuple[bytes, int], Vectors] = field(
        default_factory=dict[tuple[bytes, int], "Vectors"]
    )
    cached_tokens: dict[tuple[bytes, int], bytes] = field(
        default_factory=dict[tuple[bytes, int], bytes]
    )
    embeddings: dict[tuple[UUID, int], tuple[int, tuple[Vectors, ...]]] = field(
        default_factory=dict[tuple[UUID, int], "tuple[int, tuple[Vectors, ...]]"]
    )
    answers: dict[tuple[UUID, str], tuple[StoredAnswer, datetime]] = field(
        default_factory=dict[tuple[UUID, str], "tuple[StoredAnswer, datetime]"]
    )
    forgettings: dict[UUID, Forgetting] = field(default_factory=dict[UUID, "Forgetting"])

    grants: dict[UUID, GrantRow] = field(default_factory=dict[UUID, "GrantRow"])
    grant_uses: set[tuple[UUID, UUID]] = field(default_factory=set[tuple[UUID, UUID]])

    webhooks: dict[UUID, tuple[Webhook, bytes]] = field(
        default_factory=dict[UUID, "tuple[Webhook, bytes]"]
    )
    deliveries: dict[UUID, tuple[DeliveryView, Delivery]] = field(
        default_factory=dict[UUID, "tuple[DeliveryView, Delivery]"]
    )

    tickets: dict[UUID, TicketRow] = field(default_factory=dict[UUID, "TicketRow"])
    ticket_sources: dict[UUID, tuple[TicketSource, bytes, str | None]] = field(
        default_factory=dict[UUID, "tuple[TicketSource, bytes, str | None]"]
    )
    ticket_deliveries: dict[tuple[UUID, str], datetime] = field(
        default_factory=dict[tuple[UUID, str], "datetime"]
    )
    write_backs: dict[tuple[UUID, str], tuple[UUID, WriteBackPart]] = field(
        default_factory=dict[tuple[UUID, str], "tuple[UUID, WriteBackPart]"]
    )
    write_backs_begun: dict[tuple[UUID, str], datetime] = field(
        default_factory=dict[tuple[UUID, str], "datetime"]
    )
    ticket_messages: dict[UUID, MessageRow] = field(default_factory=dict[UUID, "MessageRow"])
    ticket_replies: dict[UUID, ReplyRow] = field(default_factory=dict[UUID, "ReplyRow"])
    personas: dict[tuple[str, int], PersonaVersion] = field(
        default_factory=dict[tuple[str, int], "PersonaVersion"]
    )

    connectors: dict[str, tuple[Registered, bytes]] = field(
        default_factory=dict[str, "tuple[Registered, bytes]"]
    )
    investigations: dict[UUID, Investigation] = field(default_factory=dict[UUID, "Investigation"])
    snapshots: dict[UUID, bytes] = field(default_factory=dict[UUID, bytes])
    steps: dict[UUID, tuple[StepRow, ...]] = field(
        default_factory=dict[UUID, "tuple[StepRow, ...]"]
    )
    slots: dict[int, UUID] = field(default_factory=dict[int, UUID])
    approvals: dict[UUID, Approval] = field(default_factory=dict[UUID, "Approval"])
    tokens: dict[UUID, str] = field(default_factory=dict[UUID, str])
    actions: dict[UUID, ActionRow] = field(default_factory=dict[UUID, "ActionRow"])
    escalations: dict[UUID, Escalation] = field(default_factory=dict[UUID, "Escalation"])
    channels: dict[str, tuple[Channel, bytes]] = field(
        default_factory=dict[str, "tuple[Channel, bytes]"]
    )
    opinions: dict[tuple[UUID, UUID], Opinion] = field(
        default_factory=dict[tuple[UUID, UUID], "Opinion"]
    )
    candidates: dict[UUID, Candidate] = field(default_factory=dict[UUID, "Candidate"])

    def snapshot(self) -> Tables:
        """Return a copy that later writes do not reach."""
        return Tables(**{field.name: copy(getattr(self, field.name)) for field in fields(self)})


class InMemoryTransactions:
    """Implements `PreparingTransactions` in `Tables`; a failed block leaves nothing."""

    def __init__(self) -> None:
        self.workspaces: dict[UUID, Tables] = {}
        self._lock = RLock()
        self._running: set[tuple[UUID, UUID, str]] = set()

    def create_workspace(self, workspace_id: UUID) -> None:
        """Open a workspace with an empty chain."""
        self.workspaces[workspace_id] = Tables(head=empty_head(workspace_id))

    @contextmanager
    def reading(
        self, principal: Principal, *, timeout_ms: int | None = None
    ) -> Generator[InMemoryStores]:
        """Open a transaction over a snapshot."""
        with self._lock:
            yield InMemoryStores(self._tables(principal).snapshot(), principal)

    @contextmanager
    def writing(
        self, principal: Principal, *, once: str | None = None
    ) -> Generator[InMemoryStores]:
        """Open the one writing transaction; its rows stand when the block ends well."""
        name = (principal.workspace_id, principal.principal_id, once or "")
        if once is not None and name in self._running:
            raise Conflict(
                "A request with this Idempotency-Key is still running.",
                reason="idempotency-in-flight",
            )
        self._running.add(name)
        try:
            with self._lock:
                tables = self._tables(principal).snapshot()
                yield InMemoryStores(tables, principal)
                self.workspaces[principal.workspace_id] = tables
        finally:
            self._running.discard(name)

    @contextmanager
    def preparing(
        self, principal: Principal
    ) -> Generator[tuple[InMemoryStores, Callable[[], None]]]:
        """Open it with a function that does nothing: there is one writer at a time."""
        with self.writing(principal) as stores:
            yield stores, lambda: None

    def _tables(self, principal: Principal) -> Tables:
        tables = self.workspaces.get(principal.workspace_id)
        if tables is None:
            raise NotFound("There is no such workspace.", reason="workspace")
        return tables


class InMemoryStores:
    """What of `Stores` a write, a document and the embed stage use, in memory."""

    def __init__(self, tables: Tables, principal: Principal) -> None:
        self._tables = tables
        self._principal = principal

    @property
    def ledger(self) -> InMemoryLedger:
        """Return the chain."""
        return InMemoryLedger(self._tables)

    @property
    def memories(self) -> InMemoryMemories:
        """Return what planning reads."""
        return InMemoryMemories(self._tables, self._principal)

    @property
    def nodes(self) -> InMemoryNodes:
        """Return the projections."""
        return InMemoryNodes(self._tables)

    @property
    def subjects(self) -> InMemorySubjects:
        """Return the data subjects."""
        return InMemorySubjects(self._tables)

    @property
    def outbox(self) -> InMemoryOutbox:
        """Return the work that follows."""
        return InMemoryOutbox(self._tables)

    @property
    def idempotency(self) -> InMemoryIdempotency:
        """Return the answers given."""
        return InMemoryIdempotency(self._tables, self._principal)

    @property
    def investigations(self) -> InMemoryInvestigations:
        """Return the investigations."""
        return InMemoryInvestigations(self._tables)

    @property
    def slots(self) -> InMemorySlots:
        """Return how many run at once."""
        return InMemorySlots(self._tables)

    @property
    def approvals(self) -> InMemoryApprovals:
        """Return the questions to people."""
        return InMemoryApprovals(self._tables)

    @property
    def actions(self) -> InMemoryActions:
        """Return the tool calls."""
        return InMemoryActions(self._tables)

    @property
    def escalations(self) -> InMemoryEscalations:
        """Return the calls of people."""
        return InMemoryEscalations(self._tables)

    @property
    def channels(self) -> InMemoryChannels:
        """Return where people are called."""
        return InMemoryChannels(self._tables)

    @property
    def opinions(self) -> InMemoryOpinions:
        """Return what people said."""
        return InMemoryOpinions(self._tables)

    @property
    def candidates(self) -> InMemoryCandidates:
        """Return what may be learned."""
        return InMemoryCandidates(self._tables)

    @property
    def tickets(self) -> InMemoryTickets:
        """Return the tickets, which are the queue."""
        return InMemoryTickets(self._tables)

    @property
    def ticket_messages(self) -> InMemoryTicketMessages:
        """Return what requesters wrote later."""
        return InMemoryTicketMessages(self._tables)

    @property
    def ticket_sources(self) -> InMemoryTicketSources:
        """Return where tickets come from."""
        return InMemoryTicketSources(self._tables)

    @property
    def write_backs(self) -> InMemoryWriteBacks:
        """Return what went back to the sources."""
        return InMemoryWriteBacks(self._tables)

    @property
    def personas(self) -> InMemoryPersonas:
        """Return the personas with their versions."""
        return InMemoryPersonas(self._tables)

    @property
    def events(self) -> InMemoryEvents:
        """Return events in the order of their sessions."""
        return InMemoryEvents(self._tables, self._principal)

    @property
    def graph_nodes(self) -> InMemoryGraphNodes:
        """Return nodes of any label and their edges."""
        return InMemoryGraphNodes(self._tables, self._principal)

    @property
    def aliases(self) -> InMemoryAliases:
        """Return other names of entities."""
        return InMemoryAliases(self._tables)

    @property
    def documents(self) -> InMemoryDocuments:
        """Return documents and their parts."""
        return InMemoryDocuments(self._tables, self._principal)

    @property
    def ingestions(self) -> InMemoryIngestions:
        """Return runs of documents through the machine."""
        return InMemoryIngestions(self._tables)

    @property
    def uploads(self) -> InMemoryUploads:
        """Return announced uploads."""
        return InMemoryUploads(self._tables, self._principal)

    @property
    def embeddings(self) -> InMemoryEmbeddings:
        """Return vectors and their cache."""
        return InMemoryEmbeddings(self._tables)

    @property
    def graph_state(self) -> InMemoryGraphState:
        """Return what the graph knows of nodes already."""
        return InMemoryGraphState(self._tables)

    @property
    def taints(self) -> NoTaints:
        """Return what is not trusted."""
        return NoTaints()

    @property
    def ageing(self) -> InMemoryAgeing:
        """Return what has aged."""
        return InMemoryAgeing(self._tables)

    @property
    def connectors(self) -> InMemoryConnectors:
        """Return the connectors agents act through."""
        return InMemoryConnectors(self._tables)

    @property
    def grants(self) -> InMemoryGrants:
        """Return what people allowed in advance."""
        return InMemoryGrants(self._tables)

    @property
    def messaging(self) -> NoMessaging:
        return NoMessaging()

    @property
    def webhooks(self) -> InMemoryWebhooks:
        """Return who is told of what."""
        return InMemoryWebhooks(self._tables)


@dataclass(frozen=True)
class InMemoryLedger:
    """`PostgresLedger` in memory."""

    tables: Tables

    def head(self) -> Head:
        """Return where the chain ends."""
        return self.tables.head

    def append(self, entries: Sequence[Entry]) -> None:
        """Append sealed entries and move the head."""
        for entry in entries:
            if entry.position != self.tables.head.position + 1:
                raise RuntimeError("the ledger head moved inside a writing transaction")
            self.tables.entries.append(entry)
            self.tables.head = head_of(entry)

    def trace_at(self, position: int) -> str | None:
        """Return the trace id of the entry at a position, if it is of a trace."""
        found = [entry.trace_id for entry in self.tables.entries if entry.position == position]
        return found[0] if found else None

    def page(self, *, after: int, limit: int, type_: str | None = None) -> list[Entry]:
        """Return up to `limit` entries above position `after`."""
        found = [entry for entry in self.tables.entries if entry.position > after]
        return [item for item in found if type_ in (None, item.type)][:limit]


@dataclass(frozen=True)
class InMemoryMemories:
    """`PostgresMemories` in memory."""

    tables: Tables
    principal: Principal

    def known(self, dedup_keys: Collection[str]) -> Mapping[str, tuple[KnownMemory, ...]]:
        """Return the active and superseded memories of each identity that has any."""
        found: dict[str, tuple[KnownMemory, ...]] = {}
        for node in self._nodes():
            key = node.dedup_key
            if key in dedup_keys and key and node.state in (*_FOUND, State.SUPERSEDED):
                known = KnownMemory(
                    id=node.id,
                    position=self.tables.created[node.id],
                    observed_by=node.observed_by,
                    valid_from=node.valid_from,
                    active=node.state != State.SUPERSEDED,
                )
                found[key] = (*found.get(key, ()), known)
        return found

    def links(self, places: Sequence[tuple[str, datetime]]) -> Mapping[str, tuple[Link, ...]]:
        """Return the links around each (chain key, moment), by chain key."""
        found: dict[str, dict[UUID, Link]] = {}
        for key, moment in places:
            chain = sorted(
                (self._link(node) for node in self._nodes() if node.chain_key == key),
                key=lambda link: (link.valid_from, link.position),
            )
            before = [link for link in chain if link.valid_from <= moment][-1:]
            after = [link for link in chain if link.valid_from > moment][:1]
            for link in (*before, *after):
                found.setdefault(key, {})[link.id] = link
        return {key: tuple(links.values()) for key, links in found.items()}

    def messages(self, session: Session, first: int, last: int) -> tuple[Message, ...]:
        """Return a session's messages from `first` to `last`, and some more on either side."""
        found = sorted(
            (
                Message(id=node.id, sequence=node.sequence, text=node.text)
                for node in self._nodes()
                if node.session_id == session.session_id
                and node.sequence is not None
                and node.state in _FOUND
                and _audience(node) == session.audience
            ),
            key=lambda message: (message.sequence, message.id),
        )
        before = [item for item in found if item.sequence < first][-_AROUND:]
        after = [item for item in found if item.sequence > last][:_AROUND]
        return (*before, *(item for item in found if first <= item.sequence <= last), *after)

    def find(self, memory_id: UUID) -> StoredMemory | None:
        """Return a memory, deleted or not, that the principal's agent may see."""
        node = self.tables.nodes.get(memory_id)
        if node is None or node.label != Label.MEMORY or not self._is_visible(node):
            return None
        if not self.principal.finds(node.agents):
            return None
        numbered = node.session_id is not None and node.sequence is not None
        return StoredMemory(
            id=node.id,
            position=node.position,
            deleted=node.state == State.DELETED,
            data_subjects=node.data_subjects,
            session=Session(session_id=node.session_id or "", audience=_audience(node))
            if numbered
            else None,
            sequence=node.sequence,
            text=node.text,
        )

    def _nodes(self) -> Iterable[Node]:
        return (
            node
            for node in self.tables.nodes.values()
            if self._is_visible(node) and node.state not in _GONE
        )

    def _is_visible(self, node: Node) -> bool:
        return node.scope in self.principal.allowed_scopes

    def _link(self, node: Node) -> Link:
        position = self.tables.created[node.id]
        return Link(
            id=node.id, valid_from=node.valid_from, valid_to=node.valid_to, position=position
        )


@dataclass(frozen=True)
class InMemoryNodes:
    """`PostgresNodes` in memory, with versions and the unique ends of the database."""

    tables: Tables

    def apply(self, projections: Sequence[Projection]) -> None:
        """Apply rows in order."""
        for projection in projections:
            for row in projection.nodes:
                self._apply_node(row)
            for edge in projection.edges:
                self._apply_edge(edge)
            for removal in projection.removals:
                self._remove(removal)
            InMemoryAliases(self.tables).apply(projection.aliases)

    def _apply_node(self, row: NodeRow) -> None:
        present = self.tables.nodes.get(row.id)
        if isinstance(row, Node):
            if present is None:
                self.tables.created[row.id] = row.position
                self._keep(row)
        elif present is not None and present.position <= row.position:
            self._keep(_changed(present, row))

    def _remove(self, removal: DocumentRemoval) -> None:
        for node in list(self.tables.nodes.values()):
            if node.document_id == removal.document_id and node.state not in _GONE:
                gone = NodeChange(
                    workspace_id=removal.workspace_id,
                    id=node.id,
                    position=removal.position,
                    state=State.DELETED,
                    deleted_at=removal.deleted_at,
                )
                self._apply_node(gone)

    def _keep(self, node: Node) -> None:
        for other in self.tables.nodes.values():
            if other.id != node.id and _collide(node, other):
                raise Conflict("This collides with what is stored.", reason="constraint")
        self.tables.nodes[node.id] = node
        earlier = [
            replace(version, to_position=node.position) if version.to_position is None else version
            for version in self.tables.versions.get(node.id, ())
            if version.from_position != node.position
        ]
        version = Version(from_position=node.position, to_position=None, node=node)
        self.tables.versions[node.id] = (*earlier, version)

    def _apply_edge(self, row: EdgeRow) -> None:
        if isinstance(row, EdgeStrength):
            self._strengthen(row)
        elif isinstance(row, Edge):
            if not any(_same_ends(row, edge) for edge in self.tables.edges.values()):
                self.tables.edges.setdefault(row.id, row)
        else:
            closed = self.tables.edges.pop(row.id, None)
            if closed is not None:
                self.tables.closed_edges[row.id] = closed, row.superseded_at

    def _strengthen(self, row: EdgeStrength) -> None:
        for edge in self.tables.edges.values():
            if _same_ends(row, edge):
                if edge.position < row.position:
                    grown = replace(edge, weight=edge.weight + row.amount, position=row.position)
                    self.tables.edges[edge.id] = grown
                return
        self.tables.edges[row.id] = Edge(
            workspace_id=row.workspace_id,
            id=row.id,
            view=row.view,
            relation=row.relation,
            source_id=row.source_id,
            target_id=row.target_id,
            valid_from=row.recorded_at,
            recorded_at=row.recorded_at,
            position=row.position,
            weight=row.amount,
        )


@dataclass(frozen=True)
class InMemorySubjects:
    """`PostgresSubjects` in memory."""

    tables: Tables

    def find(self, wanted: Collection[tuple[str, str]]) -> Mapping[tuple[str, str], UUID]:
        """Return the ids of the (kind, natural key) pairs that are known."""
        return {item: self.tables.subjects[item] for item in wanted if item in self.tables.subjects}

    def add(self, subject: Subject, position: int) -> None:
        """Project a registered subject; a second time changes nothing."""
        self.tables.subjects.setdefault((subject.kind, subject.natural_key), subject.id)

    def forgotten(self, subject_ids: Collection[UUID]) -> Collection[UUID]:
        """Return those of the subjects whose forgetting was begun."""
        return {forgetting.subject_id for forgetting in self.tables.forgettings.values()} & set(
            subject_ids
        )

    def barred(self, marks: Collection[bytes]) -> Collection[UUID]:
        """Return the subjects whose forgetting is under way, by the marks of their names."""
        open_ = (
            forgetting
            for forgetting in self.tables.forgettings.values()
            if forgetting.status != "done"
        )
        return {item.subject_id for item in open_ if item.mark in marks}


@dataclass(frozen=True)
class InMemoryIdempotency:
    """`PostgresIdempotency` in memory."""

    tables: Tables
    principal: Principal

    def find(self, key: str, now: datetime) -> StoredAnswer | None:
        """Return the answer given under this key within 24 hours."""
        kept = self.tables.answers.get((self.principal.principal_id, key))
        if kept is None or (now - kept[1]).total_seconds() >= 24 * 3600:
            return None
        return kept[0]

    def save(self, key: str, answer: StoredAnswer, now: datetime) -> None:
        """Keep the answer."""
        self.tables.answers[self.principal.principal_id, key] = (answer, now)


def _changed(node: Node, change: NodeChange) -> Node:
    given: dict[str, Any] = {
        name: value for name in _CHANGES if (value := getattr(change, name)) is not None
    }
    for name in _CLEARED:
        if getattr(change, name) is not None:
            given[name] = getattr(change, name) or None
    if change.accesses and node.position < change.position:
        given["access_count"] = node.access_count + change.accesses
    if change.last_accessed_at:
        known = node.last_accessed_at or change.last_accessed_at
        given["last_accessed_at"] = max(known, change.last_accessed_at)
    if change.revive:
        replaced = ("valid_to",) if node.superseded_by else ()
        cleared = ("deleted_at", "superseded_by", "superseded_at", *replaced)
        given |= {"state": State.ACTIVE, **dict.fromkeys(cleared)}
    return replace(node, **given)


def _same_ends(row: Edge | EdgeStrength, edge: Edge) -> bool:
    """Return whether both are the one edge of their view and relation between two nodes."""
    return (row.view, row.relation, row.source_id, row.target_id) == (
        edge.view,
        edge.relation,
        edge.source_id,
        edge.target_id,
    )


def _collide(node: Node, other: Node) -> bool:
    """Return whether two found nodes share an identity or are both ends of one chain."""
    if node.state not in _FOUND or other.state not in _FOUND:
        return False
    same = node.dedup_key is not None and node.dedup_key == other.dedup_key
    return same or (node.chain_key is not None and node.chain_key == other.chain_key)


def _audience(node: Node) -> Audience:
    return Audience(scope=node.scope, agents=node.agents, data_subjects=node.data_subjects)
