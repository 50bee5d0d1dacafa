"""Writes answers: records to JSON, within the answer limit. Wire names come from records."""

import json
from collections.abc import Iterable, Mapping, Set
from dataclasses import fields, is_dataclass
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

from starlette.responses import Response

MEDIA_TYPE = "application/json"


def encode(value: object) -> bytes:
    """Return compact JSON; records become objects, times RFC 3339 in UTC with six digits.

    Raises ValueError on NaN and infinities: answers are JSON every client can read.
    """
    text = json.dumps(
        value, default=_plain, ensure_ascii=False, allow_nan=False, separators=(",", ":")
    )
    return text.encode("utf-8")


def answer(
    value: object, *, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return a JSON response."""
    return Response(
        content=encode(value), status_code=status, media_type=MEDIA_TYPE, headers=headers
    )


def replay_headers(*, replayed: bool) -> dict[str, str]:
    """Return the header that marks a repeated answer."""
    return {"idempotency-replayed": "true"} if replayed else {}


def fitting(items: Iterable[object], *, max_bytes: int) -> list[Any]:
    """Return the longest beginning of `items` whose JSON stays within `max_bytes`, at least one.

    The items come back decoded, as plain JSON values.
    """
    fitted: list[Any] = []
    size = 0
    for item in items:
        text = encode(item)
        size += len(text) + 1
        if fitted and size > max_bytes:
            break
        fitted.append(json.loads(text))
    return fitted


def _plain(value: object) -> object:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        return value.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if is_dataclass(value):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, object]", value))
    if isinstance(value, Set):
        return sorted(cast("Set[str]", value))
    raise TypeError(f"{type(value).__name__} has no JSON form")
