"""Intercom as a kind of ticket source."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cairn.adapters.http.desks.asking import COMMON, AskDesk, always, files_of, settled
from cairn.adapters.http.desks.declaring import (
    Fields,
    HelpDesk,
    is_ascii_secret,
    is_secret,
    is_text,
)
from cairn.tickets.adapter import text_at
from cairn.tickets.desks.intercom import STATUSES, IntercomAdapter
from cairn.tickets.desks.walking import rows_of
from cairn.tickets.ticket import SourceKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.adapters.http.desks.declaring import Opening

API_URL = "https://api.intercom.io"
VERSION = "2.11"
_NUMBER = re.compile(r"[0-9]{1,18}")


def _open(opening: Opening) -> IntercomAdapter:
    config, secrets = opening.config, opening.secrets
    headers = {
        "authorization": f"Bearer {secrets['access_token']}",
        "intercom-version": VERSION,
        "accept": "application/json",
    }
    service = opening.service("Intercom", config.get("api_url", API_URL), words=_words)
    return IntercomAdapter(
        api=AskDesk(service=service, sign_in=always(headers)),
        file=files_of(service, always(headers)),
        clock=opening.clock,
        admin=config["admin_id"],
        webhook_secret=secrets.get("client_secret"),
        **settled(config, STATUSES),
    )


def _words(body: Mapping[str, Any]) -> str:
    return " ".join(text_at(error, "message") for error in rows_of(dict(body), "errors"))


def _is_number(value: object) -> bool:
    return isinstance(value, str) and _NUMBER.fullmatch(value) is not None


DESK = HelpDesk(
    kind=SourceKind.INTERCOM,
    config=Fields(needed={"admin_id": _is_number}, allowed={"api_url": is_text, **COMMON}),
    secrets=Fields(needed={"access_token": is_ascii_secret}, allowed={"client_secret": is_secret}),
    open=_open,
)
