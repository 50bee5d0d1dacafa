"""The OpenAPI document: what routes say of themselves, made whole. Nothing here runs on a request.

Answers get the schemas of their types, what has no description gets that of its name from
`descriptions.toml`, and generic types get plain names.
"""

import ast
import inspect
import json
import re
import sys
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, cast, get_args, get_origin, get_type_hints

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import TypeAdapter
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import is_typeddict

from cairn.api.documentation import PLACE, REF, TYPED
from cairn.api.problems import ProblemDetails

Json = dict[str, Any]

DESCRIPTIONS = Path(__file__).with_name("descriptions.toml")
"""By name: of fields in `[fields]`, of parameters in `[parameters]`.

A table of a schema's name or of an operation's id has those that mean something else there.
"""

_GENERIC = re.compile(r"\b(?P<of>Page|List|Batch)Of_(?P<item>[A-Za-z]+?)(View|ItemResult)?_")
_NAMES = {"Page": "Page", "List": "List", "Batch": "BatchResult"}
_PARTS = ("anyOf", "oneOf", "allOf", "prefixItems")
_INSIDE = ("items", "additionalProperties")


def document_of(app: FastAPI) -> Json:
    """Return the OpenAPI document of an app whose routes are all included."""
    document = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        description=app.description,
        tags=app.openapi_tags,
        routes=app.routes,
    )
    typed = [*TYPED, (ProblemDetails, None)]
    ready: set[Any] = set()
    adapters = [_adapter(kind, ready) for kind, _ in typed]
    by_number, defined = TypeAdapter[Any].json_schemas(
        [(number, "serialization", adapter) for number, adapter in enumerate(adapters)],
        ref_template=REF + "{model}",
        schema_generator=_AnswerSchema,
    )
    contents: dict[str, Json] = {}
    for number, (_, example) in enumerate(typed):
        shown = {} if example is None else {"example": example}
        contents[f"{PLACE}{number}"] = {"schema": by_number[number, "serialization"], **shown}
    document = _placed(document, contents)
    schemas: Json = document.setdefault("components", {}).setdefault("schemas", {})
    for name, schema in defined.get("$defs", {}).items():
        if schemas.setdefault(name, schema) != schema:
            raise ValueError(f"two types of the API are both called {name}")
    document = _rename_generics(document)
    _describe(document, tomllib.loads(DESCRIPTIONS.read_text(encoding="utf-8")))
    return document


def _adapter(kind: Any, ready: set[Any]) -> TypeAdapter[Any]:
    """Return the adapter of a type. Names that only type checkers import are imported first."""
    _make_ready(kind, ready)
    return TypeAdapter[Any](kind)


def _make_ready(kind: Any, ready: set[Any]) -> None:
    """See to it that the annotations of a type, and of what it holds, can be evaluated."""
    for part in get_args(kind):
        _make_ready(part, ready)
    record: Any = get_origin(kind) or kind
    if not (is_typeddict(record) or is_dataclass(record)) or record in ready:
        return
    ready.add(record)
    for name in {base.__module__ for base in cast("type[Any]", record).__mro__}:
        if name.startswith("cairn."):
            _import_for_types(sys.modules[name])
    for part in (*getattr(record, "__orig_bases__", ()), *get_type_hints(record).values()):
        _make_ready(part, ready)


def _import_for_types(module: ModuleType) -> None:
    """Do the imports that a module leaves to type checkers."""
    for statement in ast.parse(inspect.getsource(module)).body:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            body = ast.Module(statement.body, type_ignores=[])
            exec(compile(body, f"{module.__name__}: types", "exec"), vars(module))


class _AnswerSchema(GenerateJsonSchema):
    """Schemas of what is written: a record is written with all its fields."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        """Return whether a field is always there; of a TypedDict those not said to be absent."""
        return field["type"] != "typed-dict-field" or super().field_is_required(field, total)

    def default_schema(self, schema: Any) -> Json:
        """Return the schema without its default, which is for who makes the record."""
        return self.generate_inner(schema["schema"])


def _placed(value: Any, contents: Mapping[str, Json]) -> Any:
    """Return a document with the schemas and examples of answers in their places."""
    if isinstance(value, dict):
        part = cast("Json", value)
        schema = part.get("schema")
        if isinstance(schema, dict) and cast("Json", schema).get("$ref") in contents:
            return contents[cast("Json", schema)["$ref"]]
        return {name: _placed(part, contents) for name, part in part.items()}
    if isinstance(value, list):
        return [_placed(part, contents) for part in cast("list[Any]", value)]
    return value


def _rename_generics(document: Json) -> Json:
    """Return a document whose generic types have plain names: "MemoryPage", "KeyList"."""
    text = json.dumps(document)
    text = _GENERIC.sub(lambda match: match["item"] + _NAMES[match["of"]], text)
    return json.loads(text, object_pairs_hook=_once)


def _once(pairs: list[tuple[str, Any]]) -> Json:
    """Return an object; ValueError when two types got one name."""
    if len(merged := dict(pairs)) < len(pairs):
        raise ValueError(f"two types of the API are called the same: {sorted(merged)}")
    return merged


def _describe(document: Json, texts: Mapping[str, Mapping[str, str]]) -> None:
    """Describe every parameter and field that does not do it itself; leave out made-up titles."""
    for name, schema in document["components"]["schemas"].items():
        for part in schemas_in(schema):
            for field, value in part.get("properties", {}).items():
                _set(value, texts.get(name, {}).get(field) or texts["fields"].get(field))
    for operation in operations(document):
        own = texts.get(operation["operationId"], {})
        for parameter in operation.get("parameters", ()):
            name = parameter["name"]
            _set(parameter, own.get(name) or texts["parameters"].get(name))
            for part in schemas_in(parameter["schema"]):
                part.pop("title", None)


def _set(value: Json, text: str | None) -> None:
    if text is not None:
        value.setdefault("description", text)


def schemas_in(schema: Json) -> Iterator[Json]:
    """Return a schema and every schema inside it, each without its title."""
    schema.pop("title", None)
    yield schema
    for name in _PARTS:
        for part in schema.get(name, ()):
            yield from schemas_in(part)
    for name in _INSIDE:
        if isinstance(schema.get(name), dict):
            yield from schemas_in(schema[name])
    for part in schema.get("properties", {}).values():
        yield from schemas_in(part)


def operations(document: Json) -> Iterator[Json]:
    """Return every operation of a document."""
    for methods in document["paths"].values():
        yield from methods.values()
