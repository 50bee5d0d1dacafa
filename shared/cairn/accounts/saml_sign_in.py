"""Signing in by a SAML 2.0 identity provider: what one sign-in is held to, and the session.

The provider's answer comes as a form of another site, with which a browser sends none of our
cookies. So it is taken in two steps: the form proves who it is, and its browser is told a proof of
that; the page after it, which the browser's cookie comes with, opens the session for who has both:
made the request, and brought the answer. Not the protocol itself (`adapters/saml`).
"""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from uuid import UUID

from cairn.accounts.admission import refuse
from cairn.kernel.errors import Denied, NotFound

if TYPE_CHECKING:
    from collections.abc import Callable
    from datetime import datetime

    from cairn.accounts.admission import Identity, LetIn
    from cairn.accounts.attempts import Attempts, Begun
    from cairn.accounts.editions import Edition
    from cairn.accounts.sessions import Opened

BROWSER, REQUEST, ANSWER, USED = "saml", "saml-request", "saml-answer", "saml-used"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceProvider:
    """This deployment as an identity provider knows it. `acs` is where answers come to."""

    entity_id: str
    acs: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asserted:
    """Whom an answer names, and the assertion, which is good once and until `ends`."""

    issuer: str
    id: str
    ends: datetime
    identity: Identity


class IdentityProvider(Protocol):
    """The provider: where it is asked, and whom its answer names.

    `identity` raises Unauthenticated for an answer that does not hold; both raise Unavailable while
    nobody knows who the provider is. `request_id` None is an answer to no request.
    """

    def address(
        self, place: ServiceProvider, request_id: str, relay_state: str, now: datetime
    ) -> str: ...
    def identity(
        self, response: str, place: ServiceProvider, request_id: str | None, now: datetime
    ) -> Asserted: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class SamlSignIn:
    """Sends people to the provider, and opens a session for who comes back.

    `provider` is None where the deployment has none. With `unasked` people may also begin there.
    """

    let_in: LetIn
    attempts: Attempts
    provider: IdentityProvider | None
    edition: Edition
    unasked: bool = False
    make_token: Callable[[int], str] = secrets.token_urlsafe

    def offered(self) -> IdentityProvider:
        """Return the provider; NotFound without one, Denied where the edition has no SAML."""
        if self.provider is None:
            raise NotFound("Nobody signs in here by SAML.")
        if not self.edition.directory:
            raise Denied(
                f"The edition {self.edition.name} has no SAML; the edition full has "
                "(CAIRN_EDITION).",
                reason="edition",
            )
        return self.provider

    def begin(self, place: ServiceProvider, goal: str, *, address: str | None) -> Begun:
        """Return the address at the provider, and the token the browser comes back with.

        RateLimited where the address of the browser has tried too often.
        """
        from cairn.accounts.attempts import Begun

        provider, sessions = self.offered(), self.let_in.sessions
        sessions.count_address(address, 1)
        request_id = f"_{self.make_token(32)}"
        relay_state = self.attempts.begin(REQUEST, request_id)
        url = provider.address(place, request_id, relay_state, sessions.platform.clock())
        body = json.dumps({"relay_state": relay_state, "goal": goal})
        return Begun(token=self.attempts.begin(BROWSER, body), content=url)

    def answer(
        self, place: ServiceProvider, response: str, relay_state: str, *, address: str | None
    ) -> Opened | str:
        """Take an answer; return what its browser has to bring to `finish`, with its cookie.

        A session for one that nobody asked for, where that is allowed. Unauthenticated says what
        does not hold.
        """
        self.offered()
        request_id = self.attempts.take(REQUEST, relay_state)
        if request_id is None:
            if not self.unasked:
                refuse("This sign-in was not begun here, took too long, or is over.")
            self.let_in.sessions.count_address(address, 1)
        where = self._person(place, response, request_id)
        if request_id is None:
            return self.let_in.open(*where, by="saml", address=address)
        return self.attempts.begin(ANSWER, json.dumps([relay_state, *map(str, where)]))

    def finish(self, *, attempt: str, proof: str, address: str | None) -> tuple[Opened, str]:
        """Open a session in the browser that made the request, with where it was going.

        `proof` is what the browser was told that brought the answer: nobody is signed in by an
        answer that they let somebody else fetch.
        """
        content = self.attempts.take(BROWSER, attempt)
        answer = self.attempts.take(ANSWER, proof) if content else None  # a late one spends none
        body: dict[str, str] = json.loads(content) if content else {}
        relay_state, *where = json.loads(answer) if answer else [""]
        if not where or relay_state != body.get("relay_state"):
            refuse("This sign-in was not begun in this browser, took too long, or is over.")
        workspace_id, person_id = map(UUID, where)
        opened = self.let_in.open(workspace_id, person_id, by="saml", address=address)
        return opened, body["goal"]

    def _person(
        self, place: ServiceProvider, response: str, request_id: str | None
    ) -> tuple[UUID, UUID]:
        now = self.let_in.sessions.platform.clock()
        stated = self.offered().identity(response, place, request_id, now)
        if not self.attempts.once(USED, f"{stated.issuer} {stated.id}", stated.ends):
            refuse("The identity provider's answer was used before.")
        return self.let_in.person(stated.issuer, stated.identity)
