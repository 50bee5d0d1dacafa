"""A contact before it is kept: its fields, cleaned, and by what it is known again. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.utils import parseaddr
from typing import TYPE_CHECKING, Any

from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.kernel.text.checks import clean_text
from cairn.kernel.text.scrub import scrub

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime

MOST_CHARS: Mapping[str, int] = {
    "name": 200,
    "address": 254,
    "phone": 40,
    "organisation": 200,
    "title": 200,
    "note": 2_000,
}
"""Of each text of a contact."""

_ADDRESS = re.compile(r"[^\s@<>\"(),:;\\]{1,64}@[^\s@<>\"(),:;\\]{1,189}\.[^\s@<>\"(),:;\\.]{2,63}")
_SPACES = re.compile(r"\s+")
_NOT_PHONE = re.compile(r"[^0-9+]")
_ROBOTS = re.compile(
    r"(?i)(?:no[-_.]?reply|do[-_.]?not[-_.]?reply|mailer-daemon|postmaster|notifications?|bounces?)"
    r"[^@]*@"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Contact:
    """Somebody: a name, how to reach them, and how often and when last they were met."""

    name: str
    address: str | None = None
    phone: str | None = None
    organisation: str | None = None
    title: str | None = None
    note: str | None = None
    met: int = 0
    met_at: datetime | None = None

    @property
    def known_by(self) -> str:
        """Return the name of its data subject: the address, else the phone, else the name."""
        return self.address or self.phone or self.name


TEXTS = tuple(MOST_CHARS)


def checked(contact: Contact) -> Contact:
    """Return a contact with clean texts and no secrets; ValidationFailed names the field.

    A mail address is kept in small letters, a phone number without its spaces. Who has an address
    and no name is called by the address.
    """
    texts = {name: _clean(name, getattr(contact, name)) for name in TEXTS}
    texts["address"] = _address(texts["address"])
    texts["phone"] = _phone(texts["phone"])
    name = texts.pop("name") or texts["address"] or texts["phone"]
    if name is None:
        raise _wrong("name", "is needed, or an address")
    return Contact(name=name, **texts, met=max(contact.met, 0), met_at=contact.met_at)


def address_of(text: str) -> str | None:
    """Return the one mail address in a text such as `Ada <ada@example.org>`; None without one."""
    address = parseaddr(text)[1].strip().casefold()
    return address if _ADDRESS.fullmatch(address) else None


def is_robot(address: str) -> bool:
    """Return whether an address reads like a program's, which nobody knows."""
    return _ROBOTS.match(address) is not None


def merged(present: Contact, new: Contact, *, replace: bool) -> Contact:
    """Return what is held of somebody with what is new: it fills gaps, or replaces when told."""
    values: dict[str, Any] = {}
    for name in TEXTS:
        before, after = getattr(present, name), getattr(new, name)
        values[name] = (after or before) if replace else (before or after)
    if not replace and present.name == present.address:
        values["name"] = new.name
    moments = [each for each in (present.met_at, new.met_at) if each is not None]
    values |= {"met": max(present.met, new.met), "met_at": max(moments, default=None)}
    return Contact(**values)


def texts_of(contact: Contact) -> dict[str, Any]:
    """Return the texts that a contact has, as they are sealed."""
    return {name: value for name in TEXTS if (value := getattr(contact, name)) is not None}


def contact_of(body: Mapping[str, Any], *, met: int = 0, met_at: datetime | None = None) -> Contact:
    """Return the contact of its texts."""
    return Contact(**{key: body[key] for key in TEXTS if key in body}, met=met, met_at=met_at)


def _clean(field: str, text: str | None) -> str | None:
    if text is None or not text.strip():
        return None
    if field != "note":
        text = _SPACES.sub(" ", text)
    return scrub(clean_text(text.strip(), field=field, max_chars=MOST_CHARS[field])).text


def _address(text: str | None) -> str | None:
    if text is None:
        return None
    address = address_of(text)
    if address is None:
        raise _wrong("address", "is no mail address")
    return address


def _phone(text: str | None) -> str | None:
    if text is None:
        return None
    number = _NOT_PHONE.sub("", text.removeprefix("tel:"))
    if len(number) < 3:
        raise _wrong("phone", "is no phone number")
    return number


def _wrong(field: str, message: str) -> ValidationFailed:
    return ValidationFailed(f"{field} {message}.", errors=[FieldError(field, message)])
