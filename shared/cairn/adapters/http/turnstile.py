"""Cloudflare's Turnstile: whether a browser solved a challenge of a site. Not the challenge.

https://developers.cloudflare.com/turnstile/get-started/server-side-validation/
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from cairn.adapters.http.rest import Request, RestService, rest_breakers
from cairn.chat.widget_sessions import BROWSER_ACTION
from cairn.kernel.errors import CairnError, Unavailable
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping
    from uuid import UUID

    import httpx

    from cairn.kernel.resilience.breaker import Breakers

BASE = "https://challenges.cloudflare.com"
VERIFY = "/turnstile/v0/siteverify"
SECONDS = 3.0
MAX_ANSWER_CHARS = 2_048
OURS = frozenset({"missing-input-secret", "invalid-input-secret"})
"""Codes that say that the secret is wrong, whatever the browser did."""

THEIRS = frozenset({"bad-request", "internal-error"})
"""Codes that say nothing of the browser."""


@dataclass(frozen=True, slots=True)
class Turnstile:
    """As `SolvedElsewhere`: the service takes each answer once, within five minutes.

    A request is sent again under the same key, so that an answer that was lost does not use it up.
    """

    base_url: str = BASE
    allow_private: bool = False
    transport: httpx.BaseTransport | None = None
    new_id: Callable[[], UUID] = new_id
    pause: Callable[[float], None] = time.sleep
    seconds: float = SECONDS
    breakers: Breakers = field(default_factory=rest_breakers)

    def __call__(
        self, secret: str, answer: str, address: str | None, hosts: Collection[str]
    ) -> bool:
        """Return whether a page of one of these hosts had this answer solved for a chat."""
        if not 0 < len(answer) <= MAX_ANSWER_CHARS:
            return False
        form = {"secret": secret, "response": answer, "idempotency_key": str(self.new_id())}
        if address:
            form["remoteip"] = address
        try:
            verdict = self._service().ask(_verify(form), {}).record()
        except CairnError as error:
            raise _silent() from error
        if verdict.get("success") is True:
            return verdict.get("hostname") in hosts and verdict.get("action") == BROWSER_ACTION
        codes = _codes(verdict)
        if codes & OURS:
            raise Unavailable(
                "Turnstile does not know the secret of this widget: an admin has to set it again.",
                reason="challenge-secret",
            )
        if not codes or codes & THEIRS:
            raise _silent()
        return False

    def _service(self) -> RestService:
        return RestService(
            name="Turnstile",
            base_url=self.base_url,
            words=lambda body: ", ".join(_codes(body)),
            allow_private=self.allow_private,
            transport=self.transport,
            pause=self.pause,
            seconds=self.seconds,
            breakers=self.breakers,
        )


def _verify(form: Mapping[str, str]) -> Request:
    return Request(method="POST", path=VERIFY, form=form, repeatable=True)


def _codes(verdict: Mapping[str, Any]) -> frozenset[str]:
    codes = verdict.get("error-codes")
    return frozenset(map(str, cast("list[Any]", codes))) if isinstance(codes, list) else frozenset()


def _silent() -> Unavailable:
    return Unavailable(
        "Your browser cannot be checked now. Try again in a moment.",
        reason="challenge-service",
        retry_after=5.0,
    )
