"""Field types the request models share, and their base. Not domain rules: shapes and characters."""

import re
from datetime import date, datetime
from typing import Annotated, Any, cast

from fastapi import Query
from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    GetJsonSchemaHandler,
    model_validator,
)
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema, PydanticCustomError

from cairn.api.problems import TOO_LARGE
from cairn.api.strict_json import bad_strings, string_fault
from cairn.kernel.access import Scope
from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.canonical import parse_timestamp
from cairn.writing.checks import MAX_LIST_ITEMS, MAX_NAME_CHARS

DIFFER = "client_id and user_id are one thing, and these differ"
ALIAS_OF = "The same as `client_id`, where an end user is meant."
MAX_LABELS = 20
_DAY = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")


def examples(*bodies: dict[str, Any]) -> ConfigDict:
    """Return what shows a body by examples in the description of the API."""
    return ConfigDict(json_schema_extra={"examples": list(bodies)})


CLIENT, ALIAS = "client_id", "user_id"
"""An end user is a client: what takes the one takes the other name, too."""


class Body(BaseModel):
    """Base of request bodies: no coercion between types, no unknown fields, no unstorable text."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    @model_validator(mode="before")
    @classmethod
    def take_alias(cls, value: object) -> object:
        """Take `user_id` for `client_id`; refuse two that differ."""
        if not isinstance(value, dict) or ALIAS not in value or CLIENT not in cls.model_fields:
            return cast("object", value)
        fields = dict(cast("dict[str, Any]", value))
        alias = fields.pop(ALIAS)
        default = cls.model_fields[CLIENT].default  # generated clients send it
        if fields.get(CLIENT, default) not in (default, alias):
            raise PydanticCustomError("alias", DIFFER)
        return {**fields, CLIENT: alias}

    @classmethod
    def __get_pydantic_json_schema__(
        cls, core_schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> JsonSchemaValue:
        """Describe the alias beside the field it stands for."""
        schema = handler.resolve_ref_schema(handler(core_schema))
        fields = schema.get("properties", {})
        if CLIENT in fields:
            description = {**fields[CLIENT], "title": "User Id", "description": ALIAS_OF}
            fields[ALIAS] = {name: description[name] for name in description if name != "default"}
        return schema

    @model_validator(mode="before")
    @classmethod
    def refuse_unstorable_text(cls, value: object) -> object:
        """Refuse NUL and lone surrogates anywhere below, before any field sees them."""
        for path, wrong in bad_strings(value):
            raise PydanticCustomError("text", "{wrong}", {"wrong": wrong, "path": path})
        return value


def timestamp(value: object) -> datetime:
    """Return the time a string names, in UTC; a pydantic error that says what is wrong."""
    if not isinstance(value, str):
        raise PydanticCustomError("timestamp", "Expected an RFC 3339 time as a string")
    try:
        return parse_timestamp(value)
    except ValidationFailed as exc:
        wrong = exc.errors[0].message
        raise PydanticCustomError("timestamp", "{wrong}", {"wrong": wrong}) from exc


def _day(value: object) -> object:
    if not isinstance(value, str) or _DAY.fullmatch(value) is None:
        raise PydanticCustomError("day", "Expected a day such as 2026-01-31")
    return value


def _written(value: str) -> str:
    if not value.strip():
        raise PydanticCustomError("blank", "Must not be empty or only spaces")
    return value


def clean(value: str) -> str:
    """Return a text that can be stored; a pydantic error that says what is wrong."""
    if wrong := string_fault(value):
        raise PydanticCustomError("text", "{wrong}", {"wrong": wrong})
    return value


def _labels(value: str) -> str:
    labels = value.split("/")
    if len(labels) > MAX_LABELS or not all(label.strip() for label in labels):
        raise PydanticCustomError(
            "namespace",
            "Expected 1 to {most} labels with / between them, none empty, such as users/dana",
            {"most": MAX_LABELS},
        )
    return value


def at_most(chars: int) -> AfterValidator:
    """Return a validator that refuses longer strings as too large (413), not as invalid."""

    def check(value: str) -> str:
        if len(value) > chars:
            raise PydanticCustomError(TOO_LARGE, "May have {limit} characters", {"limit": chars})
        return value

    return AfterValidator(check)


def _moment(value: object) -> object:
    return int(value) if isinstance(value, str) and value.isdecimal() else timestamp(value)


Timestamp = Annotated[datetime, BeforeValidator(timestamp)]
AsOf = Annotated[
    datetime | Annotated[int, Field(ge=0, le=2**53 - 1)],
    BeforeValidator(_moment),
    Query(description="A time, or a ledger position: what was known then."),
]
Day = Annotated[date, BeforeValidator(_day)]
Name = Annotated[
    str,
    Field(min_length=1, max_length=MAX_NAME_CHARS),
    AfterValidator(_written),
    AfterValidator(clean),
]
Namespace = Annotated[Name, AfterValidator(_labels)]
Names = Annotated[list[Name], Field(max_length=MAX_LIST_ITEMS)]
Metadata = dict[str, Any]
ScopeName = Annotated[Scope, Field(strict=False)]
Text = Annotated[str, AfterValidator(_written)]
