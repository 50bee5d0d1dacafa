"""Access tokens of an outside issuer: what one must prove, and whose it is. Not the key set.

As the authorization specification of the Model Context Protocol asks: the signature by a key that
the issuer publishes, the issuer, this server as audience, the lifetime, and a scope that Cairn
knows. A token opens what the key does that names its subject: an agent's, within its scopes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, NoReturn, TypeAlias, cast

from cairn.kernel.access import Scope
from cairn.kernel.access.allowances import NO_LOAD
from cairn.kernel.errors import Denied, Unauthenticated

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cairn.kernel.access.allowances import Load
    from cairn.kernel.clock import Clock
    from cairn.reading.views import Admission

IssuerKeys: TypeAlias = Callable[[str], Mapping[str, Any] | None]
"""Returns the published key of an id (RFC 7517); None when the issuer has no such key."""

ALGORITHMS = frozenset(
    {"RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA"}
)
"""Of key pairs alone: `none`, and those of a shared secret, prove nothing here."""

LEEWAY = timedelta(seconds=60)
MAX_ID_CHARS = 250


@dataclass(frozen=True, slots=True, kw_only=True)
class BearerToken:
    """What a good token says: whose it may be, the most particular first, and its scopes."""

    subjects: tuple[str, ...]
    scopes: frozenset[Scope]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustedIssuer:
    """Whose tokens are good here. `audiences` are the names of this server in them.

    `required` claims have to be there, `leeway` is how far its clock may be from ours.
    """

    issuer: str
    audiences: tuple[str, ...]
    keys: IssuerKeys = field(repr=False)
    algorithms: frozenset[str] = ALGORITHMS
    required: tuple[str, ...] = ("exp", "iss", "aud", "sub")
    leeway: timedelta = LEEWAY

    def check(self, token: str, now: datetime) -> BearerToken:
        """Return what a token says; Unauthenticated names the one thing that does not hold.

        Raises Denied for a good token without a scope of Cairn's, Unavailable when the issuer's
        keys cannot be read.
        """
        claims = self.claims(token, now)
        if claims.get("token_use", "access") != "access":
            _refuse("is not an access token", "token-use")
        scopes = scopes_of(claims)
        if not scopes:
            raise Denied(
                f"This token has none of the scopes {', '.join(Scope)}.", reason="token-scope"
            )
        return BearerToken(subjects=_subjects(claims), scopes=scopes)

    def claims(self, token: str, now: datetime) -> Mapping[str, Any]:
        """Return what a token says whose signature, issuer, audience and lifetime hold.

        Unauthenticated names the one thing that does not.
        """
        return self.proven(token, now)[0]

    def proven(self, token: str, now: datetime) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        """Return what a token says, as `claims`, and the published key that it is signed with."""
        header, key = self._key(token)
        claims = self._claims(token, header, key)
        _require_lifetime(claims, now, self.leeway)
        return claims, key

    def _claims(
        self, token: str, header: Mapping[str, Any], key: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        import jwt  # of the API's layer; loaded by the first token

        try:
            claims = jwt.decode(
                token,
                jwt.PyJWK.from_dict(dict(key), algorithm=header["alg"]),
                algorithms=[header["alg"]],
                issuer=self.issuer,
                audience=list(self.audiences),
                options={
                    "require": list(self.required),
                    "verify_exp": False,  # compared with our clock
                    "verify_nbf": False,
                    "verify_iat": False,
                },
            )
        except jwt.MissingRequiredClaimError as error:
            _refuse(f"names no {error.claim}", "token-claims")
        except jwt.InvalidAudienceError:
            _refuse(f"is for another audience than {self.audiences[0]}", "token-audience")
        except jwt.InvalidIssuerError:
            _refuse(f"is not of {self.issuer}", "token-issuer")
        except jwt.InvalidSignatureError:
            _refuse("has a signature that does not hold", "token-signature")
        except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
            _refuse("cannot be read", "token-malformed")
        return cast("Mapping[str, Any]", claims)

    def _key(self, token: str) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
        import jwt

        try:
            header: Mapping[str, Any] = jwt.get_unverified_header(token)
        except (jwt.PyJWTError, ValueError, RecursionError):
            _refuse("cannot be read", "token-malformed")
        if header.get("alg") not in self.algorithms or "crit" in header:
            _refuse("is signed in a way that is not taken", "token-algorithm")
        key_id = header.get("kid")
        if not isinstance(key_id, str) or not 0 < len(key_id) <= MAX_ID_CHARS:
            _refuse("names no key", "token-key")
        key = self.keys(key_id)
        if key is None or key.get("use", "sig") != "sig":
            _refuse("is signed with a key that its issuer does not publish", "token-key")
        if key.get("alg", header["alg"]) != header["alg"]:
            _refuse("is signed in another way than its key is for", "token-algorithm")
        return header, key


@dataclass(frozen=True, slots=True, kw_only=True)
class AdmitToken:
    """Says who holds a token, as `Admit` does of a key. `admit` finds the key of a subject."""

    trusted: TrustedIssuer
    admit: Callable[[Sequence[str], Load], Admission | None]
    clock: Clock

    def __call__(self, token: str, load: Load = NO_LOAD, /) -> Admission:
        """Return the agent's principal within the token's scopes, and the decision on its rate."""
        good = self.trusted.check(token, self.clock())
        admission = self.admit(good.subjects, load)
        if admission is None:
            raise Unauthenticated(
                f"This token is bound to no agent: an admin makes a key with token_subject "
                f"{' or '.join(good.subjects)}.",
                reason="token-unbound",
            )
        scopes = frozenset(admission.principal.allowed_scopes) & good.scopes
        if not scopes:
            raise Denied("This token has none of its agent's scopes.", reason="token-scope")
        return replace(admission, principal=replace(admission.principal, allowed_scopes=scopes))


def issuer_named(token: str) -> str | None:
    """Return whom a token names as its issuer, which proves nothing; None without one."""
    import jwt

    try:
        claims = jwt.decode(token, options={"verify_signature": False})
    except (jwt.PyJWTError, ValueError, TypeError, RecursionError):
        return None
    issuer = claims.get("iss")
    return issuer if isinstance(issuer, str) else None


def scopes_of(claims: Mapping[str, Any]) -> frozenset[Scope]:
    """Return Cairn's scopes of a token: `admin`, or what ends so, as `https://.../mcp/admin`."""
    claim = claims.get("scope", claims.get("scp", ""))
    listed = cast("list[Any]", claim) if isinstance(claim, list) else []
    names = claim.split() if isinstance(claim, str) else map(str, listed)
    ends = {name.replace(":", "/").rpartition("/")[2] for name in names}
    return frozenset(scope for scope in Scope if scope.value in ends)


def _subjects(claims: Mapping[str, Any]) -> tuple[str, ...]:
    client = claims.get("client_id", claims.get("azp"))
    names = [("sub", claims["sub"]), ("client", client)]
    subjects = tuple(
        f"{kind}:{name}"
        for kind, name in names
        if isinstance(name, str) and 0 < len(name) <= MAX_ID_CHARS and name.isprintable()
    )
    if not subjects:
        _refuse("names no subject", "token-claims")
    return subjects


def _require_lifetime(claims: Mapping[str, Any], now: datetime, leeway: timedelta) -> None:
    try:
        ends, begins = _moment(claims["exp"]), _moment(claims.get("nbf", 0))
    except (ValueError, TypeError, OverflowError, OSError):
        _refuse("has a lifetime that cannot be read", "token-claims")
    if now >= ends + leeway:
        _refuse("is expired; ask its issuer for another", "token-expired")
    if now < begins - leeway:
        _refuse("is not good yet", "token-early")


def _moment(value: Any) -> datetime:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise TypeError
    return datetime.fromtimestamp(value, UTC)


def _refuse(what: str, reason: str) -> NoReturn:
    raise Unauthenticated(f"This token {what}.", reason=reason)
