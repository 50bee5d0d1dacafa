"""The issuer of a laptop: codes that an admin's yes turns into keys. Not HTTP, and not the pages.

Codes live for minutes in the memory of the one process that serves a laptop, by their hashes.
Authorization codes need PKCE (S256) and are good once; sent again, the sign-in they made ends.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING
from uuid import UUID

from cairn.accounts.signing_in import ACCESS_LASTS, Agent, SignedIn
from cairn.kernel.errors import NotFound, Unauthenticated
from cairn.kernel.text.hashes import sha256

if TYPE_CHECKING:
    from collections.abc import Callable

    from cairn.accounts.signing_in import SignIns
    from cairn.api.oauth.clients import OAuthClient
    from cairn.kernel.access import Principal, Scope

CODE_SECONDS, DEVICE_SECONDS, POLL_SECONDS = 60, 600, 5
MOST_WAITING = 500
LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
"""Of a code that a person types: no vowels, so no words; nothing that looks like another."""
CHALLENGE = re.compile(r"[A-Za-z0-9_-]{43}")
VERIFIER = re.compile(r"[A-Za-z0-9._~-]{43,128}")


class OAuthError(Exception):
    """An error as RFC 6749 names it, with a sentence for who reads the log of the client."""

    def __init__(self, code: str, detail: str, *, status: int = 400) -> None:
        super().__init__(detail)
        self.code = code
        self.told = detail
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationRequest:
    """What a client asks for."""

    client: OAuthClient
    scopes: frozenset[Scope]
    redirect_uri: str = ""
    challenge: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Consent:
    """An admin's yes: to which agent the client is bound, and what that agent sees."""

    admin: Principal
    slug: str
    scopes: frozenset[Scope]


@dataclass(slots=True, kw_only=True)
class Waiting:
    """A code that waits to be exchanged. A device's has no consent until a person came."""

    asked: AuthorizationRequest
    until: float
    consent: Consent | None = None
    refused: bool = False
    user_code: str = ""
    polled: float | None = None
    made: SignedIn | None = None
    used: bool = False


