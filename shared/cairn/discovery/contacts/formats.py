"""Files of people: CSV as address books export it, and vCard 2.1 to 4.0. Pure."""

from __future__ import annotations

import csv
import io
import quopri
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cairn.discovery.contacts.draft import Contact, checked, contact_of
from cairn.kernel.errors import FieldError, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

MOST_ROWS = 5_000
COLUMNS: Mapping[str, tuple[str, ...]] = {
    "name": ("name", "full name", "display name", "fn"),
    "first": ("first name", "given name", "vorname"),
    "last": ("last name", "family name", "surname", "nachname"),
    "address": ("address", "e-mail", "email", "e-mail address", "email address", "mail",
                "e-mail 1 - value", "primary email"),
    "phone": ("phone", "telephone", "mobile", "mobile phone", "phone 1 - value", "primary phone"),
    "organisation": ("organisation", "organization", "company", "organization name",
                     "organization 1 - name", "firma"),
    "title": ("title", "job title", "position", "organization title"),
    "note": ("note", "notes"),
}  # fmt: skip
"""By field, the column titles that mean it; the first that has a value counts."""

ENDINGS: Mapping[str, str] = {
    ".csv": "csv",
    ".vcf": "vcard",
    ".vcard": "vcard",
    ".mbox": "mailbox",
    ".ics": "calendar",
}
"""What a file is by the end of its name."""

