"""Linear as a kind of ticket source, and how GraphQL says what it refuses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.adapters.http.desks.asking import COMMON, AskDesk, always, files_of, settled
from cairn.adapters.http.desks.declaring import (
    Fields,
    HelpDesk,
    is_ascii_secret,
    is_secret,
    is_text,
)
from cairn.connectors.port import ConnectorUnauthorised
from cairn.kernel.errors import NotFound, RateLimited, ValidationFailed
from cairn.tickets.adapter import text_at
from cairn.tickets.desks.linear import STATUSES, UPLOADS_URL, LinearAdapter
from cairn.tickets.desks.walking import object_of, rows_of
from cairn.tickets.ticket import SourceKind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.adapters.http.desks.declaring import Opening
    from cairn.kernel.errors import CairnError

API_URL = "https://api.linear.app/graphql"
BUSY_SECONDS = 60.0
_SIGNED_OUT, _BUSY, _GONE = "AUTHENTICATION_ERROR", "RATELIMITED", "Entity not found"


@dataclass(frozen=True, slots=True, kw_only=True)
class AskLinear:
    """Implements `DeskApi`: errors that GraphQL sends with status 200 or 400 are told apart."""

    ask: AskDesk

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
        try:
            answer = self.ask(method, path, query=query, body=body, repeatable=repeatable)
        except ValidationFailed as refused:
            if refused.reason != "refused":
                raise
            raise _refusal(refused.detail) from refused
        if rows_of(answer, "errors"):
            raise _refusal(_words(object_of(answer)))
        return answer


def _refusal(words: str) -> CairnError:
    if _SIGNED_OUT in words:
        return ConnectorUnauthorised("Linear refuses the key it was given.", status=401)
    if _BUSY in words:
        return RateLimited("Linear has had too many requests.", retry_after=BUSY_SECONDS)
    if _GONE in words:
        return NotFound("Linear has no such thing.")
    return ValidationFailed(f"Linear refused the request: {words}.", reason="refused")


def _words(body: Mapping[str, Any]) -> str:
    errors = rows_of(body, "errors")
    return " ".join(
        f"{text_at(error, 'extensions', 'code')} {text_at(error, 'message')}".strip()
        for error in errors
    )[:300]


def _open(opening: Opening) -> LinearAdapter:
    config, secrets = opening.config, opening.secrets
    service = opening.service("Linear", config.get("api_url", API_URL), words=_words)
    headers = {"authorization": secrets["api_key"]}
    uploads_url = str(config.get("uploads_url", UPLOADS_URL)).rstrip("/")
    uploads = opening.service("Linear", uploads_url, words=_words)
    return LinearAdapter(
        api=AskLinear(ask=AskDesk(service=service, sign_in=always(headers))),
        file=files_of(uploads, always(headers)),
        uploads_url=uploads_url,
        clock=opening.clock,
        team=config["team"],
        webhook_secret=secrets.get("webhook_secret"),
        **settled(config, STATUSES),
    )


DESK = HelpDesk(
    kind=SourceKind.LINEAR,
    config=Fields(
        needed={"team": is_text}, allowed={"api_url": is_text, "uploads_url": is_text, **COMMON}
    ),
    secrets=Fields(needed={"api_key": is_ascii_secret}, allowed={"webhook_secret": is_secret}),
    open=_open,
)
