"""What help desks asked over JSON share: lists walked page by page, marks. Not any one of them.

A desk lists what changed since a moment. The moment stays while its pages are walked, so a ticket
that changes meanwhile shifts no other one past us; it is listed again by the next walk.
"""

from __future__ import annotations

import json
import re
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, NoReturn, Protocol, cast

from cairn.documents import media
from cairn.kernel.errors import (
    CairnError,
    Conflict,
    NotFound,
    Unavailable,
    ValidationFailed,
)
from cairn.kernel.text.canonical import format_timestamp, parse_timestamp
from cairn.tickets.adapter import MAX_SEEN, OVERLAP, Attachment, Events, Polled, text_at
from cairn.tickets.attachments import MAX_NAME_CHARS, MOST_NAMED, NOT_READABLE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from cairn.kernel.clock import Clock
    from cairn.tickets.adapter import Delivered, FileOf, Incoming, Message

Record = dict[str, Any]

MESSAGES_LOOKED_AT = 50
"""Comments of a changed ticket in which the requester's are looked for: the newest."""

WRITTEN_LOOKED_AT = 100
"""Comments, or time entries, in which one that may have been written is looked for."""

MAX_PAGE_CHARS = 2_000
UNLISTED = (Attachment(name="attachments", media_type="", refused="not-listed"),)
"""What a ticket says of its files where its desk did not list them."""

_FILE = re.compile(r"[0-9a-z-]{1,60}")
_OURS = re.compile(r"(?:\A|\n)Reference: cairn:[0-9a-z-]{1,100}\s*\Z")


