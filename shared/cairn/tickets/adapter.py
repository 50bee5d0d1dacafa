"""The port to help desks: tickets in by polling or webhooks, answers out. Not any one help desk.

`read` and `verify` are pure; the other methods ask the help desk and raise Unavailable when it does
not answer, NotFound when it has no such ticket, and `NeedsAuth` when it no longer takes the keys.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, TypeAlias, TypeVar, cast

from cairn.kernel.errors import Conflict, ValidationFailed
from cairn.kernel.text.canonical import format_timestamp, parse_timestamp
from cairn.tickets.ticket import Priority

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from cairn.oauth_client.ports import Bearer

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class PlainAdapter:
    """Implements `TicketAdapter`; `GET /v1/tickets/{id}` shows what was said."""

    def capabilities(self) -> Capabilities:
        """Say what it can do: whatever is kept with the ticket."""
        return Capabilities(polls=False, webhooks=False, time_entries=True)

    def poll(self, cursor: str | None, limit: int) -> Polled:
        """Refuse: nothing is to be fetched."""
        _refuse()

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Refuse: tickets come with an API key."""
        _refuse()

    def read(self, delivered: Delivered) -> Events:
        """Refuse: tickets come with an API key."""
        _refuse()

    def reply(self, external_id: str, text: str, *, private: bool, key: str) -> str:
        """Return the key: the reply's row is all there is."""
        return key

    def set_status(self, external_id: str, status: str) -> str:
        """Return the status: the ticket's own."""
        return status

    def log_time(self, external_id: str, minutes: int, note: str, *, key: str) -> str:
        """Return the key: the ledger's entry is all there is."""
        return key


def _refuse() -> NoReturn:
    raise Conflict("The plain source takes tickets over the API only.", reason="plain-source")


def text_at(record: Mapping[str, Any], *path: str) -> str:
    """Return a text, a number as one too; "" for anything else."""
    value: Any = record
    for name in path:
        value = cast("Mapping[str, Any]", value).get(name) if isinstance(value, dict) else None
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return ""
    return str(value)


def time_at(record: Mapping[str, Any], *path: str) -> datetime | None:
    """Return an ISO 8601 time in UTC; one without an offset is taken for UTC. None for no time."""
    text = text_at(record, *path)
    try:
        read = datetime.fromisoformat(text.replace("Z", "+00:00")) if text else None
        if read is None:
            return None
        return (read if read.tzinfo else read.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):  # the latter for a moment before the year 1, or after 9999
        return None


OVERLAP = timedelta(minutes=2)
MAX_SEEN = 500


@dataclass(frozen=True, slots=True, kw_only=True)
class Cursor:
    """`since` is where the next list begins, `start` how many of it to pass over.

    `seen` are (id, time of change) of what the list's beginning held the last time.
    """

    since: datetime
    start: int = 0
    seen: frozenset[tuple[str, str]] = frozenset()

    def __str__(self) -> str:
        """Return it as a source keeps it."""
        seen = sorted(self.seen)[:MAX_SEEN]
        return json.dumps([format_timestamp(self.since), self.start, seen], separators=(",", ":"))

    def after(self, listed: Iterable[tuple[str, datetime]], *, full: bool, size: int) -> Cursor:
        """Return where to go on after a list of (id, time of change), by that time.

        A `full` list has more behind it; `size` is how long it was. When all of it changed at one
        moment the next begins behind it, else at the last moment it holds.
        """
        results = list(listed)
        newest = max((at for _, at in results), default=self.since)
        every = {(text, format_timestamp(at)) for text, at in results} | self.seen
        if full and newest <= self.since:
            return Cursor(since=self.since, start=self.start + size, seen=frozenset(every))
        since = newest if full else max(self.since, newest - OVERLAP)
        edge = frozenset(each for each in every if each[1] >= format_timestamp(since))
        return Cursor(since=since, seen=edge)

    def has_seen(self, external_id: str, changed_at: datetime) -> bool:
        """Return whether this form of a ticket was read before."""
        return (external_id, format_timestamp(changed_at)) in self.seen


def read_cursor(text: str | None, begin: datetime) -> Cursor:
    """Return a kept cursor; one that begins at `begin` when there is none, or none of ours."""
    if text is None:
        return Cursor(since=begin)
    try:
        since, start, seen = json.loads(text)
        pairs = frozenset((str(item), str(at)) for item, at in seen)
        return Cursor(since=parse_timestamp(since), start=int(start), seen=pairs)
    except (ValueError, TypeError, ValidationFailed):
        return Cursor(since=begin)


def fresh(
    at: Cursor, listed: Sequence[tuple[str, datetime | None, T]], *, full: bool, size: int
) -> tuple[list[T], Cursor]:
    """Return which of (id, time of change, record) were not read before, and where to go on.

    See `Cursor.after`; a record without a time of change is left out.
    """
    timed = [(name, when, record) for name, when, record in listed if when is not None]
    results = [record for name, changed_at, record in timed if not at.has_seen(name, changed_at)]
    after = at.after([(name, changed_at) for name, changed_at, _ in timed], full=full, size=size)
    return results, after


def backfill_of(config: Mapping[str, Any]) -> timedelta:
    """Return how far back the first poll looks (`backfill_hours`)."""
    return timedelta(hours=float(config.get("backfill_hours", 24)))


