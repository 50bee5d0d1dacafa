"""What a workspace's chat widget may do: where it stands, how it looks, what it may cost. Pure.

Not its sessions (`widget_sessions.py`), nor what is answered there: that is any chat's.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from cairn.accounts.tokens import ALGORITHMS
from cairn.workspace.settings import Amount

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import date, datetime
    from uuid import UUID

MOST_ORIGINS, MOST_KEYS = 20, 5
LEAST_RSA_BITS = 2_048
MOST_MESSAGE_CHARS = 4_000
BUSY = "I'm getting a lot of messages right now, please try again in a moment."

_HOST = re.compile(r"[a-z0-9.\-]{1,253}|\[[0-9a-f:.]{2,45}\]")
_FONT = r"^[A-Za-z0-9 ,'\-]{1,100}$"
_COLOUR = r"^#[0-9a-fA-F]{6}$"


class ChallengeKind(StrEnum):
    """How a session shows that a browser is behind it."""

    WORK = "proof-of-work"  # built in: some hashes, in the browser
    TURNSTILE = "turnstile"  # of Cloudflare


class WidgetPart(BaseModel):
    """Base of what a widget is set to: no unknown fields, no coercion."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def _origin(value: str) -> str:
    """Return an origin as browsers send it, such as https://www.example.org."""
    try:
        parts = urlsplit(value)
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    host = parts.netloc.rpartition(":")[0] if port is not None else parts.netloc
    whole = f"{parts.scheme}://{parts.netloc}"
    default = {"http": 80, "https": 443}.get(parts.scheme)
    good = default is not None and _HOST.fullmatch(host) and port != default
    if not good or value != whole:
        raise PydanticCustomError(
            "origin", "is no origin: it looks like https://www.example.org, in small letters"
        )
    return value


def _key(value: Mapping[str, Any]) -> Mapping[str, Any]:
    """Refuse what is no public key that signs (RFC 7517)."""
    import jwt  # of the API's layer

    if not isinstance(value.get("kid"), str) or not 0 < len(value["kid"]) <= 200:
        raise PydanticCustomError("jwk", "names no kid, of 1 to 200 characters")
    if "d" in value or value.get("kty") not in ("RSA", "EC", "OKP"):
        raise PydanticCustomError("jwk", "is no public key: send kty RSA, EC or OKP, without d")
    if value.get("alg") not in ALGORITHMS or value.get("use", "sig") != "sig":
        raise PydanticCustomError("jwk", "names no alg that signs, such as ES256")
    try:
        key = jwt.PyJWK.from_dict(dict(value)).key
    except (jwt.PyJWTError, ValueError, TypeError):
        raise PydanticCustomError("jwk", "cannot be read as a JSON Web Key") from None
    if getattr(key, "key_size", LEAST_RSA_BITS) < LEAST_RSA_BITS and value["kty"] == "RSA":
        raise PydanticCustomError("jwk", "is too short: an RSA key has 2048 bits at least")
    return value


def _issuer(value: str) -> str:
    """Refuse what keys cannot be published under (OpenID Connect Discovery, 4)."""
    try:
        parts = urlsplit(value)
        good = parts.scheme in ("https", "http") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        parts, good = urlsplit(""), False
    if not good or parts.query or parts.fragment or "@" in parts.netloc:
        raise PydanticCustomError(
            "issuer", "is no issuer: it looks like https://login.example.org, as its tokens name it"
        )
    return value


ClientName = Annotated[str, Field(min_length=1, max_length=300)]
Origin = Annotated[str, Field(max_length=300), AfterValidator(_origin)]
Sentence = Annotated[str, Field(min_length=1, max_length=300)]
Colour = Annotated[str, Field(pattern=_COLOUR)]
Jwk = Annotated[dict[str, Any], AfterValidator(_key)]


class WidgetTheme(WidgetPart):
    """How the widget looks on its page."""

    primary: Colour = "#0f766e"
    background: Colour = "#ffffff"
    text: Colour = "#1c1917"
    font: Annotated[str, Field(pattern=_FONT)] = "system-ui, sans-serif"
    side: Literal["left", "right"] = "right"


class WidgetTexts(WidgetPart):
    """What the widget says by itself."""

    title: Sentence = "Chat with us"
    greeting: Sentence = "Hello. What can we help you with?"
    placeholder: Sentence = "Write a message"
    busy: Sentence = BUSY


