"""A Slack team as a kind of messaging channel. Its client is `http.slack`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.http.desks.declaring import (
    Declared,
    Fields,
    is_ascii_secret,
    is_secret,
    is_text,
)
from cairn.adapters.http.desks.slack import is_slack_id, slack_client
from cairn.channels.channel import ChannelKind
from cairn.channels.slack import SlackChannel

if TYPE_CHECKING:
    from cairn.adapters.http.desks.declaring import Opening


def _open(opening: Opening) -> SlackChannel:
    return SlackChannel(
        client=slack_client(opening),
        team_id=opening.config["team_id"],
        signing_secret=opening.secrets["signing_secret"],
    )


MESSENGER = Declared(
    kind=ChannelKind.SLACK,
    config=Fields(
        needed={"team_id": is_slack_id},
        allowed={"api_url": is_text, "operators": is_slack_id},
    ),
    secrets=Fields(needed={"bot_token": is_ascii_secret, "signing_secret": is_secret}),
    open=_open,
)
