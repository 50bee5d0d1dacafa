"""What is sent in SCIM: users, groups, lists, errors, filters, and what a body says.

Written by hand: `scim2-models` refuses what Entra ID sends (docs/decisions/0080-scim.md).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NoReturn, cast
from uuid import UUID

from fastapi import Response

from cairn.accounts.scim import MAX_PAGE, Page
from cairn.accounts.scim_people import GroupChange, UserChange
from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.canonical import format_timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cairn.accounts.scim import ScimGroup, ScimUser

MEDIA_TYPE = "application/scim+json"
CORE, MESSAGES = "urn:ietf:params:scim:schemas:core:2.0:", "urn:ietf:params:scim:api:messages:2.0:"
USER, GROUP = f"{CORE}User", f"{CORE}Group"
PATCH = f"{MESSAGES}PatchOp"
MAX_MEMBERS, MAX_TEXT, MAX_FILTER = 1_000, 256, 1_000
_FILTER = re.compile(r'\s*([A-Za-z.:0-9]{1,100})\s+eq\s+("(?:[^"\\]|\\.)*")\s*', re.IGNORECASE)
_NUMBER = re.compile(r"-?[0-9]{1,9}", re.ASCII)


def wrong(kind: str, detail: str) -> NoReturn:
    """Refuse a request; `kind` is SCIM's own word for what is wrong (`scimType`)."""
    raise ValidationFailed(detail, reason=kind)


def scim_answer(
    body: Mapping[str, Any] | None, status: int = 200, headers: Mapping[str, str] | None = None
) -> Response:
    """Return an answer of SCIM; nothing in it for None."""
    content = None if body is None else json.dumps(body, ensure_ascii=False)
    return Response(content, status, headers=dict(headers or {}), media_type=MEDIA_TYPE)


def user_body(user: ScimUser, base: str) -> dict[str, Any]:
    """Return a user. Addresses of mail are names they sign in under, where these are addresses."""
    emails = [{"value": user.login, "type": "work", "primary": True}] if "@" in user.login else []
    return {
        "schemas": [USER],
        "id": str(user.id),
        **({"externalId": user.external_id} if user.external_id else {}),
        "userName": user.login,
        "displayName": user.name,
        "name": {"formatted": user.name},
        "active": user.active,
        **({"emails": emails} if emails else {}),
        "groups": [
            {"value": str(each.id), "display": each.name, "$ref": f"{base}/Groups/{each.id}"}
            for each in user.groups
        ],
        "meta": _meta("User", user, f"{base}/Users/{user.id}"),
    }


def group_body(group: ScimGroup, members: Mapping[UUID, str], base: str) -> dict[str, Any]:
    """Return a group with who is in it."""
    return {
        "schemas": [GROUP],
        "id": str(group.id),
        **({"externalId": group.external_id} if group.external_id else {}),
        "displayName": group.name,
        "members": [
            {"value": str(id_), "display": login, "type": "User", "$ref": f"{base}/Users/{id_}"}
            for id_, login in members.items()
        ],
        "meta": _meta("Group", group, f"{base}/Groups/{group.id}"),
    }


def list_body(items: Sequence[Mapping[str, Any]], total: int, start: int = 1) -> dict[str, Any]:
    """Return a list, or a page of one."""
    return {
        "schemas": [f"{MESSAGES}ListResponse"],
        "totalResults": total,
        "startIndex": start,
        "itemsPerPage": len(items),
        "Resources": list(items),
    }


def cut(body: dict[str, Any], query: Mapping[str, str]) -> dict[str, Any]:
    """Return those attributes of a resource that a request wants; `schemas` and `id` always."""
    only, but = (_names(query.get(name)) for name in ("attributes", "excludedAttributes"))
    always = {"schemas", "id"}
    return {
        name: value
        for name, value in body.items()
        if name in always or (name.lower() in only if only else name.lower() not in but)
    }


def _names(text: str | None) -> set[str]:
    """Return the attributes that are named, without their schema and what is below them."""
    names = (each.strip().rpartition(":")[2] for each in (text or "").lower().split(","))
    return {name.partition(".")[0] for name in names if name}


def page_of(query: Mapping[str, str]) -> tuple[Page, int]:
    """Return the part of a list that a request wants, and the number of its first."""
    start, count = query.get("startIndex", "1"), query.get("count", str(MAX_PAGE))
    if not (_NUMBER.fullmatch(start) and _NUMBER.fullmatch(count)):
        wrong("invalidValue", "startIndex and count are whole numbers.")
    first = max(1, int(start))
    return Page(limit=min(max(0, int(count)), MAX_PAGE), offset=first - 1), first


