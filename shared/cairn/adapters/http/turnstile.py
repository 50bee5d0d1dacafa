"""Cloudflare's Turnstile: whether a browser solved a challenge of a site. Not the challenge.

https://developers.cloudflare.com/turnstile/get-started/server-side-validation/
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.adapters.http.rest import Request, RestService

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

BASE = "https://challenges.cloudflare.com"
VERIFY = "/turnstile/v0/siteverify"
SECONDS = 5.0
MAX_ANSWER_CHARS = 2_048


@dataclass(frozen=True, slots=True)
class Turnstile:
    """As `SolvedElsewhere`: the service takes each answer once, within five minutes."""

    base_url: str = BASE
    allow_private: bool = False
    transport: httpx.BaseTransport | None = None

    def __call__(self, secret: str, answer: str, address: str | None) -> bool:
        """Return whether the service takes an answer."""
        if not 0 < len(answer) <= MAX_ANSWER_CHARS:
            return False
        service = RestService(
            name="Turnstile",
            base_url=self.base_url,
            words=_words,
            allow_private=self.allow_private,
            transport=self.transport,
            seconds=SECONDS,
        )
        form = {"secret": secret, "response": answer}
        if address:
            form["remoteip"] = address
        verified = service.ask(Request(method="POST", path=VERIFY, form=form), {})
        return verified.record().get("success") is True


def _words(body: Mapping[str, Any]) -> str:
    return ", ".join(map(str, body.get("error-codes", ())))
