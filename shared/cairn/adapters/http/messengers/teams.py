"""A bot in Microsoft Teams as a kind of messaging channel. Its client is `http.teams`.

The keys of the Bot Connector and the access tokens of bots are this process's, whichever channel
asks: neither is fetched again for each request.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cairn.adapters.http.desks.declaring import Declared, Fields, is_ascii_secret, is_text, refuse
from cairn.adapters.http.issuer_keys import PublishedIssuerKeys
from cairn.adapters.http.rest import checked_base_url
from cairn.adapters.http.teams import LOGIN_URL, BotAccount, BotConnector, BotTokens
from cairn.channels.channel import ChannelKind
from cairn.channels.teams.adapter import SERVICE_URL, TeamsChannel, is_channel
from cairn.channels.teams.door import (
    ISSUER,
    METADATA_URL,
    SERVICE_ORIGINS,
    BotDoor,
    require_service_url,
)
from cairn.kernel.errors import Denied

if TYPE_CHECKING:
    from cairn.adapters.http.desks.declaring import Opening

_GUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _open(opening: Opening) -> TeamsChannel:
    config, stand_in = opening.config, str(opening.config.get("microsoft_url", ""))
    origins = SERVICE_ORIGINS
    if stand_in:
        origins = frozenset({_stand_in_origin(stand_in, allow_private=opening.allow_private)})
    base = stand_in.rstrip("/")
    service_url = str(config.get("service_url", f"{base}/teams/" if base else SERVICE_URL))
    try:
        require_service_url(service_url, origins)
    except Denied:
        refuse("config.service_url", "is none of Microsoft's for Teams")
    account = BotAccount(
        app_id=config["app_id"],
        tenant_id=config["tenant_id"],
        secret=opening.secrets["client_secret"],
        login_url=base or LOGIN_URL,
        service_origins=origins,
        allow_private=bool(stand_in),
    )
    metadata_url = base + urlsplit(METADATA_URL).path if base else METADATA_URL
    return TeamsChannel(
        client=BotConnector(account=account, tokens=_tokens(), breakers=opening.breakers),
        door=BotDoor(
            app_id=account.app_id,
            tenant_id=account.tenant_id,
            keys=_connector_keys(metadata_url, allow_private=bool(stand_in)),
            service_origins=origins,
        ),
        service_url=service_url,
    )


def _stand_in_origin(url: str, *, allow_private: bool) -> str:
    """Return the origin of what stands in for Microsoft; refused but on a laptop."""
    if not allow_private:
        refuse("config.microsoft_url", "is for a laptop: here it is Microsoft alone")
    parts = urlsplit(checked_base_url(url, allow_private=True))
    return f"{parts.scheme}://{parts.netloc}".casefold()


@cache
def _tokens() -> BotTokens:
    return BotTokens()


@cache
def _connector_keys(metadata_url: str, *, allow_private: bool) -> PublishedIssuerKeys:
    return PublishedIssuerKeys(ISSUER, metadata_url=metadata_url, allow_private=allow_private)


def _is_guid(value: object) -> bool:
    return isinstance(value, str) and _GUID.fullmatch(value) is not None


def _is_operators(value: object) -> bool:
    """Return whether operators can work there: a channel of a team, whose messages have threads."""
    return is_text(value) and is_channel(str(value)) and " " not in str(value)


MESSENGER = Declared(
    kind=ChannelKind.TEAMS,
    config=Fields(
        needed={"app_id": _is_guid, "tenant_id": _is_guid},
        allowed={"operators": _is_operators, "service_url": is_text, "microsoft_url": is_text},
    ),
    secrets=Fields(needed={"client_secret": is_ascii_secret}),
    open=_open,
)
