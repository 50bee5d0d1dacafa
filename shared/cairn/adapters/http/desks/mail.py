"""A mailbox as a kind of ticket source. Its client is `adapters.mail.box`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cairn.adapters.http.desks.declaring import (
    Fields,
    HelpDesk,
    is_ascii_secret,
    is_hours,
    is_text,
    refuse,
)
from cairn.adapters.http.rest import checked_base_url
from cairn.oauth_client.client import SECRET as CLIENT_SECRET
from cairn.oauth_client.client import SETTING as OAUTH
from cairn.oauth_client.client import read_client
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
    _check_sign_in(opening)
    account = MailAccount(
        address=own.address,
        username=config.get("username", own.address),
        password=opening.secrets.get("password", ""),
        bearer=opening.bearer,
        imap_url=config["imap_url"],
        smtp_url=config["smtp_url"],
        folder=config.get("folder", "INBOX"),
        sent_folder=config.get("sent_folder", "Sent"),
        allow_private=opening.allow_private,
    )
    return MailAdapter(box=ImapSmtpBox(account), own=own, clock=opening.clock)


def _check_sign_in(opening: Opening) -> None:
    """Refuse a mailbox with a password and a sign-in, or with neither."""
    if (OAUTH in opening.config) == ("password" in opening.secrets):
        refuse("secrets.password", f"is needed, or config.{OAUTH} is: one of them")
    if OAUTH in opening.config:
        client = read_client(opening.config[OAUTH], opening.secrets)
        for url in client.addresses:
            parts = urlsplit(url)
            base = f"{parts.scheme}://{parts.netloc}"
            checked_base_url(base, allow_private=opening.allow_private)
    elif CLIENT_SECRET in opening.secrets:
        refuse(f"secrets.{CLIENT_SECRET}", f"is of config.{OAUTH}, which is not there")


def _is_address(value: object) -> bool:
    return isinstance(value, str) and _ADDRESS.fullmatch(value) is not None


def _is_table(value: object) -> bool:
    return isinstance(value, dict)


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
            OAUTH: _is_table,
        },
    ),
    secrets=Fields(allowed={"password": is_ascii_secret, CLIENT_SECRET: is_ascii_secret}),
    open=_open,
)
