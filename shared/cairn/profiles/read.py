"""Reading a client's profile: what the principal may see of the client, and nobody else's."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from functools import reduce
from typing import TYPE_CHECKING

from cairn.events.read import EventFilter
from cairn.graph.node import State
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.profiles.claims import NONE, Claims
from cairn.profiles.derive import derive
from cairn.reading.views import MemoryFilter
from cairn.writing.audience import GLOBAL_CLIENT

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.kernel.transaction import Transactions
    from cairn.profiles.derive import Profile

MAX_READ = 1_000
"""Memories, and events, that a profile is derived from: the newest."""


class About(StrEnum):
    """What a profile is asked for."""

    WHO_IS = "who_is"
    HOW_DOES = "how_does"
    PERSONALIZE = "personalize"


LEFT_OUT: Mapping[About, tuple[str, ...]] = {
    About.WHO_IS: ("preferences", "interests", "patterns"),
    About.HOW_DOES: ("facts", "preferences", "interests"),
    About.PERSONALIZE: ("facts", "skills", "patterns"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadProfile:
    """Derives the profile of a client from what stands at this moment."""

    transactions: Transactions[Stores]
    clock: Callable[[], datetime]

    def __call__(
        self, principal: Principal, client_id: str | None, *, about: About | None = None
    ) -> Profile:
        """Return a client's profile, the principal's own client's without a name.

        A client of whom nothing is known, or seen, has an empty one. Raises ValidationFailed when
        no client is named, and for the client of what is nobody's.
        """
        whose = client_id or principal.client_id
        if whose is None or whose == GLOBAL_CLIENT:
            wrong = "names whose profile it is to be"
            raise ValidationFailed(f"client_id {wrong}.", errors=[FieldError("client_id", wrong)])
        # What writes it is not for every cold start.
        from cairn.profiles.graph import pattern_id, profile_id

        where = MemoryFilter(client_id=whose, state=State.ACTIVE, namespaced=False)
        with self.transactions.reading(principal) as stores:
            memories = stores.views.memories(where, limit=MAX_READ + 1, after=None)
            events = stores.event_views.events(
                EventFilter(client_id=whose), limit=MAX_READ + 1, after=None
            )
            holders = stores.profiles.holders([each.id for each in (*memories, *events)])
            own = {profile_id(principal.workspace_id, each) for each in holders.values()}
            claims = stores.profiles.claims(own).values()
            profile = derive(
                whose,
                memories[:MAX_READ],
                [event for event in events[:MAX_READ] if event.state == State.ACTIVE],
                self.clock(),
                truncated=max(len(memories), len(events)) > MAX_READ,
                claims=reduce(Claims.and_also, claims, NONE),
            )
            ids = {pattern_id(each, done): done for each in own for done in profile.patterns}
            gone = {ids[id_] for id_ in stores.profiles.taken_out(ids)} if ids else ()
        profile = replace(
            profile, patterns=tuple(each for each in profile.patterns if each not in gone)
        )
        return replace(profile, **dict.fromkeys(LEFT_OUT[about], ()) if about else {})
