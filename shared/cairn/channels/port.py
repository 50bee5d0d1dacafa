"""The port to messaging channels: what people say and click in, messages and their changes out.

`verify` and `read` are pure; the other methods ask the channel and raise Unavailable when it does
not answer (with `retry_after` where it asks for time), NotFound when it has no such place or
message (any more), and `NeedsAuth` when it no longer takes the keys.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from cairn.tickets.adapter import Delivered, NeedsAuth

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

__all__ = [
    "Button",
    "ChannelAdapter",
    "Clicked",
    "Delivered",
    "Heard",
    "Link",
    "Message",
    "NeedsAuth",
    "OpenChannel",
    "Place",
    "Profile",
    "Speaker",
    "Spoken",
]


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A thread, or a conversation that has none: where something was said, and answers go.

    An empty `thread` is the conversation itself: what is posted there begins a thread, whose name
    is the id of the message. `via` is what else the kind needs to find it, such as an address.
    """

    conversation: str
    thread: str = ""
    via: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Speaker:
    """Who says or clicks something, as the channel has proven it.

    `client` is whose memories they are here: unique over all channels, the same each time.
    """

    user: str
    team: str
    client: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What the channel knows of somebody. An `outsider` is a guest, or of another organisation."""

    name: str = ""
    outsider: bool = False
    app: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Spoken:
    """What a person wrote, as plain text without the mention of the app.

    `id` is the message's own: the same message that is told of twice, by any delivery, is one.
    `addressed`: the app is mentioned or written to directly. `direct`: nobody else reads it.
    """

    id: str
    place: Place
    speaker: Speaker
    text: str
    at: datetime
    addressed: bool
    direct: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Clicked:
    """A button of one of our messages that a person pressed. `id` is of this press alone."""

    id: str
    place: Place
    message_id: str
    speaker: Speaker
    button: str
    value: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """What a delivery tells. `answer` is the body that the channel wants at once, if any."""

    messages: tuple[Spoken, ...] = ()
    clicks: tuple[Clicked, ...] = ()
    answer: Mapping[str, Any] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Button:
    """A button. `value` (up to 2,000 characters) comes back with the press; `tone` is its look."""

    name: str
    label: str
    value: str
    tone: str = ""  # "good", "bad" or neither


@dataclass(frozen=True, slots=True, kw_only=True)
class Link:
    """An address behind a word."""

    label: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """A message as every kind shows it. All of it is plain text: nothing in it is markup.

    `facts` are names with what they are; `buttons` and `links` stand below.
    """

    text: str
    title: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    buttons: tuple[Button, ...] = ()
    links: tuple[Link, ...] = ()


class ChannelAdapter(Protocol):
    """One messaging channel, signed in."""

    def check(self) -> str:
        """Return by which name the channel knows the app; raise when the keys are not good."""
        ...

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Raise Unauthenticated unless the channel sent this, now."""
        ...

    def read(self, delivered: Delivered) -> Heard:
        """Return what a verified delivery tells; nothing for what the app itself or an app wrote.

        ValidationFailed for a body of no such form, Denied for another team's.
        """
        ...

    def profile(self, speaker: Speaker, place: Place) -> Profile:
        """Return what the channel knows of somebody who is in a place."""
        ...

    def post(self, place: Place, message: Message, key: str, *, again: bool = False) -> str:
        """Post a message and return its id. `again`: it may be there already; look for its key.

        A kind that cannot look posts it a second time.
        """
        ...

    def update(self, place: Place, message_id: str, message: Message) -> None:
        """Show another message in the place of one of ours."""
        ...


OpenChannel: TypeAlias = "Callable[[str, Mapping[str, Any], Mapping[str, str]], ChannelAdapter]"
"""Opens the adapter of a (kind, config, secrets); ValidationFailed names the wrong field."""
