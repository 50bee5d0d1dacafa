"""What a PATCH of SCIM says (RFC 7644, 3.5.2), as Entra ID and Okta send it.

Operations in any case, with or without a path, dotted names in values, members taken out by a
filter or by a list. What this deployment does not keep of a user is passed over.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any, cast
from uuid import UUID

from cairn.accounts.scim_people import GroupChange, UserChange
from cairn.api.scim.messages import (
    GROUP,
    PATCH,
    USER,
    ids_of,
    lowered,
    member_id,
    require_schema,
    text_of,
    truth,
    wrong,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

MAX_OPERATIONS = 1_000
OPERATIONS = ("add", "remove", "replace")
FIXED = ("id", "meta", "schemas", "groups")
_PATH = re.compile(
    r"(?P<name>[A-Za-z$][A-Za-z0-9$_-]{0,99})(\[(?P<filter>[^\[\]]{1,1000})\])?"
    r"(\.(?P<part>[A-Za-z$][A-Za-z0-9$_-]{0,99}))?"
)
_MEMBER = re.compile(r'\s*value\s+eq\s+("(?:[^"\\]|\\.)*")\s*', re.IGNORECASE)

Operation = tuple[str, str, str | None, object]
"""What to do, with which attribute in small letters, the filter of its values, and the value."""


def patched_user(body: Mapping[str, Any]) -> UserChange:
    """Return what the operations come to for a user."""
    change = UserChange()
    for deed, name, _, value in _operations(body, USER):
        change = _user_after(change, deed, name, value)
    return change


def patched_group(body: Mapping[str, Any]) -> GroupChange:
    """Return what the operations come to for a group."""
    change = GroupChange()
    for deed, name, narrowed, value in _operations(body, GROUP):
        if name == "members":
            change = _members_after(change, deed, narrowed, value)
        elif name == "displayname":
            change = replace(change, name=_needed(deed, value, "displayName"))
        elif name == "externalid":
            change = replace(change, external_id=_optional(deed, value, "externalId"))
    return change


def _user_after(change: UserChange, deed: str, name: str, value: object) -> UserChange:
    texts: Mapping[str, Callable[[], UserChange]] = {
        "username": lambda: replace(change, login=_needed(deed, value, "userName")),
        "displayname": lambda: replace(change, name=_optional(deed, value, "displayName")),
        "name.formatted": lambda: replace(change, name=_optional(deed, value, "name.formatted")),
        "externalid": lambda: replace(change, external_id=_optional(deed, value, "externalId")),
        "active": lambda: replace(change, active=deed != "remove" and truth(value)),
    }
    return texts[name]() if name in texts else change


def _members_after(
    change: GroupChange, deed: str, narrowed: str | None, value: object
) -> GroupChange:
    if deed == "remove" and narrowed is None and value is None:
        return GroupChange(
            name=change.name, external_id=change.external_id, members=frozenset[UUID]()
        )
    people = ids_of(value) if narrowed is None else frozenset({_member(narrowed)})
    if deed == "replace":
        return GroupChange(name=change.name, external_id=change.external_id, members=people)
    if deed == "add":
        if change.members is not None:
            return replace(change, members=change.members | people)
        return replace(change, joining=change.joining | people, leaving=change.leaving - people)
    if change.members is not None:
        return replace(change, members=change.members - people)
    return replace(change, joining=change.joining - people, leaving=change.leaving | people)


def _operations(body: Mapping[str, Any], schema: str) -> Iterator[Operation]:
    require_schema(body, PATCH)
    listed = lowered(body).get("operations")
    operations = cast("list[object]", listed) if isinstance(listed, list) else []
    if not 0 < len(operations) <= MAX_OPERATIONS:
        wrong("invalidSyntax", f"Operations are 1 to {MAX_OPERATIONS}.")
    for each in operations:
        operation = lowered(each)
        deed, path, value = str(operation.get("op")).lower(), operation.get("path"), None
        if deed not in OPERATIONS:
            wrong("invalidSyntax", f"op is one of {', '.join(OPERATIONS)}.")
        value = operation.get("value")
        if deed != "remove" and value is None:
            wrong("invalidValue", f"The operation {deed} needs a value.")
        if path is not None:
            yield from _of_path(deed, path, value, schema)
        elif deed == "remove":
            wrong("noTarget", "The operation remove needs a path.")
        else:
            for name, part in lowered(value).items():
                if name not in FIXED and part is not None:
                    yield from _of_path(deed, name, part, schema)


def _of_path(deed: str, path: object, value: object, schema: str) -> Iterator[Operation]:
    """Return what one path means; nothing for attributes of other schemas."""
    text = path if isinstance(path, str) else ""
    own = text.lower().removeprefix(f"{schema.lower()}:")
    if own == schema.lower() and isinstance(value, dict):
        for name, part in lowered(cast("dict[str, object]", value)).items():
            yield from _of_path(deed, name, part, schema)
        return
    if own.startswith("urn:"):
        return
    match = _PATH.fullmatch(text[len(text) - len(own) :])
    if match is None:
        wrong("invalidPath", "The path is no attribute, or has a filter that is not taken here.")
    name = match["name"].lower()
    if name in FIXED:
        wrong("mutability", f"{name} cannot be changed.")
    if name == "name" and match["part"] is None and isinstance(value, dict):
        for part, each in lowered(cast("dict[str, object]", value)).items():
            yield deed, f"name.{part}", None, each
        return
    part = f".{match['part'].lower()}" if match["part"] else ""
    yield deed, name + part, match["filter"], value


def _member(narrowed: str) -> UUID:
    match = _MEMBER.fullmatch(narrowed)
    if match is None:
        wrong("invalidFilter", 'A filter of members is value eq "ID".')
    return member_id(json.loads(match[1]))


def _needed(deed: str, value: object, name: str) -> str:
    text = "" if deed == "remove" else text_of(value, name)
    if not text:
        wrong("mutability" if deed == "remove" else "invalidValue", f"{name} is needed.")
    return text


def _optional(deed: str, value: object, name: str) -> str:
    return "" if deed == "remove" else text_of(value, name)
