"""An authorization server for device codes and refresh tokens (authlib's server side of RFC 8628,
6749, 7009 and 8414) over HTTP, and an MCP server beside it that takes its tokens and no others.
"""

# pyright: basic

from __future__ import annotations

import time
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from authlib.oauth2.rfc6749 import AuthorizationServer, OAuth2Request
from authlib.oauth2.rfc6749.grants import RefreshTokenGrant
from authlib.oauth2.rfc6749.models import ClientMixin, TokenMixin
from authlib.oauth2.rfc6749.requests import BasicOAuth2Payload
from authlib.oauth2.rfc6750 import BearerTokenGenerator
from authlib.oauth2.rfc7009 import RevocationEndpoint
from authlib.oauth2.rfc8628 import (
    DEVICE_CODE_GRANT_TYPE,
    DeviceAuthorizationEndpoint,
    DeviceCodeGrant,
    DeviceCredentialDict,
)
from starlette.applications import Starlette
from starlette.responses import JSONResponse, PlainTextResponse
from starlette.routing import Mount, Route
from tests.support.hosting import Scripted, tool
from tests.support.serving import serving

from cairn.connectors.connector import Launch, Transport

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CLIENT, CLIENT_SECRET, SCOPE = "cairn-desk", "hush-hush", "mail.read"


@dataclass
class _Client(ClientMixin):
    secret: str | None

    def get_client_id(self) -> str:
        return CLIENT

    def get_allowed_scope(self, scope: str) -> str:
        return scope

    def check_client_secret(self, client_secret: str) -> bool:
        return client_secret == self.secret

    def check_endpoint_auth_method(self, method: str, endpoint: str) -> bool:
        return (method == "none") is (self.secret is None)

    def check_grant_type(self, grant_type: str) -> bool:
        return grant_type in (DEVICE_CODE_GRANT_TYPE, "refresh_token")


@dataclass
class _Token(TokenMixin):
    access: str
    refresh: str | None
    ends: float
    revoked: bool = False

    def check_client(self, client: Any) -> bool:
        return client.get_client_id() == CLIENT

    def get_scope(self) -> str:
        return SCOPE

    def is_expired(self) -> bool:
        return time.time() > self.ends

    def is_revoked(self) -> bool:
        return self.revoked


@dataclass
class DeviceServer(AuthorizationServer):
    """One person, one client. `say` is their yes or no; `posts` what came to the token endpoint.

    Refresh tokens rotate: one that was used is worth nothing. `answers` are statuses or bodies that
    are given instead of the next ones; `renewing` runs between two answers of a renewal.
    """

    url: str = ""
    secret: str | None = None
    interval: int = 1
    lives: int = 600
    token_lives: int = 3_600
    rotates: bool = True
    yes: dict[str, bool] = field(default_factory=dict)
    codes: dict[str, Any] = field(default_factory=dict)
    tokens: list[_Token] = field(default_factory=list)
    posts: list[dict[str, str]] = field(default_factory=list)
    answers: list[Any] = field(default_factory=list)
    slow_downs: int = 0
    renewed: Callable[[], None] = lambda: None
    mcp: Scripted = field(default_factory=lambda: Scripted(tools=(tool("find"),)))
    seen: list[str] = field(default_factory=list)
    revoked: list[dict[str, str]] = field(default_factory=list)
    revoking: list[Any] = field(default_factory=list)
    revokes: bool = True
    tokens_of_its_own: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__(scopes_supported=[SCOPE])
        self.register_token_generator(
            "default",
            BearerTokenGenerator(
                access_token_generator=lambda **_: f"at-{len(self.tokens)}-{time.monotonic_ns()}",
                refresh_token_generator=lambda **_: f"rt-{len(self.tokens)}-{time.monotonic_ns()}",
                expires_generator=lambda client, grant: self.token_lives,
            ),
        )
        self.register_grant(_DeviceGrant)
        self.register_grant(_RefreshGrant)
        self.register_endpoint(_DeviceEndpoint)
        self.register_endpoint(_RevocationEndpoint)

    def say(self, user_code: str, *, yes: bool = True) -> None:
        self.yes[user_code] = yes

    def is_good(self, access: str) -> bool:
        return access in self.tokens_of_its_own.values() or any(
            each.access == access and not each.revoked and not each.is_expired()
            for each in self.tokens
        )

    @property
    def own_token(self) -> str:
        """A token that the server gives itself."""
        return self.tokens_of_its_own.setdefault("test", f"own-{time.monotonic_ns()}")

    def revoke_access(self) -> None:
        """Let every access token be worth nothing from now on; refresh tokens stay."""
        for each in self.tokens:
            each.ends = 0

    def query_client(self, client_id: str) -> _Client | None:
        return _Client(self.secret) if client_id == CLIENT else None

    def save_token(self, token: dict[str, Any], request: Any) -> None:
        ends = time.time() + token["expires_in"]
        self.tokens.append(_Token(token["access_token"], token.get("refresh_token"), ends))

    def create_oauth2_request(self, request: Any) -> OAuth2Request:
        if isinstance(request, OAuth2Request):
            return request
        headers, form = request
        made = OAuth2Request("POST", "https://issuer.example/", headers=headers)
        made.payload = BasicOAuth2Payload(form)
        made._body = form  # pyright: ignore[reportAttributeAccessIssue]
        return made

    def handle_response(self, status: int, body: Any, headers: Any) -> JSONResponse:
        return JSONResponse(body, status, dict(headers))

    def send_signal(self, name: str, *args: Any, **kwargs: Any) -> None:
        pass

    def metadata(self) -> dict[str, Any]:
        return {
            "issuer": self.url,
            "device_authorization_endpoint": f"{self.url}/device",
            "token_endpoint": f"{self.url}/token",
            "token_endpoint_auth_methods_supported": ["client_secret_post"],
            **({"revocation_endpoint": f"{self.url}/revoke"} if self.revokes else {}),
            "grant_types_supported": [DEVICE_CODE_GRANT_TYPE, "refresh_token"],
        }