class DeskApi(Protocol):
    """A help desk's JSON over HTTP, signed in; errors are those of its client.

    Returns the decoded answer. What is not `repeatable` is sent once.
    """

    def __call__(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | list[Any] | None = None,
        repeatable: bool = False,
    ) -> Any: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A page of changed tickets; `following` names the next one, "" after the last."""

    records: Sequence[Record]
    following: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Walk:
    """How far a list is walked: what changed since `since`, asked from `began` on, up to `page`.

    `newest` is the last change it held so far, `seen` the last (id, time of change) of it.
    """

    since: datetime
    began: datetime
    newest: datetime
    page: str = ""
    seen: frozenset[tuple[str, str]] = frozenset()

    def __str__(self) -> str:
        """Return it as a source keeps it."""
        times = [format_timestamp(each) for each in (self.since, self.began, self.newest)]
        return json.dumps([*times, self.page, sorted(self.seen)], separators=(",", ":"))

    def has_seen(self, external_id: str, changed_at: datetime) -> bool:
        """Return whether this form of a ticket was read before."""
        return changed_at < self.since or (external_id, format_timestamp(changed_at)) in self.seen

    def after(self, changes: Iterable[tuple[str, datetime]], following: str) -> Walk:
        """Return where to go on after a page; behind the last one, where the next walk begins."""
        results = list(changes)
        newest = max((at for _, at in results), default=self.newest)
        newest = max(newest, self.newest)
        pairs = self.seen | {(text, format_timestamp(at)) for text, at in results}
        latest = sorted(pairs, key=lambda pair: pair[1])[-MAX_SEEN:]
        if following:
            return replace(self, newest=newest, page=following, seen=frozenset(latest))
        since = max(self.since, min(newest, self.began) - OVERLAP)
        edge = frozenset(pair for pair in latest if pair[1] >= format_timestamp(since))
        return Walk(since=since, began=since, newest=since, seen=edge)


def read_walk(text: str | None, now: datetime, backfill: timedelta) -> Walk:
    """Return a kept walk; one that begins now when there is none, or none of ours."""
    try:
        since, began, newest, page, seen = json.loads(text or "null")
        walk = Walk(
            since=parse_timestamp(since),
            began=parse_timestamp(began),
            newest=parse_timestamp(newest),
            page=str(page),
            seen=frozenset((str(item), str(at)) for item, at in seen),
        )
    except (ValueError, TypeError, ValidationFailed):
        return Walk(since=now - backfill, began=now, newest=now - backfill)
    return walk if walk.page else replace(walk, began=now)


@dataclass(frozen=True, slots=True, kw_only=True)
class WalkedDesk:
    """Implements what `TicketAdapter`s of such desks share; each adds what is its own."""

    api: DeskApi
    clock: Clock
    statuses: Mapping[str, str]
    customer: str = ""
    backfill: timedelta = timedelta(hours=24)
    webhook_secret: str | None = field(default=None, repr=False)
    file: FileOf | None = field(default=None, repr=False)

    def listed(self, since: datetime, page: str, limit: int) -> Listed:
        """Return a page of what changed since then."""
        raise NotImplementedError

    def changed(self, record: Record) -> datetime | None:
        """Return when a listed ticket, or what was said to it, changed last."""
        raise NotImplementedError

    def whole(self, record: Record, since: datetime) -> Record:
        """Return a listed ticket with what lists leave out, and what was said since then."""
        return record

    def incoming(self, record: Record) -> Incoming:
        """Return a whole ticket in canonical form. Pure."""
        raise NotImplementedError

    def said(self, record: Record) -> Iterable[Message | None]:
        """Return what people outside the desk wrote to a whole ticket. Pure."""
        raise NotImplementedError

    def poll(self, cursor: str | None, limit: int) -> Polled:
        """Return the next page of changed tickets, those seen before left out.

        A page that the desk no longer knows begins the walk anew; a listed ticket that cannot be
        read is set aside.
        """
        now = self.clock()
        walk = read_walk(cursor, now, self.backfill)
        try:
            page = self.listed(walk.since, walk.page, limit)
        except ValidationFailed as refused:
            if not walk.page or refused.reason != "refused":
                raise
            walk = replace(walk, began=now, page="")
            page = self.listed(walk.since, "", limit)
        if len(page.following) > MAX_PAGE_CHARS:
            raise _unknown_form()
        changes = [
            (record, text_at(record, "id"), changed_at)
            for record in page.records
            if (changed_at := self.changed(record)) is not None
        ]
        new = [record for record, name, at in changes if not walk.has_seen(name, at)]
        results = self._read_whole(new, walk.since)
        return Polled(
            tickets=tuple(self.incoming(record) for record in results),
            cursor=str(walk.after(((name, at) for _, name, at in changes), page.following)),
            more=bool(page.following),
            messages=tuple(
                message
                for record in results
                for message in self.said(record)
                if message and message.written_at and message.written_at >= walk.since
            ),
            set_aside={NOT_READABLE: aside} if (aside := len(new) - len(results)) else {},
            file=self.file,
        )

    def told_of(self, delivery: str, listed: Record) -> Events:
        """Return a ticket that a delivery names, read at the desk, with what was said of late."""
        record = self.whole(listed, self.clock() - self.backfill)
        messages = tuple(message for message in self.said(record) if message is not None)
        return Events(delivery_id=delivery, tickets=(self.incoming(record),), messages=messages)

    def _read_whole(self, records: Sequence[Record], since: datetime) -> list[Record]:
        results: list[Record] = []
        for record in records:
            with suppress(NotFound):  # somebody deleted it, or hides it from us
                results.append(self.whole(record, since))
        return results

    def verify(self, delivered: Delivered, now: datetime) -> None:
        """Refuse: this desk signs no webhooks, it is polled."""
        _polled_only()

    def read(self, delivered: Delivered) -> Events:
        """Refuse: this desk signs no webhooks, it is polled."""
        _polled_only()


def mark(key: str) -> str:
    """Return what an answer carries so that it is recognised: no desk takes it for markup."""
    return f"cairn:{key}"


def marked(text: str, key: str) -> str:
    """Return a text that ends in its mark."""
    return f"{text}\n\nReference: {mark(key)}"


def is_ours(text: str) -> bool:
    """Return whether a text ends in a mark: an answer of ours, not one that quotes it."""
    return _OURS.search(text) is not None


def written(records: Iterable[Record], key: str, *fields: str) -> str:
    """Return the id of the record with the mark of `key`; "" when none has it."""
    for record in records:
        if any(mark(key) in text_at(record, name) for name in fields):
            return text_at(record, "id")
    return ""


def object_of(answer: Any) -> Record:
    """Return the object that a desk answered; Unavailable when it is something else."""
    if isinstance(answer, dict):
        return cast("Record", answer)
    raise _unknown_form()


def object_at(record: Record, name: str) -> Record:
    """Return an object within an answer; {} when there is none."""
    value = record.get(name)
    return cast("Record", value) if isinstance(value, dict) else {}


def rows_of(answer: Any, *path: str) -> list[Record]:
    """Return the objects of a list within an answer; [] when there is none.

    Without a path the answer itself is the list; Unavailable when it is something else.
    """
    value: Any = answer
    if not path and not isinstance(answer, list):
        raise _unknown_form()
    for name in path:
        value = cast("Record", value).get(name) if isinstance(value, dict) else None
    listed = cast("list[Any]", value) if isinstance(value, list) else []
    return [cast("Record", item) for item in listed if isinstance(item, dict)]


def tried(ask: Callable[[], list[Record]]) -> list[Record] | None:
    """Return the files that a desk lists; None where it does not: that holds up no ticket."""
    try:
        return ask()
    except CairnError:
        return None


def attached(
    rows: Iterable[Record],
    *,
    name: str,
    media_type: str = "",
    size: Sequence[str] = (),
    url: str = "url",
) -> tuple[Attachment, ...]:
    """Return the files of a list; the rest names the fields that say what each is. Pure.

    Without a media type a file is of the one that its name says.
    """
    return tuple(
        Attachment(
            name=_printable(text_at(row, name)) or "attachment",
            media_type=text_at(row, media_type) or media.media_type_of(text_at(row, name)) or "",
            file=number,
            url=text_at(row, url),
            size=next((int(each) for each in _texts(row, size) if each.isdecimal()), 0),
            refused=None if text_at(row, url) else NOT_READABLE,
        )
        for row in rows
        if _FILE.fullmatch(number := text_at(row, "id"))
    )[:MOST_NAMED]


def _texts(row: Record, names: Sequence[str]) -> list[str]:
    values = ((name, row.get(name)) for name in names)
    return [f"{at:.0f}" if isinstance(at, float) else text_at(row, name) for name, at in values]


def _printable(text: str) -> str:
    """Return a name on one line, of characters that can be kept."""
    return "".join(each if each.isprintable() else " " for each in text).strip()[:MAX_NAME_CHARS]


def checked_id(external_id: str, pattern: str = r"[0-9]{1,18}") -> str:
    """Return an id that may stand in a path; NotFound for any other."""
    if not re.fullmatch(pattern, external_id):
        raise NotFound("There is no such ticket.", external_id=external_id)
    return external_id


def no_status(called: str) -> ValidationFailed:
    """Return what says that a desk has no such status, or does not let a ticket have it now."""
    return ValidationFailed(
        f"The ticket cannot have the status {called} now.", reason="no-such-status"
    )


def _polled_only() -> NoReturn:
    raise Conflict("This help desk signs no webhooks: it is polled.", reason="no-webhooks")


def _unknown_form() -> Unavailable:
    return Unavailable("The help desk's answer has an unknown form.", reason="unknown-answer")
