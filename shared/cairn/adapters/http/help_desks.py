"""Opens the adapters of ticket sources: settings checked, clients made, their errors translated."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from threading import Lock
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar, cast
from urllib.parse import urlsplit

from cairn.adapters.http.github import API_URL, GitHubIssues, GitHubRepository
from cairn.adapters.http.rest import Request, RestService, checked_base_url, rest_breakers
from cairn.adapters.http.slack import API_URL as SLACK_URL
from cairn.adapters.http.slack import SlackApi
from cairn.adapters.http.zoho import ACCOUNTS_URL, DESK_URL, ZohoAccount, ZohoDesk
from cairn.connectors.port import ConnectorUnauthorised, OutcomeUnknown
from cairn.kernel.clock import Clock, Stopwatch, monotonic, utc_now
from cairn.kernel.errors import FieldError, RateLimited, Unavailable, ValidationFailed
from cairn.tickets.adapter import NeedsAuth, PlainAdapter
from cairn.tickets.github import GitHubAdapter, repository_of
from cairn.tickets.slack import SlackAdapter, team_of
from cairn.tickets.ticket import SourceKind
from cairn.tickets.zoho import ZohoAdapter, portal_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    import httpx

    from cairn.kernel.resilience.breaker import Breakers
    from cairn.tickets.adapter import Capabilities, Delivered, Events, Polled, TicketAdapter
    from cairn.tickets.mail import MailAdapter

MAX_STATUS_CHARS = 100
MAX_BACKFILL_HOURS = 24 * 365
KEYS_FOR_SECONDS = 3_600.0
KEYS_PATH = "/.well-known/jwks.json"

_FIELDS: Mapping[SourceKind, tuple[frozenset[str], frozenset[str]]] = {
    SourceKind.ZOHO_DESK: (
        frozenset(["organisation_id", "client_id"]),
        frozenset(
            [
                "desk_url",
                "accounts_url",
                "webhook_id",
                "department_id",
                "from_address",
                "statuses",
                "backfill_hours",
                "jwks",
            ]
        ),
    ),
    SourceKind.GITHUB_ISSUES: (
        frozenset(["owner", "repository"]),
        frozenset(["api_url", "labels", "customer", "backfill_hours"]),
    ),
    SourceKind.SLACK: (
        frozenset(["team_id"]),
        frozenset(["api_url", "channels", "customer"]),
    ),
    SourceKind.MAIL: (
        frozenset(["address", "imap_url", "smtp_url"]),
        frozenset(
            [
                "username",
                "name",
                "folder",
                "sent_folder",
                "customer",
                "authserv_id",
                "backfill_hours",
            ]
        ),
    ),
}
"""What the settings of a kind must have, and what they may have."""

_SECRETS: Mapping[SourceKind, tuple[frozenset[str], frozenset[str]]] = {
    SourceKind.ZOHO_DESK: (frozenset(["client_secret", "refresh_token"]), frozenset()),
    SourceKind.GITHUB_ISSUES: (frozenset(["token"]), frozenset(["webhook_secret"])),
    SourceKind.SLACK: (frozenset(["bot_token", "signing_secret"]), frozenset()),
    SourceKind.MAIL: (frozenset(["password"]), frozenset()),
}
T = TypeVar("T")

_TEXT = re.compile(r"[^\x00-\x1f\x7f]{1,500}")
_ADDRESS = re.compile(r"[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@[A-Za-z0-9][A-Za-z0-9.-]{0,188}")
_SLACK_ID = re.compile(r"[A-Z0-9]{2,40}")
_FOLDER = re.compile(r"[ !#-\[\]-~]{1,200}")
"""Of what IMAP writes between quotes without another sign before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenHelpDesk:
    """Implements `OpenAdapter`; nothing is asked of a help desk here.

    `allow_private` lets addresses of sources lead into this network: for a laptop.
    """

    allow_private: bool = False
    transport: httpx.BaseTransport | None = None
    clock: Clock = utc_now
    stopwatch: Stopwatch = monotonic
    keys: PublishedKeys = field(default_factory=lambda: PublishedKeys())
    breakers: Breakers = field(default_factory=rest_breakers)

    def __call__(
        self, kind: str, config: Mapping[str, Any], secrets: Mapping[str, str]
    ) -> TicketAdapter:
        """Return the adapter; ValidationFailed names the wrong field."""
        source_kind = SourceKind(kind)
        if source_kind is SourceKind.API:
            return PlainAdapter()
        _check("config", config, _FIELDS[source_kind])
        _check("secrets", secrets, _SECRETS[source_kind])
        if source_kind is SourceKind.ZOHO_DESK:
            return Translated(self._zoho(config, secrets))
        if source_kind is SourceKind.SLACK:
            return Translated(self._slack(config, secrets))
        if source_kind is SourceKind.MAIL:
            return Translated(self._mail(config, secrets))
        return Translated(self._github(config, secrets))

    def _zoho(self, config: Mapping[str, Any], secrets: Mapping[str, str]) -> ZohoAdapter:
        account = ZohoAccount(
            organisation_id=str(config["organisation_id"]),
            client_id=str(config["client_id"]),
            client_secret=secrets["client_secret"],
            refresh_token=secrets["refresh_token"],
            desk_url=config.get("desk_url", DESK_URL),
            accounts_url=config.get("accounts_url", ACCOUNTS_URL),
            allow_private=self.allow_private,
        )
        client = ZohoDesk(
            account,
            transport=self.transport,
            stopwatch=self.stopwatch,
            breakers=self.breakers,
        )
        key_set = cast("Mapping[str, Any] | None", config.get("jwks"))
        return ZohoAdapter(
            client=client,
            portal=portal_of(config, refuse=_refuse),
            keys=(lambda key_id: _key(key_set, key_id))
            if key_set
            else self.keys.of(
                account.desk_url, allow_private=self.allow_private, breakers=self.breakers
            ),
            clock=self.clock,
        )

    def _mail(self, config: Mapping[str, Any], secrets: Mapping[str, str]) -> MailAdapter:
        # of layers that not every function has which names a source
        from cairn.adapters.mail.box import ImapSmtpBox, MailAccount
        from cairn.tickets.mail import MailAdapter, address_of

        own = address_of(config)
        account = MailAccount(
            address=own.address,
            username=config.get("username", own.address),
            password=secrets["password"],
            imap_url=config["imap_url"],
            smtp_url=config["smtp_url"],
            folder=config.get("folder", "INBOX"),
            sent_folder=config.get("sent_folder", "Sent"),
            allow_private=self.allow_private,
        )
        return MailAdapter(box=ImapSmtpBox(account), own=own, clock=self.clock)

    def _slack(self, config: Mapping[str, Any], secrets: Mapping[str, str]) -> SlackAdapter:
        client = SlackApi(
            token=secrets["bot_token"],
            api_url=config.get("api_url", SLACK_URL),
            allow_private=self.allow_private,
            transport=self.transport,
            breakers=self.breakers,
        )
        checked_base_url(client.api_url, allow_private=self.allow_private)
        return SlackAdapter(
            client=client, team=team_of(config), signing_secret=secrets["signing_secret"]
        )

    def _github(self, config: Mapping[str, Any], secrets: Mapping[str, str]) -> GitHubAdapter:
        repository = GitHubRepository(
            owner=str(config["owner"]),
            name=str(config["repository"]),
            token=secrets["token"],
            api_url=config.get("api_url", API_URL),
            allow_private=self.allow_private,
        )
        return GitHubAdapter(
            client=GitHubIssues(
                repository, transport=self.transport, clock=self.clock, breakers=self.breakers
            ),
            repository=repository_of(config),
            webhook_secret=secrets.get("webhook_secret"),
            clock=self.clock,
        )


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


