"""The document use cases over the in-memory stores, run as the state machine runs them."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import TYPE_CHECKING, Any

from tests.fakes.keys import InMemoryKeyStore
from tests.fakes.stores import InMemoryTransactions
from tests.support.embedding import HashingEmbedder
from tests.support.platform import platform_of
from tests.support.remembering import NOON, Sent, admin_of

from benchmarks.objects import InMemoryObjects
from cairn.documents.accept import AcceptDocument
from cairn.documents.finish import FinishIngestion
from cairn.documents.ingest import IngestDocument
from cairn.documents.ports import DocumentAccepted, NewDocument
from cairn.enrichment.enrich import Enrich
from cairn.graph.node import Label, Node
from cairn.kernel.access import Scope
from cairn.kernel.ids import new_id
from cairn.memories.delete import DeleteDocument

if TYPE_CHECKING:
    from uuid import UUID

    from tests.fakes.stores import Tables

    from cairn.kernel.access import Principal

URI = "https://example.org/handbook.md"


@dataclass
class Documents:
    """A workspace with everything a document needs; times tick a second a call."""

    transactions: Any = field(default_factory=InMemoryTransactions)
    principal: Principal = field(default_factory=lambda: admin_of(new_id()))
    objects: InMemoryObjects = field(default_factory=InMemoryObjects)
    keys: InMemoryKeyStore = field(default_factory=InMemoryKeyStore)
    embedder: HashingEmbedder = field(default_factory=HashingEmbedder)
    sent: Sent = field(default_factory=Sent)

    def __post_init__(self) -> None:
        if isinstance(self.transactions, InMemoryTransactions):
            self.transactions.create_workspace(self.principal.workspace_id)
        seconds = count()
        platform = platform_of(
            self.transactions,
            clock=lambda: NOON + timedelta(seconds=next(seconds)),
            keys=self.keys,
            dispatcher=self.sent,
        )
        self.accept = AcceptDocument(platform, objects=self.objects)
        self.steps = IngestDocument(
            platform=platform,
            objects=self.objects,
            tokens=self.embedder,
            summarise=lambda text, level: f"{level}: {text[:40]}",
        )
        self.finish = FinishIngestion(platform)
        self.enrich = Enrich(platform=platform, embedder=self.embedder)
        self.delete = DeleteDocument(platform)

    @property
    def workspace_id(self) -> UUID:
        return self.principal.workspace_id

    @property
    def tables(self) -> Tables:
        return self.transactions.workspaces[self.workspace_id]

    def send(self, text: str, **changes: Any) -> DocumentAccepted:
        """Accept a Markdown document of one source."""
        given = {"source_uri": URI, "client_id": "global", "scope": Scope.ADMIN} | changes
        return self.accept(self.principal, NewDocument(content=text.encode(), **given))

    def run(self, accepted: DocumentAccepted) -> dict[str, Any]:
        """Run every state of the machine and return what storing said."""
        ids = self.workspace_id, accepted.ingestion_id
        self.steps.parse(*ids)
        self.steps.chunk(*ids)
        stored = self.steps.store(*ids)
        for batch in stored["batches"]:
            self.enrich.batch(*ids, batch)
        self.finish.succeed(*ids)
        return stored

    def ingest(self, text: str, **changes: Any) -> dict[str, Any]:
        """Accept a document and run it to its end."""
        return self.run(self.send(text, **changes))

    def found(self, label: Label = Label.CHUNK) -> dict[str, Node]:
        """Return the nodes of a label that are not deleted, by text (sections by headings)."""
        nodes = [node for node in self.tables.nodes.values() if node.label == label]
        return {
            (" > ".join(node.headings or ()) if label == Label.SECTION else node.text): node
            for node in nodes
            if node.deleted_at is None
        }

    def edges(self, relation: str) -> set[tuple[UUID, UUID]]:
        """Return (source, target) of the edges that hold."""
        edges = self.tables.edges.values()
        return {(edge.source_id, edge.target_id) for edge in edges if edge.relation == relation}
