"""Where a new fact or status belongs in its chain. Pure; what it decides becomes ledger meta.

A chain is ordered by the world's clock: a fact that arrives late takes its place in the middle,
closed by the next one, and never replaces what is newer than itself.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """One memory of a chain, as far as the chain is concerned."""

    id: UUID
    valid_from: datetime
    valid_to: datetime | None
    position: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """The neighbours a new link gets, and the moment each stops being true."""

    previous: Link | None
    following: Link | None
    valid_to: datetime | None
    previous_valid_to: datetime | None

    @property
    def is_end(self) -> bool:
        """True when the new link is the one that holds now."""
        return self.following is None

    def closed_previous(self) -> Link:
        """Return the link before, as the placement leaves it."""
        if self.previous is None:
            raise ValueError("nothing comes before this link")
        return replace(self.previous, valid_to=self.previous_valid_to)


def place(chain: Iterable[Link], valid_from: datetime, valid_to: datetime | None) -> Placement:
    """Return the place of a link that holds from `valid_from` (until `valid_to` when given).

    Of two that start together, the one recorded later follows.
    """
    ordered = sorted(chain, key=lambda link: (link.valid_from, link.position))
    before = [link for link in ordered if link.valid_from <= valid_from]
    after = [link for link in ordered if link.valid_from > valid_from]
    previous = before[-1] if before else None
    following = after[0] if after else None
    return Placement(
        previous=previous,
        following=following,
        valid_to=_earlier(valid_to, following.valid_from if following else None),
        previous_valid_to=_earlier(previous.valid_to, valid_from) if previous else None,
    )


def _earlier(one: datetime | None, other: datetime | None) -> datetime | None:
    given = [moment for moment in (one, other) if moment is not None]
    return min(given) if given else None
