"""How a holder signs in by a device code: its settings, checked, and what a grant is bound to."""

from __future__ import annotations

import hashlib
import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NoReturn, cast
from urllib.parse import urlsplit

from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.kernel.text.checks import clean_text

if TYPE_CHECKING:
    from collections.abc import Mapping
    from uuid import UUID

SETTING = "oauth"
"""The setting of a holder that says how it signs in."""

SECRET = "oauth_client_secret"
"""The secret of clients that have one."""

AUTH_METHODS = ("none", "client_secret_basic", "client_secret_post")
MAX_URL_CHARS, MAX_CLIENT_ID_CHARS, MAX_SCOPES, MAX_SCOPE_CHARS = 2_048, 400, 50, 200
_TEXTS = (
    "issuer", "device_authorization_endpoint", "token_endpoint", "revocation_endpoint", "resource",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuthClient:
    """A client at an authorization server: its issuer (RFC 8414), or both of its endpoints."""

    client_id: str
    scopes: tuple[str, ...] = ()
    issuer: str | None = None
    device_authorization_endpoint: str | None = None
    token_endpoint: str | None = None
    revocation_endpoint: str | None = None
    resource: str | None = None
    token_endpoint_auth_method: str | None = None
    secret: str | None = field(default=None, repr=False)

    @property
    def addresses(self) -> tuple[str, ...]:
        """Return the addresses that are asked."""
        urls = (
            self.issuer,
            self.device_authorization_endpoint,
            self.token_endpoint,
            self.revocation_endpoint,
        )
        return tuple(url for url in urls if url is not None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """What signs in, and the entries of its ledger that say so.

    `bound_to` is a digest of the client and of where its token goes: a grant follows to no other.
    """

    id: UUID
    client: OAuthClient
    bound_to: bytes
    begun: str
    done: str
    ended: str


def bound_to(client: OAuthClient, *destinations: str) -> bytes:
    """Return what a grant of this client for these destinations is bound to."""
    shown = {name: value for name, value in asdict(client).items() if name != "secret"}
    if client.revocation_endpoint is None:  # as grants before there was this setting have it
        del shown["revocation_endpoint"]
    return hashlib.sha256(json.dumps([shown, *destinations], sort_keys=True).encode()).digest()


def read_client(settings: object, secrets: Mapping[str, str]) -> OAuthClient:
    """Return what the setting `oauth` says; ValidationFailed names the wrong field."""
    if not isinstance(settings, dict):
        _refuse("", "is a table of settings")
    fields = cast("dict[str, Any]", settings)
    allowed = {"client_id", "scopes", "token_endpoint_auth_method", *_TEXTS}
    for name in fields.keys() - allowed:
        _refuse(name, "is no setting of a sign-in")
    texts = {name: _text(fields, name, MAX_URL_CHARS) for name in _TEXTS}
    for name, url in texts.items():
        _require_readable(name, url or "")
    both = texts["device_authorization_endpoint"] and texts["token_endpoint"]
    either = texts["device_authorization_endpoint"] or texts["token_endpoint"]
    if bool(texts["issuer"]) == bool(either) or (either and not both):
        _refuse("issuer", "is needed, or device_authorization_endpoint and token_endpoint are")
    client_id = _text(fields, "client_id", MAX_CLIENT_ID_CHARS)
    if client_id is None:
        _refuse("client_id", "is needed")
    method = fields.get("token_endpoint_auth_method")
    secret = secrets.get(SECRET)
    if method is not None and method not in AUTH_METHODS:
        _refuse("token_endpoint_auth_method", f"is one of {', '.join(AUTH_METHODS)}")
    if method is not None and (method == "none") != (secret is None):
        _refuse("token_endpoint_auth_method", f"does not fit: the secret {SECRET} "
                f"is {'given' if secret else 'not given'}")  # fmt: skip
    return OAuthClient(
        client_id=client_id,
        scopes=_scopes(fields.get("scopes", [])),
        token_endpoint_auth_method=method,
        secret=secret,
        **texts,
    )


def _scopes(value: object) -> tuple[str, ...]:
    scopes = value.split() if isinstance(value, str) else value
    if not isinstance(scopes, list) or len(cast("list[Any]", scopes)) > MAX_SCOPES:
        _refuse("scopes", f"is a list of at most {MAX_SCOPES} scopes")
    for scope in cast("list[Any]", scopes):
        fits = isinstance(scope, str) and 0 < len(scope) <= MAX_SCOPE_CHARS
        if not fits or not all("!" <= each <= "~" and each not in '"\\' for each in scope):
            _refuse("scopes", "holds what is no scope (RFC 6749 3.3)")
    return tuple(cast("list[str]", scopes))


def _text(fields: Mapping[str, Any], name: str, most: int) -> str | None:
    value = fields.get(name)
    if value is None:
        return None
    if not isinstance(value, str) or not value.isprintable() or not value.isascii():
        _refuse(name, "is a line of ASCII characters")
    return clean_text(value, field=f"config.{SETTING}.{name}", max_chars=most)


def _require_readable(name: str, url: str) -> None:
    try:
        _ = urlsplit(url).port
    except ValueError:
        _refuse(name, "is no address")


def _refuse(name: str, message: str) -> NoReturn:
    place = f"config.{SETTING}" + (f".{name}" if name else "")
    raise ValidationFailed(f"{place} {message}.", errors=[FieldError(place, message)])