class _DeviceEndpoint(DeviceAuthorizationEndpoint):
    def get_verification_uri(self) -> str:
        return f"{self.server.url}/activate"

    def save_device_credential(self, client_id: str, scope: str, data: dict[str, Any]) -> None:
        data |= {"expires_in": self.server.lives, "interval": self.server.interval}
        ends = time.time() + self.server.lives
        kept = {**data, "client_id": client_id, "scope": scope, "expires_at": ends}
        self.server.codes[data["device_code"]] = DeviceCredentialDict(kept)


class _DeviceGrant(DeviceCodeGrant):
    def query_device_credential(self, device_code: str) -> Any:
        return self.server.codes.get(device_code)

    def query_user_grant(self, user_code: str) -> Any:
        answer = self.server.yes.get(user_code)
        if answer:  # a device code is good once
            self.server.codes = {
                name: each
                for name, each in self.server.codes.items()
                if each.get_user_code() != user_code
            }
        return None if answer is None else ("mara", answer)

    def should_slow_down(self, credential: Any) -> bool:
        self.server.slow_downs -= 1
        return self.server.slow_downs >= 0


class _RefreshGrant(RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = DeviceCodeGrant.TOKEN_ENDPOINT_AUTH_METHODS

    @property
    def INCLUDE_NEW_REFRESH_TOKEN(self) -> bool:
        return self.server.rotates

    def authenticate_refresh_token(self, refresh_token: str) -> Any:
        return next((each for each in self.server.tokens if each.refresh == refresh_token
                     and not each.revoked), None)  # fmt: skip

    def authenticate_user(self, refresh_token: Any) -> str:
        return "mara"

    def revoke_old_credential(self, refresh_token: Any) -> None:
        refresh_token.revoked = self.server.rotates
        self.server.renewed()


class _RevocationEndpoint(RevocationEndpoint):
    CLIENT_AUTH_METHODS = DeviceCodeGrant.TOKEN_ENDPOINT_AUTH_METHODS

    def query_token(self, token_string: str, token_type_hint: str | None) -> Any:
        return next((each for each in self.server.tokens
                     if token_string in (each.access, each.refresh)), None)  # fmt: skip

    def revoke_token(self, token: Any, request: Any) -> None:
        token.revoked = True


async def form_of(request: Any) -> tuple[dict[str, str], dict[str, str]]:
    form = {name: str(value) for name, value in (await request.form()).items()}
    headers = {name.title(): value for name, value in request.headers.items()}
    return headers, form


def _revoking(server: DeviceServer) -> Callable[[Any], Any]:
    async def revoke(request: Any) -> Any:
        headers, form = await form_of(request)
        server.revoked.append(form)
        if server.revoking:
            status, body = server.revoking.pop(0)
            return PlainTextResponse(body, status)
        return server.create_endpoint_response("revocation", (headers, form))

    return revoke


@contextmanager
def device_server(**given: Any) -> Iterator[DeviceServer]:
    """Serve it, and the MCP server at /mcp."""
    server = DeviceServer(**given)

    async def device(request: Any) -> Any:
        return server.create_endpoint_response("device_authorization", await form_of(request))

    async def token(request: Any) -> Any:
        headers, form = await form_of(request)
        server.posts.append(form)
        if server.answers:
            status, body = server.answers.pop(0)
            return JSONResponse(body, status)
        return server.create_token_response((headers, form))

    async def metadata(request: Any) -> Any:
        return JSONResponse(server.metadata())

    async def introspect(request: Any) -> Any:
        return JSONResponse({"active": server.is_good(request.query_params["token"])})

    inner = server.mcp.server(Launch(name="mail", transport=Transport.HTTP)).streamable_http_app()

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        headers = {name.decode(): value.decode() for name, value in scope.get("headers", ())}
        given = headers.get("authorization", "").removeprefix("Bearer ")
        server.seen.append(given)
        if not server.is_good(given):
            refusal = {"www-authenticate": 'Bearer error="invalid_token"'}
            return await JSONResponse({}, 401, refusal)(scope, receive, send)
        return await inner({**scope, "path": "/mcp", "root_path": ""}, receive, send)

    app = Starlette(
        routes=[
            Route("/device", device, methods=["POST"]),
            Route("/token", token, methods=["POST"]),
            Route("/revoke", _revoking(server), methods=["POST"]),
            Route("/introspect", introspect),
            Route("/.well-known/oauth-authorization-server", metadata),
            Mount("/mcp", app=guarded),
        ],
        lifespan=lambda _: inner.router.lifespan_context(inner),  # pyright: ignore
    )
    with serving(app) as url:  # pyright: ignore[reportArgumentType]
        server.url = url
        yield server


def client_of(server: DeviceServer, **more: Any) -> dict[str, Any]:
    """The setting `oauth` of a holder."""
    return {"issuer": server.url, "client_id": CLIENT, "scopes": [SCOPE], **more}
