"""A Slack team as a kind of messaging channel. Its client is `http.slack`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.http.desks.declaring import Fields, is_ascii_secret, is_secret, is_text
from cairn.adapters.http.desks.slack import is_slack_id
from cairn.adapters.http.messengers.declaring import Messenger
from cairn.adapters.http.rest import checked_base_url
from cairn.adapters.http.slack import API_URL, SlackApi
from cairn.channels.channel import ChannelKind
from cairn.channels.slack import SlackChannel

if TYPE_CHECKING:
    from cairn.adapters.http.desks.declaring import Opening


def _open(opening: Opening) -> SlackChannel:
    client = SlackApi(
        token=opening.secrets["bot_token"],
        api_url=opening.config.get("api_url", API_URL),
        allow_private=opening.allow_private,
        transport=opening.transport,
        breakers=opening.breakers,
    )
    checked_base_url(client.api_url, allow_private=opening.allow_private)
    return SlackChannel(
        client=client,
        team_id=opening.config["team_id"],
        signing_secret=opening.secrets["signing_secret"],
    )


MESSENGER = Messenger(
    kind=ChannelKind.SLACK,
    config=Fields(
        needed={"team_id": is_slack_id},
        allowed={"api_url": is_text, "operators": is_slack_id},
    ),
    secrets=Fields(needed={"bot_token": is_ascii_secret, "signing_secret": is_secret}),
    open=_open,
)
