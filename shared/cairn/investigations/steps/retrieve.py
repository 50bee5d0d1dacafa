"""RETRIEVING: search the workspace's memory for evidence. Recall itself is `retrieval`'s."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cairn.investigations.ports import Change
from cairn.investigations.state import State, Step
from cairn.kernel.errors import Unavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from cairn.investigations.hiding import Hiding
    from cairn.investigations.planning.surrounds import KnowledgeRecaller
    from cairn.investigations.ports import Situation
    from cairn.investigations.state import Evidence, WorkingMemory
    from cairn.workspace.settings import EnvelopeSettings

SYSTEM = "recall"
LEAST = 6
"""Found by a search at the least; more where planners of the workspace are shown more."""

MAX_EVIDENCE = 60
"""Kept of an investigation; the oldest go. Models see far fewer."""

MAX_TEXT_CHARS = 4_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Retrieve:
    """Searches once for a query; the same one again, and degraded mode, find nothing."""

    recall: KnowledgeRecaller
    hiding: Hiding
    bounds: Callable[[UUID], EnvelopeSettings]

    def __call__(self, situation: Situation) -> Change:
        """Return PLANNING with what was found."""
        memory = situation.memory
        query = " ".join(memory.plan.query.split()) if memory.plan else ""
        if not query:
            return _nothing(memory, "", "There was nothing to search for.")
        if query in memory.queries:
            return _nothing(memory, "", "This was searched for before.")
        if memory.skip_retrieval:
            why = "Many tickets are waiting: nothing is searched for those of low priority."
            return _nothing(memory, query, why)
        return self._searched(situation, query)

    def _searched(self, situation: Situation, query: str) -> Change:
        memory = situation.memory
        customer = self.hiding.restored(memory.brief.customer, memory.vault)
        try:
            most = max(LEAST, self.bounds(situation.workspace_id).chunks)
            results = self.recall(situation.workspace_id, query, customer=customer, limit=most)
        except Unavailable as error:
            return _nothing(memory, query, error.detail)
        return self._add_evidence(situation, query, results)

    def _add_evidence(
        self, situation: Situation, query: str, results: Sequence[Evidence]
    ) -> Change:
        memory, hide = situation.memory, self.hiding.of(situation)
        by_citation = {item.citation: item for item in memory.evidence}
        for each in results:
            by_citation.pop(each.citation, None)
            by_citation[each.citation] = replace(each, text=hide(each.text[:MAX_TEXT_CHARS]))
        line = Step(
            system=SYSTEM,
            action="searched",
            detail=f"{len(results)} found for: {query}",
            kind="search",
            citations=tuple(evidence.citation for evidence in results),
        )
        memory = replace(
            memory,
            evidence=tuple(by_citation.values())[-MAX_EVIDENCE:],
            queries=(*memory.queries, query),
            vault=hide.vault,
            plan=None,
        )
        return Change(target=State.PLANNING, memory=memory, lines=(line,))


def _nothing(memory: WorkingMemory, query: str, why: str) -> Change:
    queries = (*memory.queries, query) if query else memory.queries
    line = Step(system=SYSTEM, action="skipped", detail=why, kind="search")
    memory = replace(memory, queries=queries, plan=None)
    return Change(target=State.PLANNING, memory=memory, lines=(line,))
