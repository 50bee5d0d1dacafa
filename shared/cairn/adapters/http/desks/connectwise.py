"""ConnectWise PSA (Manage) as a kind of ticket source."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from cairn.adapters.http.desks.asking import COMMON, AskDesk, always, basic, files_of, settled
from cairn.adapters.http.desks.declaring import (
    Fields,
    HelpDesk,
    is_ascii_secret,
    is_secret,
    is_text,
)
from cairn.tickets.desks.connectwise import STATUSES, ConnectWiseAdapter
from cairn.tickets.ticket import SourceKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.adapters.http.desks.declaring import Opening

API_URL = "https://api-na.myconnectwise.net/v4_6_release/apis/3.0"
_BOARD = re.compile(r'[^"\\\x00-\x1f\x7f]{1,100}')


def _open(opening: Opening) -> ConnectWiseAdapter:
    config, secrets = opening.config, opening.secrets
    user = f"{config['company']}+{config['public_key']}"
    headers = {
        "authorization": basic(user, secrets["private_key"]),
        "clientId": config["client_id"],
    }
    service = opening.service("ConnectWise", config.get("api_url", API_URL), words=_words)
    return ConnectWiseAdapter(
        api=AskDesk(service=service, sign_in=always(headers)),
        file=files_of(service, always(headers)),
        clock=opening.clock,
        board=config.get("board", ""),
        member=config.get("member", ""),
        webhook_secret=secrets.get("webhook_secret"),
        **settled(config, STATUSES),
    )


def _words(body: Mapping[str, Any]) -> str:
    return str(body.get("message") or "")


def _is_board(value: object) -> bool:
    return isinstance(value, str) and _BOARD.fullmatch(value) is not None


DESK = HelpDesk(
    kind=SourceKind.CONNECTWISE,
    config=Fields(
        needed={"company": is_text, "public_key": is_text, "client_id": is_ascii_secret},
        allowed={"api_url": is_text, "board": _is_board, "member": is_text, **COMMON},
    ),
    secrets=Fields(needed={"private_key": is_secret}, allowed={"webhook_secret": is_secret}),
    open=_open,
)
