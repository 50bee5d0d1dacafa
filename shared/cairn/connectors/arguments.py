"""Whether arguments satisfy a tool's schema. A schema is a stranger's: nothing in it is fetched,
and its regular expressions are not run. The tool checks those itself.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, cast

from cairn.connectors.lines import SIZE_KEY
from cairn.connectors.manifest import ERROR_KEY, OUTCOME_UNKNOWN, RESERVED, UNAUTHORIZED
from cairn.connectors.port import MAX_RESULT_BYTES, TRUNCATED, described, plain, whole_words
from cairn.kernel.errors import FieldError, ValidationFailed

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.tools import ToolSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """What a tool said, with `code` as its declared error when it gave one."""

    text: str
    is_error: bool
    truncated: bool
    code: str | None

    @property
    def is_unauthorised(self) -> bool:
        """Return whether the connector's own sign-in is no longer good."""
        return self.is_error and self.code == UNAUTHORIZED

    @property
    def is_unknown(self) -> bool:
        """Return whether the connector itself does not know whether the call happened."""
        return self.is_error and self.code == OUTCOME_UNKNOWN


def read_answer(result: dict[str, Any]) -> Answer:
    """Read a `tools/call` result in its JSON form."""
    meta = cast("dict[str, Any]", result.get("_meta") or {})
    text, meta_size = plain(_joined(result)), meta.get(SIZE_KEY)
    size = meta_size if isinstance(meta_size, int) else len(text.encode())
    return Answer(
        text=bounded(text, size),
        is_error=result.get("isError") is True,
        truncated=size > MAX_RESULT_BYTES,
        code=_code(result, meta),
    )


def _joined(result: dict[str, Any]) -> str:
    blocks = cast("list[dict[str, Any]]", result.get("content") or [])
    if not blocks and result.get("structuredContent") is not None:
        return json.dumps(result["structuredContent"], ensure_ascii=False)
    return "\n".join(_block(block) for block in blocks)


def _block(block: dict[str, Any]) -> str:
    kind = block.get("type")
    if kind == "text":
        return str(block.get("text", ""))
    if kind == "resource":
        inside = cast("dict[str, Any]", block.get("resource") or {})
        return str(inside.get("text") or f"[{inside.get('uri')}, not text]")
    if kind == "resource_link":
        return f"[{block.get('name')}: {block.get('uri')}]"
    return f"[{block.get('mimeType') or kind}, not text]"


def bounded(text: str, size: int | None = None) -> str:
    """Return the text in at most `MAX_RESULT_BYTES`, with the marker when it had more.

    `size` are the bytes it had before somebody else shortened it.
    """
    encoded = text.encode()
    size = len(encoded) if size is None else size
    if size <= MAX_RESULT_BYTES:
        return text
    marker = TRUNCATED.format(size=size)
    most = MAX_RESULT_BYTES - len(marker.encode())
    if len(encoded) > most:
        text = whole_words(encoded[:most].decode("utf-8", "ignore"))
    return text + marker


def _code(result: dict[str, Any], meta: dict[str, Any]) -> str | None:
    code = meta.get(ERROR_KEY)
    if code is None and isinstance(result.get("structuredContent"), dict):
        error = cast("dict[str, Any]", result["structuredContent"]).get("error")
        code = cast("dict[str, Any]", error).get("code") if isinstance(error, dict) else None
    return code if isinstance(code, str) else None


MAX_ARGUMENT_BYTES = 256_000
MAX_ERRORS = 10
MAX_REFERENCES = 24
"""References double what must be looked at with every level; so many cannot stall a process."""
_EXPRESSIONS = frozenset({"pattern", "patternProperties", "propertyNames", "format"})
_CLOSING = frozenset({"additionalProperties", "unevaluatedProperties"})


def check_arguments(spec: ToolSpec, arguments: Mapping[str, JsonValue]) -> None:
    """Raise ValidationFailed, naming each place, when arguments are not what the tool takes."""
    reserved = sorted(RESERVED & arguments.keys())
    if reserved:
        _refuse(spec, [FieldError(item, "is given by Cairn") for item in reserved])
    try:
        size = len(json.dumps(arguments, allow_nan=False, ensure_ascii=False).encode())
    except (ValueError, TypeError, RecursionError) as exc:
        raise ValidationFailed("The arguments are not JSON.", reason="arguments-json") from exc
    if size > MAX_ARGUMENT_BYTES:
        _refuse(spec, [FieldError("$", f"has {size} bytes; at most {MAX_ARGUMENT_BYTES}")])
    errors = _schema_errors(spec, arguments)
    if errors:
        _refuse(spec, errors)


def _schema_errors(spec: ToolSpec, arguments: Mapping[str, JsonValue]) -> list[FieldError]:
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
        FieldError(".".join(map(str, error.absolute_path)) or "$", described(_message(error), 200))
        for error in errors
    ]


def _message(error: Any) -> str:
    """Return what is wrong, without the value: it may be somebody's."""
    keyword, expected = str(error.validator), error.validator_value
    if keyword == "type":
        return f"must be {expected}"
    if keyword in {"required", "additionalProperties"}:
        return str(error.message)  # names of arguments only
    if keyword in {"enum", "const", "minimum", "maximum", "minLength", "maxLength"}:
        return f"must satisfy {keyword} {expected}"
    return f"does not satisfy {keyword}"


def _without_expressions(schema: object, *, names: bool = False) -> object:
    """Return a schema without regular expressions; with `names`, keys are properties' names."""
    if isinstance(schema, list):
        return [_without_expressions(item) for item in cast("list[Any]", schema)]
    if not hasattr(schema, "items"):
        return schema
    fields = cast("Mapping[str, Any]", schema)
    if names:
        return {key: _without_expressions(value) for key, value in fields.items()}
    dropped = _EXPRESSIONS | _CLOSING if "patternProperties" in fields else _EXPRESSIONS
    return {
        key: value
        if key in {"const", "enum", "default", "examples"}
        else _without_expressions(value, names=key in {"properties", "$defs", "definitions"})
        for key, value in fields.items()
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
