"""Posts webhooks over HTTP to addresses outside this network. Not the signing, not the retries
over hours: those are the queue's.
"""

from __future__ import annotations

import re
import socket
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from cairn.adapters.http.public_address import is_address, is_public
from cairn.kernel.errors import Conflict, FieldError, Unavailable, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    import httpx

SECONDS = 10.0
ATTEMPTS = 3
FIRST_WAIT, LONGEST_WAIT = 0.5, 5.0
SCHEMES = {"https": 443, "http": 80}
_CONTROL = re.compile(r"[\x00-\x1f\x7f]")


def resolved(host: str, port: int) -> list[str]:
    """Return the addresses of a host; Unavailable when it has none."""
    try:
        addresses = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError):  # the latter for a part that is empty or too long
        raise Unavailable("The webhook's host is not known.", reason="no-such-host") from None
    return list(dict.fromkeys(str(item[4][0]) for item in addresses))


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpWebhookSender:
    """Implements `WebhookSender`.

    Redirects are not followed, and an address inside a network (private, loopback, link-local,
    multicast, or one of these wrapped into IPv6) is refused, unless `allow_private`, which also
    allows plain http: for a laptop. The address that was looked at is the one that is connected to.
    """

    allow_private: bool = False
    resolve: Callable[[str, int], Sequence[str]] = resolved
    transport: httpx.BaseTransport | None = None
    pause: Callable[[float], None] = time.sleep

    def check(self, url: str) -> None:
        """Raise ValidationFailed for an address that would never be posted to."""
        schemes = SCHEMES if self.allow_private else {"https": 443}
        try:
            parts = urlsplit(url)
            scheme, host, port = parts.scheme, parts.hostname, parts.port
        except ValueError:
            scheme, host, port = "", None, None
        if scheme not in schemes or not host:
            self._refuse(f"is an address that begins with {' or '.join(schemes)}://")
        elif _CONTROL.search(url):
            self._refuse("has control characters")
        elif not host.isascii():
            self._refuse("has a host that is not ASCII; write it as xn--...")
        elif self._is_inside(host):
            self._refuse("is inside a private network")
        elif port == 0:
            self._refuse("names no port")

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        """Return the status of the answer; a busy or failing receiver is asked three times."""
        from tenacity import (
            Retrying,
            retry_if_exception_type,
            retry_if_result,
            stop_after_attempt,
            wait_random_exponential,
        )

        def last(state: object) -> int:
            outcome = getattr(state, "outcome", None)
            return int(outcome.result()) if outcome is not None else 0

        retrying = Retrying(
            stop=stop_after_attempt(ATTEMPTS),
            wait=wait_random_exponential(multiplier=FIRST_WAIT, max=LONGEST_WAIT),
            retry=retry_if_exception_type(Unavailable) | retry_if_result(_is_busy),
            retry_error_callback=last,
            sleep=self.pause,
        )
        return retrying(self._post, url, body, headers)

    def _post(self, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        import httpx

        self.check(url)
        parts = urlsplit(url)
        host = parts.hostname or ""
        address = self._address(host, parts.port or SCHEMES[parts.scheme])
        request = httpx.Request(
            "POST",
            httpx.URL(url).copy_with(host=address),
            content=body,
            headers={**headers, "host": parts.netloc},
            extensions={"sni_hostname": host},
        )
        try:
            with httpx.Client(
                transport=self.transport, timeout=SECONDS, follow_redirects=False, trust_env=False
            ) as client:
                answer = client.send(request, stream=True)
                status = answer.status_code
                answer.close()
        except httpx.HTTPError as problem:
            reason = "timeout" if isinstance(problem, httpx.TimeoutException) else "unreachable"
            raise Unavailable("The webhook's receiver did not answer.", reason=reason) from None
        return status

    def _address(self, host: str, port: int) -> str:
        for address in self.resolve(host, port):
            if self.allow_private or is_public(address):
                return address
        return self._refuse("leads into a private network")

    def _is_inside(self, host: str) -> bool:
        """Return whether a host is an address in itself, and a private one."""
        return not self.allow_private and is_address(host) and not is_public(host)

    def _refuse(self, message: str) -> str:
        raise ValidationFailed(
            f"url {message}.", reason="webhook-address", errors=[FieldError("url", message)]
        )


def _is_busy(status: int) -> bool:
    return status == 429 or status >= 500


class NoWebhooks:
    """Implements `WebhookSender` where nothing may leave."""

    def check(self, url: str) -> None:
        """Refuse every address."""
        raise Conflict(
            "Webhooks are off here: nothing may leave this network.", reason="webhooks-off"
        )

    def post(self, url: str, body: bytes, headers: Mapping[str, str]) -> int:
        """Refuse to post; what waits stays until it may."""
        raise Unavailable("Webhooks are off here.", reason="webhooks-off")


def sender_for(setting: str) -> HttpWebhookSender | NoWebhooks:
    """Return the sender that CAIRN_WEBHOOKS asks for: off, public or private."""
    if setting == "off":
        return NoWebhooks()
    return HttpWebhookSender(allow_private=setting == "private")
