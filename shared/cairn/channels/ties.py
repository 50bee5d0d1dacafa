"""Who of a channel is who here: tied by a one-time code that a person sends to the app directly.

The code is made by who signed in, or for them by who decides about them. Nobody types a role.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from cairn.accounts.people import require_over
from cairn.accounts.sessions import person_principal
from cairn.channels.channel import TieRow
from cairn.channels.keep import find_channel
from cairn.kernel.access import Role
from cairn.kernel.access.keys import secret_hash
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import NotFound
from cairn.ledger.entry import Actor, ActorKind
from cairn.writing.append import principal_actor
from cairn.writing.writer import open_write

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from uuid import UUID

    from cairn.accounts.sessions import Credentials
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.writing.platform import Platform

LASTS = timedelta(minutes=10)
LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"
CODE_CHARS, PART = 12, 4
_TIE = re.compile(r"\s*tie\s+([A-Za-z0-9]{4}(?:-?[A-Za-z0-9]{4}){2})\s*", re.IGNORECASE)


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelCode:
    """A code that ties who sends it, once; shown in this answer only."""

    channel_id: UUID
    person_id: UUID
    expires_at: datetime
    code: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TieView:
    """Somebody of a channel, and who they are here."""

    user_id: str
    person_id: UUID
    name: str
    tied_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelTies:
    """Makes codes, takes them, and says who somebody is."""

    platform: Platform
    pick: Callable[[str], str] = secrets.choice

    def make_code(self, principal: Principal, channel_id: UUID, person_id: UUID) -> ChannelCode:
        """Return a new code, in the place of the one before: for oneself, or for somebody else.

        Denied for whom the principal does not decide about.
        """
        principal.require_person()
        with self.platform.transactions.reading(principal) as stores:
            find_channel(stores, channel_id)
            person = _person(stores, person_id)
        if principal.person is None or principal.principal_id != person_id:
            require_over(principal, person.role)
        letters = "".join(self.pick(LETTERS) for _ in range(CODE_CHARS))
        expires_at = self.platform.clock() + LASTS
        with self.platform.transactions.preparing(system_principal(principal.workspace_id)) as (
            stores,
            _,
        ):
            stores.messaging.keep_code(channel_id, person_id, secret_hash(letters), expires_at)
        code = "-".join(letters[at : at + PART] for at in range(0, CODE_CHARS, PART))
        return ChannelCode(
            channel_id=channel_id, person_id=person_id, expires_at=expires_at, code=code
        )

    def redeem(self, workspace_id: UUID, channel_id: UUID, user_id: str, code: str) -> str | None:
        """Tie who sends a code; return what they are called here, None for a code that is none."""
        system, now = system_principal(workspace_id), self.platform.clock()
        hashed = secret_hash(code.replace("-", "").upper())
        with self.platform.transactions.preparing(system) as (stores, lock):
            lock()
            person_id = stores.messaging.take_code(channel_id, hashed, now)
            person = stores.people.credentials(person_id) if person_id else None
        if person is None:
            return None
        row = TieRow(channel_id=channel_id, user_id=user_id, person_id=person.id, tied_at=now)
        actor = Actor(kind=ActorKind.USER, id=str(person.id))
        with open_write(self.platform, system, actor=actor) as write:
            write.stores.messaging.tie(row)
            meta = {"channel_id": str(channel_id), "person_id": str(person.id)}
            write.note("channel.tied", meta)
        return person.name

    def principal(self, workspace_id: UUID, channel_id: UUID, user_id: str) -> Principal | None:
        """Return who somebody is here, with what they may do now; None for a stranger."""
        with self.platform.transactions.reading(system_principal(workspace_id)) as stores:
            person_id = stores.messaging.person_of(channel_id, user_id)
            person = stores.people.credentials(person_id) if person_id else None
        if person is None:
            return None
        return person_principal(workspace_id, person.id, person.name, person.role)

    def all(self, principal: Principal, channel_id: UUID) -> Sequence[TieView]:
        """Return who is whom in a channel, for admins."""
        principal.require(Role.ADMIN)
        with self.platform.transactions.reading(principal) as stores:
            find_channel(stores, channel_id)
            ties = stores.messaging.ties(channel_id)
            people = {each.id: each.name for each in stores.people.all()}
        return [
            TieView(
                user_id=tie.user_id,
                person_id=tie.person_id,
                name=people.get(tie.person_id, ""),
                tied_at=tie.tied_at,
            )
            for tie in ties
        ]

    def untie(self, principal: Principal, channel_id: UUID, person_id: UUID) -> None:
        """Remove a tie, one's own or as who decides about them; NotFound without it."""
        principal.require_person()
        if principal.person is None or principal.principal_id != person_id:
            with self.platform.transactions.reading(principal) as stores:
                person = _person(stores, person_id)
            require_over(principal, person.role)
        system = system_principal(principal.workspace_id)
        with open_write(self.platform, system, actor=principal_actor(principal)) as write:
            if not write.stores.messaging.untie(channel_id, person_id):
                raise NotFound("Nobody of this channel is this person.")
            meta = {"channel_id": str(channel_id), "person_id": str(person_id)}
            write.note("channel.untied", meta)


def code_in(text: str) -> str | None:
    """Return the code that a message is, None for another."""
    match = _TIE.fullmatch(text)
    return match[1] if match else None


def _person(stores: Stores, person_id: UUID) -> Credentials:
    person = stores.people.credentials(person_id)
    if person is None:
        raise NotFound("There is no such person, or they may not sign in.")
    return person