@dataclass(frozen=True, slots=True)
class Translated:
    """An adapter whose client's errors are those of `helpdesk.adapter`.

    An answer that never came counts as not given: the next try looks for it before it writes.
    """

    adapter: TicketAdapter

    def capabilities(self) -> Capabilities:
        """Say what it can do."""
        return self.adapter.capabilities()

    def poll(self, cursor: str | None, limit: int) -> Polled:
        """Return what changed since `cursor`."""
        return _translate_refusals(lambda: self.adapter.poll(cursor, limit))

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Raise Unauthenticated for a delivery that is not the help desk's."""
        _translate_refusals(lambda: self.adapter.verify(delivered, now))

    def read(self, delivered: Delivered) -> Events:
        """Return what a delivery tells."""
        return self.adapter.read(delivered)

    def reply(self, external_id: str, text: str, *, private: bool, key: str) -> str:
        """Answer a ticket."""
        return _translate_refusals(
            lambda: self.adapter.reply(external_id, text, private=private, key=key)
        )

    def set_status(self, external_id: str, status: str) -> str:
        """Set the status."""
        return _translate_refusals(lambda: self.adapter.set_status(external_id, status))

    def log_time(self, external_id: str, minutes: int, note: str, *, key: str) -> str:
        """Log working time."""
        return _translate_refusals(
            lambda: self.adapter.log_time(external_id, minutes, note, key=key)
        )


