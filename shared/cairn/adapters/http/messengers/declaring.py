"""What a kind of messaging channel declares: its settings and secrets with their checks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from cairn.adapters.http.desks.declaring import Fields, Opening
    from cairn.channels.channel import ChannelKind
    from cairn.channels.port import ChannelAdapter


@dataclass(frozen=True, slots=True, kw_only=True)
class Messenger:
    """A kind of channel. `open` asks nothing of it; ValidationFailed names the wrong field.

    `config` allows `operators`, the conversation that operators work in.
    """

    kind: ChannelKind
    config: Fields
    secrets: Fields
    open: Callable[[Opening], ChannelAdapter]
