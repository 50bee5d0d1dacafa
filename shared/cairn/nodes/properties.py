"""What nodes' properties must be: each compared by its type, and what of it no node has. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from difflib import get_close_matches
from enum import StrEnum
from typing import TYPE_CHECKING, Any, cast

from cairn.graph.conditions import Condition, Op, fault_of, predicate
from cairn.kernel.errors import FieldError, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

OWN_TEXTS = (
    *("name", "title", "summary", "text", "slug", "keywords", "compiled_truth", "kind"),
    *("client_id", "source_agent", "session_id", "trace_id"),
)
OWN_NUMBERS = ("importance", "confidence", "backlink_count")
OWN_TIMES = ("occurred_at", "valid_from", "valid_to", "recorded_at")
OWN = frozenset({*OWN_TEXTS, *OWN_NUMBERS, *OWN_TIMES})
"""What every node may have; the other properties are what its writer named so."""

_TIME = re.compile(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?")
_NUMBER = re.compile(r"[+-]?(\d{1,30}\.?\d{0,30}|\.\d{1,30})([eE][+-]?\d{1,2})?", re.ASCII)
_WRITTEN = re.compile(r"(?P<path>[^=<>~!]+?)\s*(?P<sign>>=|<=|!=|=|>|<|~)\s*(?P<value>.*)", re.S)
_OPS = {
    "=": Op.EQ,
    "!=": Op.NE,
    ">": Op.GT,
    ">=": Op.GTE,
    "<": Op.LT,
    "<=": Op.LTE,
    "~": Op.CONTAINS,
}
_SIGNS = {Op.GT: ">", Op.GTE: ">=", Op.LT: "<", Op.LTE: "<="}


class ValueType(StrEnum):
    """What values are compared as."""

    TEXT = "text"
    NUMBER = "number"  # also one that stands in a text
    TIME = "time"  # ISO 8601; in UTC without an offset


_EXAMPLES = {
    ValueType.TEXT: "a text",
    ValueType.NUMBER: "a number",
    ValueType.TIME: "a time such as 2026-05-01T09:00:00Z",
}


class SeenType(StrEnum):
    """What values of a property were seen among nodes of the labels."""

    TEXT = "text"
    NUMBER_IN_TEXT = "number in a text"
    TIME = "time"
    NUMBER = "number"
    BOOLEAN = "boolean"
    LIST = "list"
    OBJECT = "object"
    NULL = "null"


_LIKE = {
    ValueType.TEXT: {SeenType.TEXT, SeenType.NUMBER_IN_TEXT, SeenType.TIME, SeenType.LIST},
    ValueType.NUMBER: {SeenType.NUMBER, SeenType.NUMBER_IN_TEXT, SeenType.LIST},
    ValueType.TIME: {SeenType.TIME},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyCondition(Condition):
    """A condition on a property; without a type it is compared by what its values are."""

    type: ValueType | None = None


def condition_of(text: str) -> PropertyCondition:
    """Return what a text such as `cost>=5` asks; ValidationFailed that says how to write one.

    A name and a sign, then a text, which is read as what the property is, or JSON in brackets or
    quotes. The name alone asks that there is one, `!` before it that there is none.
    """
    parts = _WRITTEN.fullmatch(text.strip())
    if parts is None:
        path, op, value = text.strip().removeprefix("!"), Op.EXISTS, not text.startswith("!")
    else:
        path, op, value = parts["path"], _OPS[parts["sign"]], _written_value(parts["value"])
    if op is Op.EQ and isinstance(value, list):
        op = Op.IN
    steps = tuple(step.strip() for step in path.split("."))
    condition = PropertyCondition(path=steps, op=op, value=value)
    wrong = fault_of(condition) if all(steps) else "names a property first"
    if wrong:
        message = f"{wrong}; such as owner=platform, cost>=5 or due"
        raise ValidationFailed(f"where: {message}.", errors=[FieldError("where", message)])
    return condition


def _written_value(text: str) -> Any:
    if text.startswith(("[", '"')) or text == "null":
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The properties of the newest nodes of some labels: how many were looked at, and the types."""

    nodes: int
    types: Mapping[str, Collection[SeenType]]


@dataclass(frozen=True, slots=True, kw_only=True)
class PropertyQuery:
    """Conditions as the database compares them.

    `matching` is a path over the properties a writer named, `own` over those every node may have,
    `times` are comparisons of moments over both.
    """

    matching: str | None
    own: str | None
    times: tuple[Mapping[str, Any], ...]

    @property
    def is_indexed(self) -> bool:
        """Whether all of it is about properties that an index knows."""
        return self.own is None and not self.times


def property_query(
    conditions: Sequence[PropertyCondition], observed: Observed | None
) -> PropertyQuery:
    """Return the conditions, each by its declared type, else by what was seen of it."""
    fitted = [fitting(each, observed) for each in conditions]
    types = [(each, compared_as(each, observed)) for each in fitted]
    others = [(each, kind) for each, kind in types if kind is not ValueType.TIME]
    return PropertyQuery(
        matching=_path([pair for pair in others if pair[0].path[0] not in OWN]),
        own=_path([pair for pair in others if pair[0].path[0] in OWN]),
        times=tuple(_time(each) for each, kind in types if kind is ValueType.TIME),
    )


