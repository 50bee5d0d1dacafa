"""A chain in memory with its anchors, and what an owner of the database could do to it."""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from tests.fakes.anchors import InMemoryAnchors
from tests.unit.ledger.chains import NOW, WORKSPACE, new_entry

from cairn.adapters.files.signing import FileSigningKey, make_signing_key
from cairn.anchors.anchors import VerifyAnchored, WriteAnchors
from cairn.anchors.verify_chains import VerifyChains
from cairn.kernel.access.system import system_principal
from cairn.ledger.chain import empty_head, entry_hash, head_of, seal

if TYPE_CHECKING:
    from collections.abc import Generator
    from pathlib import Path
    from uuid import UUID

    from cairn.anchors.anchors import AnchoredVerification
    from cairn.ledger.entry import Entry, Head


@dataclass
class Chain:
    """Implements `reading.browse.LedgerReader` over a list."""

    entries: list[Entry] = field(default_factory=list["Entry"])

    def head(self) -> Head:
        return head_of(self.entries[-1]) if self.entries else empty_head(WORKSPACE)

    def page(self, *, after: int, limit: int, type_: str | None = None) -> list[Entry]:
        return self.entries[after : after + limit]

    def grow(self, count: int, at: datetime) -> None:
        start = len(self.entries)
        news = [new_entry(start + number) for number in range(count)]
        self.entries += seal(self.head(), news, at)

    def rewrite(self, position: int) -> None:
        """Change one entry and seal everything after it again, as the owner could."""
        head = head_of(self.entries[position - 2]) if position > 1 else empty_head(WORKSPACE)
        forged: list[Entry] = []
        for entry in self.entries[position - 1 :]:
            session = "forged" if entry.position == position else entry.session_id
            draft = replace(entry, session_id=session, prev_hash=head.hash)
            forged.append(replace(draft, hash=entry_hash(draft)))
            head = head_of(forged[-1])
        self.entries[position - 1 :] = forged


@dataclass
class _Stores:
    ledger: Chain
    views: Any = None


@dataclass
class Anchored:
    """A workspace whose chain is verified and anchored; `now` is the auditor's clock."""

    folder: Path
    chain: Chain = field(default_factory=Chain)
    store: InMemoryAnchors = field(default_factory=InMemoryAnchors)
    reports: list[tuple[str, dict[str, Any]]] = field(
        default_factory=list[tuple[str, dict[str, Any]]]
    )
    now: datetime = NOW
    seconds: float = 0.0

    def __post_init__(self) -> None:
        path = self.folder / "signing.pem"
        make_signing_key(path)
        self.key = FileSigningKey(path)

    @contextmanager
    def reading(self, *_: object, **__: object) -> Generator[_Stores]:
        yield _Stores(self.chain)

    writing = reading

    def clock(self) -> datetime:
        return self.now

    def workspaces(self) -> list[UUID]:
        return [WORKSPACE]

    @property
    def writer(self) -> WriteAnchors:
        return WriteAnchors(store=self.store, signer=self.key, verifier=self.key, clock=self.clock)

    @property
    def auditor(self) -> VerifyChains:
        return VerifyChains(
            workspaces=self.workspaces,
            transactions=self,  # pyright: ignore[reportArgumentType]
            anchors=self.writer,
            report=lambda event, fields: self.reports.append((event, fields)),
            clock=self.clock,
            stopwatch=self.stopwatch,
        )

    def audit(self) -> dict[str, Any]:
        return self.auditor(seconds=60.0)

    def stopwatch(self) -> float:
        """A second later each time it is asked."""
        self.seconds += 1.0
        return self.seconds

    def verify(self) -> AnchoredVerification:
        check = VerifyAnchored(
            transactions=self,  # pyright: ignore[reportArgumentType]
            store=self.store,
            verifier=self.key,
            clock=self.clock,
        )
        return check(system_principal(WORKSPACE))

    def day(self, entries: int = 3) -> None:
        """Write some entries and run the daily audit."""
        self.chain.grow(entries, self.now)
        self.audit()
        self.now += timedelta(days=1)
