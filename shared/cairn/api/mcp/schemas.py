"""The JSON Schemas that clients are shown of a tool: compact, and fit for strict mode.

Strict mode wants every object closed and every property filled in: what may be left out is
nullable, and null says that it is not given. Not the checking of arguments: the models do that.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, cast

from pydantic import TypeAdapter

if TYPE_CHECKING:
    from collections.abc import Mapping

    from pydantic import BaseModel

    Schema = dict[str, Any]

NULL = "null"
_KEPT = ("type", "enum")


def input_schema(arguments: type[BaseModel], parameters: Mapping[str, str]) -> Schema:
    """Return the schema of the arguments that `parameters` describes for a model."""
    whole = _whole(arguments)
    required = [name for name in whole.get("required", ()) if name in parameters]
    properties: dict[str, Schema] = {}
    for name, description in parameters.items():
        shown = plain(whole["properties"][name], whole.get("$defs", {}))
        if name not in required:
            shown = _nullable(shown)
        properties[name] = {**shown, "description": description}
    return _closed(properties, required)


@cache
def _whole(arguments: type[BaseModel]) -> Schema:
    """Return a model's own schema, which is not changed; making it takes a millisecond."""
    return arguments.model_json_schema()


@cache
def output_schema(result: type) -> Schema:
    """Return the schema of a tool's structured result."""
    whole = TypeAdapter(result).json_schema(mode="serialization")
    return plain(whole, whole.get("$defs", {}), closed=False)


def outline(schema: Schema) -> Schema:
    """Return an output schema in few bytes: of objects within it, the names that are never out."""
    properties = {name: _outlined(each) for name, each in schema["properties"].items()}
    return {**schema, "properties": properties}


def _outlined(schema: Schema) -> Schema:
    if "required" in schema.get("items", {}):
        return {"type": "array", "items": {"required": schema["items"]["required"]}}
    return {"type": schema["type"]}


def plain(schema: Schema, defs: Mapping[str, Schema], *, closed: bool = True) -> Schema:
    """Return a schema without references, titles, defaults and bounds; null is no option of it.

    An object is `closed` when a model fills it. Of several types the first is shown.
    """
    if "$ref" in schema:
        return plain(defs[schema["$ref"].rpartition("/")[2]], defs, closed=closed)
    options = [each for each in _options(schema) if each.get("type") != NULL]
    if options:
        return plain(options[0], defs, closed=closed)
    result: Schema = {name: schema[name] for name in _KEPT if name in schema}
    if "const" in schema:
        result = {"type": "string", "enum": [schema["const"]]}
    if "items" in schema:
        result["items"] = plain(schema["items"], defs, closed=closed)
    if "properties" in schema:
        return _object(schema, defs, closed=closed)
    return result


def _options(schema: Schema) -> list[Schema]:
    return cast("list[Schema]", schema.get("anyOf") or schema.get("oneOf") or [])


def _object(schema: Schema, defs: Mapping[str, Schema], *, closed: bool) -> Schema:
    required = list(schema.get("required", ()))
    properties: dict[str, Schema] = {}
    for name, each in schema["properties"].items():
        shown = plain(each, defs, closed=closed)
        if closed and name not in required:
            shown = _nullable(shown)
        if closed and "description" in each:
            shown["description"] = each["description"]
        properties[name] = shown
    if closed:
        return _closed(properties, required)
    shown = {"type": "object", "properties": properties}
    return {**shown, "required": required} if required else shown


def _closed(properties: Mapping[str, Schema], required: list[str]) -> Schema:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": required,
        "additionalProperties": False,
    }


def _nullable(schema: Schema) -> Schema:
    shown = {**schema, "type": [schema["type"], NULL]}
    if "enum" in shown:
        shown["enum"] = [*shown["enum"], None]
    return shown