def _translate_refusals(ask: Callable[[], T]) -> T:
    try:
        return ask()
    except ConnectorUnauthorised as refused:
        raise NeedsAuth("The help desk refuses its sign-in; renew it.") from refused
    except OutcomeUnknown as unknown:
        raise Unavailable("The help desk did not answer.", reason=unknown.reason) from unknown
    except RateLimited as limited:
        raise Unavailable(
            "The help desk has had too many requests.",
            reason="help-desk-busy",
            retry_after=limited.retry_after,
        ) from limited


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


def _check(
    where: str, values: Mapping[str, Any], fields: tuple[frozenset[str], frozenset[str]]
) -> None:
    """Refuse fields that are missing, unknown or of another type."""
    must, may = fields
    for name in sorted(must - values.keys()):
        _refuse(f"{where}.{name}", "is needed")
    for name, value in values.items():
        if name not in must | may:
            _refuse(f"{where}.{name}", "is not a setting of this kind of source")
        check = _CHECKS.get(name, _is_text)
        if not check(value):
            _refuse(f"{where}.{name}", "has a value that cannot be used")


def _is_text(value: object) -> bool:
    return isinstance(value, str) and _TEXT.fullmatch(value) is not None


def _is_secret(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_texts(value: object) -> bool:
    return isinstance(value, list) and all(_is_text(item) for item in cast("list[Any]", value))


def _is_statuses(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    every = cast("dict[Any, Any]", value).values()
    return all(_is_text(item) and len(item) <= MAX_STATUS_CHARS for item in every)


def _is_hours(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return 0 <= value <= MAX_BACKFILL_HOURS


def _is_keys(value: object) -> bool:
    return isinstance(value, dict) and isinstance(cast("dict[str, Any]", value).get("keys"), list)


def _is_address(value: object) -> bool:
    return isinstance(value, str) and _ADDRESS.fullmatch(value) is not None


def _is_folder(value: object) -> bool:
    return isinstance(value, str) and _FOLDER.fullmatch(value) is not None


def _is_slack_id(value: object) -> bool:
    return isinstance(value, str) and _SLACK_ID.fullmatch(value) is not None


def _are_slack_ids(value: object) -> bool:
    return isinstance(value, list) and all(map(_is_slack_id, cast("list[Any]", value)))


def _is_password(value: object) -> bool:
    """Return whether it is ASCII: SMTP's sign-in is, in the library that says it."""
    return _is_secret(value) and str(value).isascii()


_CHECKS: Mapping[str, Callable[[object], bool]] = {
    "address": _is_address,
    "folder": _is_folder,
    "sent_folder": _is_folder,
    "password": _is_password,
    "bot_token": _is_password,
    "signing_secret": _is_secret,
    "team_id": _is_slack_id,
    "channels": _are_slack_ids,
    "labels": _is_texts,
    "statuses": _is_statuses,
    "backfill_hours": _is_hours,
    "jwks": _is_keys,
    "token": _is_secret,
    "client_secret": _is_secret,
    "refresh_token": _is_secret,
    "webhook_secret": _is_secret,
}


def _refuse(field: str, message: str) -> NoReturn:
    raise ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])
