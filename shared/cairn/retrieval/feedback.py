"""What readers say of the nodes a search returned, above all of those nobody asked for.

Kept to be measured; it changes no ranking.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from cairn.errors import NotFound

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from cairn.access import Principal
    from cairn.clock import Clock

DIRECT = "direct"
PROACTIVE = "proactive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """Whether a node was of use. `retrieval_reason` is direct or proactive, as the answer said."""

    search_id: UUID
    node_id: UUID
    useful: bool
    retrieval_reason: str = DIRECT


class FeedbackStore(Protocol):
    """Where feedback is kept, each call in a transaction of its own."""

    def returned(self, principal: Principal, search_id: UUID, node_id: UUID) -> bool | None:
        """Return whether a search returned a node; None for a search the principal may not see."""
        ...

    def keep(self, principal: Principal, feedback: Feedback, now: datetime) -> None:
        """Keep the principal's last word on a node of a search."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveFeedback:
    """The use case."""

    store: FeedbackStore
    clock: Clock

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
        self.store.keep(principal, feedback, self.clock())
        return feedback
