"""Believes what the front of a deployment says of a request: its visitor's address and its host.

CloudFront puts three headers on what it passes on: a secret, the address that it was asked from,
and the host that was asked for. With the secret, the two take the place of the connection's own, so
that limits by address and everything that reads `Host` see the visitor; without it, they are
dropped as what anybody may write. None of the three goes further than this.
"""

from __future__ import annotations

import hmac
import re
from ipaddress import ip_address
from typing import TYPE_CHECKING

from cairn.api.problems import from_error, problem_response
from cairn.kernel.errors import Denied

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.types import ASGIApp, Receive, Scope, Send

SECRET, VIEWER, HOST = "x-cairn-edge", "x-cairn-viewer", "x-cairn-host"
NAMES = frozenset(name.encode() for name in (SECRET, VIEWER, HOST))
OPEN = frozenset({"/healthz", "/readyz"})
"""What is answered to everybody: who asks whether this lives need not come through the front."""

_HOST = re.compile(rb"[a-z0-9]([a-z0-9.\-]{0,252}[a-z0-9])?(:[0-9]{1,5})?")


class Edge:
    """Middleware: around all but the request's id and its line in the log, which read neither.

    `secrets` are those that count, none where there is no front. With `only`, a request without
    one of them is refused, so that the gateway's own address leads around no rule of the front.
    """

    def __init__(self, app: ASGIApp, *, secrets: Sequence[str], only: bool) -> None:
        self.app = app
        self.secrets = tuple(secret.encode() for secret in secrets)
        self.only = only

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one connection."""
        if scope["type"] == "http" and not self._take(scope):
            refused = Denied("Ask at the address of the deployment's front.", reason="edge")
            response = problem_response(from_error(refused), scope["state"]["request_id"])
            await response(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _take(self, scope: Scope) -> bool:
        """Take the front's headers out of `scope`; return whether the request may go on.

        In place, for what is around this reads the route of the same scope afterwards.
        """
        headers: list[tuple[bytes, bytes]] = list(scope["headers"])
        front = {name: value for name, value in headers if name in NAMES}
        rest = [(name, value) for name, value in headers if name not in NAMES]
        trusted = self._is_front(front.get(SECRET.encode(), b""))
        if trusted:
            host = front.get(HOST.encode(), b"").lower()
            if _HOST.fullmatch(host):
                rest = [(name, value) for name, value in rest if name != b"host"]
                rest.append((b"host", host))
            if address := _address(front.get(VIEWER.encode(), b"")):
                scope["client"] = (address, 0)
        scope["headers"] = rest
        return trusted or not self.only or scope["path"] in OPEN

    def _is_front(self, secret: bytes) -> bool:
        matches = [hmac.compare_digest(secret, each) for each in self.secrets]
        return any(matches)


def _address(value: bytes) -> str | None:
    try:
        return str(ip_address(value.decode("ascii")))
    except ValueError:
        return None