def statuses_of(
    config: Mapping[str, Any], usual: Mapping[str, str], *, refuse: Callable[[str, str], None]
) -> Mapping[str, str]:
    """Return what the desk calls our statuses: as `statuses` says, else as is `usual`."""
    own = cast("Mapping[str, Any]", config.get("statuses") or {})
    if set(own) - set(usual):
        refuse("statuses", f"knows {', '.join(usual)} only")
    return {**usual, **{name: str(value) for name, value in own.items()}}


class NeedsAuth(Conflict):
    """A help desk refuses the credentials it was given: somebody has to authorise it again."""

    code = "needs-auth"


@dataclass(frozen=True, slots=True, kw_only=True)
class Capabilities:
    """What a help desk can do. What it cannot is skipped and said so in the write-back."""

    polls: bool = True
    webhooks: bool = True
    replies: bool = True
    private_notes: bool = True
    statuses: bool = True
    time_entries: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Attachment:
    """A file that came with a ticket or a message; nothing of it is trusted or checked yet.

    `whole` is False for one whose end was not read. One that its desk keeps comes without content:
    it is `file` there, has `size` bytes, and stands at `url`, which may let in whoever has it.
    `refused` says why it cannot be had.
    """

    name: str
    media_type: str
    content: bytes = field(default=b"", repr=False)
    whole: bool = True
    file: str = ""
    url: str = field(default="", repr=False)
    size: int = 0
    refused: str | None = None


FileOf: TypeAlias = "Callable[[str, str], bytes]"
"""Fetches what stands at an address that a desk gave, and is said to be of a media type.

TooLarge, Unavailable or RateLimited, and any other CairnError for what cannot be read.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Incoming:
    """A ticket as a source gave it, in canonical form; nothing of it is trusted or checked yet.

    `modified_at` is the source's own clock: of two forms of a ticket the later one counts.
    `closed` ones are taken note of when known, and not taken in otherwise.
    """

    external_id: str
    title: str
    body: str
    customer: str = ""
    requester_email: str | None = None
    priority: Priority = Priority.MEDIUM
    sla_at: datetime | None = None
    received_at: datetime | None = None
    modified_at: datetime | None = None
    closed: bool = False
    source_metadata: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    attachments: tuple[Attachment, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """What somebody outside the desk wrote to a ticket later; nothing of it is checked yet.

    `ticket` is the ticket's external id, `id` the message's own at its source. `author` is an
    address as `Incoming.requester_email` has it; None says that it is the requester.
    """

    ticket: str
    id: str
    text: str
    author: str | None = None
    written_at: datetime | None = None
    attachments: tuple[Attachment, ...] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Polled:
    """Tickets that are new or changed, and the cursor for next time; `more` are there now.

    `messages` are those of these tickets since `cursor`: our own and colleagues' are left out.
    `set_aside` says how many were no tickets, by the reason. `file` fetches their attachments that
    the desk keeps.
    """

    tickets: tuple[Incoming, ...]
    cursor: str | None
    more: bool = False
    messages: tuple[Message, ...] = ()
    set_aside: Mapping[str, int] = field(default_factory=lambda: MappingProxyType({}))
    file: FileOf | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """A webhook's request as it came: the exact bytes, header names in small letters."""

    body: bytes
    headers: Mapping[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """What a verified webhook delivery tells; `delivery_id` is the same when it is sent again.

    `challenge` is what a source that looks whether anybody is there wants to have back.
    """

    delivery_id: str
    tickets: tuple[Incoming, ...]
    messages: tuple[Message, ...] = ()
    challenge: str | None = None


class TicketAdapter(Protocol):
    """A help desk, as source and as sink."""

    def capabilities(self) -> Capabilities:
        """Say what it can do."""
        ...

    def poll(self, cursor: str | None, limit: int) -> Polled:
        """Return what changed since `cursor`, which the adapter made; None begins."""
        ...

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Raise Unauthenticated for a delivery that is unsigned, forged or too old."""
        ...

    def read(self, delivered: Delivered) -> Events:
        """Return what a delivery tells; ValidationFailed for one that cannot be read."""
        ...

    def reply(self, external_id: str, text: str, *, private: bool, key: str) -> str:
        """Answer a ticket and return the source's reference.

        Looked up first: an answer that carries `key` is there already and is not posted again.
        """
        ...

    def set_status(self, external_id: str, status: str) -> str:
        """Set the status (a `TicketStatus`) and return what the source calls it."""
        ...

    def log_time(self, external_id: str, minutes: int, note: str, *, key: str) -> str:
        """Log working time; looked up first by `key`, as `reply`."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskField:
    """A setting or a secret of a kind of help desk; `fits` says which values can be used."""

    name: str
    needed: bool
    fits: Callable[[object], bool]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeskForm:
    """What a source of a kind is made of, what is needed first."""

    config: tuple[DeskField, ...]
    secrets: tuple[DeskField, ...]


class OpenAdapter(Protocol):
    """Makes the adapter of a source."""

    def __call__(
        self,
        kind: str,
        config: Mapping[str, Any],
        secrets: Mapping[str, str],
        /,
        *,
        bearer: Bearer | None = None,
    ) -> TicketAdapter:
        """Return it; ValidationFailed names the field of `config` or `secrets` that is wrong.

        `bearer` gives the tokens of a source that is signed in to by a device code.
        """
        ...
