"""Reads a file of tickets with what is expected of them; samples/tickets/README.md says what."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

from cairn.cli.client import Failure
from cairn.tickets.ticket import Priority

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A ticket and what is expected: one of `verdicts`; no write but `writes`; `cites`.

    `writes` are `<connector.tool>` and what has to be among its arguments. `cites` are
    `tool:<connector.tool>` and `doc:<file>`: a citation of each stands in the message. `says` are
    words that the message has to have.
    """

    id: str
    kind: str
    title: str
    body: str
    requester: str
    customer: str
    priority: Priority
    hostile: bool
    verdicts: frozenset[str]
    writes: frozenset[str]
    cites: tuple[str, ...]
    says: tuple[str, ...] = ()

    def allows(self, tool: str, arguments: Mapping[str, object]) -> bool:
        """Return whether a write is one of those expected, on what it is expected of."""
        given = {str(argument) for argument in arguments.values()}
        allowed = (write.split() for write in self.writes)
        return any(tool == name and given.issuperset(wanted) for name, *wanted in allowed)


def read_tickets(path: Path) -> tuple[Sample, ...]:
    """Read the tickets; Failure says what is wrong with the file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        found = tuple(_sample(ticket) for ticket in content["tickets"])
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise Failure(f"{path} is not a file of tickets: {exc!r}.") from exc
    if len({item.id for item in found}) != len(found) or not found:
        raise Failure(f"{path} has no tickets, or two with one id.")
    return found


def _sample(one: Mapping[str, Any]) -> Sample:
    expected = one["expect"]
    return Sample(
        id=str(one["id"]),
        kind=str(one["kind"]),
        title=str(one["title"]),
        body=str(one["body"]),
        requester=str(one["requester"]),
        customer=str(one["customer"]),
        priority=Priority(one["priority"]),
        hostile=bool(one["hostile"]),
        verdicts=frozenset(_texts(expected["verdict"])),
        writes=frozenset(_texts(expected["writes"])),
        cites=tuple(_texts(expected["cites"])),
        says=tuple(_texts(expected.get("says", []))),
    )


def _texts(said: object) -> list[str]:
    """Return a list of texts; a text alone is none, and would be read letter by letter."""
    if not isinstance(said, list):
        raise TypeError(f"{said!r} is no list")
    return [str(item) for item in cast("list[object]", said)]
