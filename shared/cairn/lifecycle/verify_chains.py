"""Verify every workspace's chain and keep its head where the database's owner cannot change it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from cairn.access.system import system_principal
from cairn.errors import CairnError, Conflict, Unavailable
from cairn.ledger.chain import empty_head, head_of
from cairn.retrieval.browse import verify_chain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from cairn.ledger.anchors import Anchor
    from cairn.ledger.entry import Head
    from cairn.retrieval.browse import BrowseStores, LedgerReader
    from cairn.retrieval.views import LedgerVerification
    from cairn.transaction import Transactions


class Anchoring(Protocol):
    """Keeps signed heads; `lifecycle.anchors.WriteAnchors`."""

    def latest(self, workspace_id: UUID) -> Anchor | None: ...
    def write(self, head: Head, last: Anchor | None) -> bool: ...


class ChainsBroken(Conflict):
    """At least one chain does not hold; which ones was reported before. Wakes the operator."""

    code = "ledger-broken"


@dataclass(slots=True, kw_only=True)
class _Outcome:
    """Counts of one run; `broken` says where, `failed` what could not be looked at."""

    verified: int = 0
    anchored: int = 0
    broken: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    failed: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyChains:
    """Runs daily and on demand.

    Each chain is recomputed from its beginning and held to its newest anchor, then its head is
    anchored. A chain that does not hold gets no anchor. `report(event, fields)` tells people.
    """

    workspaces: Callable[[], Sequence[UUID]]
    transactions: Transactions[BrowseStores]
    anchors: Anchoring
    report: Callable[[str, dict[str, Any]], None]

    def __call__(self) -> dict[str, Any]:
        """Return how many chains were verified and anchored.

        One bad workspace does not keep the others from being anchored. Raises ChainsBroken after
        the last when a chain did not hold, Unavailable when one could not be looked at.
        """
        outcome = _Outcome()
        for workspace_id in self.workspaces():
            try:
                self._one(workspace_id, outcome)
            except CairnError as exc:
                fault = {"workspace_id": str(workspace_id), "error": exc.code, "reason": exc.reason}
                self.report("ledger.not_anchored", fault)
                outcome.failed.append(str(workspace_id))
        if outcome.broken:
            raise ChainsBroken("A chain does not hold.", broken=outcome.broken)
        if outcome.failed:
            raise Unavailable("Not every chain was anchored.", reason="not-anchored")
        return {"verified": outcome.verified, "anchored": outcome.anchored}

    def _one(self, workspace_id: UUID, outcome: _Outcome) -> None:
        last = self.anchors.latest(workspace_id)
        known = {last.position: last.hash} if last else {}
        with self.transactions.reading(system_principal(workspace_id)) as stores:
            found = verify_chain(stores.ledger, workspace_id, anchors=known)
            head = _head(stores.ledger, found)
        outcome.verified += 1
        if not found.ok:
            fault = {
                "workspace_id": str(workspace_id),
                "first_bad_position": found.first_bad_position,
                "reason": found.reason,
            }
            self.report("ledger.broken", fault)
            outcome.broken.append(fault)
            return
        outcome.anchored += self.anchors.write(head, last)


def _head(ledger: LedgerReader, found: LedgerVerification) -> Head:
    """Return the head that was verified, which others may have grown past since."""
    ends = ledger.page(after=found.head_position - 1, limit=1) if found.head_position else []
    return head_of(ends[0]) if ends else empty_head(found.workspace_id)
