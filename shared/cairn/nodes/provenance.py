"""What a written node came of: the task it names, else the conversation of its session. Pure.

Nodes about people and organisations should say what they came of; one that does not is written all
the same, with a warning.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from cairn.graph.edge import Relation
from cairn.graph.node import Label
from cairn.nodes.draft import EdgeDraft, NodeDraft
from cairn.writing.task_ports import no_such_task

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from uuid import UUID

    from cairn.nodes.ports import StoredNode

GATED = frozenset(
    {"person", "userprofile", "profile", "adminuser", "user", "organization", "organisation"}
    | {"localbusiness", "company", "customer", "contact"}
)
"""Labels, and types of entities, that are asked what they came of; compared case folded."""

MAKERS = frozenset({Label.TASK, Label.CONVERSATION, Label.MESSAGE})
"""Labels of what may have produced a node."""

WARNING = (
    "Nothing says what this came of: name the task as produced_by_task_id, or write it in the "
    "session of a conversation."
)


def sessions_of(drafts: Iterable[NodeDraft]) -> set[str]:
    """Return the sessions whose conversation is asked for: of nodes that name no maker."""
    return {one.session_id for one in drafts if one.session_id and not _makers(one)}


def placed(draft: NodeDraft, conversations: Mapping[str, UUID]) -> NodeDraft:
    """Return the draft with what produced it among its edges, where that is known."""
    conversation = conversations.get(draft.session_id or "")
    if conversation is None or _makers(draft):
        return draft
    edge = EdgeDraft(
        relation=Relation.PRODUCED,
        source_id=conversation,
        target_id=None,
        weight=1.0,
        properties={},
    )
    return replace(draft, edges=(*draft.edges, edge))


def warnings_of(draft: NodeDraft, known: Mapping[UUID, StoredNode]) -> tuple[str, ...]:
    """Return the warning of a person-like node that nothing produced; usually none.

    Raises NotFound when the task it names is no task.
    """
    task = known.get(draft.task_id) if draft.task_id else None
    if draft.task_id and (task is None or task.label != Label.TASK):
        raise no_such_task(draft.task_id)
    sort = draft.kind if draft.is_entity else draft.label
    if (sort or "").casefold() not in GATED:
        return ()
    labels = {known[one].label for one in _makers(draft) if one in known}
    return () if labels & MAKERS else (WARNING,)


def _makers(draft: NodeDraft) -> list[UUID]:
    return [
        edge.source_id
        for edge in draft.edges
        if edge.relation is Relation.PRODUCED and edge.source_id is not None
    ]
