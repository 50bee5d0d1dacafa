"""The compaction benchmark: what counts as left, alone and with what is recalled."""

from datetime import UTC, datetime

from benchmarks.compaction.run import SHARES, Answered, left_in, report
from benchmarks.locomo.corpus import Conversation, Question, Turn


def turn(name: str, text: str) -> Turn:
    return Turn(
        id=name,
        text=f"Ines: {text}",
        session_id="s",
        sequence=0,
        occurred_at=datetime(2026, 5, 1, tzinfo=UTC),
    )


def test_a_turn_is_left_when_its_whole_text_is() -> None:
    turns = (turn("D1:1", "The boat\nis in Bergen."), turn("D1:2", "It leaks a little."))
    conversation = Conversation(name="x", turns=turns, questions=())
    assert left_in("- Ines: The boat is in Bergen. It leaks", conversation) == {"D1:1"}


def test_evidence_counts_once_in_the_context_or_among_the_first_ten() -> None:
    evidence = frozenset({"D1:1", "D1:2", "D1:3", "D1:4"})
    found = (frozenset({"D1:1"}), *[frozenset[str]()] * 9, frozenset({"D1:4"}))
    left = dict.fromkeys(SHARES, frozenset({"D1:1", "D1:2"}))
    one = Answered(
        question=Question(text="?", category="single_hop", evidence=evidence),
        recalled=found,
        left=left,
    )
    made = [{"share": share, "ms": 10.0, "of": share} for share in SHARES]
    told = report([one], made)
    assert told["recall_at_10"] == 0.25
    quarter = told["shares"]["0.25"]
    assert (quarter["in_context"], quarter["in_context_or_recalled_at_10"]) == (0.5, 0.5)
