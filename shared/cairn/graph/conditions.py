"""What nodes' metadata must say to be found: checked conditions, as one path. Not a query."""

from __future__ import annotations

import json
from dataclasses import dataclass
from enum import StrEnum
from math import isfinite
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Sequence

MAX_CONDITIONS = 20
MAX_STEPS = 5
MAX_VALUES = 50
MAX_VALUE_CHARS = 1_000


class Op(StrEnum):
    """How a value of the metadata is compared."""

    EQ = "eq"  # of a list: any of its items
    NE = "ne"  # also where there is none
    IN = "in"
    GT = "gt"
    GTE = "gte"
    LT = "lt"
    LTE = "lte"
    EXISTS = "exists"
    CONTAINS = "contains"  # a text within a text, in any case; of a list: an item like it


_COMPARED = {Op.GT: ">", Op.GTE: ">=", Op.LT: "<", Op.LTE: "<="}


@dataclass(frozen=True, slots=True, kw_only=True)
class Condition:
    """One condition: the keys that lead to a value, how it is compared, and with what.

    `value` is a list for `in`, a boolean for `exists`, a number or a text where an order is asked.
    """

    path: tuple[str, ...]
    op: Op
    value: Any


def fault_of(condition: Condition) -> str | None:
    """Return what is wrong with a condition, so that a caller can mend it."""
    value = condition.value
    if not 1 <= len(condition.path) <= MAX_STEPS:
        return f"path must have 1 to {MAX_STEPS} keys"
    if condition.op is Op.EXISTS:
        return None if isinstance(value, bool) else "exists needs true or false as its value"
    if condition.op is Op.IN:
        values = cast("list[Any]", value) if isinstance(value, list) else []
        if not 1 <= len(values) <= MAX_VALUES:
            return f"in needs a list of 1 to {MAX_VALUES} values"
        return next((wrong for each in values if (wrong := _fault_of_value(each))), None)
    if condition.op in _COMPARED and (isinstance(value, bool) or value is None):
        return f"{condition.op} needs a number or a text as its value"
    if condition.op is Op.CONTAINS and value == "":
        return "contains needs a text that is not empty"
    return _fault_of_value(value)


def _fault_of_value(value: object) -> str | None:
    if isinstance(value, list | dict):
        return "value must be a text, a number, true, false or null; name the key in path"
    if isinstance(value, float) and not isfinite(value):
        return "value must be a number that JSON can write"
    if isinstance(value, str) and len(value) > MAX_VALUE_CHARS:
        return f"value may have {MAX_VALUE_CHARS} characters"
    return None


def json_path(conditions: Sequence[Condition]) -> str | None:
    """Return all conditions as one SQL/JSON path predicate; None without any."""
    return " && ".join(f"({predicate(each)})" for each in conditions) or None


def predicate(condition: Condition, *, as_number: bool = False) -> str:
    """Return a condition as a SQL/JSON path predicate; `as_number` reads numbers in texts, too."""
    path = "$" + "".join(f".{json.dumps(key)}" for key in condition.path)
    path += ".double()" if as_number and condition.op is not Op.EXISTS else ""
    if condition.op is Op.EXISTS:
        return f"exists({path})" if condition.value else f"!exists({path})"
    if condition.op is Op.IN:
        return " || ".join(f"{path} == {json.dumps(value)}" for value in condition.value)
    if condition.op is Op.NE:
        same = f"{path} == {json.dumps(condition.value)}"
        return f"!({same}) || ({same}) is unknown"
    if condition.op is Op.CONTAINS and isinstance(condition.value, str):
        return f'{path} like_regex {json.dumps(condition.value)} flag "iq"'
    sign = _COMPARED.get(condition.op, "==")
    return f"{path} {sign} {json.dumps(condition.value)}"
