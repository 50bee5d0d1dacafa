"""Which function makes the rows of which type of ledger entry. They are pure, in `*_rows` modules.

Replaying the ledger gives the same rows again: no clock, id, embedder, model or index is asked.
What had to be looked up when the entry was made (the place in a chain, the neighbours) stands in
its `meta` as ids. A module is imported with the first entry of its own: no process writes them all.
"""

from collections.abc import Callable, Mapping
from functools import cache
from importlib import import_module
from typing import Any, cast
from uuid import UUID

from cairn.graph.projection import Projection
from cairn.ingestion.ports import Subject
from cairn.ledger.entry import Entry

Texts = Mapping[UUID, str]
"""The texts of nodes an entry refers to as context."""

WITH_TEXTS: Mapping[str, str] = {
    "memory.remembered": "memory_rows.remembered",
    "memory.deleted": "memory_rows.deleted",
    "conversation.opened": "messages_rows.opened",
    "message.recorded": "messages_rows.recorded",
}
"""By entry type, (entry, meta, body, texts) -> rows, as `module.function` of this package."""

WITHOUT_TEXTS: Mapping[str, str] = {
    "memory.corroborated": "memory_rows.corroborated",
    "memory.accessed": "access_rows.accessed",
    "node.enriched": "graph_rows.enriched",
    "event.observed": "event_rows.observed",
    "report.written": "reports_rows.written",
    "node.written": "node_rows.written",
    "node.compiled": "node_rows.compiled",
    "node.deleted": "node_rows.deleted",
    "summary.written": "summary_rows.written",
    "truth.compiled": "summary_rows.compiled",
    "summary.described": "summary_rows.described",
    "node.expired": "lifecycle_rows.expired",
    "node.archived": "lifecycle_rows.archived",
    "node.restored": "lifecycle_rows.restored",
    "node.purged": "lifecycle_rows.purged",
    "edge.written": "node_rows.related",
    "graph.node_upserted": "memory_graph_rows.node_upserted",
    "graph.edge_upserted": "memory_graph_rows.edge_upserted",
    "entity.alias_added": "entity_rows.alias_added",
    "entity.alias_removed": "entity_rows.alias_removed",
    "entity.merged": "entity_rows.merged",
    "entity.unmerged": "entity_rows.unmerged",
    "entity.split": "entity_rows.split",
    "consolidation.applied": "consolidation_rows.applied",
    "document.received": "document_rows.received",
    "document.chunks_stored": "document_rows.chunks_stored",
    "document.stored": "document_rows.stored",
    "document.deleted": "document_rows.deleted",
    "subject.forgotten": "forget_rows.forgotten",
    "source.forgotten": "forget_rows.forgotten",
    "taint.applied": "taint_rows.applied",
    "taint.extended": "taint_rows.extended",
    "taint.lifted": "taint_rows.lifted",
    "task.started": "task_rows.started",
    "task.updated": "task_rows.changed",
    "task.completed": "task_rows.changed",
}
"""By entry type, (entry, meta, body) -> rows."""


def project(entry: Entry, body: Mapping[str, Any], texts: Texts) -> Projection:
    """Return the rows of an entry; nothing for types that have no node projection.

    `body` is the decrypted body, {} when its key was destroyed (its rows then do not come back).
    """
    if entry.type in WITH_TEXTS:
        return projector(WITH_TEXTS[entry.type])(entry, entry.meta, body, texts)
    if entry.type in WITHOUT_TEXTS:
        return projector(WITHOUT_TEXTS[entry.type])(entry, entry.meta, body)
    return Projection()


@cache
def projector(name: str) -> Callable[..., Projection]:
    """Return the function that a table names."""
    module, _, function = name.partition(".")
    return getattr(import_module(f"cairn.ingestion.{module}"), function)


def registered_subject(entry: Entry, body: Mapping[str, Any]) -> Subject:
    """Return the data subject that a `data_subject.registered` entry names."""
    return Subject(
        id=UUID(cast("str", entry.meta["subject_id"])),
        kind=body["kind"],
        natural_key=body["natural_key"],
    )
