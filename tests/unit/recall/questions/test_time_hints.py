"""Times in questions, and how near a moment is."""

from datetime import UTC, datetime

import pytest

from cairn.recall.questions.understanding import TimeHint, nearness, time_hint

ASKED = datetime(2026, 3, 10, 15, 30, tzinfo=UTC)


def at(year: int, month: int, day: int, hour: int = 12) -> datetime:
    return datetime(year, month, day, hour, tzinfo=UTC)


@pytest.mark.parametrize(
    ("question", "hint"),
    [
        ("What did Ana do on 7 May 2023?", TimeHint(year=2023, month=5, day=7)),
        ("What did Ana do on May 7th, 2023?", TimeHint(year=2023, month=5, day=7)),
        ("What happened on the 3rd of June?", TimeHint(month=6, day=3)),
        ("Who came on 2024-02-29?", TimeHint(year=2024, month=2, day=29)),
        ("What was decided in 2024-02?", TimeHint(year=2024, month=2)),
        ("Where did they go in August?", TimeHint(month=8)),
        ("Where did they go in May 2022?", TimeHint(year=2022, month=5)),
        ("Which release came out in 2021?", TimeHint(year=2021)),
        ("What is on 31 February?", TimeHint(month=2)),
    ],
)
def test_a_calendar_date_is_understood(question: str, hint: TimeHint) -> None:
    assert time_hint(question, ASKED) == hint


@pytest.mark.parametrize(
    ("question", "start", "end"),
    [
        ("What broke today?", at(2026, 3, 10, 0), at(2026, 3, 11, 0)),
        ("What broke yesterday?", at(2026, 3, 9, 0), at(2026, 3, 10, 0)),
        ("What did we ship 3 days ago?", at(2026, 3, 7, 0), at(2026, 3, 8, 0)),
        ("What did we ship two weeks ago?", at(2026, 2, 24, 0), at(2026, 2, 25, 0)),
        ("What did we ship in the last 5 days?", at(2026, 3, 5, 0), at(2026, 3, 11, 0)),
        ("What did we ship this week?", at(2026, 3, 3, 0), at(2026, 3, 11, 0)),
        ("What did we ship last week?", at(2026, 2, 24, 0), at(2026, 3, 11, 0)),
    ],
)
def test_relative_words_are_read_from_the_time_of_the_question(
    question: str, start: datetime, end: datetime
) -> None:
    assert time_hint(question, ASKED) == TimeHint(start=start, end=end)


@pytest.mark.parametrize(
    "question",
    [
        "Who may approve this?",
        "How does the march of the penguins end?",
        "Which of the 12 keys opens it?",
        "",
    ],
)
def test_a_question_without_a_time_has_no_hint(question: str) -> None:
    assert time_hint(question, ASKED) is None


@pytest.mark.parametrize(
    ("hint", "moment", "expected"),
    [
        (TimeHint(year=2023, month=5), at(2023, 5, 31), 1.0),
        (TimeHint(year=2023, month=12), at(2023, 12, 31), 1.0),
        (TimeHint(year=2023, month=5), at(2023, 6, 8, 0), 0.5),
        (TimeHint(year=2023, month=5), at(2023, 4, 24, 0), 0.5),
        (TimeHint(year=2023, month=5), at(2023, 6, 15), 0.0),
        (TimeHint(month=5), at(2019, 5, 3), 1.0),
        (TimeHint(month=12, day=31), at(2020, 1, 2, 0), 1 - 1 / 14),
        (TimeHint(month=2, day=29), at(2024, 2, 29), 1.0),
        (TimeHint(start=at(2026, 3, 9), end=at(2026, 3, 10)), at(2026, 3, 9), 1.0),
    ],
)
def test_nearness_is_one_inside_and_fades_over_two_weeks(
    hint: TimeHint, moment: datetime, expected: float
) -> None:
    assert nearness(hint, moment) == pytest.approx(expected)
