"""What verifying a chain against its anchors answers. The API makes its schemas of these."""

from dataclasses import dataclass
from datetime import datetime

from cairn.ledger.anchors import AnchorFault
from cairn.reading.views import LedgerVerification


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
