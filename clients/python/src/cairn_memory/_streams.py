"""Server-sent events, read line by line. No I/O."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One event: `id` is where a stream goes on after it, `data` what it carries."""

    id: str | None
    name: str
    data: Any


class Lines:
    """Makes events of lines: fields up to an empty line are one event (WHATWG HTML, 9.2.6)."""

    def __init__(self, last_id: str | None) -> None:
        self._id = last_id
        self._name = ""
        self._data: list[str] = []

    def take(self, line: str) -> Iterator[Event]:
        """Take the next line, without its end, and yield the event that it completes."""
        if not line:
            if self._data:
                yield self._event()
            self._name, self._data = "", []
            return
        name, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if name == "id":
            self._id = value
        elif name == "event":
            self._name = value
        elif name == "data":
            self._data.append(value)

    def _event(self) -> Event:
        text = "\n".join(self._data)
        try:
            data: Any = json.loads(text)
        except ValueError:
            data = text
        return Event(id=self._id, name=self._name or "message", data=data)
