"""Verify every workspace's chain and keep its head where the database's owner cannot change it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import CairnError, Conflict, Unavailable
from cairn.ledger.chain import empty_head, head_of
from cairn.ledger.entry import Head
from cairn.ledger.verify import Verification, verify
from cairn.reading.browse import entries_of, verify_chain

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import date
    from uuid import UUID

    from cairn.anchors.anchors import WriteAnchors
    from cairn.kernel.clock import Clock, Stopwatch
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.ledger.anchors import Anchor
    from cairn.reading.browse import LedgerReader
    from cairn.reading.views import LedgerVerification


MAX_WORKSPACES = 500
"""Chains one execution of the machine looks after; its history stays far below 25,000 events."""

READ_WHOLE = 10_000
"""A chain whose newest anchor is not beyond this position is read from its beginning every day."""

WHOLE_EVERY_DAYS = 7
"""Longer chains are read from their newest anchor, and from the beginning once in so many days."""

CHUNK = 5_000
"""Entries between two looks at the stopwatch."""


class ChainsBroken(Conflict):
    """At least one chain does not hold; which ones was reported before. Wakes the operator."""

    code = "ledger-broken"


@dataclass(slots=True, kw_only=True)
class _Outcome:
    """Counts of one run; `broken` says where, `failed` what could not be looked at."""

    verified: int = 0
    anchored: int = 0
    waiting: int = 0
    broken: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    failed: list[str] = field(default_factory=list[str])


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyChains:
    """Runs daily, a chain at a time, and on demand for all.

    Each chain is recomputed, from its beginning or its newest anchor, and held to that anchor; then
    its head is anchored. A chain that does not hold gets no anchor; one that has anchors and is not
    there was deleted whole. `report(event, fields)` tells people.
    """

    workspaces: Callable[[], Sequence[UUID]]
    transactions: Transactions[Stores]
    anchors: WriteAnchors
    report: Callable[[str, dict[str, Any]], None]
    clock: Clock
    stopwatch: Stopwatch

    def __call__(self, *, seconds: float) -> dict[str, Any]:
        """Return how many chains were verified, anchored, and left `waiting` for want of time.

        One bad workspace does not keep the others from being anchored. Raises ChainsBroken after
        the last when a chain did not hold, Unavailable when one could not be looked at.
        """
        outcome, until = _Outcome(), self.stopwatch() + seconds
        for workspace_id in self._all():
            left = until - self.stopwatch()
            if left > 0:
                self._count(workspace_id, outcome, left)
            else:
                outcome.waiting += 1
        if outcome.broken:
            raise ChainsBroken("A chain does not hold.", broken=outcome.broken)
        if outcome.failed:
            raise Unavailable("Not every chain was anchored.", reason="not-anchored")
        return {name: getattr(outcome, name) for name in ("verified", "anchored", "waiting")}

    def page(self, after: UUID | None) -> dict[str, Any]:
        """Return the next `workspaces` behind `after`, and `next`, null at the end."""
        behind = [item for item in self._all() if after is None or item > after]
        page = [str(item) for item in behind[:MAX_WORKSPACES]]
        return {
            "workspaces": [{"workspace_id": item, "position": None, "hash": None} for item in page],
            "next": page[-1] if len(page) < len(behind) else None,
        }

    def chain(
        self, workspace_id: UUID, position: int | None, hash_: str | None, *, seconds: float
    ) -> dict[str, Any]:
        """Verify one chain and anchor its head; `more` when time ran out before the entries did.

        `position` and `hash_` are what such an answer named, none at first. Raises ChainsBroken
        for a chain that does not hold, Unavailable when it cannot be looked at.
        """
        reached = (position, bytes.fromhex(hash_)) if position and hash_ else None
        try:
            return self._chain(workspace_id, reached, self.stopwatch() + seconds)
        except ChainsBroken as exc:
            for fault in _faults(exc):
                self.report("ledger.broken", fault)
            raise
        except CairnError as exc:
            fault = {"workspace_id": str(workspace_id), "error": exc.code, "reason": exc.reason}
            self.report("ledger.not_anchored", fault)
            raise

    def _all(self) -> Sequence[UUID]:
        """Return the workspaces there are, and those that only the anchors still know."""
        anchored = set(self.anchors.workspaces())  # first: a chain is there before its anchors
        present = set(self.workspaces())
        gone = {item for item in anchored - present if self.anchors.latest(item) is not None}
        return sorted(present | gone)

    def _count(self, workspace_id: UUID, outcome: _Outcome, seconds: float) -> None:
        try:
            done = self.chain(workspace_id, None, None, seconds=seconds)
        except ChainsBroken as exc:
            outcome.verified += 1
            outcome.broken += _faults(exc)
        except CairnError:
            outcome.failed.append(str(workspace_id))
        else:
            outcome.verified += not done["more"]
            outcome.waiting += done["more"]
            outcome.anchored += done["anchored"]

    def _chain(
        self, workspace_id: UUID, reached: tuple[int, bytes] | None, until: float
    ) -> dict[str, Any]:
        last = self.anchors.latest(workspace_id)
        if workspace_id not in self.workspaces():
            raise _broken(workspace_id, 1, "workspace-missing")
        hashes = {last.position: last.hash} if last else {}
        with self.transactions.reading(system_principal(workspace_id)) as stores:
            ledger = stores.ledger
            if reached:
                at = _held(_again(ledger, workspace_id, *reached))
            elif last and _from_anchor(last, self.clock().date()):
                at = _held(_again(ledger, workspace_id, last.position, last.hash))
            else:
                at = empty_head(workspace_id)
            while ledger.head().position - at.position > CHUNK:
                if self.stopwatch() >= until:
                    return _answer(at, more=True)
                to = at.position + CHUNK
                due = {position: hash_ for position, hash_ in hashes.items() if position <= to}
                entries = entries_of(ledger, after=at.position, up_to=to)
                at = _held(verify(entries, workspace_id=workspace_id, start=at, anchors=due))
            verification = verify_chain(ledger, workspace_id, start=at, anchors=hashes)
            if not verification.ok:
                raise _broken(workspace_id, verification.first_bad_position, verification.reason)
            head = _head(ledger, verification)
        return _answer(head, more=False, anchored=self.anchors.write(head, last))


def _from_anchor(last: Anchor, today: date) -> bool:
    """Return whether a chain may be read from its newest anchor today; each has a day of its own
    on which it is read whole."""
    whole = (last.workspace_id.int + today.toordinal()) % WHOLE_EVERY_DAYS == 0
    return last.position > READ_WHOLE and not whole


def _again(ledger: LedgerReader, workspace_id: UUID, position: int, hash_: bytes) -> Verification:
    """Return whether the entry at a position that was verified before is still the one it was."""
    entries = ledger.page(after=position - 1, limit=1)
    if not entries:
        hashes = {position: hash_}
        return verify((), workspace_id=workspace_id, start=ledger.head(), anchors=hashes)
    before = Head(
        workspace_id=workspace_id,
        position=position - 1,
        hash=entries[0].prev_hash,
        recorded_at=entries[0].recorded_at,
    )
    return verify(entries, workspace_id=workspace_id, start=before, anchors={position: hash_})


def _held(verification: Verification) -> Head:
    if not verification.ok:
        reason = verification.reason.value if verification.reason else None
        raise _broken(verification.head.workspace_id, verification.first_bad_position, reason)
    return verification.head


def _broken(workspace_id: UUID, position: int | None, reason: str | None) -> ChainsBroken:
    fault = {"workspace_id": str(workspace_id), "first_bad_position": position, "reason": reason}
    return ChainsBroken("A chain does not hold.", broken=[fault])


def _faults(broken: ChainsBroken) -> list[dict[str, Any]]:
    return cast("list[dict[str, Any]]", broken.fields["broken"])


def _answer(at: Head, *, more: bool, anchored: bool = False) -> dict[str, Any]:
    return {
        "workspace_id": str(at.workspace_id),
        "position": at.position,
        "hash": at.hash.hex(),
        "more": more,
        "anchored": int(anchored),
    }


def _head(ledger: LedgerReader, verification: LedgerVerification) -> Head:
    """Return the head that was verified, which others may have grown past since."""
    ends = (
        ledger.page(after=verification.head_position - 1, limit=1)
        if verification.head_position
        else []
    )
    return head_of(ends[0]) if ends else empty_head(verification.workspace_id)