_DELIMITERS = ",;\t"
_FOLD = re.compile(r"\r?\n[ \t]")
_SOFT_BREAK = re.compile(r"=\r?\n")
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_VALUES = {"FN": "name", "EMAIL": "address", "TEL": "phone", "TITLE": "title", "NOTE": "note"}
_TOO_MANY = f"has more than {MOST_ROWS} people; import it in parts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """What could not be taken: the number of its line or card, and why."""

    place: int
    why: str


@dataclass(slots=True, kw_only=True)
class Parsed:
    """The people of a file, and what could not be taken of it."""

    contacts: list[Contact] = field(default_factory=list[Contact])
    refused: list[Refused] = field(default_factory=list[Refused])

    def take(self, place: int, contact: Contact) -> None:
        """Add one that was read, or say why it cannot be taken."""
        try:
            self.contacts.append(checked(contact))
        except ValidationFailed as wrong:
            self.refused.append(Refused(place=place, why=wrong.detail))


def read_csv(text: str) -> Parsed:
    """Read a table with a line of titles; ValidationFailed when no title names a person."""
    text = text.removeprefix("\ufeff")
    lines = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    parsed, places = Parsed(), None
    try:
        for row in lines:
            if not any(cell.strip() for cell in row):
                continue
            if places is None:
                places = _places(row)
                continue
            parsed.take(lines.line_num, _of_row(row, places))
            _require_room(parsed)
    except csv.Error as wrong:
        raise bad(f"is no CSV: line {lines.line_num}: {wrong}", "csv") from wrong
    if places is None:
        raise bad("is empty", "empty")
    return parsed


def read_vcard(text: str) -> Parsed:
    """Read cards one after another; ValidationFailed when there is none."""
    parsed, cards = Parsed(), 0
    for cards, card in enumerate(_cards(text), 1):
        parsed.take(cards, _of_card(card))
        _require_room(parsed)
    if not cards:
        raise bad("has no card: BEGIN:VCARD is missing", "vcard")
    return parsed


def content_lines(text: str) -> Iterator[tuple[str, dict[str, str], str]]:
    """Yield (name, parameters, value) of each line of a vCard or an iCalendar, unfolded."""
    for line in _FOLD.sub("", text).splitlines():
        head, mark, value = _split(line)
        if mark:
            name, *parameters = head.split(";")
            pairs = (each.partition("=") for each in parameters)
            options = {key.upper(): held.strip('"') if eq else key for key, eq, held in pairs}
            yield name.rpartition(".")[2].strip().upper(), options, value


def unescaped(value: str) -> str:
    """Return a value as it was meant."""
    return _ESCAPE.sub(lambda match: "\n" if match[1] in "nN" else match[1], value)


def bad(message: str, reason: str) -> ValidationFailed:
    """Return the refusal of a file."""
    return ValidationFailed(f"text {message}.", reason=reason, errors=[FieldError("text", message)])


def _delimiter(text: str) -> str:
    first = text.split("\n", 1)[0]
    return max(_DELIMITERS, key=first.count)


def _places(titles: Sequence[str]) -> dict[str, list[int]]:
    """Return in which columns each field is, the best first."""
    columns = [title.strip().casefold() for title in titles]
    places = {
        name: [columns.index(title) for title in choices if title in columns]
        for name, choices in COLUMNS.items()
    }
    if not any(places[name] for name in ("name", "first", "last", "address")):
        message = "has no column for a name or an address; its first line must name the columns"
        raise bad(message, "csv-columns")
    return places


def _of_row(row: Sequence[str], places: Mapping[str, list[int]]) -> Contact:
    def cell(name: str) -> str | None:
        cells = (row[place].strip() for place in places[name] if place < len(row))
        return next((text for text in cells if text), None)

    parts = [part for part in (cell("first"), cell("last")) if part]
    return Contact(
        name=cell("name") or " ".join(parts),
        address=cell("address"),
        phone=cell("phone"),
        organisation=cell("organisation"),
        title=cell("title"),
        note=cell("note"),
    )


def _cards(text: str) -> Iterator[list[tuple[str, dict[str, str], str]]]:
    card: list[tuple[str, dict[str, str], str]] | None = None
    for name, parameters, value in content_lines(_unbroken(text)):
        kind = value.strip().upper()
        if name == "BEGIN" and kind == "VCARD":
            card = []
        elif name == "END" and kind == "VCARD":
            if card is not None:
                yield card
            card = None
        elif card is not None:
            card.append((name, parameters, value))


def _unbroken(text: str) -> str:
    """Join the lines that vCard 2.1 breaks inside quoted-printable values."""
    text = text.removeprefix("\ufeff")
    return _SOFT_BREAK.sub("", text) if "QUOTED-PRINTABLE" in text.upper() else text


def _of_card(lines: Iterable[tuple[str, dict[str, str], str]]) -> Contact:
    values: dict[str, str] = {}
    for name, parameters, raw in lines:
        value = _decoded(parameters, raw)
        if name in _VALUES:
            text = unescaped(value)
            values.setdefault(_VALUES[name], text.removeprefix("mailto:"))
        elif name == "ORG":
            units = [unescaped(each).strip() for each in re.split(r"(?<!\\);", value)]
            values.setdefault("organisation", ", ".join(each for each in units if each))
        elif name == "N":
            family, first, *_ = [*re.split(r"(?<!\\);", value), "", ""]
            values["n"] = f"{unescaped(first)} {unescaped(family)}".strip()
    spelled = values.pop("n", "")
    values["name"] = values.get("name") or spelled
    return contact_of(values)


def _decoded(parameters: Mapping[str, str], value: str) -> str:
    encoding = parameters.get("ENCODING", "").upper()
    if encoding != "QUOTED-PRINTABLE" and "QUOTED-PRINTABLE" not in parameters:
        return value
    octets = quopri.decodestring(value.encode("utf-8", errors="replace"))
    try:
        return octets.decode(parameters.get("CHARSET", "utf-8"), errors="replace")
    except LookupError:  # a character set that nobody knows
        return octets.decode("utf-8", errors="replace")


def _split(line: str) -> tuple[str, str, str]:
    """Split a line at its first colon outside quotation marks."""
    quoted = False
    for place, character in enumerate(line):
        if character == '"':
            quoted = not quoted
        elif character == ":" and not quoted:
            return line[:place], ":", line[place + 1 :]
    return line, "", ""


def _require_room(parsed: Parsed) -> None:
    if len(parsed.contacts) + len(parsed.refused) > MOST_ROWS:
        raise bad(_TOO_MANY, "too-many")
