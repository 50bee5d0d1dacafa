"""What every text and JSON value from outside must pass. Not business rules of any one kind."""

import json
import math
from typing import Any, NoReturn, cast

from cairn.kernel.errors import FieldError, TooLarge, ValidationFailed
from cairn.kernel.text.canonical import check_characters
from cairn.kernel.text.json_value import JsonValue

_MIN_INTEGER, _MAX_INTEGER = -(2**63), 2**63 - 1


def clean_text(value: object, *, field: str, max_chars: int) -> str:
    """Return `value` unchanged when it is a text of 1 to `max_chars` characters with content.

    Raises ValidationFailed naming `field` for other types, NUL, lone surrogates and white space
    only; TooLarge above the limit.
    """
    if not isinstance(value, str):
        _refuse(field, "must be a string", "type")
    if len(value) > max_chars:
        _too_large(field, f"has {len(value)} characters; at most {max_chars} are allowed")
    check_characters(value, field)
    if not value.strip():
        _refuse(field, "must not be empty", "empty")
    return value


def clean_json(value: object, *, field: str, max_bytes: int, max_depth: int) -> JsonValue:
    """Return `value` unchanged when it is JSON that every store keeps as it is.

    `max_bytes` counts compact UTF-8, `max_depth` nested containers (a flat object is 1). Raises
    ValidationFailed naming the place for other types, keys that are not strings, NaN and infinity,
    integers beyond 64 bits, NUL and lone surrogates; TooLarge above a limit.
    """
    _check(value, field, max_depth)
    encoded = json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()
    if len(encoded) > max_bytes:
        _too_large(field, f"has {len(encoded)} bytes as JSON; at most {max_bytes} are allowed")
    return cast("JsonValue", value)


def _check(value: object, location: str, depth: int) -> None:
    if isinstance(value, (dict, list)):
        if depth == 0:
            _too_large(location, "is nested too deeply")
        _check_container(cast("dict[Any, Any] | list[Any]", value), location, depth - 1)
    elif isinstance(value, str):
        check_characters(value, location)
    elif isinstance(value, float):
        if not math.isfinite(value):
            _refuse(location, "must be a finite number", "not-finite")
    elif isinstance(value, int):
        if not _MIN_INTEGER <= value <= _MAX_INTEGER:
            _refuse(location, "is an integer beyond 64 bits; send it as a string", "integer")
    elif value is not None:
        _refuse(location, "is not a JSON value", "type")


def _check_container(value: dict[Any, Any] | list[Any], location: str, depth: int) -> None:
    if isinstance(value, list):
        for number, item in enumerate(value):
            _check(item, f"{location}.{number}", depth)
        return
    for key, item in value.items():
        if not isinstance(key, str):
            _refuse(location, "has a key that is not a string", "type")
        check_characters(key, location)
        _check(item, f"{location}.{key}", depth)


def _refuse(field: str, message: str, reason: str) -> NoReturn:
    raise ValidationFailed(
        f"{field} {message}.", reason=reason, errors=[FieldError(field, message)]
    )


def _too_large(field: str, message: str) -> NoReturn:
    raise TooLarge(f"{field} {message}.", errors=[FieldError(field, message)])