@dataclass(slots=True, kw_only=True)
class Issuer:
    """Gives keys for codes. `tools` are those that a signed-in client's key is for."""

    sign_ins: Callable[[], SignIns]
    admit: Callable[[str], Principal]
    tools: Callable[[], frozenset[str]]
    clock: Callable[[], float]
    _waiting: dict[bytes, Waiting] = field(default_factory=dict[bytes, Waiting])
    _lock: Lock = field(default_factory=Lock)

    def grant(self, request: AuthorizationRequest, consent: Consent) -> str:
        """Return the authorization code of a consent."""
        waiting = Waiting(asked=request, until=self.clock() + CODE_SECONDS, consent=consent)
        return self._keep(waiting)

    def begin_device(self, request: AuthorizationRequest) -> tuple[str, str]:
        """Return the code a device polls with, and the one its person types."""
        user_code = "".join(secrets.choice(LETTERS) for _ in range(8))
        until = self.clock() + DEVICE_SECONDS
        return self._keep(Waiting(asked=request, until=until, user_code=user_code)), user_code

    def device(self, user_code: str) -> Waiting | None:
        """Return what waits under a code that a person typed."""
        typed = "".join(user_code.upper().replace("-", " ").split())
        with self._lock:
            self._forget_old()
            every = self._waiting.values()
            open_ = (each for each in every if each.user_code and not each.consent)
            return next((each for each in open_ if each.user_code == typed), None)

    def exchange(
        self, code: str, *, client: OAuthClient, redirect_uri: str, verifier: str
    ) -> SignedIn:
        """Return the keys of an authorization code; a code is spent by whoever sends it."""
        waiting = self._take(code)
        request = waiting.asked
        if waiting.user_code or waiting.consent is None:
            raise _no_grant("This is no authorization code.")
        if request.client != client or request.redirect_uri != redirect_uri:
            raise _no_grant("This code was given to another client or address.")
        if VERIFIER.fullmatch(verifier) is None or not proves(verifier, request.challenge):
            raise _no_grant("code_verifier does not fit the code_challenge.")
        return self._open(waiting, waiting.consent)

    def poll(self, code: str, *, client: OAuthClient) -> SignedIn:
        """Return the keys of a device's code once its person said yes; else why not yet."""
        with self._lock:
            self._forget_old()
            waiting = self._waiting.get(sha256(code.encode()))
            if waiting is None or not waiting.user_code or waiting.asked.client != client:
                raise OAuthError("expired_token", "This device code is not known, or no longer.")
            now, before = self.clock(), waiting.polled
            waiting.polled = now
        if waiting.refused:
            raise OAuthError("access_denied", "The person said no.")
        if waiting.consent is None:
            early = before is not None and now - before < POLL_SECONDS
            raise OAuthError(
                "slow_down" if early else "authorization_pending", "Nobody has said yes yet."
            )
        return self._open(self._take(code), waiting.consent)

    def renew(self, token: str) -> SignedIn:
        """Return new keys for a refresh token, which is then spent.

        One that is sent a second time ends the sign-in: it may have been stolen.
        """
        text, _, workspace = token.partition("~")
        try:
            return self.sign_ins().renew(self.admit(text), self.tools())
        except Unauthenticated as error:
            self._end_reused(text, workspace)
            raise _no_grant("This refresh token is good no longer.") from error

    def _end_reused(self, text: str, workspace: str) -> None:
        prefix = text.removeprefix("cairn_").partition(".")[0]
        try:
            workspace_id = UUID(workspace)
        except ValueError:
            return
        with suppress(NotFound):  # of a workspace there is not
            self.sign_ins().end(workspace_id, prefix=prefix)

    def _open(self, waiting: Waiting, consent: Consent) -> SignedIn:
        agent = Agent(
            client=waiting.asked.client.name,
            slug=consent.slug,
            scopes=consent.scopes,
            tools=self.tools(),
        )
        waiting.made = self.sign_ins().open(consent.admin, agent)
        return waiting.made

    def _keep(self, waiting: Waiting) -> str:
        code = secrets.token_urlsafe(32)
        with self._lock:
            self._forget_old()
            if len(self._waiting) >= MOST_WAITING:
                raise OAuthError("slow_down", "Too many sign-ins wait.", status=429)
            self._waiting[sha256(code.encode())] = waiting
        return code

    def _take(self, code: str) -> Waiting:
        """Return what a code stands for, once."""
        with self._lock:
            self._forget_old()
            waiting = self._waiting.get(sha256(code.encode()))
            first = waiting is not None and not waiting.used
            if waiting is not None:
                waiting.used = True
        if waiting is None:
            raise _no_grant("This code is not known, or no longer.")
        if not first:
            if waiting.made is not None:
                self.sign_ins().end(waiting.made.workspace_id, sign_in=waiting.made.id)
            raise _no_grant("This code was used before.")
        return waiting

    def _forget_old(self) -> None:
        now = self.clock()
        for key in [key for key, each in self._waiting.items() if each.until < now]:
            del self._waiting[key]


def proves(verifier: str, challenge: str) -> bool:
    """Return whether a verifier is the one of a challenge (RFC 7636, S256)."""
    digest = hashlib.sha256(verifier.encode()).digest()
    computed = base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
    return hmac.compare_digest(computed, challenge)


def token_json(signed_in: SignedIn) -> dict[str, object]:
    """Return the keys as a token endpoint answers them."""
    return {
        "access_token": signed_in.access,
        "token_type": "Bearer",
        "expires_in": int(ACCESS_LASTS.total_seconds()),
        "refresh_token": f"{signed_in.renewal}~{signed_in.workspace_id.hex}",
        "scope": " ".join(sorted(signed_in.scopes)),
    }


def _no_grant(detail: str) -> OAuthError:
    return OAuthError("invalid_grant", detail)
