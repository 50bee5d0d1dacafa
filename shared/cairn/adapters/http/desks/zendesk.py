"""Zendesk as a kind of ticket source."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cairn.adapters.http.desks.asking import COMMON, AskDesk, always, basic, files_of, settled
from cairn.adapters.http.desks.declaring import (
    Fields,
    HelpDesk,
    is_ascii_secret,
    is_secret,
    is_text,
)
from cairn.tickets.adapter import text_at
from cairn.tickets.desks.zendesk import STATUSES, ZendeskAdapter
from cairn.tickets.ticket import SourceKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.adapters.http.desks.declaring import Opening


def _open(opening: Opening) -> ZendeskAdapter:
    config, secrets = opening.config, opening.secrets
    headers = {"authorization": basic(f"{config['email']}/token", secrets["api_token"])}
    service = opening.service("Zendesk", config["site_url"], words=_words)
    return ZendeskAdapter(
        api=AskDesk(service=service, sign_in=always(headers)),
        file=files_of(service, always(headers)),
        clock=opening.clock,
        webhook_secret=secrets.get("webhook_secret"),
        **settled(config, STATUSES),
    )


def _words(body: Mapping[str, Any]) -> str:
    title = text_at(body, "error", "title") or text_at(body, "error")
    return f"{title} {text_at(body, 'description')}".strip()


DESK = HelpDesk(
    kind=SourceKind.ZENDESK,
    config=Fields(needed={"site_url": is_text, "email": is_text}, allowed=COMMON),
    secrets=Fields(needed={"api_token": is_ascii_secret}, allowed={"webhook_secret": is_secret}),
    open=_open,
)
