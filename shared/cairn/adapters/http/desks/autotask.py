"""Autotask PSA as a kind of ticket source, and how the address of its user's zone is looked up."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from cairn.adapters.http.desks.asking import COMMON, AskDesk, always, files_of, settled
from cairn.adapters.http.desks.declaring import (
    Fields,
    HelpDesk,
    is_ascii_secret,
    is_text,
)
from cairn.adapters.http.rest import Request, checked_base_url
from cairn.kernel.errors import NotFound, TooLarge, Unavailable
from cairn.tickets.adapter import text_at
from cairn.tickets.attachments import MOST_BYTES
from cairn.tickets.desks.autotask import STATUSES, AutotaskAdapter
from cairn.tickets.desks.walking import rows_of
from cairn.tickets.ticket import SourceKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.adapters.http.desks.declaring import Opening

ZONES_URL = "https://webservices.autotask.net/ATServicesRest"
VERSION = "/V1.0"
DOMAIN = ".autotask.net"
MOST_ENCODED = 7_000_000
"""Bytes of an answer that holds a file: as base64 it is a third longer."""

_NUMBERS = ("queue_id", "resource_id", "role_id")


@dataclass(slots=True, kw_only=True)
class AskAutotask:
    """Implements `DeskApi`: the first request looks up where the zone of the user is.

    An address elsewhere than the one asked, or at Autotask, is not given the keys.
    """

    opening: Opening = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)
    _asked: AskDesk | None = None
    _lock: Lock = field(default_factory=Lock)

    def __call__(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | list[Any] | None = None,
        repeatable: bool = False,
    ) -> Any:
        """Return the decoded answer; errors are those of `rest`."""
        ask = self._desk()
        return ask(method, VERSION + path, query=query, body=body, repeatable=repeatable)

    def file(self, url: str, media_type: str) -> bytes:
        """Return an attachment; implements `FileOf`. Its answer is JSON, of whatever type it is."""
        desk = self._desk()
        get = files_of(desk.service, desk.sign_in, most=MOST_ENCODED)
        return _content(get(VERSION + url, media_type))

    def _desk(self) -> AskDesk:
        with self._lock:
            self._asked = self._asked or self._zone()
            return self._asked

    def _zone(self) -> AskDesk:
        config = self.opening.config
        url = config.get("api_url") or self._looked_up(config.get("zones_url", ZONES_URL))
        service = self.opening.service("Autotask", url.rstrip("/"), words=_words)
        return AskDesk(service=service, sign_in=always(self.headers))

    def _looked_up(self, zones_url: str) -> str:
        request = Request(
            method="GET",
            path=f"{VERSION}/zoneInformation",
            query={"user": self.opening.config["username"]},
            repeatable=True,
        )
        zones = self.opening.service("Autotask", zones_url, words=_words)
        url = text_at(zones.ask(request, {}).record(), "url")
        host = urlsplit(url).hostname or ""
        if not host.endswith(DOMAIN) and host != urlsplit(zones_url).hostname:
            raise Unavailable("Autotask names no zone of its own.", reason="unknown-answer")
        return url


def _content(answer: bytes) -> bytes:
    """Return the bytes of the attachment that was read by its id; NotFound without any."""
    try:
        data = [text_at(each, "data") for each in rows_of(json.loads(answer), "items")]
        content = base64.b64decode(data[0], validate=True)
    except (ValueError, IndexError, RecursionError):
        raise NotFound("The file cannot be read.") from None
    if len(content) > MOST_BYTES:
        raise TooLarge(f"The file has more than {MOST_BYTES} bytes.", limit=MOST_BYTES)
    return content


def _open(opening: Opening) -> AutotaskAdapter:
    config, secrets = opening.config, opening.secrets
    allow_private = opening.allow_private
    for name in ("api_url", "zones_url"):
        if name in config:
            checked_base_url(config[name], allow_private=allow_private)
    headers = {
        "ApiIntegrationCode": secrets["integration_code"],
        "UserName": config["username"],
        "Secret": secrets["secret"],
    }
    numbers = {name: int(config[name]) for name in _NUMBERS if name in config}
    api = AskAutotask(opening=opening, headers=headers)
    return AutotaskAdapter(
        api=api,
        file=api.file,
        clock=opening.clock,
        **numbers,
        **settled(config, STATUSES),
    )


def _words(body: Mapping[str, Any]) -> str:
    errors: Any = body.get("errors")
    return " ".join(map(str, cast("list[Any]", errors))) if isinstance(errors, list) else ""


def _is_number(value: object) -> bool:
    return isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) <= 18


DESK = HelpDesk(
    kind=SourceKind.AUTOTASK,
    config=Fields(
        needed={"username": is_ascii_secret},
        allowed={
            "api_url": is_text,
            "zones_url": is_text,
            **dict.fromkeys(_NUMBERS, _is_number),
            **COMMON,
        },
    ),
    secrets=Fields(needed={"integration_code": is_ascii_secret, "secret": is_ascii_secret}),
    open=_open,
)
