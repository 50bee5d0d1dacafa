"""pymap, which signs in by tokens alone: a token is good if its issuer says so.

XOAUTH2 is pysasl's own; OAUTHBEARER is added to it as RFC 7628 has it.
"""

# pyright: basic

from __future__ import annotations

import asyncio
import json
import sys
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from urllib.request import urlopen

from pymap.backend.dict import Identity, Login
from pymap.config import IMAPConfig
from pymap.exceptions import InvalidAuth
from pymap.main import main
from pysasl import SASLAuth
from pysasl.creds.external import ExternalCredentials, ExternalVerificationRequired
from pysasl.exception import InvalidResponse
from pysasl.mechanism import ServerChallenge, ServerMechanism
from pysasl.mechanism.oauth import OAuth2Mechanism
from tests.support.mail import by_rfc_7628

if TYPE_CHECKING:
    from collections.abc import Sequence


class OAuthBearer(ServerMechanism):
    """OAUTHBEARER: what is wrong is said in a challenge, which the client acknowledges (3.2.3)."""

    def __init__(self, issuer: str) -> None:
        super().__init__(b"OAUTHBEARER")
        self._issuer = issuer

    def server_attempt(self, responses: Sequence[Any]) -> tuple[ExternalCredentials, None]:
        if not responses:
            raise ServerChallenge(b"")
        user, token = by_rfc_7628(responses[0].response)
        if len(responses) == 1 and not _is_good(self._issuer, token):
            raise ServerChallenge(b'{"status":"invalid_token"}')
        if len(responses) > 1 and responses[1].response != b"\x01":
            raise InvalidResponse
        return ExternalCredentials(user, token), None


def _token_of(credentials: ExternalCredentials) -> str:
    try:
        credentials.verify(None)
    except ExternalVerificationRequired as needed:
        return needed.token or ""


def _is_good(issuer: str, token: str) -> bool:
    with urlopen(f"{issuer}/introspect?{urlencode({'token': token})}", timeout=10) as answer:
        return bool(json.load(answer)["active"])


def run(issuer: str, mechanism: str) -> None:
    """Run it with the rest of the arguments."""

    async def authenticate(self: Login, credentials: Any) -> Identity:
        if not isinstance(credentials, ExternalCredentials):
            raise InvalidAuth
        token = _token_of(credentials)
        if not await asyncio.to_thread(_is_good, issuer, token):
            raise InvalidAuth
        return Identity(credentials.authzid, self, None, frozenset())

    Login.authenticate = authenticate
    named = {"XOAUTH2": OAuth2Mechanism(), "OAUTHBEARER": OAuthBearer(issuer)}
    by_token = property(lambda self: SASLAuth([named[mechanism]]))
    for name in ("initial_auth", "tls_auth"):
        setattr(IMAPConfig, name, by_token)
    main()


if __name__ == "__main__":
    run(sys.argv.pop(1), sys.argv.pop(1))
