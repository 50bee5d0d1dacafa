"""Clients that sign in: what they say of themselves, and where a browser may be sent back to.

Anybody may register, so registering proves nothing: a client's id is what it said, written down,
and nothing is kept. Who lets it in reads where the answer goes; the name is the client's own claim.
"""

from __future__ import annotations

import base64
import binascii
import json
from dataclasses import asdict, dataclass
from typing import Any, cast
from urllib.parse import SplitResult, urlsplit

MAX_URIS, MAX_URI_CHARS, MAX_NAME_CHARS, MAX_ID_CHARS = 8, 300, 80, 4_000
LOOPBACK = frozenset({"127.0.0.1", "localhost", "::1"})


class RefusedClient(ValueError):
    """What a client says of itself is not taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthClient:
    """A client: its name and the addresses it may be answered at; none for a device."""

    name: str
    redirect_uris: tuple[str, ...]

    @property
    def id(self) -> str:
        """Return the id: the registration itself."""
        text = json.dumps(asdict(self), separators=(",", ":"), sort_keys=True)
        return base64.urlsafe_b64encode(text.encode()).rstrip(b"=").decode()

    def may_return_to(self, uri: str) -> bool:
        """Return whether an address is registered; the port of a loopback address is free."""
        return any(
            uri == registered_uri or _same_but_port(uri, registered_uri)
            for registered_uri in self.redirect_uris
        )


def registered(name: object, redirect_uris: object) -> OAuthClient:
    """Return a client as it registers; RefusedClient says what is wrong."""
    if not isinstance(name, str) or not name.isprintable() or len(name) > MAX_NAME_CHARS:
        raise RefusedClient(f"client_name is a line of at most {MAX_NAME_CHARS} characters")
    if not isinstance(redirect_uris, list) or len(cast("list[Any]", redirect_uris)) > MAX_URIS:
        raise RefusedClient(f"redirect_uris is a list of at most {MAX_URIS}")
    for uri in cast("list[object]", redirect_uris):
        if not isinstance(uri, str) or not is_safe(uri):
            raise RefusedClient("a redirect URI is https, or http to this machine")
    uris = tuple(cast("list[str]", redirect_uris))
    return OAuthClient(name=name.strip() or "a client", redirect_uris=uris)


def client_of(id_: str) -> OAuthClient | None:
    """Return the client of an id; None for what is none."""
    if len(id_) > MAX_ID_CHARS:
        return None
    try:
        padded = id_ + "=" * (-len(id_) % 4)
        fields = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        return registered(fields["name"], fields["redirect_uris"])
    except (ValueError, TypeError, LookupError, binascii.Error, RecursionError):
        return None


def is_safe(uri: str) -> bool:
    """Return whether a browser may be sent to an address: no script, nothing in clear."""
    parts = _parts(uri)
    if parts is None or not uri.isascii() or not uri.isprintable() or len(uri) > MAX_URI_CHARS:
        return False
    if " " in uri or "\\" in uri or "#" in uri or "@" in parts.netloc or not parts.hostname:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in LOOPBACK)


def _same_but_port(uri: str, registered_uri: str) -> bool:
    left, other = _parts(uri), _parts(registered_uri)
    if left is None or other is None or not is_safe(uri) or other.scheme != "http":
        return False
    return (left.scheme, left.hostname, left.path, left.query) == (
        other.scheme,
        other.hostname,
        other.path,
        other.query,
    )


def _parts(uri: str) -> SplitResult | None:
    try:
        parts = urlsplit(uri)
        _ = parts.port
    except ValueError:
        return None
    return parts
