"""What runs by itself is begun once at a time, and waits longer after each failure."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store
from cairn.discovery.matching.retries import Retried

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID


FIRST = timedelta(minutes=4)
"""After the first failure; twice as long after each further one."""
MOST = timedelta(hours=6)
_CLAIM = {
    Retried.INTENT: "retry.claim_intent",
    Retried.OPPORTUNITY: "retry.claim_opportunity",
    Retried.NEGOTIATION: "retry.claim_negotiation",
}
_FAIL = {
    Retried.INTENT: "retry.fail_intent",
    Retried.OPPORTUNITY: "retry.fail_opportunity",
    Retried.NEGOTIATION: "retry.fail_negotiation",
}


class PostgresRetries(Store):
    """Claims on intents, opportunities and negotiations. What is done or moves loses its claim."""

    def claim(self, what: Retried, id_: UUID, now: datetime) -> bool:
        """Begin to run one; False while another run is at it, or its time has not come.

        It counts as failed until it is done: whoever is killed at it leaves it so.
        """
        parameters = {"id": id_, "now": now, "first": FIRST, "most": MOST}
        return self.run(_CLAIM[what], **parameters).rowcount == 1

    def fail(self, what: Retried, id_: UUID, problem: str) -> None:
        """Keep what a try came to, by code."""
        self.run(_FAIL[what], id=id_, problem=problem)

    def redrive(self) -> int:
        """Let everything that failed be tried again at once; return how many."""
        return self.value("retry.redrive")
