"""Whom an investigation is about: its ticket's data subjects, and those of all it has read.

What was read stands in its working memory and in its entries. Forgetting anyone it is about must
reach them there, so they are sealed with the keys of all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.investigations import citations

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.investigations.journal import Journal
    from cairn.investigations.ports import AgentStores
    from cairn.investigations.state import Evidence, Investigation, WorkingMemory


def owners(
    journal: Journal, investigation: Investigation, before: WorkingMemory, after: WorkingMemory
) -> tuple[UUID, ...]:
    """Return the data subjects of an investigation with those of what was read meanwhile."""
    known = {one.citation for one in _read(before)}
    new = [one for one in _read(after) if one.citation not in known]
    if not new:
        return investigation.data_subjects
    about = set(investigation.data_subjects)
    nodes = {one.node_id for one in new if one.node_id is not None}
    with journal.reading(investigation.workspace_id) as stores:
        for node in stores.graph_nodes.find(nodes).values() if nodes else ():
            about |= set(node.data_subjects)
        for cited in filter(None, (citations.parse(one.citation) for one in new)):
            about |= _subjects(stores, cited)
    return tuple(sorted(about))


def _read(memory: WorkingMemory) -> tuple[Evidence, ...]:
    return (*memory.evidence, *memory.facts, *memory.similar, *memory.recent)


def _subjects(stores: AgentStores, cited: citations.Citation) -> set[UUID]:
    """Return whom a ticket or a tool's result is about."""
    found = None
    if cited.id is not None and cited.kind is citations.Kind.TICKET:
        found = stores.tickets.find(cited.id)
    elif cited.id is not None and cited.kind is citations.Kind.TOOL:
        found = stores.actions.find(cited.id)
    return set(found.data_subjects) if found else set()
