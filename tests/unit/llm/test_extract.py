"""An extract is made of the text's own sentences, within its length, the same every time."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.llm.summaries import extract

REPORT = (
    "The water pump in hall two failed on Monday. "
    "It rained. "
    "The pump failed because the seal of the pump had worn out. "
    "Lunch was served in the canteen at noon with coffee afterwards. "
    "Ines Roth replaced the worn seal of the pump on Tuesday. "
    "A visitor asked for directions to the railway station."
)


def test_the_sentences_about_the_topic_are_kept_in_their_order() -> None:
    assert extract(REPORT, max_words=28) == (
        "The water pump in hall two failed on Monday. "
        "The pump failed because the seal of the pump had worn out."
    )


def test_a_text_that_fits_is_kept_whole_but_for_its_scraps() -> None:
    assert extract(REPORT, max_words=500) == REPORT.replace("It rained. ", "")


def test_a_heading_is_not_chosen_before_a_sentence() -> None:
    text = "# Pumps\n\nThe water pump failed because its seal had worn out."
    assert extract(text, max_words=40) == "The water pump failed because its seal had worn out."


def test_a_text_of_scraps_gives_its_scraps() -> None:
    assert extract("Pumps\nSeals", max_words=10) == "Pumps Seals"


def test_a_sentence_too_long_is_cut_at_a_word_and_shows_it() -> None:
    assert extract("alpha beta gamma delta epsilon zeta", max_words=3) == "alpha beta gamma …"


def test_a_repeated_sentence_is_said_once() -> None:
    assert extract("The seal of the pump leaks. " * 20, max_words=30) == (
        "The seal of the pump leaks."
    )


@pytest.mark.parametrize("text", ["", "  \n "])
def test_a_blank_text_gives_nothing(text: str) -> None:
    assert extract(text, max_words=10) == ""


def test_sentences_of_a_script_without_spaces_are_kept() -> None:
    text = "ポンプは月曜日に故障した。シールが摩耗していた。"
    assert extract(text, max_words=5) == "ポンプは月曜日に故障した。 シールが摩耗していた。"


def test_two_processes_with_other_hash_seeds_agree() -> None:
    script = (
        "import sys; from cairn.llm.summaries import extract;"
        "print(extract(sys.argv[1], max_words=28))"
    )
    outputs = {
        subprocess.run(
            [sys.executable, "-c", script, REPORT],
            capture_output=True,
            text=True,
            check=True,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }
    assert len(outputs) == 1


@given(st.text("abcde .,\n?é", max_size=400), st.integers(1, 40))
def test_an_extract_never_has_more_words_than_asked_nor_words_of_its_own(
    text: str, most: int
) -> None:
    words = extract(text, max_words=most).removesuffix(" …").split()
    assert len(words) <= most
    assert set(words) <= set(text.split())
