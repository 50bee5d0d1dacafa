"""Where requests to services of somebody else's may lead: not into this network, unless allowed.

Names are looked up here, and the address that was looked at is the one that is connected to, so
that a name which leads elsewhere a moment later gains nothing. Loads httpx.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NoReturn

import httpx

from cairn.adapters.http.public_address import is_public
from cairn.kernel.errors import FieldError, Unavailable, ValidationFailed

if TYPE_CHECKING:
    from cairn.kernel.clock import Stopwatch

PORTS = {"https": 443, "http": 80}
REDIRECTS = frozenset({301, 302, 303, 307, 308})
Resolve = Callable[[str, int], Sequence[str]]


class Outgoing(httpx.BaseTransport):
    """Connects to addresses outside this network; to any with `allow_private`."""

    def __init__(
        self,
        *,
        allow_private: bool,
        resolve: Resolve | None = None,
        inner: httpx.BaseTransport | None = None,
    ) -> None:
        from cairn.adapters.http.rest import trusted

        self._allow_private = allow_private
        self._resolve = resolve or resolved
        self._inner = inner or httpx.HTTPTransport(verify=trusted(), trust_env=False)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request to an address that was looked at; the Host header stays the name."""
        host = request.url.host
        port = request.url.port or PORTS[request.url.scheme]
        address = address_to_ask(
            host, port, resolve=self._resolve, allow_private=self._allow_private
        )
        request.extensions = {**request.extensions, "sni_hostname": host}
        request.url = request.url.copy_with(host=address)
        return self._inner.handle_request(request)

    def close(self) -> None:
        """End what is open."""
        self._inner.close()


def resolved(host: str, port: int) -> list[str]:
    """Return the addresses of a host; Unavailable when it has none."""
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):  # the latter for a part that is empty or too long
        raise Unavailable("The host is not known.", reason="no-such-host") from None
    return list(dict.fromkeys(str(item[4][0]) for item in addresses))


def address_to_ask(host: str, port: int, *, resolve: Resolve, allow_private: bool) -> str:
    """Return the address to connect to; ValidationFailed when any of them is inside a network."""
    addresses = resolve(host, port)
    if not addresses:
        raise Unavailable("The host is not known.", reason="no-such-host")
    if not allow_private and not all(is_public(each) for each in addresses):
        refuse("leads into a private network")
    return addresses[0]


def body_of(answer: httpx.Response, *, most: int, seconds: float, stopwatch: Stopwatch) -> bytes:
    """Return a body, or of a longer one somewhat more than `most` bytes.

    Raises httpx.ReadTimeout when it does not come within `seconds`, however steadily it drips.
    """
    content, ends = bytearray(), stopwatch() + seconds
    for piece in answer.iter_bytes():
        content += piece
        if len(content) > most:
            break
        if stopwatch() > ends:
            raise httpx.ReadTimeout("the body takes too long")
    return bytes(content)


def unanswered(problem: Exception, detail: str) -> Unavailable:
    """Return the error for a host of which no answer came: `timeout`, or `unreachable`."""
    reason = "timeout" if isinstance(problem, httpx.TimeoutException) else "unreachable"
    return Unavailable(detail, reason=reason)


def refuse(fault: str, *, reason: str = "http-address") -> NoReturn:
    """Raise ValidationFailed for the address."""
    raise ValidationFailed(f"url {fault}.", reason=reason, errors=[FieldError("url", fault)])
