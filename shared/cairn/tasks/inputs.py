"""What a task was started with, without its secrets: the schema says which keys hold one. Pure.

A schema marks a secret as JSON Schema does (`writeOnly: true` or `format: "password"`), or with
`x-secret: true`. Values are not checked against the schema: whoever does the work does that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

REDACTED = "[redacted]"
MAX_DEPTH = 32
_ALTERNATIVES = ("allOf", "anyOf", "oneOf", "prefixItems")
_DEFINITIONS = ("$defs", "definitions")


def without_secrets(value: Any, schema: Mapping[str, Any]) -> Any:
    """Return `value` with everything that `schema` marks as a secret replaced by `[redacted]`.

    Properties, items, alternatives and references to the schema's own definitions are followed.
    A part of the schema that is not a schema marks nothing; one nested deeper than MAX_DEPTH or
    referring to itself is cut there, and what lies below it is redacted whole.
    """
    return _cleaned(value, [schema], schema, 0)


def _cleaned(value: Any, schemas: Sequence[Any], root: Mapping[str, Any], depth: int) -> Any:
    if depth > MAX_DEPTH:
        return REDACTED
    known = _resolved(schemas, root)
    if known is None or any(_is_secret(one) for one in known):
        return REDACTED
    if isinstance(value, Mapping):
        given = cast("Mapping[str, Any]", value)
        return {
            name: _cleaned(one, _of_property(known, name), root, depth + 1)
            for name, one in given.items()
        }
    if isinstance(value, list):
        items = [one["items"] for one in known if "items" in one]
        items += [each for one in known for each in _list(one.get("prefixItems"))]
        return [_cleaned(one, items, root, depth + 1) for one in cast("list[Any]", value)]
    return value


def _resolved(schemas: Sequence[Any], root: Mapping[str, Any]) -> list[Mapping[str, Any]] | None:
    """Return the schemas with their alternatives and references; None when there is no end."""
    found: list[Mapping[str, Any]] = []
    waiting = list(schemas)
    while waiting:
        if len(found) > MAX_DEPTH:
            return None
        one = waiting.pop()
        if not isinstance(one, Mapping):
            continue
        schema = cast("Mapping[str, Any]", one)
        found.append(schema)
        waiting += [_definition(schema.get("$ref"), root)]
        waiting += [each for name in _ALTERNATIVES[:-1] for each in _list(schema.get(name))]
    return found


def _definition(reference: Any, root: Mapping[str, Any]) -> Any:
    if not isinstance(reference, str):
        return None
    for place in _DEFINITIONS:
        start = f"#/{place}/"
        definitions = root.get(place)
        if reference.startswith(start) and isinstance(definitions, Mapping):
            return cast("Mapping[str, Any]", definitions).get(reference.removeprefix(start))
    return None


def _of_property(schemas: Sequence[Mapping[str, Any]], name: str) -> list[Any]:
    found: list[Any] = []
    for schema in schemas:
        properties = schema.get("properties")
        if isinstance(properties, Mapping) and name in properties:
            found.append(cast("Mapping[str, Any]", properties)[name])
        elif "additionalProperties" in schema:
            found.append(schema["additionalProperties"])
    return found


def _is_secret(schema: Mapping[str, Any]) -> bool:
    marked = schema.get("writeOnly") is True or schema.get("x-secret") is True
    return marked or schema.get("format") == "password"


def _list(value: Any) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []
