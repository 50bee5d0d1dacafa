"""What a tool's arguments must be, and whether some are that. Not the host's own, full check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from cairn.investigations.planning.envelope import arguments_of

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.safety.tools import ToolSpec

_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
    "null": (type(None),),
}


def required_of(tool: ToolSpec) -> frozenset[str]:
    """Return the names of the arguments a tool cannot do without."""
    said = tool.schema.get("required")
    named = cast("list[object]", said) if isinstance(said, list) else []
    return frozenset(one for one in named if isinstance(one, str))


def misfit(tool: ToolSpec, arguments: Mapping[str, object]) -> str | None:
    """Return what is wrong with `arguments` in a few words; None when they may be sent.

    Names and types of the first level are looked at; the host checks the whole schema.
    """
    known = arguments_of(tool)
    if missing := sorted(required_of(tool) - arguments.keys()):
        return f"{tool.key} needs the argument {missing[0]!r}"
    if unknown := sorted(arguments.keys() - known.keys()):
        return f"{tool.key} has no argument {unknown[0]!r}" if known else None
    for name, value in arguments.items():
        if not _is(known[name], value):
            return f"the argument {name!r} of {tool.key} is of another type"
    return None


def takes(schema: Mapping[str, Any], kind: str) -> bool:
    """Return whether an argument's schema takes a JSON type; one that names none takes all."""
    wanted = _kinds(schema)
    return not wanted or kind in wanted


def _is(schema: Mapping[str, Any], value: object) -> bool:
    wanted = _kinds(schema)
    choices = schema.get("enum")
    if isinstance(choices, list) and value not in cast("list[object]", choices):
        return False
    if isinstance(value, bool):
        return not wanted or "boolean" in wanted
    return not wanted or any(isinstance(value, _TYPES.get(kind, (object,))) for kind in wanted)


def _kinds(schema: Mapping[str, Any]) -> list[str]:
    """Return the JSON types a schema names, those of its alternatives included."""
    said = schema.get("type")
    named = cast("list[object]", said) if isinstance(said, list) else [said]
    kinds = [one for one in named if isinstance(one, str)]
    for alternative in cast("list[object]", schema.get("anyOf") or []):
        if isinstance(alternative, dict):
            kinds += _kinds(cast("dict[str, Any]", alternative))
    return kinds
