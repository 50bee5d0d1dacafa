"""Lists on the wire: a page of items that fits an answer, and the cursor to the next.

A cursor is bound to the route and filters it was given for, and is no secret: it says only "after
this ledger position". Tenancy is checked again on every page, so a forged one reads nothing it
could not read anyway. The digest catches a cursor used with other filters.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Protocol, TypeVar
from uuid import UUID

from fastapi import Query, Response
from pydantic import Field

from cairn.api.answers import answer, fitting
from cairn.api.options import ApiOptions
from cairn.api.strict_json import string_fault
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.reading.views import Page

_ROOM = 4096

Limit = Annotated[int, Query(ge=1, le=200, description="How many items a page may have.")]
Cursor = Annotated[
    str | None, Query(description="`next_cursor` of the page before, with the same filters.")
]
Position = Annotated[int, Field(ge=0, le=2**53 - 1)]


class Newest(Protocol):
    """Returns up to `limit` items made before one, the newest first."""

    def __call__(self, *, before: UUID | None, limit: int) -> Sequence[object]: ...


def page_answer(
    page: Page[object], *, route: str, filters: Mapping[str, object], options: ApiOptions
) -> Response:
    """Write a page. Items that would pass the answer limit are left to the next page.

    Items carry their ledger position as `position`; the cursor continues after the last one sent.
    """
    items = fitting(page.items, max_bytes=options.max_answer_bytes - _ROOM)
    after = page.next_after
    if len(items) < len(page.items):
        after = int(items[-1]["position"])
    cursor = None if after is None else encode(after, route=route, filters=filters)
    return answer({"items": items, "next_cursor": cursor})


def key_page_answer(
    rows: Sequence[object],
    *,
    limit: int,
    key: str,
    route: str,
    filters: Mapping[str, object],
    options: ApiOptions,
    more: Mapping[str, object] | None = None,
) -> Response:
    """Write a page of items that share positions: the cursor is the field `key` and the id.

    `rows` has one item more than `limit` when there is a next page; `more` is said with each.
    """
    items = fitting(rows[:limit], max_bytes=options.max_answer_bytes - _ROOM)
    cursor = None
    if items and len(items) < len(rows):
        after = items[-1][key], UUID(items[-1]["id"])
        cursor = encode_key(after, route=route, filters=filters)
    return answer({"items": items, "next_cursor": cursor, **(more or {})})


def newest_answer(
    newest: Newest,
    *,
    limit: int,
    cursor: str | None,
    key: str,
    route: str,
    options: ApiOptions,
    filters: Mapping[str, object] | None = None,
) -> Response:
    """Write a page of what `newest` returns.

    `key` is the text field that goes into the cursor: the items' time, where they have one.
    ValidationFailed for a cursor of another list.
    """
    key_filters = filters or {}
    after = decode_key(cursor, kind=str, route=route, filters=key_filters)
    results = newest(before=after[1] if after else None, limit=limit + 1)
    return key_page_answer(
        results, limit=limit, key=key, route=route, filters=key_filters, options=options
    )


_VERSION = 1
_MAX_LENGTH = 200
_MAX_KEY_LENGTH = 2_000
_MAX_NAMES_LENGTH = 6_000
_MAX_POSITION = 2**53 - 1

T = TypeVar("T", int, str)


def encode(after: int, *, route: str, filters: Mapping[str, object]) -> str:
    """Return the cursor that continues after ledger position `after` under the same filters."""
    payload = json.dumps([_VERSION, after, _digest(route, filters)], separators=(",", ":"))
    return base64.urlsafe_b64encode(payload.encode()).decode().rstrip("=")


def decode(cursor: str | None, *, route: str, filters: Mapping[str, object]) -> int | None:
    """Return the ledger position to continue after; ValidationFailed when the cursor is not ours.

    None in, None out: the first page.
    """
    if cursor is None:
        return None
    try:
        if len(cursor) > _MAX_LENGTH:
            raise ValueError
        padded = cursor + "=" * (-len(cursor) % 4)
        version, after, digest = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
    except (ValueError, TypeError, binascii.Error) as exc:
        raise _bad("This cursor is damaged; start again without one.", "bad-cursor") from exc
    if version != _VERSION or type(after) is not int or not 0 <= after <= _MAX_POSITION:
        raise _bad("This cursor is damaged; start again without one.", "bad-cursor")
    if digest != _digest(route, filters):
        raise _bad("This cursor belongs to a list with other filters.", "cursor-filters")
    return after


def encode_key(key: tuple[str | int, UUID], *, route: str, filters: Mapping[str, object]) -> str:
    """Return the cursor that continues after a sort key and an id."""
    value, node_id = key
    payload = json.dumps([_VERSION, [value, str(node_id)], _digest(route, filters)])
    return base64.urlsafe_b64encode(payload.encode()).decode().rstrip("=")


def decode_key(
    cursor: str | None, *, kind: type[T], route: str, filters: Mapping[str, object]
) -> tuple[T, UUID] | None:
    """Return the sort key and id to continue after; ValidationFailed when the cursor is not ours.

    `kind` is the type of the sort key. None in, None out: the first page.
    """
    if cursor is None:
        return None
    try:
        if len(cursor) > _MAX_KEY_LENGTH:
            raise ValueError
        padded = cursor + "=" * (-len(cursor) % 4)
        version, after, digest = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        value, node_id = after[0], UUID(after[1])
    except (ValueError, TypeError, AttributeError, LookupError, binascii.Error) as exc:
        raise _bad("This cursor is damaged; start again without one.", "bad-cursor") from exc
    if version != _VERSION or type(value) is not kind or string_fault(str(value)):
        raise _bad("This cursor is damaged; start again without one.", "bad-cursor")
    if isinstance(value, int) and not 0 <= value <= _MAX_POSITION:
        raise _bad("This cursor is damaged; start again without one.", "bad-cursor")
    if digest != _digest(route, filters):
        raise _bad("This cursor belongs to a list with other filters.", "cursor-filters")
    return value, node_id


def encode_names(names: Sequence[str | int], *, route: str) -> str:
    """Return the cursor that continues after a ledger position and names."""
    text = json.dumps([_VERSION, list(names), _digest(route, {})], ensure_ascii=False)
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def decode_names(cursor: str | None, *, route: str) -> tuple[int, tuple[str, ...]] | None:
    """Return the ledger position and the names to continue after; ValidationFailed otherwise.

    None in, None out: the first page.
    """
    if cursor is None:
        return None
    try:
        if len(cursor) > _MAX_NAMES_LENGTH:
            raise ValueError
        padded = cursor + "=" * (-len(cursor) % 4)
        version, names, digest = json.loads(base64.b64decode(padded, altchars=b"-_", validate=True))
        position, *texts = names
    except (ValueError, TypeError, binascii.Error) as exc:
        raise _bad("This cursor is damaged; start again without one.", "bad-cursor") from exc
    valid = all(isinstance(text, str) and not string_fault(text) for text in texts)
    if version != _VERSION or not valid or type(position) is not int:
        raise _bad("This cursor is damaged; start again without one.", "bad-cursor")
    if not 0 <= position <= _MAX_POSITION or digest != _digest(route, {}):
        raise _bad("This cursor belongs to another list.", "cursor-filters")
    return position, tuple(texts)


def _digest(route: str, filters: Mapping[str, object]) -> str:
    values = {name: str(value) for name, value in filters.items() if value is not None}
    text = json.dumps([route, values], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()[:16]


def _bad(detail: str, reason: str) -> ValidationFailed:
    return ValidationFailed(detail, reason=reason, errors=[FieldError("query.cursor", detail)])
