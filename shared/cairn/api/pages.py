"""Lists on the wire: a page of items that fits an answer, and the cursor to the next."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Protocol
from uuid import UUID

from fastapi import Query, Response
from pydantic import Field

from cairn.api import cursors
from cairn.api.answers import answer, fitting
from cairn.api.options import ApiOptions
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
    cursor = None if after is None else cursors.encode(after, route=route, filters=filters)
    return answer({"items": items, "next_cursor": cursor})


def key_page_answer(
    found: Sequence[object],
    *,
    limit: int,
    key: str,
    route: str,
    filters: Mapping[str, object],
    options: ApiOptions,
) -> Response:
    """Write a page of items that share positions: the cursor is the field `key` and the id.

    `found` has one item more than `limit` when there is a next page.
    """
    items = fitting(found[:limit], max_bytes=options.max_answer_bytes - _ROOM)
    cursor = None
    if items and len(items) < len(found):
        after = items[-1][key], UUID(items[-1]["id"])
        cursor = cursors.encode_key(after, route=route, filters=filters)
    return answer({"items": items, "next_cursor": cursor})


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
    asked = filters or {}
    after = cursors.decode_key(cursor, kind=str, route=route, filters=asked)
    found = newest(before=after[1] if after else None, limit=limit + 1)
    return key_page_answer(found, limit=limit, key=key, route=route, filters=asked, options=options)
