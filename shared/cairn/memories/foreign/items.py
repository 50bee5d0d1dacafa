"""What an export of another store becomes: memories to write, and what could not be read. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from cairn.kernel.access import Scope
from cairn.kernel.errors import ValidationFailed
from cairn.memories.audit.records import MemoryRecord

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.memories.items import NewMemory

MAX_NAME = 256


@dataclass(frozen=True, slots=True, kw_only=True)
class Defaults:
    """What an export does not say: the client its memories belong to, and who may see them."""

    client_id: str = "global"
    scope: Scope = Scope.ADMIN


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A JSON value of an export, and how to name it to a person: `results[3]`, `line 7`."""

    name: str
    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class ForeignMemory:
    """A memory as it would be written. `record` is its id over there; `ended`: it holds no more."""

    name: str
    record: str
    new: NewMemory
    recorded_at: datetime | None
    ended: bool = False

    def to_record(self) -> MemoryRecord:
        """Return what an audit compares: memories of one client and the same persons."""
        new = self.new
        return MemoryRecord(
            id=self.record,
            text=new.text,
            audience="|".join((new.client_id, *sorted(new.data_subjects))),
            kind=str(new.type),
            source=new.source_agent,
            recorded_at=self.recorded_at,
            active=not self.ended,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """A record of an export that is no memory, and why."""

    name: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """A record that lost what it belongs to."""

    record: str
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Skipped:
    """A record that has no place here, and why: nothing is wrong with it."""

    name: str
    why: str


Item = ForeignMemory | Unreadable | Lost | Skipped


class Fields:
    """The fields of one record, checked as they are taken; ValidationFailed names the field."""

    def __init__(self, named: Named) -> None:
        value: object = named.value
        if not isinstance(value, dict):
            raise ValidationFailed(f"is {a_kind(value)}, not an object")
        self._value = cast("Mapping[str, Any]", value)

    def text(self, field: str) -> str:
        """Return a text that must be there."""
        value = self.optional(field)
        if value is None or not value.strip():
            raise ValidationFailed(f"{field} is missing" if value is None else f"{field} is empty")
        return value

    def optional(self, field: str) -> str | None:
        """Return a text, None when there is none."""
        value = self._value.get(field)
        if value is not None and not isinstance(value, str):
            raise ValidationFailed(f"{field} is {a_kind(value)}, not a text")
        return value

    def name(self, field: str) -> str | None:
        """Return a short text, None when it is empty; longer ones are refused."""
        value = self.optional(field)
        if value is not None and len(value) > MAX_NAME:
            raise ValidationFailed(f"{field} is longer than {MAX_NAME} characters")
        return value or None

    def time(self, field: str) -> datetime | None:
        """Return a moment; one without a zone is taken for UTC, as these stores write it."""
        value = self.optional(field)
        if not value:
            return None
        try:
            found = datetime.fromisoformat(value)
        except ValueError as exc:
            raise ValidationFailed(f"{field} is no time: {value[:40]}") from exc
        return found if found.utcoffset() is not None else found.replace(tzinfo=UTC)

    def object(self, field: str) -> Mapping[str, Any]:
        """Return an object, an empty one when there is none."""
        value = self._value.get(field)
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise ValidationFailed(f"{field} is {a_kind(value)}, not an object")
        return cast("Mapping[str, Any]", value)

    def texts(self, field: str) -> tuple[str, ...]:
        """Return a list of texts, an empty one when there is none."""
        value = self._value.get(field)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise ValidationFailed(f"{field} is {a_kind(value)}, not a list")
        items = cast("list[object]", value)
        if not all(isinstance(one, str) for one in items):
            raise ValidationFailed(f"{field} holds something other than texts")
        return tuple(cast("list[str]", items))


def a_kind(value: object) -> str:
    """Return what a JSON value is, in words."""
    return _KINDS.get(type(value).__name__, "null")


_KINDS = {
    "bool": "true or false",
    "int": "a number",
    "float": "a number",
    "str": "a text",
    "list": "a list",
    "dict": "an object",
}
