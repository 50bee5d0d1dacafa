"""Canonical JSON against the vectors of its decision record, and timestamps."""

import json
import re
from datetime import UTC, datetime, timedelta, timezone
from enum import StrEnum
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.kernel.errors import ValidationFailed
from cairn.kernel.text.canonical import (
    canonical_bytes,
    format_timestamp,
    parse_canonical,
    parse_timestamp,
)

RECORD = Path(__file__).parents[4] / "docs" / "decisions" / "0002-canonical-json.md"


def rows(heading: str) -> list[tuple[str, str]]:
    section = RECORD.read_text(encoding="utf-8").split(f"## {heading}\n")[1].split("\n## ")[0]
    found = re.findall(r"^\| `(.*)` \| `(.*)` \|$", section, re.MULTILINE)
    assert len(found) >= 8, "the record's table changed its form"
    return found


TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"))
SCALARS = st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | TEXT
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner) | st.dictionaries(TEXT, inner), max_leaves=20
)


class Kind(StrEnum):
    FACT = "fact"


@pytest.mark.parametrize(("source", "canonical"), rows("Vectors"))
def test_the_records_vectors_hold(source: str, canonical: str) -> None:
    assert canonical_bytes(json.loads(source)) == canonical.encode()
    assert parse_canonical(canonical) == json.loads(source)


@pytest.mark.parametrize(("source", "reason"), rows("Refused"))
def test_what_the_record_refuses_is_refused_with_its_reason(source: str, reason: str) -> None:
    with pytest.raises(ValidationFailed) as caught:
        canonical_bytes(json.loads(source))
    assert caught.value.reason == reason
    with pytest.raises(ValidationFailed):
        parse_canonical(source)


@given(VALUES)
def test_parsing_gives_the_value_back(value: object) -> None:
    assert parse_canonical(canonical_bytes(value)) == value


@given(st.dictionaries(TEXT, st.integers(0, 9), min_size=2))
def test_key_order_of_the_input_does_not_matter(value: dict[str, int]) -> None:
    backwards = dict(reversed(value.items()))
    assert canonical_bytes(value) == canonical_bytes(backwards)


@given(st.dictionaries(TEXT, st.none(), min_size=2))
def test_keys_come_in_the_order_of_utf16_code_units(value: dict[str, None]) -> None:
    keys = list(json.loads(canonical_bytes(value)))
    assert keys == sorted(value, key=lambda key: key.encode("utf-16-be"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        " {}",
        "{}\n",
        '{"b":1,"a":2}',
        '{"a":1,"a":1}',
        '{"a": 1}',
        '"\\u00e9"',
        "-0",
        "01",
        "NaN",
        "[" * 5000 + "]" * 5000,
        "1" * 5000,
        "[1,]",
        "\ufeff{}",
        '"\ud800"',
    ],
)
def test_parsing_refuses_every_other_spelling(text: str) -> None:
    with pytest.raises(ValidationFailed) as caught:
        parse_canonical(text)
    assert caught.value.reason == "not-canonical"


def test_bytes_that_are_no_utf8_are_refused() -> None:
    with pytest.raises(ValidationFailed):
        parse_canonical(b'"\xff"')


@pytest.mark.parametrize(
    "value", [{1: "a"}, {"a": {None: 1}}, object(), {"t": datetime(2026, 1, 1, tzinfo=UTC)}, {1, 2}]
)
def test_types_without_a_json_form_are_refused(value: object) -> None:
    with pytest.raises(ValidationFailed) as caught:
        canonical_bytes(value)
    assert caught.value.reason == "type"


def test_the_error_names_the_place() -> None:
    with pytest.raises(ValidationFailed) as caught:
        canonical_bytes({"items": [{"ok": 1}, {"score": 0.5}]})
    assert caught.value.errors[0].location == "$.items.1.score"


def test_nesting_beyond_the_limit_is_refused_and_not_a_crash() -> None:
    value: object = []
    for _ in range(5000):
        value = [value]
    with pytest.raises(ValidationFailed) as caught:
        canonical_bytes(value)
    assert caught.value.reason == "too-deep"


def test_string_enums_and_tuples_are_plain_values() -> None:
    assert (
        canonical_bytes({"kind": Kind.FACT, "pair": (1, True)})
        == b'{"kind":"fact","pair":[1,true]}'
    )


def test_a_time_is_written_in_utc_with_six_digits() -> None:
    moment = datetime(2026, 3, 20, 10, 30, tzinfo=timezone(timedelta(hours=1)))
    assert format_timestamp(moment) == "2026-03-20T09:30:00.000000Z"


def test_a_naive_time_is_not_written() -> None:
    with pytest.raises(ValidationFailed) as caught:
        format_timestamp(datetime(2026, 3, 20))  # noqa: DTZ001
    assert caught.value.reason == "naive-timestamp"


@pytest.mark.parametrize(
    ("source", "moment"),
    [
        ("2026-03-20T09:30:00Z", datetime(2026, 3, 20, 9, 30, tzinfo=UTC)),
        ("2026-03-20t09:30:00.25z", datetime(2026, 3, 20, 9, 30, 0, 250_000, tzinfo=UTC)),
        ("2026-03-20T09:30:00.123456789Z", datetime(2026, 3, 20, 9, 30, 0, 123_456, tzinfo=UTC)),
        ("2026-03-20T00:30:00+05:30", datetime(2026, 3, 19, 19, 0, tzinfo=UTC)),
        ("1900-01-01T00:00:00Z", datetime(1900, 1, 1, tzinfo=UTC)),
        ("2200-12-31T23:59:59Z", datetime(2200, 12, 31, 23, 59, 59, tzinfo=UTC)),
    ],
)
def test_rfc3339_times_are_read(source: str, moment: datetime) -> None:
    assert parse_timestamp(source) == moment


@pytest.mark.parametrize(
    "source",
    [
        "",
        "2026-03-20",
        "2026-03-20T09:30:00",
        "2026-03-20 09:30:00Z",
        "20260320T093000Z",
        "2026-02-30T09:30:00Z",
        "2026-03-20T24:30:00Z",
        "2026-03-20T09:30:00+25:00",
        "2026-03-20T09:30:00Z\n",
        "٢٠٢٦-03-20T09:30:00Z",
        "1899-12-31T23:59:59Z",
        "2201-01-01T00:00:00Z",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+10:00",
        "9999-12-31T23:59:59-10:00",
        "now",
    ],
)
def test_naive_absurd_and_malformed_times_are_refused_by_field(source: str) -> None:
    with pytest.raises(ValidationFailed) as caught:
        parse_timestamp(source, field="items.3.occurred_at")
    assert caught.value.errors[0].location == "items.3.occurred_at"


@given(st.datetimes(datetime(1900, 1, 2), datetime(2200, 12, 30), timezones=st.just(UTC)))  # noqa: DTZ001
def test_a_written_time_reads_back_the_same(moment: datetime) -> None:
    assert parse_timestamp(format_timestamp(moment)) == moment
