"""Whom a ticket is about: its customer and its requester, by the names memories know them under."""

from __future__ import annotations

import re
import unicodedata
from typing import TYPE_CHECKING, Protocol

from cairn.writing.audience import GLOBAL_CLIENT

if TYPE_CHECKING:
    from cairn.writing.checks import Owner

MAX_NAME_CHARS = 200

_COMPANY = re.compile(r"\s+[\u2014\u2013|/-]\s+")
_BETWEEN = re.compile(r"[^\w]+|_+")
_EMAIL = re.compile(r"[^\s@<>\"']{1,64}@[^\s@<>\"']{1,190}")


class About(Protocol):
    """Anything that has a customer and a requester."""

    @property
    def customer(self) -> str: ...
    @property
    def requester_email(self) -> str | None: ...


def customer_key(customer: str) -> str | None:
    """Return the natural key of a client: `Hartwell Law \u2014 Kevin Reyes` is `hartwell-law`.

    None for a name without a letter or digit.
    """
    company = names_in(customer)[0]
    key = _BETWEEN.sub("-", company.casefold()).strip("-")[:MAX_NAME_CHARS]
    return f"{key}-customer" if key == GLOBAL_CLIENT else key or None


def names_in(customer: str) -> list[str]:
    """Return the names a customer's has: the company's first, then that of who asks for it."""
    return _COMPANY.split(unicodedata.normalize("NFKC", customer).strip())


def requester_key(email: str | None) -> str | None:
    """Return the natural key of a person: the address in small letters; None for no address."""
    text = unicodedata.normalize("NFKC", email or "").strip().casefold()
    return text if _EMAIL.fullmatch(text) else None


def owners_of(ticket: About) -> tuple[Owner, ...]:
    """Return whose data a ticket is: its customer (a client), its requester (a person)."""
    client, person = customer_key(ticket.customer), requester_key(ticket.requester_email)
    found = (("client", client), ("person", person))
    return tuple((kind, name) for kind, name in found if name)
