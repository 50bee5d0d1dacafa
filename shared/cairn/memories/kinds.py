"""Kinds of memory and their lifecycles, and importance: 1 to 10, in four published bands."""

from dataclasses import dataclass
from enum import StrEnum

from cairn.graph.node import Category
from cairn.kernel.text.words import words


class MemoryKind(StrEnum):
    """What a memory is; its lifecycle follows from it (see LIFECYCLES)."""

    EVENT = "event"  # something that happened; append-only
    FACT = "fact"  # knowledge that evolves; replaced by key
    DECISION = "decision"  # a choice and its reasons; immutable
    STATUS = "status"  # the present state of something; replaced by subject


@dataclass(frozen=True, slots=True, kw_only=True)
class Lifecycle:
    """Whether a kind expires (days without use), decays, and by which field it is superseded."""

    expires_after_days: int | None
    decays: bool
    superseded_by: str | None


LIFECYCLES = {
    MemoryKind.EVENT: Lifecycle(expires_after_days=30, decays=False, superseded_by=None),
    MemoryKind.FACT: Lifecycle(expires_after_days=None, decays=True, superseded_by="key"),
    MemoryKind.DECISION: Lifecycle(expires_after_days=None, decays=False, superseded_by=None),
    MemoryKind.STATUS: Lifecycle(expires_after_days=None, decays=True, superseded_by="subject"),
}


DEFAULT_CATEGORY = {
    MemoryKind.EVENT: Category.EPISODIC,
    MemoryKind.FACT: Category.SEMANTIC,
    MemoryKind.DECISION: Category.SEMANTIC,
    MemoryKind.STATUS: Category.SEMANTIC,
}


IMPORTANCE_BANDS = {
    "critical": range(9, 11),
    "high": range(7, 9),
    "medium": range(4, 7),
    "low": range(1, 4),
}
"""Band -> the numbers in it."""

_STORED_AS = {"critical": 9, "high": 7, "medium": 5, "low": 2}


def importance_number(value: str | int) -> int:
    """Return 1..10 for a band's name or a number; ValueError for anything else."""
    if isinstance(value, str):
        if value not in _STORED_AS:
            raise ValueError(f"importance is one of {', '.join(_STORED_AS)}, or 1 to 10")
        return _STORED_AS[value]
    if not 1 <= value <= 10:
        raise ValueError("importance is 1 to 10")
    return value


def importance_band(number: int) -> str:
    """Return the name of the band that `number` (1..10) falls into."""
    return next(name for name, band in IMPORTANCE_BANDS.items() if number in band)


_BASE = {"decision": 7, "fact": 5, "status": 5, "event": 4}
_OTHERS = 5
_GRAVE_WORDS = """
    critical severe outage breach breached incident vulnerability compromised corrupted
    irreversible emergency fatal catastrophic lawsuit
"""
_BAD_WORDS = """
    error errors fail failed fails failing failure failures exception crash crashed timeout
    timeouts denied rejected broken blocked bug regression rollback escalated urgent
"""
_BINDING_WORDS = """
    must always never deadline required mandatory agreed decided promise promised contract
    approved important remember
"""
_GRAVE, _BAD, _BINDING = (
    frozenset(item.split()) for item in (_GRAVE_WORDS, _BAD_WORDS, _BINDING_WORDS)
)


def derived_importance(text: str, kind: str, *, failed: bool = False) -> int:
    """Return 1..10 by rules, for what a caller gave no importance.

    By kind: decision 7, event 4, others 5. Then the strongest of: a grave word +3, a failure (or
    a word for one) +2, a word that binds +1; three words or fewer without any of these -2.
    """
    tokens = words(text)
    results = set(tokens)
    more = (
        3 if results & _GRAVE else 2 if failed or results & _BAD else 1 if results & _BINDING else 0
    )
    if not more and len(tokens) <= 3:
        more = -2
    return max(1, min(10, _BASE.get(kind, _OTHERS) + more))
