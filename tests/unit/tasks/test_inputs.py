"""Which inputs of a task are kept: everything but what its schema calls a secret."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.tasks.draft import REDACTED, without_secrets

SECRET = {"type": "string", "writeOnly": True}


@pytest.mark.parametrize("mark", [{"writeOnly": True}, {"format": "password"}, {"x-secret": True}])
def test_each_way_to_mark_a_secret_redacts_it(mark: dict[str, Any]) -> None:
    schema = {"properties": {"pin": mark, "name": {"type": "string"}}}
    assert without_secrets({"pin": 1234, "name": "Ada"}, schema) == {
        "pin": REDACTED,
        "name": "Ada",
    }


def test_secrets_are_found_in_lists_and_objects() -> None:
    account = {"type": "object", "properties": {"user": {}, "password": SECRET}}
    schema = {"properties": {"accounts": {"type": "array", "items": account}}}
    given = {"accounts": [{"user": "a", "password": "p"}, {"user": "b", "password": ["q"]}]}
    assert without_secrets(given, schema) == {
        "accounts": [{"user": "a", "password": REDACTED}, {"user": "b", "password": REDACTED}]
    }


def test_references_and_alternatives_are_followed() -> None:
    schema = {
        "$defs": {"secret": SECRET},
        "properties": {"one": {"$ref": "#/$defs/secret"}},
        "anyOf": [{"properties": {"two": SECRET}}, {"properties": {"two": {}}}],
        "additionalProperties": {"oneOf": [{"type": "integer"}, SECRET]},
    }
    given = {"one": "a", "two": "b", "three": "c"}
    assert without_secrets(given, schema) == dict.fromkeys(given, REDACTED)


def test_a_schema_that_refers_to_itself_ends_in_redaction() -> None:
    schema = {"$defs": {"a": {"$ref": "#/$defs/a"}}, "properties": {"x": {"$ref": "#/$defs/a"}}}
    assert without_secrets({"x": {"y": "z"}}, schema) == {"x": REDACTED}


def test_what_is_no_schema_marks_nothing() -> None:
    schema = {"properties": ["no", "schema"], "items": 5, "anyOf": "x", "$ref": "http://far/away"}
    assert without_secrets({"a": [1, {"b": None}]}, schema) == {"a": [1, {"b": None}]}


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=10,
)


@given(st.dictionaries(st.text(max_size=3), VALUES))
def test_without_a_mark_everything_stays(given: dict[str, Any]) -> None:
    assert without_secrets(given, {"additionalProperties": {}}) == given


@given(st.dictionaries(st.text(max_size=3), VALUES))
def test_marked_whole_nothing_stays(given: dict[str, Any]) -> None:
    kept = without_secrets(given, {"additionalProperties": SECRET})
    assert kept == dict.fromkeys(given, REDACTED)
