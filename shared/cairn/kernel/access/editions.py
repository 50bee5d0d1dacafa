"""What a deployment offers of all that there is. A setting of its operator, not a licence."""

from __future__ import annotations

from dataclasses import dataclass

FULL_EDITION = "full"


@dataclass(frozen=True, slots=True, kw_only=True)
class Edition:
    """An edition by its name, and the tools that it leaves out."""

    name: str = FULL_EDITION
    without: frozenset[str] = frozenset()


FULL = Edition()
