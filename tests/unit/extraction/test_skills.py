"""What a clause says that somebody can do."""

import pytest

from cairn.extraction.skills import Level, skill_in


@pytest.mark.parametrize(
    ("said", "name", "level"),
    [
        ("I speak German.", "German", Level.HAS),
        ("We speak French and German at home.", "French and German", Level.HAS),
        ("I am learning Rust.", "Rust", Level.LEARNING),
        ("Ada is an expert in Kafka for the bank.", "Kafka", Level.HAS),
        ("I have 10 years of experience with Python.", "Python", Level.HAS),
        ("I know how to weld, mostly.", "weld", Level.HAS),
        ("I can play the cello.", "play the cello", Level.HAS),
    ],
)
def test_a_skill_has_the_name_that_was_said(said: str, name: str, level: Level) -> None:
    assert skill_in(said) == (name, level)


@pytest.mark.parametrize(
    "said",
    ["I don't speak German.", "I used to speak Latin.", "I speak to my mother daily.",
     "I am learning that it rains.", "I am 40 years of age.", "I live in Porto.", "",
     "I speak ..."],
)  # fmt: skip
def test_what_is_denied_or_no_skill_is_none(said: str) -> None:
    assert skill_in(said) is None
