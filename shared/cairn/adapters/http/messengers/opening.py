"""Opens messaging channels: settings checked, clients made, their errors translated.

A kind of channel is a module beside this one and a line of `MESSENGERS`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from cairn.adapters.http.desks.declaring import Opening
from cairn.adapters.http.messengers import slack, teams
from cairn.adapters.http.rest import rest_breakers
from cairn.channels.channel import ChannelKind
from cairn.connectors.port import ConnectorUnauthorised, OutcomeUnknown
from cairn.kernel.clock import Clock, Stopwatch, monotonic, utc_now
from cairn.kernel.errors import RateLimited, Unavailable
from cairn.tickets.adapter import DeskForm, NeedsAuth

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    import httpx

    from cairn.adapters.http.messengers.declaring import Messenger
    from cairn.channels.port import (
        ChannelAdapter,
        Delivered,
        Heard,
        Message,
        Place,
        Profile,
        Speaker,
    )
    from cairn.kernel.resilience.breaker import Breakers

MESSENGERS: Mapping[ChannelKind, Messenger] = {
    each.kind: each for each in (slack.MESSENGER, teams.MESSENGER)
}
"""Every kind of channel, by what it is called."""

T = TypeVar("T")


def messenger_forms() -> Mapping[str, DeskForm]:
    """Return what each kind of channel is made of."""
    return {
        kind.value: DeskForm(config=each.config.listed(), secrets=each.secrets.listed())
        for kind, each in MESSENGERS.items()
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenMessenger:
    """Implements `OpenChannel`; nothing is asked of a channel here.

    `allow_private` lets addresses of channels lead into this network: for a laptop.
    """

    allow_private: bool = False
    transport: httpx.BaseTransport | None = None
    clock: Clock = utc_now
    stopwatch: Stopwatch = monotonic
    breakers: Breakers = field(default_factory=rest_breakers)

    def __call__(
        self, kind: str, config: Mapping[str, Any], secrets: Mapping[str, str]
    ) -> ChannelAdapter:
        """Return the adapter; ValidationFailed names the wrong field."""
        messenger = MESSENGERS[ChannelKind(kind)]
        messenger.config.check("config", config)
        messenger.secrets.check("secrets", secrets)
        opening = Opening(
            config=config,
            secrets=secrets,
            allow_private=self.allow_private,
            transport=self.transport,
            clock=self.clock,
            stopwatch=self.stopwatch,
            breakers=self.breakers,
        )
        return TranslatedChannel(messenger.open(opening))


@dataclass(frozen=True, slots=True)
class TranslatedChannel:
    """An adapter whose client's errors are those of `channels.port`."""

    adapter: ChannelAdapter

    def check(self) -> str:
        """Return by which name the channel knows the app."""
        return _translated(self.adapter.check)

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Raise Unauthenticated for a delivery that is not the channel's."""
        _translated(lambda: self.adapter.verify(delivered, now))

    def read(self, delivered: Delivered) -> Heard:
        """Return what a delivery tells."""
        return self.adapter.read(delivered)

    def profile(self, speaker: Speaker, place: Place) -> Profile:
        """Return what the channel knows of somebody."""
        return _translated(lambda: self.adapter.profile(speaker, place))

    def post(self, place: Place, message: Message, key: str, *, again: bool = False) -> str:
        """Post a message."""
        return _translated(lambda: self.adapter.post(place, message, key, again=again))

    def update(self, place: Place, message_id: str, message: Message) -> None:
        """Change a message."""
        _translated(lambda: self.adapter.update(place, message_id, message))


def _translated(ask: Callable[[], T]) -> T:
    try:
        return ask()
    except ConnectorUnauthorised as refused:
        raise NeedsAuth("The channel refuses its sign-in; renew it.") from refused
    except OutcomeUnknown as unknown:
        raise Unavailable("The channel did not answer.", reason=unknown.reason) from unknown
    except RateLimited as limited:
        raise Unavailable(
            "The channel has had too many requests.",
            reason="channel-busy",
            retry_after=limited.retry_after,
        ) from limited
