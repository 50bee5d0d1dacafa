"""Whom somebody wrote with or met: mailboxes (mbox) and calendars (iCalendar). Pure.

Only names, addresses and times are read: no subject, no text, no place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.parser import HeaderParser
from email.utils import getaddresses, parsedate_to_datetime
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from cairn.discovery.contacts.draft import Contact, address_of, is_robot
from cairn.discovery.contacts.formats import Parsed, bad, content_lines
from cairn.kernel.zones import zone_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator, Mapping
    from email.message import Message

MOST_EVENTS = 20_000
LARGE_MEETING = 20
"""People at one event: with more, nobody met everybody."""

_MESSAGE = re.compile(r"(?m)^From [^\n]*\n")
_STAMP = re.compile(r"(\d{4})(\d\d)(\d\d)(?:T(\d\d)(\d\d)(\d\d)(Z?))?")
_BULK = ("list-id", "list-unsubscribe", "auto-submitted")
_NOBODY = frozenset({"ROOM", "RESOURCE", "GROUP", "UNKNOWN"})


@dataclass(slots=True)
class _Seen:
    name: str = ""
    times: int = 0
    last: datetime | None = None


@dataclass(slots=True, kw_only=True)
class _People:
    own: Collection[str]
    seen: dict[str, _Seen] = field(default_factory=dict[str, _Seen])

    def meet(self, people: Iterable[tuple[str, str]], at: datetime | None) -> None:
        """Count one occasion for each of some (name, address)."""
        for name, text in dict.fromkeys(people):
            address = address_of(text)
            if address is None or address in self.own or is_robot(address):
                continue
            person = self.seen.setdefault(address, _Seen())
            person.times += 1
            person.name = name.strip() or person.name
            if at is not None and (person.last is None or at > person.last):
                person.last = at

    def parsed(self) -> Parsed:
        """Return them, the one met most often first."""
        parsed = Parsed()
        ranked = sorted(self.seen.items(), key=lambda pair: (-pair[1].times, pair[0]))
        for number, (address, person) in enumerate(ranked, 1):
            name = "" if "@" in person.name else person.name
            contact = Contact(name=name, address=address, met=person.times, met_at=person.last)
            parsed.take(number, contact)
        return parsed


def read_mailbox(text: str, *, own: Collection[str], now: datetime) -> Parsed:
    """Return whom the owner of a mailbox wrote to, and who wrote to them alone or with few.

    Mailing lists, bulk and automatic mail count for nobody. `own` are the owner's addresses.
    """
    if not own:
        raise bad("is a mailbox: say which addresses are your own", "own-addresses")
    people, messages = _People(own=own), 0
    for messages, message in enumerate(_messages(text), 1):
        if messages > MOST_EVENTS:
            raise bad(f"has more than {MOST_EVENTS} messages; import it in parts", "too-many")
        sender, others = _addresses(message, "from"), _addresses(message, "to", "cc")
        if _is_bulk(message) or len(others) > LARGE_MEETING:
            continue
        if _any_of(sender, own):
            people.meet(others, _sent(message, now))
        elif _any_of(others, own):
            people.meet(sender, _sent(message, now))
    if not messages:
        raise bad("is no mailbox: no line begins with From", "mailbox")
    return people.parsed()


def read_calendar(text: str, *, own: Collection[str], now: datetime) -> Parsed:
    """Return whom a calendar says that its owner met: organisers and guests of past events.

    Cancelled events, guests who declined, rooms and large events count for nobody. A repeated
    event counts once.
    """
    people, events = _People(own=own), 0
    if "BEGIN:VCALENDAR" not in text.upper():
        raise bad("is no calendar: BEGIN:VCALENDAR is missing", "calendar")
    for events, event in enumerate(_events(text), 1):
        if events > MOST_EVENTS:
            raise bad(f"has more than {MOST_EVENTS} events", "too-many")
        if event.at is None or event.at > now or event.cancelled:
            continue
        if len(event.people) <= LARGE_MEETING:
            people.meet(event.people, event.at)
    return people.parsed()


@dataclass(slots=True, kw_only=True)
class _Event:
    at: datetime | None = None
    cancelled: bool = False
    people: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])


def _events(text: str) -> Iterator[_Event]:
    event: _Event | None = None
    for name, parameters, value in content_lines(text):
        if name == "BEGIN" and value.strip().upper() == "VEVENT":
            event = _Event()
        elif name == "END" and value.strip().upper() == "VEVENT":
            if event is not None:
                yield event
            event = None
        elif event is not None:
            _tell(event, name, parameters, value.strip())


def _tell(event: _Event, name: str, parameters: Mapping[str, str], value: str) -> None:
    if name == "DTSTART":
        event.at = _moment(value, parameters.get("TZID"))
    elif name == "STATUS":
        event.cancelled = value.upper() == "CANCELLED"
    elif name in ("ATTENDEE", "ORGANIZER"):
        nobody = parameters.get("CUTYPE", "").upper() in _NOBODY
        if not nobody and parameters.get("PARTSTAT", "").upper() != "DECLINED":
            address = value.split(":", 1)[-1]
            event.people.append((parameters.get("CN", ""), address))


def _moment(value: str, zone: str | None) -> datetime | None:
    match = _STAMP.match(value)
    if match is None:
        return None
    numbers = [int(part or 0) for part in match.groups()[:6]]
    place = UTC if match[7] or zone is None or zone_of(zone) is None else ZoneInfo(zone)
    try:
        year, month, day, hour, minute, second = numbers
        return datetime(year, month, day, hour, minute, second, tzinfo=place).astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def _messages(text: str) -> Iterator[Message]:
    """Yield the headers of each message; what stands before the first is none."""
    parser = HeaderParser()
    for part in _MESSAGE.split(text.replace("\r\n", "\n"))[1:]:
        yield parser.parsestr(part.partition("\n\n")[0] + "\n\n", headersonly=True)


def _addresses(message: Message, *headers: str) -> list[tuple[str, str]]:
    values = [str(value) for header in headers for value in message.get_all(header, [])]
    return [(_decoded(name), address) for name, address in getaddresses(values)]


def _decoded(text: str) -> str:
    from email.header import decode_header, make_header

    try:
        return str(make_header(decode_header(text)))
    except (ValueError, LookupError, UnicodeError):  # an encoded word that is none
        return text


def _any_of(people: Iterable[tuple[str, str]], own: Collection[str]) -> bool:
    return any(address_of(address) in own for _, address in people)


def _is_bulk(message: Message) -> bool:
    bulk = str(message.get("precedence", "")).strip().lower() in ("bulk", "list", "junk")
    return bulk or any(name in message for name in _BULK)


def _sent(message: Message, now: datetime) -> datetime | None:
    try:
        at = parsedate_to_datetime(str(message.get("date", "")))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    at = at.replace(tzinfo=UTC) if at.tzinfo is None else at
    return at.astimezone(UTC) if at <= now + timedelta(days=1) else None
