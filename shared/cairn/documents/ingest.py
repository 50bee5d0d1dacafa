"""The steps of the `ingestion` machine that the ingest stage runs: parse, chunk, store.

Each step may be run again: its result is written under the ingestion's own keys, and ids of new
parts follow from the ingestion's id. Bodies travel through the object store, never through the
machine.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, TypeAlias

from pydantic import TypeAdapter

from cairn.documents.parsed import ParsedDocument
from cairn.documents.plan import DocumentPlan, SummarisedTree, with_summaries
from cairn.documents.ports import DocumentStatus
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import Conflict, NotFound
from cairn.kernel.text.scrub import scrub
from cairn.ledger.keys import key_subjects

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from uuid import UUID

    from cairn.documents.ports import Ingestion, ObjectStore
    from cairn.embedding.port import TextWindows
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.ledger.entry import Entry
    from cairn.writing.platform import Platform


@cache
def _parsed_json() -> TypeAdapter[ParsedDocument]:
    return TypeAdapter(ParsedDocument)  # built on first use: cold starts need no schema


@cache
def _tree_json() -> TypeAdapter[SummarisedTree]:
    return TypeAdapter(SummarisedTree)


Summarise: TypeAlias = "Callable[[str, str], str]"
"""Returns a summary of a text for a level: document, section or chunk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class IngestDocument:
    """Runs the steps; each returns what the state machine's history shows: ids and counts."""

    platform: Platform
    objects: ObjectStore
    tokens: TextWindows
    summarise: Summarise

    def parse(
        self, workspace_id: UUID, ingestion_id: UUID, *, execution: str | None = None
    ) -> dict[str, Any]:
        """Read the bytes, scrub what they say, and keep the blocks; note which execution runs."""
        from cairn.documents.parse import parse  # readers are loaded by this step only

        principal = system_principal(workspace_id)
        ingestion, _, described = self._load(principal, ingestion_id)
        content = self.objects.get(ingestion.object_key)
        parsed = parse(content, described["media_type"], title=described["title"])
        clean = parsed.with_text(lambda text: scrub(text).text)
        self.objects.put(
            _key(workspace_id, ingestion_id, "parsed"), _parsed_json().dump_json(clean)
        )
        counts = {"bytes": len(content), "blocks": len(clean.blocks)}
        self._advance(principal, ingestion_id, DocumentStatus.PARSED, counts, execution)
        return counts

    def chunk(self, workspace_id: UUID, ingestion_id: UUID) -> dict[str, Any]:
        """Cut the blocks into sections and chunks and summarise them."""
        from cairn.documents.split import split  # loaded by this step only

        principal = system_principal(workspace_id)
        parsed = _parsed_json().validate_json(
            self.objects.get(_key(workspace_id, ingestion_id, "parsed"))
        )
        tree = split(parsed, self.tokens.count_tokens)
        content = _tree_json().dump_json(with_summaries(tree, self.summarise))
        self.objects.put(_key(workspace_id, ingestion_id, "tree"), content)
        counts = {"sections": len(tree.sections), "chunks": len(tree.chunks)}
        self._advance(principal, ingestion_id, DocumentStatus.CHUNKED, counts)
        return counts

    def store(self, workspace_id: UUID, ingestion_id: UUID) -> dict[str, Any]:
        """Write what changed, a batch a transaction, and return the batches that need vectors."""
        principal = system_principal(workspace_id)
        ingestion, received, described = self._load(principal, ingestion_id)
        summarised = _tree_json().validate_json(
            self.objects.get(_key(workspace_id, ingestion_id, "tree"))
        )
        subjects = received.data_subjects
        keys = self.platform.keys.get_or_create(workspace_id, key_subjects(workspace_id, subjects))
        with self.platform.transactions.reading(principal) as stores:
            parts = stores.documents.parts(ingestion.document_id)
        if parts is None:
            raise NotFound("The document is gone.", document_id=str(ingestion.document_id))
        plan = DocumentPlan(
            ingestion=ingestion,
            received=received,
            described={**described, "title": summarised.tree.title},
            summarised=summarised,
            parts=parts,
            keys=keys,
            cipher=self.platform.cipher,
            new_id=self.platform.new_id,
        )
        for step in plan.steps():
            with self.platform.transactions.writing(principal) as stores:
                _check_current(stores, ingestion)
                step.write(stores, self.platform.clock())
        self._advance(principal, ingestion_id, DocumentStatus.STORED, plan.counts())
        self.objects.delete(ingestion.object_key)
        with self.platform.transactions.reading(principal) as stores:
            batches = list(stores.ingestions.batches(ingestion_id))
        return {"document_id": str(ingestion.document_id), "batches": batches, **plan.counts()}

    def _load(
        self, principal: Principal, ingestion_id: UUID
    ) -> tuple[Ingestion, Entry, Mapping[str, Any]]:
        with self.platform.transactions.reading(principal) as stores:
            ingestion = stores.ingestions.find(ingestion_id)
            if ingestion is None:
                raise NotFound("There is no such ingestion.", ingestion_id=str(ingestion_id))
            entry = stores.ingestions.entry(ingestion)
        owners = key_subjects(principal.workspace_id, entry.data_subjects)
        keys = self.platform.keys.get(principal.workspace_id, owners)
        body = self.platform.cipher.open(entry.id, entry.workspace_id, owners, keys, entry.body)
        return ingestion, entry, body

    def _advance(
        self,
        principal: Principal,
        ingestion_id: UUID,
        status: DocumentStatus,
        counts: Mapping[str, int],
        execution: str | None = None,
    ) -> None:
        with self.platform.transactions.writing(principal) as stores:
            stores.ingestions.advance(
                ingestion_id, status, self.platform.clock(), counts=counts, execution=execution
            )


def _check_current(stores: Stores, ingestion: Ingestion) -> None:
    """Raise Conflict when the source was sent again, or deleted, since it was accepted."""
    if not stores.ingestions.is_newest(ingestion):
        raise Conflict(
            "The same source was sent again; its newer ingestion goes on.",
            reason="superseded-ingestion",
        )
    document = stores.documents.visible(ingestion.document_id)
    if document and document.deleted_at is not None and document.position > ingestion.position:
        raise Conflict(
            "The document was deleted while it was ingested.", reason="deleted-meanwhile"
        )


def _key(workspace_id: UUID, ingestion_id: UUID, name: str) -> str:
    return f"ingestions/{workspace_id}/{ingestion_id}/{name}"
