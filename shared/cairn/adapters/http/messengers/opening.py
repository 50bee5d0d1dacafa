"""Every kind of messaging channel, and what opens one.

A kind of channel is a module beside this one and a line of `MESSENGERS`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.adapters.http.messengers import slack, teams
from cairn.adapters.http.opening import Opener
from cairn.channels.channel import ChannelKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.adapters.http.desks.declaring import Declared
    from cairn.channels.port import ChannelAdapter

MESSENGERS: Mapping[ChannelKind, Declared[ChannelKind, ChannelAdapter]] = {
    each.kind: each for each in (slack.MESSENGER, teams.MESSENGER)
}
"""Every kind of channel, by what it is called; `config` allows `operators`, where they work."""


class OpenMessenger(Opener):
    """Implements `OpenChannel`."""

    __slots__ = ()

    def __call__(
        self, kind: str, config: Mapping[str, Any], secrets: Mapping[str, str]
    ) -> ChannelAdapter:
        """Return the adapter; ValidationFailed names the wrong field."""
        return self.opened(MESSENGERS[ChannelKind(kind)], config, secrets, called="channel")
