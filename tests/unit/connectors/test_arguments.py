"""Arguments held to a stranger's schema."""

import re
from typing import Any

import pytest

from cairn.connectors.arguments import MAX_ARGUMENT_BYTES, check_arguments
from cairn.kernel.errors import ValidationFailed
from cairn.safety.tools import ToolSpec

SCHEMA = {
    "type": "object",
    "properties": {
        "user": {"type": "string", "minLength": 1},
        "count": {"type": "integer", "minimum": 1},
        "kind": {"enum": ["a", "b"]},
        "deep": {"type": "object", "properties": {"x": {"type": "boolean"}}},
    },
    "required": ["user"],
    "additionalProperties": False,
}


def check(arguments: dict[str, Any], schema: dict[str, Any] | None = None) -> None:
    spec = ToolSpec(connector="desk", name="find", description="", schema=schema or SCHEMA)
    check_arguments(spec, arguments)


def test_arguments_that_fit_pass() -> None:
    check({"user": "ada", "count": 2, "kind": "a", "deep": {"x": True}})


@pytest.mark.parametrize(
    ("arguments", "place"),
    [
        ({}, "$"),
        ({"user": 7}, "user"),
        ({"user": ""}, "user"),
        ({"user": "a", "count": "2"}, "count"),
        ({"user": "a", "count": True}, "count"),
        ({"user": "a", "count": 0}, "count"),
        ({"user": "a", "kind": "c"}, "kind"),
        ({"user": "a", "deep": {"x": "no"}}, "deep.x"),
        ({"user": "a", "other": 1}, "$"),
        ({"user": "a", "dry_run": True}, "dry_run"),
        ({"user": "a", "idempotency_key": "k"}, "idempotency_key"),
        ({"user": "a" * MAX_ARGUMENT_BYTES}, "$"),
    ],
)
def test_arguments_that_do_not_fit_are_refused_with_their_place(
    arguments: dict[str, Any], place: str
) -> None:
    with pytest.raises(ValidationFailed) as refused:
        check(arguments)

    assert [error.location for error in refused.value.errors] == [place]


def test_a_refusal_repeats_no_value() -> None:
    with pytest.raises(ValidationFailed) as refused:
        check({"user": "a", "count": "4111 1111 1111 1111", "kind": "ada@example.com"})

    assert not re.search("4111|ada@", f"{refused.value} {refused.value.errors}")


@pytest.mark.parametrize("value", [float("nan"), float("inf"), {1, 2}, b"bytes", "\ud83d"])
def test_what_is_no_json_or_cannot_be_sent_is_refused(value: Any) -> None:
    with pytest.raises(ValidationFailed) as refused:
        check({"user": value})

    assert refused.value.reason == "arguments-json"


@pytest.mark.parametrize("keyword", ["pattern", "format"])
def test_a_strangers_regular_expressions_are_not_run(keyword: str) -> None:
    schema = {"type": "object", "properties": {"user": {"type": "string", keyword: "(a+)+$"}}}

    check({"user": "a" * 60 + "!"}, schema)


def test_properties_by_expression_close_nothing() -> None:
    schema = {
        "type": "object",
        "patternProperties": {"(x+x+)+y": {"type": "string"}},
        "additionalProperties": False,
    }

    check({"x" * 60: 1}, schema)


def test_a_property_may_be_called_like_a_keyword() -> None:
    schema = {"type": "object", "properties": {"pattern": {"type": "integer"}}}

    check({"pattern": 1}, schema)
    with pytest.raises(ValidationFailed):
        check({"pattern": "x"}, schema)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "properties": {"a": {"$ref": "https://example.org/schema"}}},
        {"type": "object", "properties": {"a": {"$ref": "file:///etc/passwd"}}},
        {"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"$ref": "#/nowhere"}}},
        {"type": "nothing"},
        {"type": "object", "properties": {"a": {"type": 7}}},
        {"type": "object", "allOf": [{"$ref": "#"}]},
    ],
    ids=["over http", "a file", "nowhere", "no type", "no schema", "itself"],
)
def test_a_schema_that_leads_elsewhere_or_nowhere_stops_the_call(schema: dict[str, Any]) -> None:
    with pytest.raises(ValidationFailed) as refused:
        check({"a": {}, "b": {}}, schema)

    assert refused.value.reason == "tool-schema"


def test_references_that_double_at_each_level_stop_the_call() -> None:
    levels = 26
    definitions = {
        f"d{n}": {"allOf": [{"$ref": f"#/$defs/d{n + 1}"}] * 2} for n in range(levels)
    } | {f"d{levels}": {"type": "object"}}
    schema = {"type": "object", "$defs": definitions, "allOf": [{"$ref": "#/$defs/d0"}]}

    with pytest.raises(ValidationFailed) as refused:
        check({}, schema)

    assert refused.value.reason == "tool-schema"


def test_local_references_are_followed() -> None:
    schema = {
        "type": "object",
        "$defs": {"name": {"type": "string"}},
        "properties": {"a": {"$ref": "#/$defs/name"}},
    }

    check({"a": "b"}, schema)
    with pytest.raises(ValidationFailed):
        check({"a": 1}, schema)
