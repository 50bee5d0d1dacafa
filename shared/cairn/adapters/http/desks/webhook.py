"""Signed webhooks of any system as a kind of ticket source, and how it is answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.adapters.http.desks.declaring import Fields, HelpDesk, is_ascii_secret, is_text
from cairn.connectors.port import ConnectorUnauthorised
from cairn.kernel.errors import NotFound, Unavailable, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.tickets.ticket import SourceKind
from cairn.tickets.webhook import WebhookAdapter, key_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.adapters.http.desks.declaring import Opening
    from cairn.adapters.http.webhooks import HttpWebhookSender


@dataclass(frozen=True, slots=True, kw_only=True)
class PostEvent:
    """Implements `SendEvent`: to one address, under the guards of every outgoing webhook."""

    url: str
    sender: HttpWebhookSender

    def __call__(self, body: bytes, headers: Mapping[str, str]) -> None:
        """Post it; raises what the status means."""
        status = self.sender.post(self.url, body, headers)
        if 200 <= status < 300:
            return
        if status in (401, 403):
            raise ConnectorUnauthorised("The source's system refuses the signature.", status=status)
        if status in (404, 410):
            raise NotFound("The source's system has no such ticket.", status=status)
        if status in (408, 429) or status >= 500:
            raise Unavailable("The source's system does not take the answer.", reason="busy")
        raise ValidationFailed(
            "The source's system refuses the answer.", reason="refused", status=status
        )


def _open(opening: Opening) -> WebhookAdapter:
    send = None
    if "reply_url" in opening.config:
        from cairn.adapters.http.webhooks import HttpWebhookSender

        sender = HttpWebhookSender(allow_private=opening.allow_private, transport=opening.transport)
        sender.check(opening.config["reply_url"])
        send = PostEvent(url=opening.config["reply_url"], sender=sender)
    return WebhookAdapter(
        key=key_of(opening.secrets["webhook_secret"]),
        clock=opening.clock,
        new_id=new_id,
        customer=str(opening.config.get("customer", "")),
        send=send,
    )


DESK = HelpDesk(
    kind=SourceKind.WEBHOOK,
    config=Fields(allowed={"reply_url": is_text, "customer": is_text}),
    secrets=Fields(needed={"webhook_secret": is_ascii_secret}),
    open=_open,
)
