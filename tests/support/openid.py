"""An OpenID Connect issuer that signs people in, over HTTP: what a browser and a server ask of it.

A browser is asked to press a button, as whom the test says. What its tokens say a test changes.
"""

# pyright: basic

from __future__ import annotations

import hashlib
import secrets
from base64 import b64decode, urlsafe_b64encode
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

from starlette.applications import Starlette
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse
from starlette.routing import Mount, Route
from tests.support.issuer import Issuer, public

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

CLIENT, SECRET = "cairn console", "a secret: of +tests/"


@dataclass
class SignInIssuer(Issuer):
    """Its one person is who `claims` says. `document` changes what it publishes of itself."""

    claims: dict[str, Any] = field(default_factory=dict[str, Any])
    header: dict[str, Any] = field(default_factory=dict[str, Any])
    signed_with: Any = None
    unsigned: bool = False
    document: dict[str, Any] = field(default_factory=dict[str, Any])
    asked: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    exchanges: int = 0

    def app(self) -> Starlette:
        routes = [
            Route("/.well-known/openid-configuration", self._described),
            Route("/keys", self._published),
            Route("/authorize", self._ask),
            Route("/yes", self._agree, methods=["POST"]),
            Route("/token", self._exchange, methods=["POST"]),
        ]
        return Starlette(routes=[Mount(urlsplit(self.url).path, routes=routes)])

    async def _described(self, _: Request) -> JSONResponse:
        own = {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/keys",
            "authorization_endpoint": f"{self.url}/authorize",
            "token_endpoint": f"{self.url}/token",
        }
        return JSONResponse(own | self.document)

    async def _published(self, _: Request) -> JSONResponse:
        return JSONResponse({"keys": [public(name, key) for name, key in self.keys.items()]})

    async def _ask(self, request: Request) -> Response:
        query = request.query_params
        assert (query["client_id"], query["response_type"]) == (CLIENT, "code")
        assert query["code_challenge_method"] == "S256"
        fields = "".join(
            f'<input type="hidden" name="{escape(name)}" value="{escape(value)}">'
            for name, value in query.items()
        )
        return HTMLResponse(
            '<!doctype html><title>Issuer</title><link rel="icon" href="data:,">'
            f'<form method="post" action="{self.url}/yes">'
            f"{fields}<button>Yes, it is me</button></form>"
        )

    async def _agree(self, request: Request) -> Response:
        form = {name: str(value) for name, value in (await request.form()).items()}
        return RedirectResponse(self.agree(form), status_code=303)

    def agree(self, query: dict[str, str]) -> str:
        """Return where a browser is sent back to, after its person said yes."""
        code = secrets.token_urlsafe(16)
        self.asked[code] = query
        answer = urlencode({"code": code, "state": query["state"], "iss": self.url})
        return f"{query['redirect_uri']}?{answer}"

    async def _exchange(self, request: Request) -> JSONResponse:
        self.exchanges += 1
        form = {name: str(value) for name, value in (await request.form()).items()}
        if not self._is_client(request.headers.get("authorization", ""), form):
            return JSONResponse({"error": "invalid_client"}, status_code=401)
        query = self.asked.pop(form.get("code", ""), None)
        digest = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = urlsafe_b64encode(digest).rstrip(b"=").decode()
        if query is None or (challenge, form["redirect_uri"]) != (
            query["code_challenge"],
            query["redirect_uri"],
        ):
            return JSONResponse({"error": "invalid_grant"}, status_code=400)
        usual = {"aud": CLIENT, "nonce": query["nonce"], "token_use": "id", "client_id": None}
        token = self.token(self.header, self.signed_with, **(usual | self.claims))
        if self.unsigned:
            header = urlsafe_b64encode(b'{"alg":"none","kid":"first"}').rstrip(b"=").decode()
            token = f"{header}.{token.split('.')[1]}."
        return JSONResponse({"access_token": "opaque", "token_type": "Bearer", "id_token": token})

    def _is_client(self, header: str, form: dict[str, str]) -> bool:
        if header.startswith("Basic "):
            return b64decode(header[6:]).decode() == f"{CLIENT}:{SECRET}"
        return (form.get("client_id"), form.get("client_secret")) == (CLIENT, SECRET)
