"""What a model is told of a session: a briefing, the turns since, and never more than fits."""

from datetime import UTC, datetime, timedelta

import pytest

from cairn.chat.window import (
    LEAST_ROOM,
    MOST_EXCHANGES,
    Briefing,
    Earlier,
    Exchange,
    before_the_model,
    grown,
    room_of,
    since,
)

NOON = datetime(2026, 5, 1, 12, tzinfo=UTC)
HISTORY = [
    Exchange(question=f"question {n}", answer="a" * 300, ended_at=NOON + timedelta(minutes=n))
    for n in range(10)
]


def test_a_briefing_stands_for_the_turns_that_ended_before_it() -> None:
    earlier = since(HISTORY, Briefing(text="short", since=NOON + timedelta(minutes=7)))
    assert [each.question for each in earlier.exchanges] == [f"question {n}" for n in (7, 8, 9)]
    whole = since(HISTORY, Briefing(text="short", since=None))
    assert list(whole.exchanges) == HISTORY
    assert since(HISTORY, None) == Earlier(exchanges=tuple(HISTORY))


@pytest.mark.parametrize("room", [0, 1, 100, 250, 400, 10_000])
def test_what_is_told_fits_the_newest_first_and_the_question_always_stands(room: int) -> None:
    told = before_the_model(Earlier(exchanges=tuple(HISTORY), briefing="b" * 90), "And?", room=room)
    assert told[-1].text.endswith("And?")
    assert ("<briefing>" in told[-1].text) == (room >= 100)
    said = [message.text for message in told[:-1]]
    assert sum(len(text) for text in said) <= 3 * room
    assert said[-1:] in ([], ["a" * 300])
    assert len(said) == 2 * min(10, max(0, (room - 32) // 104))


def test_a_session_has_grown_when_its_room_is_taken_or_its_turns_could_not_all_be_read() -> None:
    earlier = Earlier(exchanges=tuple(HISTORY))
    size = earlier.tokens + HISTORY[0].tokens
    assert grown(earlier, HISTORY[0], size + 1) is None
    assert grown(earlier, HISTORY[0], size) == size
    many = Earlier(exchanges=tuple(HISTORY[:1] * (MOST_EXCHANGES - 1)))
    assert grown(many, HISTORY[0], 1_000_000) is not None
    assert grown(many, HISTORY[0], LEAST_ROOM - 1) is None


def test_a_window_that_the_tools_take_leaves_no_room() -> None:
    assert room_of(4_000, "x" * 20_000, ()) == 0
    assert room_of(4_000, "x" * 300, ()) == 2_900
