"""Signing in by an OpenID Connect issuer: what one sign-in is held to, and the session.

Not the protocol itself (`adapters/http/openid.py`), nor who comes in (`admission.py`).
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from hmac import compare_digest
from typing import TYPE_CHECKING, Protocol

from cairn.accounts.admission import refuse

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from cairn.accounts.admission import Identity, LetIn
    from cairn.accounts.attempts import Attempts, Begun
    from cairn.accounts.sessions import Opened

PURPOSE = "issuer"
MAX_CODE_CHARS = 4_096


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceremony:
    """What one sign-in is held to at the issuer."""

    redirect_uri: str
    state: str
    nonce: str
    verifier: str


class Issuer(Protocol):
    """The issuer: where it is asked, and who it says came back with a code.

    `identity` raises Unauthenticated for a code or a token that does not hold, Unavailable when the
    issuer does not answer.
    """

    @property
    def issuer(self) -> str: ...
    def address(self, ceremony: Ceremony) -> str: ...
    def identity(self, code: str, ceremony: Ceremony, now: datetime) -> Identity: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuerSignIn:
    """Sends people to the issuer, and opens a session for who comes back."""

    let_in: LetIn
    attempts: Attempts
    issuer: Issuer
    make_token: Callable[[int], str] = secrets.token_urlsafe

    def begin(self, redirect_uri: str, goal: str, *, address: str | None) -> Begun:
        """Return the address at the issuer, and the token the browser comes back with.

        RateLimited where the address of the browser has tried too often.
        """
        from cairn.accounts.attempts import Begun

        self.let_in.sessions.count_address(address, 1)
        ceremony = Ceremony(
            redirect_uri=redirect_uri,
            state=self.make_token(32),
            nonce=self.make_token(32),
            verifier=self.make_token(48),
        )
        url = self.issuer.address(ceremony)
        body = {"state": ceremony.state, "nonce": ceremony.nonce, "verifier": ceremony.verifier}
        token = self.attempts.begin(PURPOSE, json.dumps(body | {"goal": goal}))
        return Begun(token=token, content=url)

    def finish(
        self, redirect_uri: str, *, attempt: str, state: str, code: str, address: str | None
    ) -> tuple[Opened, str]:
        """Open a session for who came back, and return it with where they were going.

        Unauthenticated says what was wrong.
        """
        content = self.attempts.take(PURPOSE, attempt)
        body: dict[str, str] = json.loads(content) if content else {}
        good = compare_digest(body.get("state", "").encode(), state.encode())
        if not body or not good or not 0 < len(code) <= MAX_CODE_CHARS:
            refuse("This sign-in was not begun in this browser, took too long, or is over.")
        ceremony = Ceremony(
            redirect_uri=redirect_uri,
            state=state,
            nonce=body["nonce"],
            verifier=body["verifier"],
        )
        now = self.let_in.sessions.platform.clock()
        identity = self.issuer.identity(code, ceremony, now)
        where = self.let_in.person(self.issuer.issuer, identity)
        return self.let_in.open(*where, by="issuer", address=address), body["goal"]
