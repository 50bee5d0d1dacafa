"""What signing in by a device code needs of an authorization server, and what is kept of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol, TypeAlias

from cairn.kernel.errors import Conflict

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime
    from uuid import UUID

    from cairn.oauth_client.client import OAuthClient

Bearer: TypeAlias = "Callable[[str | None], str]"
"""Gives an access token that is good now; another than the one that was refused, which it is told.

Raise SignInNeeded when only a person can mend it, Unavailable when it may pass by itself.
"""


class SignInNeeded(Conflict):
    """There is no grant, or it is refused: a person has to sign in (again)."""

    code = "sign-in-needed"


class TokenRefused(Conflict):
    """The authorization server refuses; `reason` is its error code (RFC 6749 5.2, RFC 8628 3.5)."""

    code = "token-refused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Endpoints:
    """Where a client asks, and how it says who it is; `revocation` is empty where there is none."""

    device_authorization: str
    token: str
    auth_method: str
    revocation: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceCode:
    """What a person types where (RFC 8628 3.2); seconds."""

    device_code: str = field(repr=False)
    user_code: str
    verification_uri: str
    verification_uri_complete: str | None
    expires_in: int
    interval: int


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenAnswer:
    """What a token endpoint gives; `expires_in` seconds, None where it does not say."""

    access_token: str = field(repr=False)
    refresh_token: str | None = field(default=None, repr=False)
    expires_in: int | None = None


class AuthorizationServer(Protocol):
    """Whom a client asks.

    Raises TokenRefused for an error that it words, Unavailable without an answer, Conflict where
    nothing may leave this network, ValidationFailed for an address that may not be asked.
    """

    def endpoints(self, client: OAuthClient) -> Endpoints:
        """Return where the client asks: as it says, or as the issuer's metadata do."""
        ...

    def device_code(self, client: OAuthClient, endpoints: Endpoints) -> DeviceCode:
        """Begin a sign-in."""
        ...

    def redeem(self, client: OAuthClient, endpoints: Endpoints, device_code: str) -> TokenAnswer:
        """Ask once whether the person has said yes."""
        ...

    def renew(self, client: OAuthClient, endpoints: Endpoints, refresh_token: str) -> TokenAnswer:
        """Ask for a new access token."""
        ...

    def revoke(self, client: OAuthClient, endpoints: Endpoints, token: str, hint: str) -> None:
        """Say that a token is not used any more (RFC 7009); `hint` says which kind it is."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SignInRow:
    """A holder's sign-in as it is kept.

    The attempt is the last one that was begun: `attempt` is pending, done, denied, expired or
    failed. `sealed_grant` is None before the first was done; `generation` counts grants. `refused`
    is why the grant is good no more.
    """

    bound_to: bytes
    attempt: str | None = None
    attempt_id: UUID | None = None
    sealed_attempt: bytes | None = None
    reason: str | None = None
    ask_after: datetime | None = None
    ask_every: int = 5
    code_expires_at: datetime | None = None
    grant_bound_to: bytes | None = None
    sealed_grant: bytes | None = None
    generation: int = 0
    refused: str | None = None
    grant_expires_at: datetime | None = None
