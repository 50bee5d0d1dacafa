"""Arguments made up from a tool's JSON Schema, to see how it takes them. Not always valid ones."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

MAX_DEPTH = 6


def mapping(value: object) -> Mapping[str, Any]:
    """Return a JSON object as one, and {} for everything else."""
    return cast("Mapping[str, Any]", value) if isinstance(value, Mapping) else {}


def arguments_for(schema: Mapping[str, Any], *, text: str) -> dict[str, Any]:
    """Return a value for every property, `text` wherever a text may stand."""
    made = _made(schema, schema, text, MAX_DEPTH)
    return dict(mapping(made))


def _made(part: Mapping[str, Any], whole: Mapping[str, Any], text: str, depth: int) -> Any:
    part = _chosen(part, whole, depth)
    if depth == 0:
        return text
    if "const" in part:
        return part["const"]
    if part.get("enum"):
        return part["enum"][0]
    kind = _kind(part)
    if kind == "object":
        named = mapping(part.get("properties"))
        return {name: _made(mapping(one), whole, text, depth - 1) for name, one in named.items()}
    if kind == "array":
        return [_made(mapping(part.get("items")), whole, text, depth - 1)]
    if kind in {"integer", "number"}:
        return part.get("default") or part.get("minimum") or 1
    return {"boolean": False, "null": None}.get(kind, text)


def _kind(part: Mapping[str, Any]) -> str:
    """Return the type, the first where there are several; a text where there is none."""
    kind: object = part.get("type", "object" if "properties" in part else "string")
    several = cast("list[object]", kind) if isinstance(kind, list) else [kind]
    return str(several[0]) if several else "string"


def _chosen(part: Mapping[str, Any], whole: Mapping[str, Any], depth: int) -> Mapping[str, Any]:
    """Return the schema itself, what it refers to, or the first of its choices."""
    for _ in range(depth):
        options = part.get("anyOf") or part.get("oneOf")
        if options:
            part = mapping(options[0])
        elif str(part.get("$ref", "")).startswith("#/"):
            found = whole
            for name in str(part["$ref"])[2:].split("/"):
                found = mapping(found.get(name))
            part = found
    return part
