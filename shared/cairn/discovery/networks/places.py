"""Who is in a network: joining, leaving, being let go, and what of theirs belongs there."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cairn.discovery.networks.acting import acting
from cairn.discovery.networks.deeds import (
    Deed,
    clean_prompt,
    confined,
    done,
    missing,
    visible,
)
from cairn.discovery.networks.manage import NetworkView, enter
from cairn.discovery.networks.rows import JoinPolicy, MemberRow, NetworkRole
from cairn.kernel.errors import Conflict, Denied, NotFound
from cairn.writing.ports import Topic

if TYPE_CHECKING:
    from collections.abc import Callable
    from uuid import UUID

    from cairn.discovery.networks.manage import Networks
    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform

LEFT, PROMPTED, INVITE_USED = "network.left", "network.prompted", "network.invite_used"
TOKEN = re.compile(r"[A-Za-z0-9_\-]{43}")


def token_hash(token: str) -> bytes:
    """Return what is kept of an invite's token."""
    return hashlib.sha256(token.encode("ascii")).digest()


@dataclass(frozen=True, slots=True)
class Places:
    """Lets members in and out. A member comes by themselves; nobody puts another one in."""

    platform: Platform
    networks: Networks

    def join(
        self,
        principal: Principal,
        network_id: UUID,
        *,
        client_id: str | None = None,
        prompt: str = "",
    ) -> NetworkView:
        """Be in a network that anyone may join; being in it already changes nothing."""
        who, own = acting(principal, client_id), clean_prompt(prompt)

        def join(deed: Deed) -> UUID:
            network, member = visible(deed.write.stores, network_id), _member(deed)
            if deed.write.stores.networks.place(network_id, member.id) is not None:
                return network_id
            if network.join_policy is not JoinPolicy.ANYONE and network.owner_id != member.id:
                raise Denied("This network lets in who has an invite.", reason="invite-only")
            role = NetworkRole.OWNER if network.owner_id == member.id else NetworkRole.MEMBER
            enter(deed, network_id, member.id, role, own)
            return network_id

        return self.networks.get(who, done(self.platform, who, join))

    def join_by_invite(
        self,
        principal: Principal,
        token: str,
        *,
        client_id: str | None = None,
        prompt: str = "",
        then: Callable[[Deed], None] | None = None,
    ) -> NetworkView:
        """Be in the network that an invite lets into, which lets nobody else in from then on.

        `then` is done in the same transaction.

        NotFound (`invite`) for one that was used, withdrawn, is too old, or never was: which of
        these it is nobody learns. Who is in it already keeps the invite unused.
        """
        who, own = acting(principal, client_id), clean_prompt(prompt)
        if TOKEN.fullmatch(token) is None:
            raise _no_invite()

        def join(deed: Deed) -> UUID:
            member, networks = _member(deed), deed.write.stores.networks
            taken = token_hash(token)
            network_id = networks.take(taken, member.id, deed.write.now)
            if network_id is None:
                raise _no_invite()
            if not enter(deed, network_id, member.id, NetworkRole.MEMBER, own):
                raise Conflict("You are in this network already.", reason="in-it-already")
            deed.note(INVITE_USED, network_id, member_id=member.id, token_hash=taken.hex())
            if then is not None:
                then(deed)
            return network_id

        return self.networks.get(who, done(self.platform, who, join))

    def leave(
        self, principal: Principal, network_id: UUID, *, client_id: str | None = None
    ) -> None:
        """Be in a network no longer; what one had there is shown there no more."""
        who = acting(principal, client_id)

        def leave(deed: Deed) -> UUID:
            member = _member(deed)
            place = deed.write.stores.networks.place(network_id, member.id)
            if place is None:
                raise missing(network_id)
            if place.role is NetworkRole.OWNER:
                detail = "The owner of a network stays in it; remove it when alone."
                raise Conflict(detail, reason="owner-stays")
            end(deed, network_id, member.id, "left")
            return network_id

        done(self.platform, who, leave)

    def let_go(
        self,
        principal: Principal,
        network_id: UUID,
        member_id: UUID,
        *,
        client_id: str | None = None,
    ) -> None:
        """Let somebody be in a network no longer that one owns."""
        who = confined(principal, client_id)

        def let_go(deed: Deed) -> UUID:
            network = deed.owned(network_id)
            if member_id == network.owner_id:
                detail = "The owner of a network stays in it; remove it when alone."
                raise Conflict(detail, reason="owner-stays")
            if deed.write.stores.networks.place(network_id, member_id) is None:
                raise NotFound("Nobody of this id is in the network.", member_id=str(member_id))
            end(deed, network_id, member_id, "let-go")
            return network_id

        done(self.platform, who, let_go)

    def set_prompt(
        self, principal: Principal, network_id: UUID, prompt: str, *, client_id: str | None = None
    ) -> NetworkView:
        """Say what of one's own belongs to a network; one's intents are judged anew for it."""
        who, own = acting(principal, client_id), clean_prompt(prompt)

        def change(deed: Deed) -> UUID:
            write, member = deed.write, _member(deed)
            place = write.stores.networks.place(network_id, member.id)
            if place is None:
                raise missing(network_id)
            if place.prompt != own:
                write.stores.networks.set_prompt(replace(place, prompt=own), write.now)
                deed.note(PROMPTED, network_id, {"prompt": own}, member_id=member.id)
                write.wake(Topic.ASSIGNMENT, network_id)
            return network_id

        return self.networks.get(who, done(self.platform, who, change))


def end(deed: Deed, network_id: UUID, member_id: UUID, why: str) -> None:
    """End a member's place."""
    deed.write.stores.networks.leave(network_id, member_id, deed.write.now)
    deed.note(LEFT, network_id, member_id=member_id, why=why)


def _member(deed: Deed) -> MemberRow:
    if deed.member is None:
        raise Denied("This is a member's own; act for one.", reason="client")
    return deed.member


def _no_invite() -> NotFound:
    detail = "This invite lets nobody in: it was used, is too old, or never was."
    return NotFound(detail, reason="invite")
