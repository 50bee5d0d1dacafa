"""Making one record of another that shares its fields. Not their checking."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, TypeVar, cast

R = TypeVar("R")


def convert(source: object, record: type[R], /, **others: Any) -> R:
    """Return a dataclass of what `source` has of its fields; `others` come beside or instead.

    Lists become tuples. Raises TypeError for a field without a default that nobody has.
    """
    values: dict[str, Any] = {}
    for name in (field.name for field in fields(record)):  # type: ignore[arg-type]
        if name not in others and hasattr(source, name):
            value: Any = getattr(source, name)
            values[name] = tuple(cast("list[Any]", value)) if isinstance(value, list) else value
    return record(**values, **others)