class WidgetLimits(WidgetPart):
    """How much is said: by an address (or whom the host signed in), and in a session.

    After `challenge_after` messages a session solves a challenge; null: never.
    """

    per_minute: Annotated[int, Field(ge=1, le=1_000)] = 20
    per_day: Annotated[int, Field(ge=1, le=100_000)] = 200
    per_session: Annotated[int, Field(ge=1, le=1_000)] = 40
    idle_minutes: Annotated[int, Field(ge=1, le=240)] = 15
    challenge_after: Annotated[int, Field(ge=0, le=1_000)] | None = 3


class WidgetHost(WidgetPart):
    """Whose signature says who a customer is: the issuer of tokens, and its public keys."""

    issuer: Annotated[str, Field(min_length=1, max_length=300)]
    keys: Annotated[list[Jwk], Field(min_length=1, max_length=MOST_KEYS)]


class WidgetLogin(WidgetPart):
    """The host's own login: an OpenID Connect issuer that publishes its keys.

    `audiences` are the ids of the host's clients there, for one of which an id token has to be.
    """

    issuer: Annotated[str, Field(min_length=1, max_length=300), AfterValidator(_issuer)]
    audiences: Annotated[list[ClientName], Field(min_length=1, max_length=MOST_KEYS)]
    limits: WidgetLimits = Field(default_factory=lambda: signed_limits())


def signed_limits() -> WidgetLimits:
    """Return what somebody whom the host signed in may say."""
    return WidgetLimits(per_minute=60, per_day=1_000, per_session=200, challenge_after=None)


class WidgetHandOff(WidgetPart):
    """When a person is called, and for how long they are waited for.

    Nobody for `wait_minutes`: a ticket. No answer of the operator for `away_minutes`: the chat
    waits for another. After `after_unanswered` answers in a row that found nothing a person
    is called; null: never.
    """

    wait_minutes: Annotated[int, Field(ge=1, le=1_440)] = 10
    away_minutes: Annotated[int, Field(ge=1, le=1_440)] = 10
    after_unanswered: Annotated[int, Field(ge=1, le=100)] | None = None


class WidgetSettings(WidgetPart):
    """What a widget may do. `agent` is whose public documents it answers from; null: nobody's.

    Without `hand_off` customers have no way to a person.
    """

    origins: Annotated[list[Origin], Field(min_length=1, max_length=MOST_ORIGINS)]
    theme: WidgetTheme = Field(default_factory=WidgetTheme)
    texts: WidgetTexts = Field(default_factory=WidgetTexts)
    anonymous: WidgetLimits | None = Field(default_factory=WidgetLimits)
    signed: WidgetLimits = Field(default_factory=signed_limits)
    host: WidgetHost | None = None
    login: WidgetLogin | None = None
    day_usd: Amount = Decimal(50)
    hand_off: WidgetHandOff | None = None
    challenge: Annotated[ChallengeKind, Field(strict=False)] = ChallengeKind.WORK
    site_key: Annotated[str, Field(pattern=r"^[A-Za-z0-9_\-]{1,100}$")] | None = None
    agent: Annotated[str, Field(min_length=1, max_length=256)] | None = None

    @model_validator(mode="after")
    def lets_somebody_in(self) -> WidgetSettings:
        """Refuse a widget that nobody could use, and a challenge without its site."""
        if self.anonymous is None and self.host is None and self.login is None:
            raise PydanticCustomError("nobody", "Nobody could talk: set anonymous, host or login")
        if self.host and self.login and self.host.issuer == self.login.issuer:
            raise PydanticCustomError("issuer", "host and login are of two issuers")
        if self.challenge is ChallengeKind.TURNSTILE and self.site_key is None:
            raise PydanticCustomError("site-key", "Turnstile needs a site_key")
        return self


@dataclass(frozen=True, slots=True, kw_only=True)
class WidgetRow:
    """The widget as it is kept."""

    id: UUID
    settings: Mapping[str, Any]
    secret: bytes | None = field(repr=False)
    spent_on: date | None
    spent_usd: Decimal
    created_at: datetime
    changed_at: datetime

    def spent(self, today: date) -> Decimal:
        """Return what its turns have cost today."""
        return self.spent_usd if self.spent_on == today else Decimal(0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Widget:
    """A widget that is asked by a page: whose it is, and what it may do."""

    workspace_id: UUID
    row: WidgetRow
    settings: WidgetSettings

    @property
    def id(self) -> UUID:
        """Return what pages name it by."""
        return self.row.id

    @property
    def hosts(self) -> frozenset[str]:
        """Return the names of the hosts whose pages it stands on."""
        return frozenset(urlsplit(each).hostname or "" for each in self.settings.origins)

    def allows(self, origin: str | None) -> bool:
        """Return whether a page of an origin may use it."""
        return origin is not None and origin in self.settings.origins
