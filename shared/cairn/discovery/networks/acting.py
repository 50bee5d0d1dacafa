"""Who acts as which member: what discovery does is done by a principal confined to one client."""

from __future__ import annotations

from dataclasses import replace

from cairn.kernel.access import Principal, Role
from cairn.kernel.errors import Denied
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.checks import clean_name, refuse


def acting(principal: Principal, client_id: str | None = None) -> Principal:
    """Return the principal confined to the member it acts for; the database holds it to that.

    A key bound to a client is that member, and Denied for another. One bound to nobody acts for
    `client_id`, and is told when it names none.
    """
    principal.require(Role.ADMIN, Role.AGENT)
    name = clean_name(client_id, "client_id")
    if principal.client_id is not None:
        if name not in (None, principal.client_id):
            raise Denied("This key is bound to another client.", reason="client")
        return principal
    if name is None:
        refuse("client_id", "is needed: this key is bound to no member, so say for whom it acts")
    if name == GLOBAL_CLIENT:
        refuse("client_id", "names nobody: a member is a client of their own")
    return replace(principal, client_id=name)


def client_of(principal: Principal) -> str:
    """Return the client that a confined principal is."""
    if principal.client_id is None:
        raise Denied("This is a member's own; act for one.", reason="client")
    return principal.client_id
