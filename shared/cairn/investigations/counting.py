"""What is counted of a transition, once it is committed: refusals, and evidence that was used."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.investigations import citations
from cairn.investigations.state import State
from cairn.kernel.metrics import Metric

if TYPE_CHECKING:
    from cairn.investigations.situation import Change
    from cairn.investigations.state import Investigation
    from cairn.kernel.metrics import Metrics


def count(metrics: Metrics, investigation: Investigation, change: Change) -> None:
    """Tell the metrics of a transition."""
    workspace = investigation.workspace_id
    for fact in change.facts:
        if fact.type == "action.denied":
            metrics(
                Metric.SAFETY_DENIALS,
                1,
                workspace=workspace,
                outcome=fact.meta["reason"],
                connector=fact.body.get("connector", ""),
            )
    if change.target is State.WRITING_BACK and change.memory.evidence:
        metrics(Metric.RETRIEVAL_HIT_RATE, hit_rate(change), workspace=workspace)


def hit_rate(change: Change) -> float:
    """Return the share of what was found that the summary cites, 0 to 1."""
    found = [citations.parse(one.citation) for one in change.memory.evidence]
    cited = citations.citations(change.memory.summary)
    used = [one for one in found if one and any(citations.resolves(c, [one]) for c in cited)]
    return len(used) / len(found)
