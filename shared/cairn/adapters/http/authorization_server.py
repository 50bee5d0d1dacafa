"""Asks authorization servers of others: metadata, device codes, tokens (RFC 8414, 8628, 6749).

Each request is one of `rest`: no redirects, bounded answers, no private address unless allowed. How
a client says who it is, is authlib's to write.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, cast
from urllib.parse import parse_qsl, urlencode, urlsplit

from cairn.adapters.http.rest import Request, RestService, checked_base_url
from cairn.connectors.port import ConnectorUnauthorised, OutcomeUnknown
from cairn.kernel.clock import Stopwatch, monotonic
from cairn.kernel.errors import Conflict, NotFound, RateLimited, Unavailable, ValidationFailed
from cairn.oauth_client.ports import DeviceCode, Endpoints, TokenAnswer, TokenRefused

if TYPE_CHECKING:
    from collections.abc import Mapping

    import httpx

    from cairn.oauth_client.client import OAuthClient

DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code"
WELL_KNOWN = ("/.well-known/oauth-authorization-server", "/.well-known/openid-configuration")
SECONDS, REVOKING_SECONDS = 10.0, 4.0
MAX_TOKEN_CHARS, MAX_CODE_CHARS, MAX_URI_CHARS = 8_000, 100, 2_000
MAX_LIFE, MAX_INTERVAL, DEFAULT_INTERVAL, LONGEST_CODE = 366 * 86_400, 60, 5, 3_600
SLOW_DOWN = "slow_down"
_ERROR = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpAuthorizationServer:
    """Implements `AuthorizationServer`. `leads` says where it may ask: off, public, private."""

    leads: str = "public"
    transport: httpx.BaseTransport | None = None
    stopwatch: Stopwatch = monotonic

    def endpoints(self, client: OAuthClient) -> Endpoints:
        """Return where the client asks: as it says, or as the issuer's metadata do."""
        fallback = "none" if client.secret is None else "client_secret_basic"
        if client.issuer is None:
            device, token = client.device_authorization_endpoint, client.token_endpoint
            method = client.token_endpoint_auth_method or fallback
            return self._checked(device, token, method, client.revocation_endpoint)
        metadata = self._metadata(client.issuer)
        return self._checked(
            metadata.get("device_authorization_endpoint"),
            metadata.get("token_endpoint"),
            client.token_endpoint_auth_method or _method(client, metadata),
            client.revocation_endpoint or metadata.get("revocation_endpoint"),
        )

    def device_code(self, client: OAuthClient, endpoints: Endpoints) -> DeviceCode:
        """Begin a sign-in."""
        form = {"scope": " ".join(client.scopes), "resource": client.resource}
        answer = self._ask(client, endpoints, endpoints.device_authorization, form)
        codes = [_line(answer.get(name), most) for name, most in
                 (("device_code", MAX_TOKEN_CHARS), ("user_code", MAX_CODE_CHARS))]  # fmt: skip
        # Google wrote verification_url before there was an RFC, and still does
        uri = self._shown_uri(answer.get("verification_uri") or answer.get("verification_url"))
        lives = _seconds(answer.get("expires_in"), LONGEST_CODE)
        if not all(codes) or uri is None or not lives:
            _unknown("device-code")
        return DeviceCode(
            device_code=codes[0],
            user_code=codes[1],
            verification_uri=uri,
            verification_uri_complete=self._shown_uri(answer.get("verification_uri_complete")),
            expires_in=lives,
            interval=_seconds(answer.get("interval"), MAX_INTERVAL) or DEFAULT_INTERVAL,
        )

    def redeem(self, client: OAuthClient, endpoints: Endpoints, device_code: str) -> TokenAnswer:
        """Ask once whether the person has said yes."""
        form = {"grant_type": DEVICE_CODE, "device_code": device_code, "resource": client.resource}
        return _token(self._ask(client, endpoints, endpoints.token, form))

    def renew(self, client: OAuthClient, endpoints: Endpoints, refresh_token: str) -> TokenAnswer:
        """Ask for a new access token; the scopes stay those that were granted."""
        form = {
            "grant_type": "refresh_token",
            "refresh_token": refresh_token,
            "resource": client.resource,
        }
        return _token(self._ask(client, endpoints, endpoints.token, form))

    def revoke(self, client: OAuthClient, endpoints: Endpoints, token: str, hint: str) -> None:
        """Say that a token is not used any more; of the answer its status counts alone."""
        form = {"token": token, "token_type_hint": hint}
        posted = self._posted(client, endpoints, endpoints.revocation, form)
        try:
            self._answered(posted, REVOKING_SECONDS)
        except Unavailable as problem:
            if problem.reason not in ("not-json", "unknown-answer"):
                raise

    def _ask(
        self,
        client: OAuthClient,
        endpoints: Endpoints,
        url: str,
        form: Mapping[str, str | None],
    ) -> Mapping[str, Any]:
        return self._answered(self._posted(client, endpoints, url, form))

    def _posted(
        self,
        client: OAuthClient,
        endpoints: Endpoints,
        url: str,
        form: Mapping[str, str | None],
    ) -> _Posted:
        from authlib.oauth2.auth import ClientAuth

        fields = {"client_id": client.client_id, **{k: v for k, v in form.items() if v}}
        authentication: Any = ClientAuth(client.client_id, client.secret, endpoints.auth_method)
        headers: dict[str, str]
        _, headers, body = authentication.prepare("POST", url, {}, urlencode(fields))
        sent = {name: value for name, value in headers.items() if name.lower() != "content-length"}
        return _Posted(url=url, form=dict(parse_qsl(body)), headers=sent)

    def _answered(self, posted: _Posted, seconds: float = SECONDS) -> Mapping[str, Any]:
        parts, errors = urlsplit(posted.url), list[str]()
        service = self._service(f"{parts.scheme}://{parts.netloc}", errors, seconds)
        path = parts.path + (f"?{parts.query}" if parts.query else "")
        request = Request(method="POST", path=path, form=posted.form)
        try:
            return service.ask(request, posted.headers).record()
        except RateLimited:
            raise TokenRefused("It asks for a pause.", reason=SLOW_DOWN) from None
        except (ConnectorUnauthorised, NotFound, ValidationFailed) as refused:
            if isinstance(refused, ValidationFailed) and refused.reason != "refused":
                raise
            error = errors[-1] if errors and errors[-1] else _error_of(refused)
            raise TokenRefused(
                "The authorization server refuses the sign-in.", reason=error
            ) from None
        except OutcomeUnknown as unknown:
            raise Unavailable(
                "The authorization server did not answer.", reason=unknown.reason
            ) from None

    def _metadata(self, issuer: str) -> Mapping[str, Any]:
        parts = urlsplit(issuer)
        base, path = f"{parts.scheme}://{parts.netloc}", parts.path.rstrip("/")
        # RFC 8414 puts the name before the issuer's path, OpenID Connect Discovery behind it
        for where in (WELL_KNOWN[0] + path, path + WELL_KNOWN[1]):
            try:
                answer = self._service(base, []).ask(
                    Request(method="GET", path=where, repeatable=True), {}
                )
            except (NotFound, ConnectorUnauthorised):
                continue
            metadata = answer.record()
            if metadata.get("issuer") != issuer:
                raise Conflict("The issuer calls itself otherwise.", reason="issuer-name")
            return metadata
        raise Conflict("The issuer publishes no metadata.", reason="no-metadata")

    def _service(self, base_url: str, errors: list[str], seconds: float = SECONDS) -> RestService:
        if self.leads == "off":
            raise Conflict("Nothing may leave this network: CAIRN_WEBHOOKS is off.", reason="off")

        def words(body: Mapping[str, Any]) -> str:
            error = body.get("error")
            errors.append(error if isinstance(error, str) and _ERROR.fullmatch(error) else "")
            return errors[-1]

        return RestService(
            name="The authorization server",
            base_url=base_url,
            words=words,
            allow_private=self.leads == "private",
            transport=self.transport,
            seconds=seconds,
            stopwatch=self.stopwatch,
        )

    def _checked(self, device: object, token: object, method: str, revocation: object) -> Endpoints:
        for url in (device, token):
            if not _is_address(url):
                raise Conflict(
                    "The issuer's metadata name no device_authorization_endpoint and "
                    "token_endpoint: it knows no device codes.",
                    reason="no-device-codes",
                )
            parts = urlsplit(cast("str", url))
            checked_base_url(
                f"{parts.scheme}://{parts.netloc}", allow_private=self.leads == "private"
            )
        return Endpoints(
            device_authorization=cast("str", device),
            token=cast("str", token),
            auth_method=method,
            revocation=self._shown_uri(revocation) or "",
        )

    def _shown_uri(self, value: object) -> str | None:
        """Return an address that people are sent to; None for one that is none of the web."""
        schemes = ("https", "http") if self.leads == "private" else ("https",)
        uri = _line(value, MAX_URI_CHARS)
        try:
            parts = urlsplit(uri)
            fits = parts.scheme in schemes and bool(parts.hostname) and "@" not in parts.netloc
        except ValueError:
            fits = False
        return uri if fits else None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Posted:
    url: str
    form: Mapping[str, str] = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)


