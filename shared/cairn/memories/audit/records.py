"""What an audit of memories looks at and what it finds: records of any store, as data. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime


class Problem(StrEnum):
    """What can be wrong with memories."""

    NEAR_DUPLICATE = "near_duplicate"  # says what an older one of the same readers says
    CONTRADICTION = "contradiction"  # two of the same readers cannot both hold
    BOILERPLATE = "boilerplate"  # junk, or a sentence that many memories restate
    SECRET = "secret"  # a credential that slipped through
    LOOP = "re_ingestion_loop"  # what was recalled went in again
    ORPHAN = "orphan"  # lost what it belongs to
    UNREADABLE = "unreadable"  # a record of the export that is no memory


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryRecord:
    """One memory of whatever store. Only records of one `audience` are compared.

    `audience` says who may see it and whose it is; `source` who said it; `chain` by what it
    replaces others (a key or a subject), when it does.
    """

    id: str
    text: str
    audience: str = ""
    kind: str = "fact"
    source: str | None = None
    recorded_at: datetime | None = None
    active: bool = True
    chain: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One example: which records, why, and their texts, shortened and without credentials."""

    records: tuple[str, ...]
    why: str
    texts: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """How many records have a problem, their share of all looked at, and some examples."""

    count: int
    share: float
    examples: tuple[Finding, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReport:
    """What an audit found. `left_out` records came after the limit and were not compared.

    `scanned` texts beside the records were looked through for credentials only.
    `compared_by` says how near-duplicates were confirmed: the embedding model, or words.
    """

    records: int
    scanned: int
    left_out: int
    compared_by: str
    problems: Mapping[str, Found]

    def above(self, percent: float) -> list[str]:
        """Return the problems that more than so many percent of the records have."""
        return [name for name, one in self.problems.items() if 100 * one.share > percent]
