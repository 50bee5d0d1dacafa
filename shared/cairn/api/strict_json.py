"""Reads request bodies as strict JSON and checks the strings in them. Not a schema validator.

Python's parser takes more than JSON: NaN, duplicate keys, numbers of any size, lone surrogates.
What it would take silently is refused here, with the reason, before any model sees it.
"""

import json
from collections.abc import Iterator
from typing import Any, NoReturn, cast

from cairn.api.problems import Refused
from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.canonical import check_characters

MAX_DEPTH = 32
MAX_INTEGER = 2**53 - 1
_MAX_DIGITS = 16


def parse(body: bytes) -> Any:
    """Return the JSON value of `body`; Refused (malformed-body) says what is wrong with it.

    Nesting is limited to 32 levels and integers to 2^53 - 1, so that every client can read back
    what it wrote.
    """
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as exc:
        raise _malformed("The body is not UTF-8.", "not-utf-8") from exc
    try:
        value = _DECODER.decode(text)
    except json.JSONDecodeError as exc:
        where = f"line {exc.lineno}, column {exc.colno}"
        raise _malformed(f"The body is not valid JSON: {exc.msg} at {where}.", "syntax") from exc
    except RecursionError as exc:
        raise _malformed(f"The body nests deeper than {MAX_DEPTH} levels.", "depth") from exc
    if _depth(value) > MAX_DEPTH:
        raise _malformed(f"The body nests deeper than {MAX_DEPTH} levels.", "depth")
    return value


def bad_strings(value: object) -> Iterator[tuple[str, str]]:
    """Yield (path, what is wrong) for every string, key included, that cannot be stored as text."""
    stack: list[tuple[str, object]] = [("", value)]
    while stack:
        path, item = stack.pop()
        if isinstance(item, str):
            if wrong := string_fault(item):
                yield path, wrong
        elif isinstance(item, dict):
            pairs = cast("dict[str, object]", item)
            stack.extend((_join(path, "key"), key) for key in pairs)
            stack.extend((_join(path, key), each) for key, each in pairs.items())
        elif isinstance(item, list):
            members = cast("list[object]", item)
            stack.extend((_join(path, str(at)), each) for at, each in enumerate(members))


def string_fault(text: str) -> str | None:
    """Return what makes a string unstorable (NUL, a lone surrogate), None when nothing does."""
    try:
        check_characters(text, "value")
    except ValidationFailed as exc:
        return exc.errors[0].message
    return None


def _join(path: str, step: str) -> str:
    step = step if step.isidentifier() or step.isdigit() else "?"
    return f"{path}.{step[:64]}" if path else step[:64]


def _depth(value: object) -> int:
    deepest = 0
    stack: list[tuple[int, object]] = [(1, value)]
    while stack:
        level, item = stack.pop()
        members: object = None
        if isinstance(item, dict):
            members = cast("dict[str, object]", item).values()
        elif isinstance(item, list):
            members = cast("list[object]", item)
        if members is not None:
            deepest = max(deepest, level)
            stack.extend((level + 1, each) for each in cast("list[object]", members))
    return deepest


def _malformed(detail: str, reason: str) -> Refused:
    return Refused("malformed-body", detail, reason=reason)


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    seen = dict(pairs)
    if len(seen) != len(pairs):
        raise _malformed("An object in the body has the same key twice.", "duplicate-key")
    return seen


def _constant(name: str) -> NoReturn:
    raise _malformed(f"{name} is not a JSON number.", "not-a-number")


def _integer(digits: str) -> int:
    if len(digits.lstrip("-")) > _MAX_DIGITS or abs(int(digits)) > MAX_INTEGER:
        raise _malformed("An integer in the body is above 2^53 - 1.", "integer-too-large")
    return int(digits)


def _real(digits: str) -> float:
    value = float(digits)
    if value in (float("inf"), float("-inf")):
        raise _malformed("A number in the body is too large.", "number-too-large")
    return value


_DECODER = json.JSONDecoder(
    object_pairs_hook=_pairs, parse_constant=_constant, parse_int=_integer, parse_float=_real
)