def filter_of(query: Mapping[str, str], names: Mapping[str, str]) -> dict[str, str | None]:
    """Return what a list is narrowed by: one attribute of `names`, by the name that it has here."""
    text = query.get("filter")
    if text is None:
        return {}
    match = _FILTER.fullmatch(text) if len(text) <= MAX_FILTER else None
    own = {name.lower(): name for name in names}
    name = own.get(match[1].lower().rpartition(":")[2]) if match else None
    if match is None or name is None:
        listed = ", ".join(f'{each} eq "..."' for each in names)
        wrong("invalidFilter", f"A filter here is one of {listed}.")
    try:
        value: str = json.loads(match[2])
    except ValueError:
        wrong("invalidFilter", "The filter's text is no JSON text.")
    return {names[name]: text_of(value, "The filter's text")}


def new_user(body: Mapping[str, Any]) -> UserChange:
    """Return what a whole user says: what it leaves out is empty, but `active`, which stays."""
    require_schema(body, USER)
    fields = lowered(body)
    login = text_of(fields.get("username"), "userName")
    if not login:
        wrong("invalidValue", "userName is needed.")
    return UserChange(
        login=login,
        name=called(fields),
        external_id=text_of(fields.get("externalid"), "externalId"),
        active=None if fields.get("active") is None else truth(fields["active"]),
    )


def new_group(body: Mapping[str, Any], *, new: bool) -> GroupChange:
    """Return what a whole group says. One that is replaced without `members` loses everybody."""
    require_schema(body, GROUP)
    fields = lowered(body)
    name = text_of(fields.get("displayname"), "displayName")
    if not name:
        wrong("invalidValue", "displayName is needed.")
    members = ids_of(fields.get("members", []))
    return GroupChange(
        name=name,
        external_id=text_of(fields.get("externalid"), "externalId"),
        **({"joining": members} if new else {"members": members}),
    )


def truth(value: object) -> bool:
    """Return a truth value; Entra ID sends texts."""
    if isinstance(value, str) and value.lower() in ("true", "false"):
        return value.lower() == "true"
    if not isinstance(value, bool):
        wrong("invalidValue", "active is true or false.")
    return value


def ids_of(value: object) -> frozenset[UUID]:
    """Return whom members are: a list of objects with a `value`, or one of them."""
    items = cast("list[object]", value) if isinstance(value, list) else [value]
    if len(items) > MAX_MEMBERS:
        wrong("tooMany", f"A request names at most {MAX_MEMBERS} members.")
    return frozenset(member_id(lowered(each).get("value")) for each in items)


def member_id(value: object) -> UUID:
    """Return whom a member's value is."""
    try:
        return UUID(value if isinstance(value, str) else "")
    except ValueError:
        wrong("invalidValue", "A member's value is the id of a user.")


def lowered(value: object) -> dict[str, Any]:
    """Return an object by the small letters of its names, as SCIM compares them."""
    if not isinstance(value, dict):
        wrong("invalidSyntax", "There is no object where one is needed.")
    record = cast("dict[str, Any]", value)
    return {name.lower(): each for name, each in record.items()}


def text_of(value: object, name: str) -> str:
    """Return a text, empty for none."""
    if value is None:
        return ""
    if not isinstance(value, str) or len(value) > MAX_TEXT or not value.isprintable():
        wrong("invalidValue", f"{name} is a text of at most {MAX_TEXT} characters.")
    return value.strip()


def called(fields: Mapping[str, Any]) -> str:
    """Return what somebody is called, empty for nothing: as shown, written out, or in parts."""
    parts = lowered(fields.get("name") or {})
    whole = " ".join(
        filter(None, (text_of(parts.get(each), "name") for each in ("givenname", "familyname")))
    )
    return (
        text_of(fields.get("displayname"), "displayName")
        or text_of(parts.get("formatted"), "name.formatted")
        or whole
    )


def require_schema(body: Mapping[str, Any], urn: str) -> None:
    """Refuse a body that does not say it is of a schema."""
    schemas = lowered(body).get("schemas")
    listed = cast("list[object]", schemas) if isinstance(schemas, list) else []
    if urn.lower() not in (str(each).lower() for each in listed):
        wrong("invalidSyntax", f"schemas names {urn}.")


def _meta(kind: str, row: ScimUser | ScimGroup, location: str) -> dict[str, Any]:
    return {
        "resourceType": kind,
        "created": format_timestamp(row.created_at),
        "lastModified": format_timestamp(row.changed_at),
        "location": location,
    }
