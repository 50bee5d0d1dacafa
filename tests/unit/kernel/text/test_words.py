"""Words and sentences by plain rules, and the content hash."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.kernel.text.hashes import content_hash, sha256
from cairn.kernel.text.words import STOP_WORDS, content_words, sentences, words


def test_words_are_casefolded_runs_of_letters_and_digits() -> None:
    assert words("Straße 42, re-USE it! snake_case") == [
        "strasse",
        "42",
        "re",
        "use",
        "it",
        "snake",
        "case",
    ]


def test_a_possessive_is_dropped_and_a_contraction_kept() -> None:
    assert words("Caroline\u2019s dog doesn't bark, it's Bob's") == (
        ["caroline", "dog", "doesn't", "bark", "it", "bob"]
    )


def test_composed_and_decomposed_letters_are_the_same_word() -> None:
    assert words("cafe\u0301") == words("caf\u00e9")


def test_content_words_leave_out_stop_and_question_words() -> None:
    assert content_words("When did Melanie go to the pottery class?") == (
        ["melanie", "go", "pottery", "class"]
    )


def test_stop_words_are_spelled_as_words_returns_them() -> None:
    assert {word for word in STOP_WORDS if words(word) != [word]} == set()


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("Dr. Who paid 3.50 e.g. for tea. Done", ["Dr. Who paid 3.50 e.g. for tea.", "Done"]),
        ('He said "Stop." Then left.', ['He said "Stop."', "Then left."]),
        ("a list\n- one\n\n- two", ["a list", "- one", "- two"]),
        ("你好。再见。", ["你好。", "再见。"]),
        ("ends with Mr.\nNext", ["ends with Mr.", "Next"]),
        (" \n ", []),
    ],
)
def test_sentences_end_at_marks_and_lines(text: str, parts: list[str]) -> None:
    assert sentences(text) == parts


@given(st.text())
def test_sentences_lose_nothing_but_white_space(text: str) -> None:
    assert "".join("".join(sentences(text)).split()) == "".join(text.split())


@pytest.mark.timeout(20)
@pytest.mark.parametrize("piece", ["dr. ", ". ", "\n", "a'", "word ", "!!!"])
def test_a_megabyte_of_hostile_text_takes_linear_time(piece: str) -> None:
    text = piece * (1_000_000 // len(piece))
    assert len(words(text)) <= len(text)
    assert len(sentences(text)) <= len(text)


def test_the_content_hash_is_the_first_16_hex_digits_of_sha256() -> None:
    assert content_hash("é") == hashlib.sha256("é".encode()).hexdigest()[:16]
    assert sha256(b"") == hashlib.sha256().digest()
