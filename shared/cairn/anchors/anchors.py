"""Writing anchors, and verifying a chain against them. Not when that is done: see `verify_chains`.

What an anchor is stands in `ledger/anchors.py`. Anchors of a workspace are objects below
`heads/<workspace>/`; their names begin with their number, so that the newest is found by name.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from cairn.kernel.records import convert
from cairn.kernel.text.canonical import format_timestamp
from cairn.ledger.anchors import Anchor, AnchorFault, missing_numbers, new_anchor, read_anchor
from cairn.reading.browse import verify_chain
from cairn.reading.views import LedgerVerification

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cairn.kernel.access import Principal
    from cairn.kernel.clock import Clock
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.ledger.entry import Head
    from cairn.ledger.signing import Signer, Verifier
    from cairn.reading.browse import LedgerReader


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultFound:
    """One thing wrong: with the object `key`, or with anchor `number`, or from `position` on."""

    reason: AnchorFault
    key: str | None = None
    number: int | None = None
    position: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchorsFound:
    """What the anchors are: `trusted` of them, the newest one's place and time, and the faults."""

    trusted: int
    last_position: int | None
    last_verified_at: datetime | None
    faults: tuple[FaultFound, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AnchoredVerification(LedgerVerification):
    """A chain's verification that also holds it to its anchors.

    `ok` needs the chain to hold, to agree with every trusted anchor, and no fault but `unsigned`.
    """

    anchors: AnchorsFound


OVERDUE_AFTER = timedelta(hours=48)
"""Anchors are written daily; two days without one mean that nobody writes them."""

HEADS = "heads/"
"""Below which name the anchors of all workspaces are kept."""

_NUMBERED = re.compile(r"heads/[^/]+/\d{10}-")


class AnchorStore(Protocol):
    """An object store whose objects cannot be changed or removed for a time.

    Raises Unavailable when it cannot be reached, NotFound when a key holds nothing.
    """

    def put(self, key: str, content: bytes) -> None:
        """Store bytes; they are kept as the bucket's retention says."""
        ...

    def keys(self, prefix: str) -> Sequence[str]:
        """Return all keys that begin with `prefix`, in order."""
        ...

    def folders(self, prefix: str) -> Sequence[str]:
        """Return what stands between `prefix` and the next slash, of all keys, in order."""
        ...

    def read(self, keys: Sequence[str]) -> Sequence[bytes]:
        """Return the newest bytes of each key, in the order given."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteAnchors:
    """Reads the newest trusted anchor of a workspace and writes the next."""

    store: AnchorStore
    signer: Signer
    verifier: Verifier
    clock: Clock

    def latest(self, workspace_id: UUID) -> Anchor | None:
        """Return the newest anchor that can be trusted; objects that cannot are passed over."""
        numbered = [key for key in self.store.keys(_prefix(workspace_id)) if _NUMBERED.match(key)]
        for key in reversed(numbered):
            read = read_anchor(self.store.read([key])[0], workspace_id, self.verifier)
            if isinstance(read, Anchor):
                return read
        return None

    def workspaces(self) -> Sequence[UUID]:
        """Return every workspace that has objects; `latest` says whether one is trusted."""
        ids: list[UUID] = []
        for name in self.store.folders(HEADS):
            try:
                workspace_id = UUID(name)
            except ValueError:
                continue
            if str(workspace_id) == name:
                ids.append(workspace_id)
        return ids

    def write(self, head: Head, last: Anchor | None) -> bool:
        """Anchor a head that was just verified; False when `last` already says the same."""
        if head.position == (last.position if last else 0):
            return False
        now = self.clock()
        number = last.number + 1 if last else 1
        key = f"{_prefix(head.workspace_id)}{number:010d}-{format_timestamp(now)}.json"
        self.store.put(key, new_anchor(self.signer, head, last, now))
        return True


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifyAnchored:
    """Verifies a workspace's chain from its beginning and against all its anchors."""

    transactions: Transactions[Stores]
    store: AnchorStore
    verifier: Verifier
    clock: Clock

    def __call__(self, principal: Principal, /) -> AnchoredVerification:
        """Read the anchors first: a chain may have grown past them, never be behind them."""
        workspace_id = principal.workspace_id
        anchors, faults = self._read(workspace_id)
        missing = [
            FaultFound(reason=AnchorFault.MISSING, number=number)
            for number in missing_numbers(anchors)
        ]
        last = max(anchors, key=lambda anchor: anchor.position, default=None)
        with self.transactions.reading(principal) as stores:
            hashes = hashes_by_position(anchors)
            verification = verify_chain(stores.ledger, workspace_id, anchors=hashes)
            overdue = self._overdue(stores.ledger, last.position if last else 0)
        report = AnchorsFound(
            trusted=len(anchors),
            last_position=last.position if last else None,
            last_verified_at=last.verified_at if last else None,
            faults=(*faults, *missing, *overdue),
        )
        return _combined(verification, report)

    def _read(self, workspace_id: UUID) -> tuple[list[Anchor], list[FaultFound]]:
        keys = self.store.keys(_prefix(workspace_id))
        anchors: list[Anchor] = []
        faults: list[FaultFound] = []
        for key, stored in zip(keys, self.store.read(keys), strict=True):
            read = read_anchor(stored, workspace_id, self.verifier)
            if isinstance(read, Anchor):
                anchors.append(read)
            else:
                faults.append(FaultFound(reason=read, key=key))
        return anchors, faults

    def _overdue(self, ledger: LedgerReader, anchored: int) -> list[FaultFound]:
        """Return the first entry past the newest anchor when it should have one by now.

        Without any anchor it is told at once: the chain was held to nothing.
        """
        for entry in ledger.page(after=anchored, limit=1):
            if self.clock() - entry.recorded_at > OVERDUE_AFTER:
                return [FaultFound(reason=AnchorFault.OVERDUE, position=entry.position)]
            if not anchored:
                return [FaultFound(reason=AnchorFault.UNANCHORED, position=entry.position)]
        return []


def hashes_by_position(anchors: Sequence[Anchor]) -> Mapping[int, bytes]:
    """Return the hash each anchored position must have; of two that differ the older holds.

    They differ only after a rewrite, and then the chain agrees with the newer at most.
    """
    newest_first = sorted(anchors, key=lambda anchor: anchor.number, reverse=True)
    return {anchor.position: anchor.hash for anchor in newest_first}


def _combined(verification: LedgerVerification, report: AnchorsFound) -> AnchoredVerification:
    faulty = any(fault.reason is not AnchorFault.UNSIGNED for fault in report.faults)
    return convert(
        verification, AnchoredVerification, ok=verification.ok and not faulty, anchors=report
    )


def _prefix(workspace_id: UUID) -> str:
    return f"{HEADS}{workspace_id}/"
