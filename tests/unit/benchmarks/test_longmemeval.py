"""Reading LongMemEval files: histories by session or by message, and files of another format."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import pytest

from benchmarks.longmemeval import SESSION, TURN, read_histories
from cairn.cli.client import Failure

if TYPE_CHECKING:
    from pathlib import Path


def entry(**changes: Any) -> dict[str, Any]:
    given: dict[str, Any] = {
        "question_id": "q1",
        "question_type": "single-session-user",
        "question": "Where is the boat?",
        "answer_session_ids": ["s2"],
        "haystack_session_ids": ["s1", "s2", "s2"],
        "haystack_dates": [
            "2023/05/20 (Sat) 02:21",
            "2023/05/21 (Sun) 10:00",
            "2023/05/21 (Sun) 10:00",
        ],
        "haystack_sessions": [
            [{"role": "user", "content": "Hello"}, {"role": "assistant", "content": " "}],
            [
                {"role": "user", "content": "The boat is in Bergen.", "has_answer": True},
                {"role": "assistant", "content": "Good."},
            ],
            [{"role": "user", "content": "again"}],
        ],
    }
    return given | changes


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "questions.json"
    absent = entry(question_id="q2_abs")
    unmarked = entry(question_id="q3", answer_session_ids=["s1"])
    unmarked["haystack_sessions"] = [[{"role": "user", "content": "Hi"}], [], []]
    path.write_text(json.dumps([entry(), absent, unmarked]), encoding="utf-8")
    return path


def test_by_session_every_message_stands_for_its_session(path: Path) -> None:
    first, second = read_histories(path, grain=SESSION, limit=None)
    assert [turn.id for turn in first.turns] == ["s1", "s2", "s2"]
    assert first.questions[0].evidence == {"s2"}
    assert first.questions[0].category == "single-session-user"
    assert second.questions[0].evidence == {"s1"}


def test_by_turn_the_marked_message_is_the_evidence(path: Path) -> None:
    (history,) = read_histories(path, grain=TURN, limit=None)
    assert [turn.id for turn in history.turns] == ["s1:0", "s2:0", "s2:1"]
    assert history.questions[0].evidence == {"s2:0"}
    assert history.turns[2].occurred_at == datetime(2023, 5, 21, 10, 0, 1, tzinfo=UTC)
    assert history.turns[1].text == "user: The boat is in Bergen."


def test_only_the_first_so_many_are_read(path: Path) -> None:
    assert len(read_histories(path, grain=SESSION, limit=1)) == 1


@pytest.mark.parametrize("text", ["{", "{}", "[1]", '[{"question_id": "a"}]', "[]"])
def test_a_file_of_another_format_is_named(text: str, tmp_path: Path) -> None:
    path = tmp_path / "questions.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(Failure, match=r"questions\.json"):
        read_histories(path, grain=SESSION, limit=None)