def fitting(condition: PropertyCondition, observed: Observed | None) -> PropertyCondition:
    """Return a condition whose texts are numbers, true or false, where its property is only that.

    So a caller who can write texts alone, a command line or a model, asks for all there is.
    """
    if condition.op in (Op.EXISTS, Op.CONTAINS):
        return condition
    seen = set(_seen(condition, observed)) - {SeenType.NULL, SeenType.LIST}
    if condition.type is ValueType.NUMBER or (condition.type is None and seen == {SeenType.NUMBER}):
        read = _number
    elif condition.type is None and seen == {SeenType.BOOLEAN}:
        read = _boolean
    else:
        return condition
    values = [read(value) if isinstance(value, str) else value for value in _values(condition)]
    return replace(condition, value=values if isinstance(condition.value, list) else values[0])


def _number(text: str) -> str | float:
    return float(text) if _NUMBER.fullmatch(text.strip()) else text


def _boolean(text: str) -> str | bool:
    return {"true": True, "false": False}.get(text.casefold(), text)


def compared_as(condition: PropertyCondition, observed: Observed | None) -> ValueType | None:
    """Return the type a condition is compared by; None: each value as what it is in JSON."""
    if condition.op in (Op.EXISTS, Op.CONTAINS):
        return None
    if condition.type is not None:
        return condition.type
    seen = _seen(condition, observed)
    value = _values(condition)[0]
    if SeenType.TIME in seen and isinstance(value, str) and stated_time(value) is not None:
        return ValueType.TIME
    number = _is_of(ValueType.NUMBER, value)
    return ValueType.NUMBER if number and SeenType.NUMBER_IN_TEXT in seen else None


def fault_of_type(condition: PropertyCondition) -> str | None:
    """Return what of a value is not of the type it is declared to be."""
    kind = condition.type
    if kind is None or condition.op is Op.EXISTS:
        return None
    if all(_is_of(kind, value) for value in _values(fitting(condition, None))):
        return None
    return f"value must be {_EXAMPLES[kind]}, as type says"


def _is_of(kind: ValueType, value: object) -> bool:
    if kind is ValueType.NUMBER:
        return isinstance(value, int | float) and not isinstance(value, bool)
    return isinstance(value, str) and (kind is ValueType.TEXT or stated_time(value) is not None)


def warnings_of(
    conditions: Sequence[PropertyCondition],
    labels: Sequence[str],
    observed: Observed,
    results: Collection[str],
    *,
    whole: bool,
) -> tuple[str, ...]:
    """Return what of the conditions names nothing, or compares what is of another type.

    `results` are the properties of the nodes that were found, `whole` says that all nodes of the
    labels were looked at.
    """
    label = ":".join(labels)
    if not observed.nodes:
        return (f"No node has the label {label}.",)
    which = f"No {label} node has" if whole else f"None of the newest {observed.nodes} {label} has"
    warnings: list[str] = []
    for condition in conditions:
        name = condition.path[0]
        if name not in OWN and name not in observed.types and name not in results:
            near = get_close_matches(name, sorted({*OWN, *observed.types}), 1)
            meant = f"; did you mean {near[0]}?" if near else "."
            warnings.append(f"{which} the property {name}{meant}")
        elif mismatch := _mismatch(fitting(condition, observed), observed):
            warnings.append(mismatch)
    return tuple(dict.fromkeys(warnings))


def stated_time(text: str) -> datetime | None:
    """Return the moment that a text states; None for any other text."""
    if not _TIME.fullmatch(text):
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _seen(condition: PropertyCondition, observed: Observed | None) -> Collection[SeenType]:
    name = condition.path[0]
    if name in OWN_TIMES:
        return (SeenType.TIME,)
    if name in OWN_NUMBERS:
        return (SeenType.NUMBER,)
    if name in OWN or observed is None or len(condition.path) > 1:
        return ()
    return observed.types.get(name, ())


def _mismatch(condition: PropertyCondition, observed: Observed) -> str | None:
    seen = _seen(condition, observed)
    if not seen or condition.op in (Op.EXISTS, Op.NE):
        return None
    value = _values(condition)[0]
    if isinstance(value, bool) or value is None:
        fits = {SeenType.BOOLEAN if isinstance(value, bool) else SeenType.NULL, SeenType.LIST}
        comparand = "true or false" if isinstance(value, bool) else "null"
    else:
        kind = compared_as(condition, observed)
        kind = kind or (ValueType.TEXT if isinstance(value, str) else ValueType.NUMBER)
        fits, comparand = _LIKE[kind], f"a {kind}"
    if fits & set(seen):
        return None
    types = " or ".join(sorted(seen))
    return (
        f"{condition.path[0]} is {types} in the nodes looked at, and was compared with {comparand}."
    )


def _values(condition: Condition) -> list[Any]:
    value = condition.value
    return cast("list[Any]", value) if isinstance(value, list) else [value]


def _path(conditions: Sequence[tuple[PropertyCondition, ValueType | None]]) -> str | None:
    parts = [predicate(each, as_number=kind is ValueType.NUMBER) for each, kind in conditions]
    return " && ".join(f"({part})" for part in parts) or None


def _time(condition: PropertyCondition) -> Mapping[str, Any]:
    moments = [stated_time(str(value)) for value in _values(condition)]
    return {
        "path": list(condition.path),
        "sign": _SIGNS.get(condition.op, "<>" if condition.op is Op.NE else "="),
        "moments": [moment.isoformat() for moment in moments if moment is not None],
    }
