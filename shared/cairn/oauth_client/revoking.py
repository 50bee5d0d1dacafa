"""Tells authorization servers that a grant is not used any more (RFC 7009). Best effort.

The grant is gone here by then: a server that refuses, or is away, brings it back to nobody.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.kernel.errors import CairnError
from cairn.oauth_client.ports import Endpoints, TokenRefused

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.oauth_client.client import Holder
    from cairn.oauth_client.ports import AuthorizationServer
    from cairn.writing.platform import Platform

HINTS = ("refresh_token", "access_token")
"""What is revoked, in this order: with the first many servers end the second, too."""

WORDED = frozenset({"invalid_request", "invalid_client", "invalid_grant", "invalid_token",
                    "unauthorized_client", "unsupported_token_type"})  # fmt: skip
"""The errors that are logged by their name: another server may write anything there."""


def revoke_grant(
    platform: Platform, server: AuthorizationServer, holder: Holder, body: Mapping[str, str]
) -> None:
    """Revoke the tokens of a grant, where its server said that it takes that."""
    endpoints = endpoints_of(body)
    if not endpoints.revocation:
        return
    for hint in HINTS:
        if not (token := body.get(hint, "")):
            continue
        try:
            server.revoke(holder.client, endpoints, token, hint)
        except CairnError as problem:
            refused = isinstance(problem, TokenRefused)
            reason = problem.reason if not refused or problem.reason in WORDED else "refused"
            fields: dict[str, Any] = {"holder_id": str(holder.id), "token": hint, "reason": reason}
            platform.warn("sign_in_not_revoked", fields)
            if not refused:  # nobody is there
                return


def endpoints_of(body: Mapping[str, str]) -> Endpoints:
    """Return where a grant or an attempt was asked for: its token goes nowhere else."""
    return Endpoints(
        device_authorization=body["at_device_authorization"],
        token=body["at_token"],
        auth_method=body["at_auth_method"],
        revocation=body.get("at_revocation", ""),
    )
