"""Opaque list cursors, bound to the route and filters they were given for. Not a secret.

A cursor says only "after this ledger position"; tenancy is checked again on every page, so a forged
one reads nothing it could not read anyway. The digest catches a cursor used with other filters.
"""

import base64
import binascii
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import TypeVar
from uuid import UUID

from cairn.api.strict_json import string_fault
from cairn.kernel.errors import FieldError, ValidationFailed

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
    named = all(isinstance(one, str) and not string_fault(one) for one in texts)
    if version != _VERSION or not named or type(position) is not int:
        raise _bad("This cursor is damaged; start again without one.", "bad-cursor")
    if not 0 <= position <= _MAX_POSITION or digest != _digest(route, {}):
        raise _bad("This cursor belongs to another list.", "cursor-filters")
    return position, tuple(texts)


def _digest(route: str, filters: Mapping[str, object]) -> str:
    named = {name: str(value) for name, value in filters.items() if value is not None}
    text = json.dumps([route, named], sort_keys=True)
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).hexdigest()[:16]


def _bad(detail: str, reason: str) -> ValidationFailed:
    return ValidationFailed(detail, reason=reason, errors=[FieldError("query.cursor", detail)])
