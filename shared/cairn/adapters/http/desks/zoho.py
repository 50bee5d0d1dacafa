"""Zoho Desk as a kind of ticket source, and the keys it publishes. Its client is `http.zoho`."""

from __future__ import annotations

from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import urlsplit

from cairn.adapters.http.desks.declaring import (
    Fields,
    HelpDesk,
    Opening,
    is_hours,
    is_secret,
    is_statuses,
    is_text,
    refuse,
)
from cairn.adapters.http.rest import Request, RestService, rest_breakers
from cairn.adapters.http.zoho import ACCOUNTS_URL, DESK_URL, ZohoAccount, ZohoDesk
from cairn.kernel.clock import Stopwatch, monotonic
from cairn.tickets.ticket import SourceKind
from cairn.tickets.zoho import ZohoAdapter, portal_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import httpx

    from cairn.kernel.resilience.breaker import Breakers

KEYS_FOR_SECONDS = 3_600.0
KEYS_PATH = "/.well-known/jwks.json"


@dataclass(slots=True, kw_only=True)
class PublishedKeys:
    """The keys Zoho's data centres publish for their webhook tokens, each asked once an hour.

    A key that is not among them is asked for anew at most once a minute.
    """

    transport: httpx.BaseTransport | None = None
    stopwatch: Stopwatch = monotonic
    least_seconds: float = 60.0
    _kept: dict[str, tuple[float, Mapping[str, Any]]] = field(
        default_factory=dict[str, "tuple[float, Mapping[str, Any]]"]
    )
    _lock: Lock = field(default_factory=Lock)

    def of(
        self, desk_url: str, *, allow_private: bool = False, breakers: Breakers | None = None
    ) -> Callable[[str], Mapping[str, Any] | None]:
        """Return the lookup of one data centre: the host of its address."""
        parts = urlsplit(desk_url)
        service = RestService(
            name="Zoho Desk",
            base_url=f"{parts.scheme}://{parts.netloc}",
            words=lambda _: "",
            allow_private=allow_private,
            transport=self.transport,
            breakers=breakers or rest_breakers(),
        )

        def key(key_id: str) -> Mapping[str, Any] | None:
            published = _key(self._set(service, KEYS_FOR_SECONDS), key_id)
            return published or _key(self._set(service, self.least_seconds), key_id)

        return key

    def _set(self, service: RestService, seconds: float) -> Mapping[str, Any]:
        """Return the keys of a data centre, read within the last `seconds`."""
        with self._lock:
            cached = self._kept.get(service.base_url)
            if cached is not None and self.stopwatch() - cached[0] < seconds:
                return cached[1]
            request = Request(method="GET", path=KEYS_PATH, repeatable=True)
            key_set = service.ask(request, {}).record()
            self._kept[service.base_url] = (self.stopwatch(), key_set)
            return key_set


def _key(keys: Mapping[str, Any] | None, key_id: str) -> Mapping[str, Any] | None:
    """Return the key of an id among a JSON Web Key Set."""
    listed: Any = (keys or {}).get("keys")
    if not isinstance(listed, list):
        return None
    every = [
        cast("Mapping[str, Any]", item)
        for item in cast("list[Any]", listed)
        if isinstance(item, dict)
    ]
    return next((item for item in every if item.get("kid") == key_id), None)


def _is_keys(value: object) -> bool:
    return isinstance(value, dict) and isinstance(cast("dict[str, Any]", value).get("keys"), list)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Open:
    """Opens a portal; the keys that Zoho publishes are those of the process."""

    keys: PublishedKeys

    def __call__(self, opening: Opening) -> ZohoAdapter:
        config, secrets = opening.config, opening.secrets
        account = ZohoAccount(
            organisation_id=str(config["organisation_id"]),
            client_id=str(config["client_id"]),
            client_secret=secrets["client_secret"],
            refresh_token=secrets["refresh_token"],
            desk_url=config.get("desk_url", DESK_URL),
            accounts_url=config.get("accounts_url", ACCOUNTS_URL),
            allow_private=opening.allow_private,
        )
        client = ZohoDesk(
            account,
            transport=opening.transport,
            stopwatch=opening.stopwatch,
            breakers=opening.breakers,
        )
        key_set = cast("Mapping[str, Any] | None", config.get("jwks"))
        return ZohoAdapter(
            client=client,
            portal=portal_of(config, refuse=refuse),
            keys=(lambda key_id: _key(key_set, key_id))
            if key_set
            else self.keys.of(
                account.desk_url, allow_private=opening.allow_private, breakers=opening.breakers
            ),
            clock=opening.clock,
        )


DESK = HelpDesk(
    kind=SourceKind.ZOHO_DESK,
    config=Fields(
        needed={"organisation_id": is_text, "client_id": is_text},
        allowed={
            "desk_url": is_text,
            "accounts_url": is_text,
            "webhook_id": is_text,
            "department_id": is_text,
            "from_address": is_text,
            "statuses": is_statuses,
            "backfill_hours": is_hours,
            "jwks": _is_keys,
        },
    ),
    secrets=Fields(needed={"client_secret": is_secret, "refresh_token": is_secret}),
    open=_Open(keys=PublishedKeys()),
)
