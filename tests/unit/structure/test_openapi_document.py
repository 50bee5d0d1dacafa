"""The OpenAPI document as a whole: everything has a type, a name and a description.

It is made here so that a type of an answer that moved is found before anything else.
"""

import tomllib
from collections.abc import Iterator
from typing import Any

from tests.support.openapi import document

from cairn.api.openapi import DESCRIPTIONS, schemas_in

Json = dict[str, Any]


def operations() -> Iterator[Json]:
    for methods in document()["paths"].values():
        yield from methods.values()


def test_every_operation_has_a_summary_a_description_and_typed_answers() -> None:
    for operation in operations():
        name = operation["operationId"]
        assert operation["summary"] and operation["description"], name
        for status, answer in operation["responses"].items():
            for content in answer["content"].values():
                schema = content["schema"]
                named = all("$ref" in part for part in schema.get("anyOf", [schema]))
                assert named or schema["type"] == "string", (name, status)


def test_every_parameter_and_every_field_is_described() -> None:
    parameters = [
        (operation["operationId"], parameter["name"])
        for operation in operations()
        for parameter in operation.get("parameters", ())
        if not parameter.get("description")
    ]
    fields = [
        (name, field)
        for name, schema in document()["components"]["schemas"].items()
        for part in schemas_in(schema)
        for field, value in part.get("properties", {}).items()
        if not value.get("description")
    ]
    assert (parameters, fields) == ([], [])


def test_every_description_by_name_is_of_something() -> None:
    texts = tomllib.loads(DESCRIPTIONS.read_text(encoding="utf-8"))
    named = document()["components"]["schemas"]
    places = {
        **{name: schema.get("properties", {}) for name, schema in named.items()},
        **{
            operation["operationId"]: {each["name"]: each for each in operation["parameters"]}
            for operation in operations()
            if "parameters" in operation
        },
    }
    shown = {
        name: {value.get("description") for part in places.values() for value in _of(part, name)}
        for name in (*texts["fields"], *texts["parameters"])
    }
    unused = [
        (table, name)
        for table, entries in texts.items()
        for name, text in entries.items()
        if text
        not in (
            shown[name]
            if table in {"fields", "parameters"}
            else {value.get("description") for value in _of(places.get(table, {}), name)}
        )
    ]
    assert unused == []


def _of(part: Json, name: str) -> Iterator[Json]:
    if name in part:
        yield part[name]


def test_no_type_is_named_by_where_its_code_is() -> None:
    names = document()["components"]["schemas"]
    assert [name for name in names if not name.isalnum()] == []
