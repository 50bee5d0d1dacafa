"""Evidence for an investigation from the workspace's own search. Implements `Recaller`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cairn.investigations.state import Evidence
from cairn.kernel.access.system import system_principal
from cairn.recall.query import MAX_RESULTS, SearchRequest
from cairn.recall.rendering import citation_of
from cairn.tickets.subjects import customer_key

if TYPE_CHECKING:
    from collections.abc import Sequence
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.recall.records import FoundNode
    from cairn.recall.results import RecallResult

RECIPE = "knowledge"
GLOBAL = "global"
MARGIN = 4
"""Times more is asked for than wanted: a part of a document may be found more than once."""


class Recalls(Protocol):
    """Searches. See `retrieval.recall.Recall`."""

    def __call__(self, principal: Principal, request: SearchRequest) -> RecallResult: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeRecaller:
    """Searches documents by the recipe `knowledge`; a customer sees their own and everybody's."""

    recall: Recalls

    def __call__(
        self, workspace_id: UUID, query: str, *, customer: str, limit: int = 6
    ) -> Sequence[Evidence]:
        """As `Recaller`, the best first, each part of a document once."""
        mine = tuple(
            dict.fromkeys(one for one in (GLOBAL, customer, customer_key(customer)) if one)
        )
        most = min(limit * MARGIN, MAX_RESULTS)
        request = SearchRequest(query=query, recipe=RECIPE, limit=most, clients=mine)
        found = self.recall(system_principal(workspace_id), request)
        best: dict[str, Evidence] = {}
        for node in (one.node for one in found.results if one.node.client_id in mine):
            cited = citation_of(node)
            best.setdefault(cited, Evidence(citation=cited, text=_text(node), node_id=node.id))
        return list(best.values())[:limit]


def _text(node: FoundNode) -> str:
    """Return what a node says: its summary where it has no text of its own."""
    return node.text or node.summary or node.title or ""
