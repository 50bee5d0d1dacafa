"""The step that searches the memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.kernel.access.system import system_principal
from cairn.kernel.text.elements import one_line
from cairn.recall.query import SearchRequest
from cairn.recall.rendering import citation_of
from cairn.workflows.doing import RESULT_CHARS, subjects_of, whole_lines
from cairn.workflows.moving import Result
from cairn.writing.audience import GLOBAL_CLIENT

if TYPE_CHECKING:
    from collections.abc import Callable

    from cairn.kernel.access import Principal
    from cairn.recall.records import FoundNode
    from cairn.recall.results import RecallResult
    from cairn.workflows.definition import Step
    from cairn.workflows.moving import Opened
    from cairn.writing.platform import Platform

RESULTS = 10
NOTHING_FOUND = "Nothing that is stored bears on this."


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchMemory:
    """Searches the memory, of the run's client where it has one."""

    platform: Platform
    recall: Callable[[Principal, SearchRequest], RecallResult]

    def __call__(self, opened: Opened, step: Step) -> Result:
        """Return what was found as cited lines, and whom it is about."""
        client = opened.run.client_id
        request = SearchRequest(
            query=step.query or "",
            limit=step.limit or RESULTS,
            clients=(GLOBAL_CLIENT, client) if client else (),
        )
        principal = system_principal(opened.workspace_id)
        nodes = [result.node for result in self.recall(principal, request).results]
        lines = [f"- {_line(node)} {citation_of(node)}" for node in nodes]
        output = {
            "text": whole_lines(lines) or NOTHING_FOUND,
            "count": len(nodes),
            "ids": [str(node.id) for node in nodes],
        }
        with self.platform.transactions.reading(principal) as stores:
            about = subjects_of(stores, [node.id for node in nodes])
        return Result(output=output, about=about)


def _line(node: FoundNode) -> str:
    return one_line(node.text or node.summary or node.title or "")[:RESULT_CHARS]
