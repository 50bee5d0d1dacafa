"""An OpenID Connect issuer over HTTP, for tests: the authorization server of the `mcp` library.

It signs access tokens as JSON Web Tokens, says yes to whoever asks, and rotates its keys.
"""

from __future__ import annotations

import json
import secrets
import socket
import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode, urlsplit

import jwt
import uvicorn
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm
from mcp.server.auth.provider import (
    AccessToken,
    AuthorizationCode,
    AuthorizationParams,
    OAuthAuthorizationServerProvider,
    RefreshToken,
    TokenError,
)
from mcp.server.auth.routes import create_auth_routes
from mcp.server.auth.settings import ClientRegistrationOptions
from mcp.shared.auth import OAuthClientInformationFull, OAuthToken
from pydantic import AnyHttpUrl
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Mount, Route

if TYPE_CHECKING:
    from collections.abc import Generator

    from starlette.requests import Request


@dataclass
class Issuer(OAuthAuthorizationServerProvider[AuthorizationCode, RefreshToken, AccessToken]):
    """Signs one person in. `keys` are the private keys it publishes the public half of."""

    url: str
    person: str = "mara"
    client: str = "desk-bot"
    keys: dict[str, Any] = field(default_factory=dict[str, Any])
    key_reads: int = 0
    clients: dict[str, OAuthClientInformationFull] = field(
        default_factory=dict[str, OAuthClientInformationFull]
    )
    codes: dict[str, AuthorizationCode] = field(default_factory=dict[str, AuthorizationCode])

    def rotate(self, key_id: str, *, curve: bool = False) -> None:
        """Sign with another key from now on, and publish no other."""
        made = (
            ec.generate_private_key(ec.SECP256R1())
            if curve
            else rsa.generate_private_key(public_exponent=65_537, key_size=2_048)
        )
        self.keys = {key_id: made}

    def token(self, header: dict[str, Any] | None = None, key: Any = None, **changes: Any) -> str:
        """Return a signed token; a claim that is changed to None is left out."""
        key_id, own = next(iter(self.keys.items()))
        now = int(time.time())
        claims: dict[str, Any] = {
            "iss": self.url,
            "sub": self.person,
            "client_id": self.client,
            "token_use": "access",
            "iat": now,
            "exp": now + 600,
            **changes,
        }
        claims = {name: value for name, value in claims.items() if value is not None}
        used = key or own
        curve = isinstance(used, ec.EllipticCurvePrivateKey)
        said = {"kid": key_id, **(header or {})}
        algorithm = said.pop("alg", "ES256" if curve else "RS256")
        return jwt.encode(claims, used, algorithm=algorithm, headers=said)

    def app(self) -> Starlette:
        """Return what it serves: the library's routes, its discovery document and its keys."""
        routes = create_auth_routes(
            self,
            AnyHttpUrl(self.url),
            client_registration_options=ClientRegistrationOptions(enabled=True),
        )
        discovery = Route("/.well-known/openid-configuration", self._discovery)
        served = [*routes, discovery, Route("/keys", self._published)]
        return Starlette(routes=[Mount(urlsplit(self.url).path, routes=served)])

    async def _discovery(self, _: Request) -> JSONResponse:
        return JSONResponse(
            {
                "issuer": self.url,
                "jwks_uri": f"{self.url}/keys",
                "authorization_endpoint": f"{self.url}/authorize",
                "token_endpoint": f"{self.url}/token",
                "registration_endpoint": f"{self.url}/register",
                "response_types_supported": ["code"],
                "subject_types_supported": ["public"],
                "id_token_signing_alg_values_supported": ["RS256"],
                "code_challenge_methods_supported": ["S256"],
            }
        )

    async def _published(self, _: Request) -> JSONResponse:
        self.key_reads += 1
        return JSONResponse({"keys": [public(key_id, key) for key_id, key in self.keys.items()]})

    async def get_client(self, client_id: str) -> OAuthClientInformationFull | None:
        return self.clients.get(client_id)

    async def register_client(self, client_info: OAuthClientInformationFull) -> None:
        assert client_info.client_id is not None
        self.clients[client_info.client_id] = client_info

    async def authorize(
        self, client: OAuthClientInformationFull, params: AuthorizationParams
    ) -> str:
        code = AuthorizationCode(
            code=secrets.token_urlsafe(32),
            scopes=params.scopes or [],
            expires_at=time.time() + 60,
            client_id=client.client_id or "",
            code_challenge=params.code_challenge,
            redirect_uri=params.redirect_uri,
            redirect_uri_provided_explicitly=True,
            resource=params.resource,
        )
        self.codes[code.code] = code
        answer = {"code": code.code} | ({"state": params.state} if params.state else {})
        return f"{params.redirect_uri}?{urlencode(answer)}"

    async def load_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: str
    ) -> AuthorizationCode | None:
        return self.codes.get(authorization_code)

    async def exchange_authorization_code(
        self, client: OAuthClientInformationFull, authorization_code: AuthorizationCode
    ) -> OAuthToken:
        code = self.codes.pop(authorization_code.code)
        scope = " ".join(code.scopes)
        token = self.token(client_id=code.client_id, aud=code.resource, scope=scope)
        return OAuthToken(access_token=token, expires_in=600, scope=scope)

    async def load_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: str
    ) -> RefreshToken | None:
        return None

    async def exchange_refresh_token(
        self, client: OAuthClientInformationFull, refresh_token: RefreshToken, scopes: list[str]
    ) -> OAuthToken:
        raise TokenError("invalid_grant")

    async def load_access_token(self, token: str) -> AccessToken | None:
        return None

    async def revoke_token(self, token: AccessToken | RefreshToken) -> None:
        return None


def public(key_id: str, key: Any) -> dict[str, Any]:
    """Return the public half of a key, as an issuer publishes it."""
    if isinstance(key, ec.EllipticCurvePrivateKey):
        text = ECAlgorithm.to_jwk(key.public_key())
    else:
        text = RSAAlgorithm.to_jwk(key.public_key())
    half: dict[str, Any] = json.loads(text)
    return half | {"kid": key_id, "use": "sig"}


def free_socket() -> tuple[socket.socket, str]:
    """Return a bound socket of this machine and the address it answers under."""
    bound = socket.create_server(("127.0.0.1", 0))
    return bound, f"http://127.0.0.1:{bound.getsockname()[1]}"


@contextmanager
def served(app: Any, bound: socket.socket) -> Generator[None]:
    """Serve an app on a socket; connections wait in it until the server has started."""
    server = uvicorn.Server(uvicorn.Config(app, log_level="critical", lifespan="on"))
    thread = Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(timeout=20)
        bound.close()
