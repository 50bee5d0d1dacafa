"""Which function makes the rows of which type of ledger entry. Pure, in the areas' `rows` modules.

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
from cairn.ledger.entry import Entry
from cairn.writing.ports import Subject

Texts = Mapping[UUID, str]
"""The texts of nodes an entry refers to as context."""

WITH_TEXTS: Mapping[str, str] = {
    "memory.remembered": "memories.rows.remembered",
    "memory.deleted": "memories.rows.deleted",
    "memory.restored": "memories.rows.restored",
    "memory.corrected": "memories.rows.replaced",
    "memory.merged": "memories.rows.replaced",
    "memory.moved": "memories.rows.replaced",
    "conversation.opened": "conversations.plan.opened",
    "message.recorded": "conversations.plan.recorded",
}
"""By entry type, (entry, meta, body, texts) -> rows, as `area.module.function`."""

WITHOUT_TEXTS: Mapping[str, str] = {
    "conversation.changed": "conversations.plan.changed",
    "memory.corroborated": "memories.rows.corroborated",
    "memory.pinned": "memories.rows.pinned",
    "memory.refreshed": "memories.rows.refreshed",
    "memory.withheld": "memories.rows.withheld",
    "memory.released": "memories.rows.released",
    "memory.accessed": "ageing.rows.accessed",
    "node.enriched": "enrichment.rows.enriched",
    "event.observed": "events.rows.observed",
    "report.written": "reports.rows.written",
    "node.written": "nodes.rows.written",
    "node.compiled": "nodes.rows.compiled",
    "node.labelled": "nodes.rows.labelled",
    "node.deleted": "nodes.rows.deleted",
    "summary.written": "summaries.rows.written",
    "truth.compiled": "summaries.rows.compiled",
    "summary.described": "summaries.rows.described",
    "profile.derived": "profiles.rows.derived",
    "node.expired": "ageing.rows.expired",
    "node.archived": "ageing.rows.archived",
    "node.restored": "ageing.rows.restored",
    "node.purged": "ageing.rows.purged",
    "edge.written": "nodes.rows.related",
    "graph.node_upserted": "memory_graph.rows.node_upserted",
    "graph.edge_upserted": "memory_graph.rows.edge_upserted",
    "entity.alias_added": "nodes.rows.alias_added",
    "entity.alias_removed": "nodes.rows.alias_removed",
    "entity.merged": "nodes.rows.merged",
    "entity.unmerged": "nodes.rows.unmerged",
    "entity.split": "nodes.rows.split",
    "consolidation.applied": "consolidation.rows.applied",
    "document.received": "documents.rows.received",
    "document.chunks_stored": "documents.rows.chunks_stored",
    "document.stored": "documents.rows.stored",
    "document.deleted": "documents.rows.deleted",
    "subject.forgotten": "forgetting.rows.forgotten",
    "source.forgotten": "forgetting.rows.forgotten",
    "taint.applied": "taint.rows.applied",
    "taint.extended": "taint.rows.extended",
    "taint.lifted": "taint.rows.lifted",
    "task.started": "tasks.draft.started",
    "task.updated": "tasks.draft.changed",
    "task.completed": "tasks.draft.changed",
    "workflow.step_ended": "workflows.rows.step_ended",
    "intent.created": "discovery.intents.rows.created",
    "intent.updated": "discovery.intents.rows.updated",
    "intent.changed": "discovery.intents.rows.changed",
    "member.profile_written": "discovery.intents.rows.profile_written",
    "premise.added": "discovery.intents.rows.premise_added",
    "premise.retracted": "discovery.intents.rows.premises_retracted",
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
    module, _, function = name.rpartition(".")
    return getattr(import_module(f"cairn.{module}"), function)


def registered_subject(entry: Entry, body: Mapping[str, Any]) -> Subject:
    """Return the data subject that a `data_subject.registered` entry names."""
    return Subject(
        id=UUID(cast("str", entry.meta["subject_id"])),
        kind=body["kind"],
        natural_key=body["natural_key"],
    )
