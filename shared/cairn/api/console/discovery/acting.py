"""The member that a visitor is, or the page that says how to become one. Not what members see."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.api.console.routes import shown
from cairn.kernel.errors import Conflict

if TYPE_CHECKING:
    from fastapi import Request, Response

    from cairn.api.console.guard import Visitor
    from cairn.kernel.access import Principal

OWN = "/console/own"


def member_of(visitor: Visitor) -> Principal:
    """Return the member that a visitor is; Conflict (`no-member`) for who is none."""
    member = visitor.services.ties.member(visitor.principal)
    if member is None:
        raise Conflict("You are no member of networks: see For you.", reason="no-member")
    return member


def of_member(
    request: Request, visitor: Visitor, name: str, member: Principal, **values: Any
) -> Response:
    """Return a page of one's own; `client` is who one is, in commands and calls."""
    return shown(request, visitor, f"own/{name}", client=member.client_id, **values)
