"""The Bot Connector's REST API, as far as a bot in Teams needs it. Not what its activities mean.

Errors are those of `rest`. A message is sent once: the connector knows no key by which a second one
would be the same. https://learn.microsoft.com/azure/bot-service/rest-api/
"""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlsplit

from cairn.adapters.http.rest import Request, RestService, rest_breakers
from cairn.channels.teams.door import SERVICE_ORIGINS, require_service_url
from cairn.connectors.port import ConnectorUnauthorised
from cairn.kernel.clock import Stopwatch, monotonic
from cairn.kernel.errors import NotFound, ValidationFailed
from cairn.tickets.adapter import text_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.kernel.resilience.breaker import Breakers

LOGIN_URL = "https://login.microsoftonline.com"
SCOPE = "https://api.botframework.com/.default"
TOKEN_LEEWAY_SECONDS = 300.0
MAX_TOKENS = 1_000
BUSY = frozenset({412, 429})
"""What Teams answers when a request is to come again later, and did nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BotAccount:
    """How to sign in as a bot; the secret never shows in a repr.

    `login_url` and `service_origins` are Microsoft's; on a laptop another may stand in for them.
    """

    app_id: str
    tenant_id: str
    secret: str = field(repr=False)
    login_url: str = LOGIN_URL
    service_origins: frozenset[str] = SERVICE_ORIGINS
    allow_private: bool = False


@dataclass(slots=True)
class BotTokens:
    """Access tokens of every bot of this process, each used until five minutes before its end."""

    stopwatch: Stopwatch = monotonic
    _kept: dict[BotAccount, tuple[str, float]] = field(
        default_factory=dict[BotAccount, tuple[str, float]]
    )
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def get(self, account: BotAccount, breakers: Breakers, *, instead_of: str = "") -> str:
        """Return an access token, another one than `instead_of`, which the connector refused."""
        with self._lock:
            token, ends = self._kept.get(account, ("", 0.0))
        if token and token != instead_of and self.stopwatch() < ends:
            return token
        token, seconds = _asked_token(account, breakers)
        with self._lock:
            if len(self._kept) >= MAX_TOKENS:
                self._kept.clear()
            self._kept[account] = token, self.stopwatch() + seconds
        return token


@dataclass(frozen=True, slots=True, kw_only=True)
class BotConnector:
    """One bot at the Bot Connector. Safe between threads."""

    account: BotAccount
    tokens: BotTokens
    breakers: Breakers = field(default_factory=rest_breakers)

    def sign_in(self) -> None:
        """Raise ConnectorUnauthorised unless the bot's credentials are good now."""
        self.tokens.get(self.account, self.breakers)

    def member(self, service_url: str, conversation: str, user: str) -> Mapping[str, Any]:
        """Return somebody who is in a conversation; `user` is an object id, or Teams' own."""
        path = f"/v3/conversations/{_part(conversation)}/members/{_part(user)}"
        return self._ask("GET", service_url, path)

    def send(self, service_url: str, conversation: str, activity: Mapping[str, Any]) -> str:
        """Say something in a conversation; return the activity's id. Sent once."""
        path = f"/v3/conversations/{_part(conversation)}/activities"
        return text_at(self._ask("POST", service_url, path, self._ours(activity)), "id")

    def begin(self, service_url: str, channel: str, activity: Mapping[str, Any]) -> str:
        """Begin a reply chain in a channel of a team; return the id of its message. Sent once."""
        body = {
            "isGroup": True,
            "channelData": {"channel": {"id": channel}},
            "tenantId": self.account.tenant_id,
            "activity": self._ours(activity),
        }
        return text_at(self._ask("POST", service_url, "/v3/conversations", body), "activityId")

    def update(
        self, service_url: str, conversation: str, sent: str, activity: Mapping[str, Any]
    ) -> None:
        """Put something in the place of what the bot said."""
        path = f"/v3/conversations/{_part(conversation)}/activities/{_part(sent)}"
        self._ask("PUT", service_url, path, {**self._ours(activity), "id": sent})

    def _ours(self, activity: Mapping[str, Any]) -> dict[str, Any]:
        return {**activity, "from": {"id": f"28:{self.account.app_id}"}}

    def _ask(
        self, method: str, service_url: str, path: str, body: Mapping[str, Any] | None = None
    ) -> Mapping[str, Any]:
        """Ask with a token, and once more with a new one when this one is not taken."""
        require_service_url(service_url, self.account.service_origins)
        where = urlsplit(service_url.rstrip("/"))
        service = RestService(
            name="Teams",
            base_url=f"{where.scheme}://{where.netloc}",
            words=_words,
            limited=lambda status, headers: status in BUSY,
            allow_private=self.account.allow_private,
            breakers=self.breakers,
        )
        request = Request(
            method=method, path=where.path + path, body=body, repeatable=method != "POST"
        )
        token = self.tokens.get(self.account, self.breakers)
        try:
            answer = service.ask(request, _headers(token))
        except ConnectorUnauthorised as refused:
            if refused.fields.get("status") == 403:
                raise NotFound(
                    "The bot may not write in this conversation: it was removed, or blocked.",
                    reason="conversation",
                ) from refused
            token = self.tokens.get(self.account, self.breakers, instead_of=token)
            answer = service.ask(request, _headers(token))
        return answer.record() if isinstance(answer.body, dict) else {}


def _asked_token(account: BotAccount, breakers: Breakers) -> tuple[str, float]:
    """Return a new access token, and for how many seconds it is used."""
    service = RestService(
        name="Microsoft's sign-in",
        base_url=account.login_url,
        words=lambda body: text_at(body, "error"),
        allow_private=account.allow_private,
        breakers=breakers,
    )
    request = Request(
        method="POST",
        path=f"/{quote(account.tenant_id, safe='')}/oauth2/v2.0/token",
        form={
            "grant_type": "client_credentials",
            "client_id": account.app_id,
            "client_secret": account.secret,
            "scope": SCOPE,
        },
        repeatable=True,
    )
    try:
        body = service.ask(request, {}).record()
    except ValidationFailed as refused:
        if refused.reason != "refused":
            raise
        raise _no_sign_in() from None
    token = text_at(body, "access_token")
    if not token or not token.isascii():
        raise _no_sign_in()
    lives = body.get("expires_in")
    seconds = float(lives) if isinstance(lives, int) and not isinstance(lives, bool) else 3600.0
    return token, max(seconds - TOKEN_LEEWAY_SECONDS, 0.0)


def _headers(token: str) -> Mapping[str, str]:
    return {"authorization": f"Bearer {token}", "user-agent": "cairn"}


def _part(text: str) -> str:
    return quote(text, safe="")


def _words(body: Mapping[str, Any]) -> str:
    return text_at(body, "error", "code") or text_at(body, "errorCode")


def _no_sign_in() -> ConnectorUnauthorised:
    return ConnectorUnauthorised("Microsoft refuses the bot's secret; it must be renewed.")
