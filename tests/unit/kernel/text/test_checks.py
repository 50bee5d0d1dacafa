"""What text and JSON from outside must pass."""

import json
from typing import Any

import pytest

from cairn.kernel.errors import TooLarge, ValidationFailed
from cairn.kernel.text.checks import clean_json, clean_text


def test_good_text_comes_back_unchanged() -> None:
    assert clean_text("  Grüße 😀\n", field="text", max_chars=20) == "  Grüße 😀\n"


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("a\0b", "nul"),
        ("\ud83d", "lone-surrogate"),
        ("", "empty"),
        (" \t\n\u3000", "empty"),
        (None, "type"),
        (5, "type"),
        (["x"], "type"),
    ],
)
def test_bad_text_is_refused_by_field(value: object, reason: str) -> None:
    with pytest.raises(ValidationFailed) as caught:
        clean_text(value, field="items.0.text", max_chars=10)
    assert caught.value.reason == reason
    assert caught.value.errors[0].location == "items.0.text"


def test_text_at_the_limit_passes_and_above_it_is_too_large() -> None:
    assert clean_text("x" * 10, field="text", max_chars=10)
    with pytest.raises(TooLarge):
        clean_text("x" * 11, field="text", max_chars=10)


def test_good_json_comes_back_unchanged() -> None:
    value = {"a": [1, 2.5, None, True, {"é": "ü"}]}
    assert clean_json(value, field="metadata", max_bytes=100, max_depth=3) is value


@pytest.mark.parametrize(
    ("value", "place"),
    [
        ({"a": {"b": float("nan")}}, "metadata.a.b"),
        ({"a": [0, float("inf")]}, "metadata.a.1"),
        ({"a": 2**63}, "metadata.a"),
        ({"a": "\0"}, "metadata.a"),
        ({"a": "\udead"}, "metadata.a"),
        ({"\0": 1}, "metadata"),
        ({1: 1}, "metadata"),
        ({"a": b"x"}, "metadata.a"),
        ({"a": (1, 2)}, "metadata.a"),
    ],
)
def test_bad_json_is_refused_and_the_place_named(value: Any, place: str) -> None:
    with pytest.raises(ValidationFailed) as caught:
        clean_json(value, field="metadata", max_bytes=1000, max_depth=5)
    assert caught.value.errors[0].location.startswith(place)


def test_json_of_just_the_limits_passes_and_beyond_is_too_large() -> None:
    value = {"é": [1]}
    size = len(json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())
    assert clean_json(value, field="m", max_bytes=size, max_depth=2)
    with pytest.raises(TooLarge):
        clean_json(value, field="m", max_bytes=size - 1, max_depth=2)
    with pytest.raises(TooLarge):
        clean_json(value, field="m", max_bytes=size, max_depth=1)


def test_hostile_depth_is_refused_and_not_a_crash() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(TooLarge):
        clean_json(value, field="m", max_bytes=10**6, max_depth=10)
