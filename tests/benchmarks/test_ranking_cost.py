"""What ranking may cost: it runs in every search, between the database and the answer."""

import time
from datetime import UTC, datetime, timedelta
from uuid import UUID

from cairn.recall.questions.understanding import understand
from cairn.recall.ranking import weighted_sum
from cairn.recall.recipes import DEFAULT, KEYWORD, VECTOR
from cairn.recall.records import Candidate, Sketch
from cairn.recall.scoring import score_all

NOW = datetime(2026, 3, 10, tzinfo=UTC)
ROUNDS = 20
CPU_MS = 15.0  # about five times what it takes; a floor of a search is 5 to 10 ms
QUESTION = "When did Ana move to the blue house in May 2022?"


def message(number: int) -> Sketch:
    return Sketch(
        id=UUID(int=number),
        kind="event",
        text=f"Ana: message {number} says that the move to the house took two weeks of work.",
        position=number,
        occurred_at=NOW - timedelta(days=number),
        recorded_at=NOW,
        session_id=f"s{number // 20}",
        document_id=None,
        source_agent=None,
        subject=None,
        canonical_name=None,
        confidence=1.0,
        access_count=number % 3,
        last_accessed_at=None,
    )


def test_understanding_fusing_and_scoring_stay_below_the_floor_of_a_search() -> None:
    messages = [message(number) for number in range(1, DEFAULT.scored + 1)]
    ids = [each.id for each in messages]
    legs = {
        VECTOR: [Candidate(node_id=each, score=0.5) for each in ids[: DEFAULT.candidates]],
        KEYWORD: [Candidate(node_id=each, score=0.1) for each in ids[-DEFAULT.candidates :]],
    }
    start = time.thread_time()
    for _ in range(ROUNDS):
        asked = understand(QUESTION, NOW)
        fused = weighted_sum(legs, DEFAULT.weights, normalised=frozenset({KEYWORD}))
        ranked = score_all(messages[: DEFAULT.scored], fused, asked, DEFAULT, NOW)
    spent = (time.thread_time() - start) / ROUNDS * 1000

    assert len(ranked) == DEFAULT.scored
    assert spent < CPU_MS
