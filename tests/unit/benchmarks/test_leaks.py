"""What counts as a leak of a private string."""

import pytest

from benchmarks.discovery.leaks import leaked


@pytest.mark.parametrize(
    ("text", "leaks"),
    [
        ("At most 900, then.", True),
        ("at most\n  900 kroner", True),
        ("1900 or 9001", False),
        ("2026-05-01T10:00:00.900123Z", False),
        ("7f900a-x900", False),
    ],
)
def test_a_private_string_leaks_as_words_of_its_own(text: str, leaks: bool) -> None:
    answers = [{"items": [{"message": text, "count": 900}]}]
    assert leaked(["900"], answers) == (["900"] if leaks else [])


def test_case_and_white_space_hide_nothing() -> None:
    assert leaked(["Bank said no", "never"], ["The BANK  said\nno."]) == ["Bank said no"]
