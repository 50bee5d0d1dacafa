"""A mailbox as a kind of ticket source. Its client is `adapters.mail.box`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cairn.adapters.http.desks.declaring import (
    Fields,
    HelpDesk,
    is_ascii_secret,
    is_hours,
    is_text,
)
from cairn.tickets.ticket import SourceKind

if TYPE_CHECKING:
    from cairn.adapters.http.desks.declaring import Opening
    from cairn.tickets.mail import MailAdapter

_ADDRESS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@[A-Za-z0-9][A-Za-z0-9.-]{0,188}")
_FOLDER = re.compile(r"[ !#-\[\]-~]{1,200}")
"""Of what IMAP writes between quotes without another sign before it."""


def _open(opening: Opening) -> MailAdapter:
    # of layers that not every function has which names a source
    from cairn.adapters.mail.box import ImapSmtpBox, MailAccount
    from cairn.tickets.mail import MailAdapter, address_of

    config, own = opening.config, address_of(opening.config)
    account = MailAccount(
        address=own.address,
        username=config.get("username", own.address),
        password=opening.secrets["password"],
        imap_url=config["imap_url"],
        smtp_url=config["smtp_url"],
        folder=config.get("folder", "INBOX"),
        sent_folder=config.get("sent_folder", "Sent"),
        allow_private=opening.allow_private,
    )
    return MailAdapter(box=ImapSmtpBox(account), own=own, clock=opening.clock)


def _is_address(value: object) -> bool:
    return isinstance(value, str) and _ADDRESS.fullmatch(value) is not None


def _is_folder(value: object) -> bool:
    return isinstance(value, str) and _FOLDER.fullmatch(value) is not None


DESK = HelpDesk(
    kind=SourceKind.MAIL,
    config=Fields(
        needed={"address": _is_address, "imap_url": is_text, "smtp_url": is_text},
        allowed={
            "username": is_text,
            "name": is_text,
            "folder": _is_folder,
            "sent_folder": _is_folder,
            "customer": is_text,
            "authserv_id": is_text,
            "backfill_hours": is_hours,
        },
    ),
    secrets=Fields(needed={"password": is_ascii_secret}),
    open=_open,
)
