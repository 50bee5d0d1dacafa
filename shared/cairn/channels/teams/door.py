"""Whether an activity is the Bot Connector's, for one bot, of one tenant. Not what it says.

The token proves who sends and where answers go; it says nothing of the body, which comes over TLS.
https://learn.microsoft.com/azure/bot-service/rest-api/bot-framework-rest-connector-authentication
"""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any, NoReturn, cast
from urllib.parse import urlsplit

from cairn.accounts.tokens import TrustedIssuer
from cairn.kernel.errors import Denied, Unauthenticated
from cairn.tickets.adapter import text_at

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from cairn.accounts.tokens import IssuerKeys

ISSUER = "https://api.botframework.com"
METADATA_URL = "https://login.botframework.com/v1/.well-known/openidconfiguration"
SERVICE_ORIGINS = frozenset(
    {"https://smba.trafficmanager.net", "https://smba.infra.gcc.teams.microsoft.com"}
)
"""Where Teams' part of the Bot Connector is, as Microsoft publishes it: the world's, and GCC's."""

CHANNEL = "msteams"
CLOCK_SKEW = timedelta(minutes=5)
MAX_TOKEN_CHARS = 16_384
MAX_URL_CHARS = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class BotDoor:
    """Lets activities of one bot in. `service_origins` are the only places answers go to."""

    app_id: str
    tenant_id: str
    keys: IssuerKeys = field(repr=False)
    service_origins: frozenset[str] = SERVICE_ORIGINS

    def check(self, authorization: str, activity: Mapping[str, Any], now: datetime) -> None:
        """Raise Unauthenticated for a token that does not hold, Denied where it is not for this.

        Unavailable when the Bot Connector's keys cannot be read now.
        """
        scheme, _, token = authorization.partition(" ")
        if scheme.casefold() != "bearer" or not 0 < len(token) <= MAX_TOKEN_CHARS:
            raise Unauthenticated("This activity carries no token.", reason="unsigned")
        issuer = TrustedIssuer(
            issuer=ISSUER,
            audiences=(self.app_id,),
            keys=self.keys,
            algorithms=frozenset({"RS256"}),
            required=("exp", "iss", "aud"),
            leeway=CLOCK_SKEW,
        )
        claims, key = issuer.proven(token.strip(), now)
        endorsed = key.get("endorsements")
        if activity.get("channelId") != CHANNEL:
            _deny("This activity is not of Teams.", "channel")
        if not isinstance(endorsed, list) or CHANNEL not in cast("list[Any]", endorsed):
            _deny("The token's key is not endorsed for Teams.", "endorsement")
        self._require_place(claims, activity)
        if tenant_of(activity) != self.tenant_id.casefold():
            _deny("This activity is of another tenant.", "tenant")

    def _require_place(self, claims: Mapping[str, Any], activity: Mapping[str, Any]) -> None:
        """Refuse an activity whose answers would go where the token does not say."""
        service_url = text_at(activity, "serviceUrl")
        claimed = {text_at(claims, name) for name in ("serviceurl", "serviceUrl") if name in claims}
        if {each.rstrip("/") for each in claimed} != {service_url.rstrip("/")}:
            _deny("The token is for another serviceUrl.", "service-url")
        require_service_url(service_url, self.service_origins)


def require_service_url(url: str, origins: frozenset[str] = SERVICE_ORIGINS) -> str:
    """Return an address that answers may go to; Denied for any other: the bot's token goes there.

    Only what Microsoft publishes, whatever a token says.
    """
    try:
        parts = urlsplit(url)
        plain = not (parts.query or parts.fragment or "@" in parts.netloc)
    except ValueError:
        plain, parts = False, urlsplit("")
    origin = f"{parts.scheme}://{parts.netloc}".casefold()
    good = plain and len(url) <= MAX_URL_CHARS and url.isascii() and url.isprintable()
    if not good or " " in url or "\\" in url or origin not in origins:
        _deny("The serviceUrl is none of Microsoft's for Teams.", "service-url")
    return url


def tenant_of(activity: Mapping[str, Any]) -> str:
    """Return the tenant an activity is of; "" for none, or where it names two."""
    tenants = {
        text_at(activity, *path).casefold()
        for path in (("channelData", "tenant", "id"), ("conversation", "tenantId"))
    } - {""}
    return tenants.pop() if len(tenants) == 1 else ""


def _deny(what: str, reason: str) -> NoReturn:
    raise Denied(what, reason=reason)
