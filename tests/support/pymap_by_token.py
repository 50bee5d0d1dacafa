"""pymap, which signs in by tokens alone (XOAUTH2): a token is good if its issuer says so."""

# pyright: basic

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any
from urllib.parse import urlencode
from urllib.request import urlopen

from pymap.backend.dict import Identity, Login
from pymap.config import IMAPConfig
from pymap.exceptions import InvalidAuth
from pymap.main import main
from pysasl import SASLAuth
from pysasl.creds.external import ExternalCredentials, ExternalVerificationRequired


def _token_of(credentials: ExternalCredentials) -> str:
    try:
        credentials.verify(None)
    except ExternalVerificationRequired as needed:
        return needed.token or ""


def _is_good(issuer: str, token: str) -> bool:
    with urlopen(f"{issuer}/introspect?{urlencode({'token': token})}", timeout=10) as answer:
        return bool(json.load(answer)["active"])


def run(issuer: str) -> None:
    """Run it with the rest of the arguments."""

    async def authenticate(self: Login, credentials: Any) -> Identity:
        if not isinstance(credentials, ExternalCredentials):
            raise InvalidAuth
        token = _token_of(credentials)
        if not await asyncio.to_thread(_is_good, issuer, token):
            raise InvalidAuth
        return Identity(credentials.authzid, self, None, frozenset())

    Login.authenticate = authenticate
    by_token = property(lambda self: SASLAuth.named([b"XOAUTH2"]))
    for name in ("initial_auth", "tls_auth"):
        setattr(IMAPConfig, name, by_token)
    main()


if __name__ == "__main__":
    run(sys.argv.pop(1))
