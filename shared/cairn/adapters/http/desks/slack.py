"""A Slack team as a kind of ticket source. Its client is `http.slack`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, cast

from cairn.adapters.http.desks.declaring import (
    Fields,
    HelpDesk,
    is_ascii_secret,
    is_secret,
    is_text,
)
from cairn.adapters.http.rest import checked_base_url
from cairn.adapters.http.slack import API_URL, SlackApi
from cairn.tickets.slack import SlackAdapter, team_of
from cairn.tickets.ticket import SourceKind

if TYPE_CHECKING:
    from cairn.adapters.http.desks.declaring import Opening

_SLACK_ID = re.compile(r"[A-Z0-9]{2,40}")


def slack_client(opening: Opening) -> SlackApi:
    """Return the client of what is opened, a source or a channel."""
    api_url = opening.config.get("api_url", API_URL)
    checked_base_url(api_url, allow_private=opening.allow_private)
    service = opening.service("Slack", api_url, words=lambda body: str(body.get("error", "")))
    return SlackApi(service=service, token=opening.secrets["bot_token"])


def _open(opening: Opening) -> SlackAdapter:
    return SlackAdapter(
        client=slack_client(opening),
        team=team_of(opening.config),
        signing_secret=opening.secrets["signing_secret"],
    )


def is_slack_id(value: object) -> bool:
    """Return whether it can be an id that Slack gave."""
    return isinstance(value, str) and _SLACK_ID.fullmatch(value) is not None


def _are_slack_ids(value: object) -> bool:
    return isinstance(value, list) and all(map(is_slack_id, cast("list[Any]", value)))


DESK = HelpDesk(
    kind=SourceKind.SLACK,
    config=Fields(
        needed={"team_id": is_slack_id},
        allowed={"api_url": is_text, "channels": _are_slack_ids, "customer": is_text},
    ),
    secrets=Fields(needed={"bot_token": is_ascii_secret, "signing_secret": is_secret}),
    open=_open,
)
