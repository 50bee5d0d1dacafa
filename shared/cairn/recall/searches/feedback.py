"""What readers say of the nodes a search returned, above all of those nobody asked for.

Counted by recipe, reason and signal (`lifecycle.stats`); a signal of proactive nodes that is mostly
of no use is muted (`proactive`). It changes no ranking.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from cairn.kernel.errors import NotFound

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock
    from cairn.recall.ports import Report

DIRECT = "direct"
PROACTIVE = "proactive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """Whether a node was of use. `retrieval_reason` is direct or proactive, as the answer said.

    `signal` is the answer's `proactive_signal`, of a proactive node.
    """

    search_id: UUID
    node_id: UUID
    useful: bool
    retrieval_reason: str = DIRECT
    signal: str | None = None


class FeedbackStore(Protocol):
    """Where feedback is kept, each call in a transaction of its own."""

    def returned(self, principal: Principal, search_id: UUID, node_id: UUID) -> bool | None:
        """Return whether a search returned a node; None for a search the principal may not see."""
        ...

    def keep(self, principal: Principal, feedback: Feedback, now: datetime) -> str | None:
        """Keep the principal's last word on a node of a search; return the search's recipe."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveFeedback:
    """The use case."""

    store: FeedbackStore
    clock: Clock
    note: Report | None = None

    def __call__(self, principal: Principal, feedback: Feedback) -> Feedback:
        """Keep `feedback` and return it. NotFound for a search or a node of it that is not there.

        A direct result must be among those the search returned; proactive ones are shown beside
        them and are taken at the caller's word.
        """
        returned = self.store.returned(principal, feedback.search_id, feedback.node_id)
        if returned is None or (feedback.retrieval_reason == DIRECT and not returned):
            raise NotFound(
                "No search of yours returned this node.", search_id=str(feedback.search_id)
            )
        recipe = self.store.keep(principal, feedback, self.clock())
        if self.note is not None:
            self.note("recall.feedback", _line_of(principal, feedback, recipe))
        return feedback


def _line_of(principal: Principal, feedback: Feedback, recipe: str | None) -> dict[str, Any]:
    return {
        "workspace_id": str(principal.workspace_id),
        "search_id": str(feedback.search_id),
        "recipe": recipe,
        "retrieval_reason": feedback.retrieval_reason,
        "signal": feedback.signal,
        "useful": int(feedback.useful),  # a share is its average
    }
