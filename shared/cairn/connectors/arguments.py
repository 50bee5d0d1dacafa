"""Whether arguments satisfy a tool's schema. A schema is a stranger's: nothing in it is fetched,
and its regular expressions are not run. The tool checks those itself.
"""

from __future__ import annotations

import json
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from cairn.connectors.cleaning import described
from cairn.connectors.manifest import RESERVED
from cairn.kernel.errors import FieldError, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.tools import ToolSpec

MAX_ARGUMENT_BYTES = 256_000
MAX_ERRORS = 10
MAX_REFERENCES = 24
"""References double what must be looked at with every level; so many cannot stall a process."""
_EXPRESSIONS = frozenset({"pattern", "patternProperties", "propertyNames", "format"})
_CLOSING = frozenset({"additionalProperties", "unevaluatedProperties"})


def check_arguments(spec: ToolSpec, arguments: Mapping[str, JsonValue]) -> None:
    """Raise ValidationFailed, naming each place, when arguments are not what the tool takes."""
    given = sorted(RESERVED & arguments.keys())
    if given:
        _refuse(spec, [FieldError(one, "is given by Cairn") for one in given])
    try:
        size = len(json.dumps(arguments, allow_nan=False, ensure_ascii=False).encode())
    except (ValueError, TypeError, RecursionError) as exc:
        raise ValidationFailed("The arguments are not JSON.", reason="arguments-json") from exc
    if size > MAX_ARGUMENT_BYTES:
        _refuse(spec, [FieldError("$", f"has {size} bytes; at most {MAX_ARGUMENT_BYTES}")])
    found = _found(spec, arguments)
    if found:
        _refuse(spec, found)


def _found(spec: ToolSpec, arguments: Mapping[str, JsonValue]) -> list[FieldError]:
    from jsonschema import Draft202012Validator
    from jsonschema.exceptions import SchemaError
    from referencing import Registry
    from referencing.exceptions import Unresolvable

    schema = cast("dict[str, Any]", _without_expressions(spec.schema))
    try:
        if json.dumps(schema).count('"$ref"') > MAX_REFERENCES:
            raise SchemaError("too many references")
        Draft202012Validator.check_schema(schema)
        checker = cast("Any", Draft202012Validator(schema, registry=Registry()))
        every = cast("Iterator[Any]", checker.iter_errors(dict(arguments)))
        errors = list(islice(every, MAX_ERRORS))
    except (SchemaError, Unresolvable, RecursionError) as exc:
        raise ValidationFailed(
            "The tool's own schema is not one; it cannot be called.", reason="tool-schema"
        ) from exc
    return [
        FieldError(".".join(map(str, one.absolute_path)) or "$", described(_message(one), 200))
        for one in errors
    ]


def _message(error: Any) -> str:
    """Return what is wrong, without the value: it may be somebody's."""
    keyword, wanted = str(error.validator), error.validator_value
    if keyword == "type":
        return f"must be {wanted}"
    if keyword in {"required", "additionalProperties"}:
        return str(error.message)  # names of arguments only
    if keyword in {"enum", "const", "minimum", "maximum", "minLength", "maxLength"}:
        return f"must satisfy {keyword} {wanted}"
    return f"does not satisfy {keyword}"


def _without_expressions(schema: object, *, names: bool = False) -> object:
    """Return a schema without regular expressions; with `names`, keys are properties' names."""
    if isinstance(schema, list):
        return [_without_expressions(one) for one in cast("list[Any]", schema)]
    if not hasattr(schema, "items"):
        return schema
    said = cast("Mapping[str, Any]", schema)
    if names:
        return {key: _without_expressions(one) for key, one in said.items()}
    dropped = _EXPRESSIONS | _CLOSING if "patternProperties" in said else _EXPRESSIONS
    return {
        key: one
        if key in {"const", "enum", "default", "examples"}
        else _without_expressions(one, names=key in {"properties", "$defs", "definitions"})
        for key, one in said.items()
        if key not in dropped
    }


def _refuse(spec: ToolSpec, errors: list[FieldError]) -> None:
    first = errors[0]
    raise ValidationFailed(
        f"The arguments of {spec.key} are wrong: {first.location} {first.message}.",
        reason="tool-arguments",
        errors=errors,
        tool=spec.key,
    )
