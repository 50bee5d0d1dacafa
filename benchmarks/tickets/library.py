"""Documents for a benchmark, taken in by the product's own steps, in this process. No machine."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from benchmarks.objects import InMemoryObjects
from cairn.bootstrap.ingest import summariser
from cairn.bootstrap.parts import logger, platform
from cairn.documents.accept import AcceptDocument
from cairn.documents.finish import FinishIngestion
from cairn.documents.ingest import IngestDocument
from cairn.documents.ports import NewDocument
from cairn.enrichment.enrich import Enrich
from cairn.kernel.access import Scope
from cairn.writing.audience import GLOBAL_CLIENT

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cairn.adapters.postgres.database import Database
    from cairn.embedding.onnx import OnnxEmbedder
    from cairn.kernel.access import Principal
    from cairn.ledger.keys import KeyStore
    from cairn.writing.ports import Dispatcher


@dataclass(frozen=True, slots=True, kw_only=True)
class Library:
    """Takes documents in, from their bytes to their vectors."""

    opened: Database
    keys: KeyStore
    wake: Dispatcher
    embedder: OnnxEmbedder

    def take(self, principal: Principal, files: Sequence[Path]) -> None:
        """Ingest Markdown files; each is known by its name, as `kb://<name>`."""
        objects = InMemoryObjects()
        log = logger("bench", "CRITICAL")
        used = platform(self.opened, keys=self.keys, dispatcher=self.wake, log=log)
        accept = AcceptDocument(used, objects=objects)
        steps = IngestDocument(
            platform=used, objects=objects, tokens=self.embedder, summarise=summariser()
        )
        enrich = Enrich(platform=used, embedder=self.embedder)
        for file in files:
            given = NewDocument(
                source_uri=f"kb://{file.name}",
                client_id=GLOBAL_CLIENT,
                scope=Scope.ADMIN,
                content=file.read_bytes(),
                media_type="text/markdown",
            )
            ids = principal.workspace_id, accept(principal, given).ingestion_id
            steps.parse(*ids)
            steps.chunk(*ids)
            for batch in steps.store(*ids)["batches"]:
                enrich.batch(*ids, batch)
            FinishIngestion(used).succeed(*ids)
