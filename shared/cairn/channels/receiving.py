"""What a messaging channel delivers: proved, kept sealed, and answered at once; worked on later.

Everything that is meant for Cairn is kept before anybody looks whether they may say it. What is
told of again, in any delivery, is kept once.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from cairn.channels.channel import InboundRow
from cairn.channels.keep import find_channel
from cairn.channels.port import Clicked, Place, Speaker, Spoken
from cairn.kernel.access.system import system_principal
from cairn.kernel.errors import NotFound
from cairn.kernel.text.canonical import format_timestamp, parse_timestamp
from cairn.kernel.text.hashes import sha256
from cairn.tickets.polling import RateLimiter
from cairn.writing.ports import OutboxRow, Topic
from cairn.writing.sealing import Sealer, client_subjects

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from uuid import UUID

    from cairn.channels.channel import ChannelRow
    from cairn.channels.keep import Channels
    from cairn.channels.port import Delivered
    from cairn.kernel.access import Principal
    from cairn.writing.platform import Platform

KEEP = timedelta(days=30)
MAX_CHARS = 32_000


@dataclass(frozen=True, slots=True, kw_only=True)
class ReceiveChannel:
    """Takes one delivery in. Again, late and out of order are all the same."""

    platform: Platform
    workspace_of: Callable[[UUID], UUID | None]
    channels: Channels
    limiter: RateLimiter = field(default_factory=RateLimiter)

    def __call__(self, channel_id: UUID, delivered: Delivered) -> Mapping[str, Any] | None:
        """Return what the channel wants to be answered with.

        NotFound without the channel, Unauthenticated for a delivery that is not signed, forged or
        too old, Denied for another team's, ValidationFailed for what cannot be read; RateLimited
        before anything is looked at. A paused channel hears nothing.
        """
        workspace_id = self.workspace_of(channel_id)
        if workspace_id is None:
            raise NotFound("There is no such channel.", channel_id=str(channel_id))
        self.limiter(channel_id, self.platform.clock())
        system = system_principal(workspace_id)
        with self.platform.transactions.reading(system) as stores:
            channel = find_channel(stores, channel_id)
        adapter = self.channels.adapter(system, channel)
        adapter.verify(delivered, self.platform.clock())
        heard = adapter.read(delivered)
        if not channel.paused:
            for spoken in heard.messages:
                self._keep(system, channel, spoken)
            for clicked in heard.clicks:
                self._keep(system, channel, clicked)
        return heard.answer

    def _keep(self, system: Principal, channel: ChannelRow, event: Spoken | Clicked) -> None:
        known_as = clean(event.id)[:500]
        thread = thread_of(channel.id, event)
        with self.platform.transactions.reading(system) as stores:
            messaging = stores.messaging
            if messaging.inbound_known(channel.id, known_as):
                return
            ours = event.message_id if isinstance(event, Clicked) else event.place.thread
            meant = messaging.post_of_message(channel.id, ours) is not None
            if isinstance(event, Spoken):
                meant |= event.addressed or messaging.thread_known(channel.id, thread)
        if not meant:
            return
        client = clean(event.speaker.client)[:256]
        subjects = client_subjects(self.platform, system, client)
        inbound_id, now = self.platform.new_id(), self.platform.clock()
        sealer = Sealer.of(self.platform, system.workspace_id, inbound_id, subjects, create=True)
        row = InboundRow(
            id=inbound_id,
            channel_id=channel.id,
            known_as=known_as,
            thread=thread,
            client_id=client,
            data_subjects=subjects,
            sealed=sealer.seal(written(event)),
            received_at=now,
        )
        outbox = OutboxRow(
            workspace_id=system.workspace_id,
            id=self.platform.new_id(),
            topic=Topic.CHANNEL,
            position=0,
            reference=inbound_id,
        )
        with self.platform.transactions.preparing(system) as (stores, _):
            first = stores.messaging.keep_inbound(row, before=now - KEEP)
            if first:
                stores.outbox.add(outbox, now)
        if first:
            self.platform.dispatcher.send([outbox])


def thread_of(channel_id: UUID, event: Spoken | Clicked) -> bytes:
    """Return what somebody's events in a thread have in common; of clicks, at a message."""
    place = event.place
    where = event.message_id if isinstance(event, Clicked) else place.thread
    kind = "click" if isinstance(event, Clicked) else "said"
    names = [str(channel_id), kind, place.conversation, where, event.speaker.client]
    return sha256("\x1f".join(map(clean, names)).encode())


def written(event: Spoken | Clicked) -> dict[str, Any]:
    """Return what came in as it is sealed."""
    body: dict[str, Any] = {
        "place": {name: clean(value) for name, value in asdict(event.place).items()},
        "speaker": {name: clean(value) for name, value in asdict(event.speaker).items()},
        "at": format_timestamp(event.at),
    }
    if isinstance(event, Clicked):
        names = ("message_id", "button", "value")
        return {**body, **{name: clean(getattr(event, name)) for name in names}}
    text = clean(event.text)[:MAX_CHARS]
    return {**body, "text": text, "addressed": event.addressed, "direct": event.direct}


def read(known_as: str, body: Mapping[str, Any]) -> Spoken | Clicked | None:
    """Return what came in; None once its client was forgotten."""
    if not body:
        return None
    common: dict[str, Any] = {
        "id": known_as,
        "place": Place(**body["place"]),
        "speaker": Speaker(**body["speaker"]),
        "at": parse_timestamp(body["at"]),
    }
    if "button" in body:
        names = ("message_id", "button", "value")
        return Clicked(**common, **{name: body[name] for name in names})
    return Spoken(**common, **{name: body[name] for name in ("text", "addressed", "direct")})


def clean(text: str) -> str:
    """Return a text that can be kept: no NUL, no half of a character."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()
