"""Which addresses a connector may ask. Not where their names lead, and not what it asks there.

A rule allows an origin, a path and methods. Paths are compared as they are sent: what could be read
in two ways (dot segments, encoded slashes, backslashes, a user in the address) is refused. What
follows a semicolon is a parameter to some servers: `..;` is a dot segment, too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Literal
from urllib.parse import SplitResult, urlsplit

from pydantic import BaseModel, ConfigDict, Field, field_validator

from cairn.adapters.http.outgoing import PORTS, refuse

Method = Literal["GET", "POST", "PUT", "PATCH", "DELETE"]

_PLAIN_PATH = re.compile(r"(?:/(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-F]{2})*)*")
_UNCLEAR = re.compile(r"%(?:2[EF]|5C|00)", re.IGNORECASE)


class Rule(BaseModel):
    """What may be asked. `url` ends in `/*` for everything below it, else it is the one path.

    `headers` are sent in clear, `secret_headers` name the secret whose value is sent.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: str = Field(max_length=1000)
    methods: frozenset[Method] = frozenset({"GET"})
    headers: Mapping[str, str] = Field(default_factory=dict)
    secret_headers: Mapping[str, Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,63}$")]] = Field(
        default_factory=dict
    )

    @field_validator("url")
    @classmethod
    def _clear(cls, value: str) -> str:
        parts = urlsplit(value.removesuffix("*"))
        if value.count("*") > value.endswith("/*") or parts.query:
            raise ValueError("is an address, with /* at its end for all below it, and no query")
        fault = fault_of(parts)
        if fault:
            raise ValueError(fault)
        return value

    @field_validator("headers", "secret_headers")
    @classmethod
    def _header_names(cls, value: Mapping[str, str]) -> Mapping[str, str]:
        for name, text in value.items():
            if not re.fullmatch(r"[A-Za-z][A-Za-z0-9-]{0,63}", name) or re.search(
                r"[\r\n\0]", text
            ):
                raise ValueError("has a name or a value that no header may have")
            if name.casefold() in {"host", "content-length", "transfer-encoding", "connection"}:
                raise ValueError("has a header that is the connector's own to send")
        return value

    def allows(self, method: str, parts: SplitResult) -> bool:
        """Return whether a request is this rule's."""
        mine = urlsplit(self.url)
        if method not in self.methods or origin(mine) != origin(parts):
            return False
        if mine.path.endswith("/*"):
            return parts.path.startswith(mine.path.removesuffix("*"))
        return (parts.path or "/") == (mine.path or "/")


def origin(parts: SplitResult) -> tuple[str, str, int]:
    """Return scheme, host and port, which together say who answers."""
    return parts.scheme, (parts.hostname or "").rstrip("."), parts.port or PORTS[parts.scheme]


def fault_of(parts: SplitResult) -> str | None:
    """Return what is wrong with an address, None for one that can be read in one way only."""
    try:
        port = parts.port
    except ValueError:
        return "names no port"
    if parts.scheme not in PORTS or not parts.hostname or port == 0:
        return "begins with https:// or http:// and a host"
    if "@" in parts.netloc or parts.fragment:
        return "has neither a user nor a fragment"
    if not parts.netloc.isascii():
        return "has a host of ASCII letters; write others in punycode"
    segments = {one.partition(";")[0] for one in parts.path.split("/")}
    unclear = segments & {".", ".."} or _UNCLEAR.search(parts.path)
    if unclear or not _PLAIN_PATH.fullmatch(parts.path):
        return "has a path that could be read in two ways"
    return None


def read(url: str) -> SplitResult:
    """Return the parts of an address; ValidationFailed for one that is unclear."""
    try:
        parts = urlsplit(url)
        fault = fault_of(parts)
    except ValueError:
        fault = "is no address"
    else:
        if fault is None:
            return parts
    refuse(fault)
