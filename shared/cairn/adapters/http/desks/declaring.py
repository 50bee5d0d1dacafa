"""What a kind of help desk or channel declares: its settings and secrets, its opener."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeAlias, TypeVar, cast

from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.tickets.adapter import DeskField, TicketAdapter
from cairn.tickets.ticket import SourceKind

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    import httpx

    from cairn.adapters.http.rest import RestService
    from cairn.kernel.clock import Clock, Stopwatch
    from cairn.kernel.resilience.breaker import Breakers
    from cairn.oauth_client.ports import Bearer

MAX_STATUS_CHARS = 100
MAX_BACKFILL_HOURS = 24 * 365

_TEXT = re.compile(r"[^\x00-\x1f\x7f]{1,500}")

KindT = TypeVar("KindT", covariant=True)
AdapterT = TypeVar("AdapterT", covariant=True)
Check: TypeAlias = "Callable[[object], bool]"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fields:
    """The fields that must be there, and those that may be, each with what its value has to be."""

    needed: Mapping[str, Check] = field(default_factory=lambda: MappingProxyType({}))
    allowed: Mapping[str, Check] = field(default_factory=lambda: MappingProxyType({}))

    def listed(self) -> tuple[DeskField, ...]:
        """Return them for a form, what is needed first."""
        return tuple(
            DeskField(name=name, needed=checks is self.needed, fits=fits)
            for checks in (self.needed, self.allowed)
            for name, fits in checks.items()
        )

    def check(self, where: str, values: Mapping[str, Any]) -> None:
        """Refuse fields that are missing, unknown or of another type; `where` they stand."""
        for name in sorted(self.needed.keys() - values.keys()):
            refuse(f"{where}.{name}", "is needed")
        checks = {**self.needed, **self.allowed}
        for name, value in values.items():
            if name not in checks:
                refuse(f"{where}.{name}", "is not a setting of this kind of source")
            if not checks[name](value):
                refuse(f"{where}.{name}", "has a value that cannot be used")


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """A source that is opened, its fields checked, and what of this process its client needs.

    `allow_private` lets addresses lead into this network: for a laptop. `bearer` gives the tokens
    of one that is signed in to by a device code.
    """

    config: Mapping[str, Any]
    secrets: Mapping[str, str]
    allow_private: bool
    transport: httpx.BaseTransport | None
    clock: Clock
    stopwatch: Stopwatch
    breakers: Breakers
    bearer: Bearer | None = None

    def service(
        self,
        name: str,
        base_url: str,
        *,
        words: Callable[[Mapping[str, Any]], str],
        limited: Callable[[int, Mapping[str, str]], bool] = lambda status, headers: status == 429,
        wait: Callable[[Mapping[str, str]], float] | None = None,
    ) -> RestService:
        """Return the service of a desk; see `RestService`."""
        from cairn.adapters.http.rest import RestService

        return RestService(
            name=name,
            base_url=base_url,
            words=words,
            limited=limited,
            wait=wait,
            allow_private=self.allow_private,
            transport=self.transport,
            stopwatch=self.stopwatch,
            breakers=self.breakers,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Declared(Generic[KindT, AdapterT]):
    """A kind of service. `open` asks nothing of it; ValidationFailed names the wrong field."""

    kind: KindT
    config: Fields
    secrets: Fields
    open: Callable[[Opening], AdapterT]


HelpDesk = Declared[SourceKind, TicketAdapter]


def refuse(where: str, message: str) -> NoReturn:
    """Raise ValidationFailed for a field."""
    raise ValidationFailed(f"{where} {message}.", errors=[FieldError(where, message)])


def is_text(value: object) -> bool:
    """Return whether it is a line of 1 to 500 characters."""
    return isinstance(value, str) and _TEXT.fullmatch(value) is not None


def is_secret(value: object) -> bool:
    """Return whether it is a text that is not blank."""
    return isinstance(value, str) and bool(value.strip())


def is_ascii_secret(value: object) -> bool:
    """Return whether it can stand in a header, or in SMTP's sign-in."""
    return is_secret(value) and str(value).isascii()


def is_texts(value: object) -> bool:
    """Return whether it is a list of lines."""
    return isinstance(value, list) and all(map(is_text, cast("list[Any]", value)))


def is_statuses(value: object) -> bool:
    """Return whether it names statuses: of ours, what the desk calls it."""
    if not isinstance(value, dict):
        return False
    every = cast("dict[Any, Any]", value).values()
    return all(is_text(item) and len(item) <= MAX_STATUS_CHARS for item in every)


def is_hours(value: object) -> bool:
    """Return whether it is a number of hours up to a year."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return 0 <= value <= MAX_BACKFILL_HOURS
