"""A tool's answer as text."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.connectors.arguments import read_answer
from cairn.connectors.port import MAX_RESULT_BYTES, plain


def text(said: str) -> dict[str, Any]:
    return {"type": "text", "text": said}


def test_blocks_are_joined_and_what_is_no_text_is_named() -> None:
    blocks = [
        text("one"),
        {"type": "image", "mimeType": "image/png", "data": "AAAA"},
        {"type": "resource", "resource": {"uri": "a://b", "text": "two"}},
        {"type": "resource", "resource": {"uri": "a://c", "blob": "AAAA"}},
        {"type": "resource_link", "name": "three", "uri": "a://d"},
        {"type": "hologram"},
    ]

    assert read_answer({"content": blocks}).text == (
        "one\n[image/png, not text]\ntwo\n[a://c, not text]\n[three: a://d]\n[hologram, not text]"
    )


def test_structured_content_alone_is_shown_as_json() -> None:
    assert read_answer({"content": [], "structuredContent": {"é": 1}}).text == '{"é": 1}'
    assert read_answer({"content": [text("said")], "structuredContent": {}}).text == "said"


def test_nothing_at_all_is_an_empty_text() -> None:
    assert read_answer({}).text == ""


@pytest.mark.parametrize("unit", ["x", "é", "😀"])
def test_a_long_text_is_cut_within_the_limit_and_says_how_long_it_was(unit: str) -> None:
    answer = read_answer({"content": [text(unit * 200_000)]})

    size = len(unit.encode()) * 200_000
    assert answer.truncated
    assert len(answer.text.encode()) <= MAX_RESULT_BYTES
    assert answer.text.endswith(f"\n[truncated by cairn: the result was {size} bytes]")
    assert "\ufffd" not in answer.text


@pytest.mark.parametrize("between", [" ", "\n", '","', "<br>"])
def test_a_word_that_the_cut_would_halve_is_left_out_whole(between: str) -> None:
    for shift in range(40):
        said = "x" * shift + f"{between}ada.lovelace@example.com" * 5_000
        answer = read_answer({"content": [text(said)]})
        before, _, _ = answer.text.rpartition("\n[truncated by cairn")
        assert before.rstrip(between).endswith("ada.lovelace@example.com")
        assert len(before.encode()) > MAX_RESULT_BYTES - 200


def test_a_text_of_the_limit_is_whole() -> None:
    answer = read_answer({"content": [text("x" * MAX_RESULT_BYTES)]})

    assert not answer.truncated and len(answer.text) == MAX_RESULT_BYTES


def test_one_that_was_shortened_before_says_its_true_size() -> None:
    answer = read_answer({"content": [text("short")], "_meta": {"cairn/size": 12_345_678}})

    assert answer.truncated
    assert answer.text == "short\n[truncated by cairn: the result was 12345678 bytes]"


@pytest.mark.parametrize(
    "result",
    [
        {"_meta": {"cairn/error": "unauthorized"}},
        {"structuredContent": {"error": {"code": "unauthorized"}}},
    ],
)
def test_a_refused_sign_in_is_recognised_of_errors_only(result: dict[str, Any]) -> None:
    assert read_answer({"isError": True, **result}).is_unauthorised
    assert not read_answer(result).is_unauthorised


@pytest.mark.parametrize("meta", [{"cairn/error": ["unauthorized"]}, {"cairn/error": 401}, {}])
def test_other_errors_are_errors(meta: dict[str, Any]) -> None:
    answer = read_answer({"isError": True, "_meta": meta})

    assert answer.is_error and not answer.is_unauthorised


@given(st.text(st.characters(), max_size=300))
def test_plain_text_has_no_control_characters_and_plain_again_changes_nothing(said: str) -> None:
    cleaned = plain(said)

    assert plain(cleaned) == cleaned or "\x1b" in said
    assert not [item for item in cleaned if ord(item) < 32 and item not in "\n\t"]
    cleaned.encode()  # no lone surrogates


@pytest.mark.parametrize(
    ("said", "seen"),
    [
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;http://evil\x07link\x1b]8;;\x07", "link"),
        ("\x1b]0;title\x1b\\text", "text"),
        ("a\u202eb\u2066c", "abc"),
        ("hidden\U000e0041\U000e0042", "hidden"),
        ("a\r\nb\rc", "a\nbc"),
        ("tab\tline\n", "tab\tline\n"),
        ("👩\u200d💻", "👩\u200d💻"),
    ],
)
def test_what_hides_or_paints_is_taken_out(said: str, seen: str) -> None:
    assert plain(said) == seen
