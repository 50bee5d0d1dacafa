"""What a workspace may ask for in a minute, with all of its keys. Not where it is counted."""

from __future__ import annotations

from dataclasses import dataclass

KINDS = ("queries", "items", "bytes")
"""What is counted; the database knows each kind by its place here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Allowances:
    """How much of each kind is allowed in a minute."""

    queries: int = 6_000
    items: int = 60_000
    bytes: int = 268_435_456


USUAL = Allowances()


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What one request asks for: searches and other reads, items to be written, bytes sent."""

    queries: int = 0
    items: int = 0
    bytes: int = 0


NO_LOAD = Load()


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """What a workspace has asked too much of, and after how many seconds it may ask again."""

    kind: str
    limit: int
    retry_after: float
