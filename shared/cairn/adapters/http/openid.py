"""An OpenID Connect issuer that signs people in: the code flow with PKCE, by authlib.

Every request goes through the guarded transport; signature, audience and lifetime are checked as of
any other token (`accounts/tokens.py`), what is particular to an id token by the library.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import parse_qsl, urlencode, urlsplit

from cairn.accounts.admission import MAX_GROUPS, Identity, text_claim
from cairn.accounts.tokens import LEEWAY, TrustedIssuer
from cairn.adapters.http.rest import Request, RestService, checked_base_url
from cairn.connectors.port import ConnectorUnauthorised, OutcomeUnknown
from cairn.kernel.errors import NotFound, Unauthenticated, Unavailable, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

    from cairn.accounts.issuer_sign_in import Ceremony
    from cairn.adapters.http.issuer_keys import PublishedIssuerKeys

SCOPES = "openid email profile"
SECONDS = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenIdIssuer:
    """Implements `Issuer`. `claim` names the claim that lists somebody's groups."""

    issuer: str
    client_id: str
    client_secret: str | None = field(repr=False)
    keys: PublishedIssuerKeys
    claim: str
    allow_private: bool = False

    def address(self, ceremony: Ceremony) -> str:
        """Return where a browser is sent; Unavailable when the issuer says nowhere."""
        client = self._client(redirect_uri=ceremony.redirect_uri)
        url, _ = client.create_authorization_url(
            self._endpoint("authorization_endpoint"),
            state=ceremony.state,
            code_verifier=ceremony.verifier,
            nonce=ceremony.nonce,
        )
        return url

    def identity(self, code: str, ceremony: Ceremony, now: datetime) -> Identity:
        """Return who came back with a code."""
        answer = self._exchange(code, ceremony)
        token = answer.get("id_token")
        if not isinstance(token, str):
            raise Unauthenticated("The issuer sent no id token.", reason="issuer")
        trusted = TrustedIssuer(issuer=self.issuer, audiences=(self.client_id,), keys=self.keys)
        claims = trusted.claims(token, now)
        self._require_of_this_sign_in(token, claims, answer, ceremony, now)
        verified = claims.get("email_verified") is True
        email = claims.get("email") if verified else None
        return Identity(
            subject=text_claim(claims["sub"]),
            email=text_claim(email),
            name=text_claim(claims.get("name")) or text_claim(email),
            groups=_groups(claims.get(self.claim)),
        )

    def _require_of_this_sign_in(
        self,
        token: str,
        claims: Mapping[str, Any],
        answer: Mapping[str, Any],
        ceremony: Ceremony,
        now: datetime,
    ) -> None:
        import jwt
        from authlib.oidc.core import CodeIDToken
        from joserfc.errors import JoseError

        params = {
            "client_id": self.client_id,
            "nonce": ceremony.nonce,
            "access_token": answer.get("access_token"),
        }
        checked: Any = CodeIDToken(dict(claims), jwt.get_unverified_header(token), params=params)
        try:
            checked.validate(now=int(now.timestamp()), leeway=int(LEEWAY.total_seconds()))
        except (JoseError, TypeError, ValueError) as error:
            raise Unauthenticated(
                "The issuer's id token is not of this sign-in.", reason="issuer"
            ) from error
        if claims.get("token_use", "id") != "id" or not text_claim(claims["sub"]):
            raise Unauthenticated("The issuer sent no id token.", reason="issuer")

    def _exchange(self, code: str, ceremony: Ceremony) -> Mapping[str, Any]:
        url = urlsplit(self._endpoint("token_endpoint"))
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": ceremony.redirect_uri,
            "code_verifier": ceremony.verifier,
        }
        auth = self._client().client_auth(self._method())
        headers: dict[str, str]
        _, headers, body = auth.prepare("POST", url.geturl(), {}, urlencode(form))
        service = RestService(
            name="The issuer",
            base_url=f"{url.scheme}://{url.netloc}",
            words=lambda _: "",
            allow_private=self.allow_private,
            seconds=SECONDS,
        )
        request = Request(method="POST", path=url.path, form=dict(parse_qsl(body)))
        try:
            return service.ask(request, headers).record()
        except (NotFound, ValidationFailed) as error:
            raise Unauthenticated("The issuer refuses this sign-in.", reason="issuer") from error
        except (ConnectorUnauthorised, OutcomeUnknown) as error:
            raise Unavailable(
                "The issuer does not answer this deployment.", reason="issuer", retry_after=5.0
            ) from error

    def _method(self) -> str:
        if self.client_secret is None:
            return "none"
        offered = self.keys.document().get("token_endpoint_auth_methods_supported")
        methods = cast("list[Any]", offered) if isinstance(offered, list) else []
        basic = "client_secret_basic"
        return "client_secret_post" if methods and basic not in methods else basic

    def _client(self, redirect_uri: str | None = None) -> Any:
        from authlib.oauth2.client import OAuth2Client

        return OAuth2Client(
            None,
            client_id=self.client_id,
            client_secret=self.client_secret,
            scope=SCOPES,
            code_challenge_method="S256",
            redirect_uri=redirect_uri,
        )

    def _endpoint(self, name: str) -> str:
        url = self.keys.document().get(name)
        try:
            parts = urlsplit(url if isinstance(url, str) else "")
            base = f"{parts.scheme}://{parts.netloc}"
            checked_base_url(base, allow_private=self.allow_private)
        except (ValidationFailed, ValueError) as error:
            raise Unavailable("The issuer says no address to ask.", reason="issuer") from error
        return parts.geturl()


def _groups(value: object) -> frozenset[str]:
    """Return somebody's groups: a list, or a text with spaces between."""
    listed = cast("list[Any]", value) if isinstance(value, list) else []
    names = value.split() if isinstance(value, str) else list(listed[:MAX_GROUPS])
    return frozenset(each for each in names if isinstance(each, str))