def _is_address(url: object) -> bool:
    if not isinstance(url, str) or not url.isascii() or len(url) > MAX_URI_CHARS:
        return False
    try:
        return bool(urlsplit(url).netloc)
    except ValueError:
        return False


def _method(client: OAuthClient, metadata: Mapping[str, Any]) -> str:
    """Return how the client authenticates: RFC 8414 says basic where the server says nothing."""
    if client.secret is None:
        return "none"
    offered = metadata.get("token_endpoint_auth_methods_supported")
    methods = cast("list[Any]", offered) if isinstance(offered, list) else []
    basic = "client_secret_basic"
    return "client_secret_post" if methods and basic not in methods else basic


def _token(answer: Mapping[str, Any]) -> TokenAnswer:
    access = _line(answer.get("access_token"), MAX_TOKEN_CHARS)
    kind = str(answer.get("token_type", "")).casefold()
    if not access or kind != "bearer":
        raise TokenRefused("The authorization server gives no bearer token.", reason="no-token")
    return TokenAnswer(
        access_token=access,
        refresh_token=_line(answer.get("refresh_token"), MAX_TOKEN_CHARS) or None,
        expires_in=_seconds(answer.get("expires_in"), MAX_LIFE),
    )


def _line(value: object, most: int) -> str:
    """Return a text that can stand in a header and be shown; empty for anything else."""
    if not isinstance(value, str) or not 0 < len(value) <= most:
        return ""
    return value if value.isascii() and value.isprintable() else ""


def _seconds(value: object, most: int) -> int | None:
    """Return a number of seconds; some servers write it as a text. None for no such number."""
    if isinstance(value, str) and value.isdecimal() and len(value) < 12:
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1e12:
        return None
    return min(int(value), most) or 1


def _error_of(refused: ConnectorUnauthorised | NotFound | ValidationFailed) -> str:
    return f"status-{refused.fields.get('status', 400)}"


def _unknown(reason: str) -> NoReturn:
    raise TokenRefused("The authorization server's answer cannot be read.", reason=reason)
