"""The names a question may call entities by."""

import pytest

from cairn.recall.questions.understanding import MAX_NAMES, question_names


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("Why did Stripe fail?", {"stripe", "fail", "stripe fail"}),
        ("What does Marias Bakery use next.js for?", {"marias bakery", "next.js", "use"}),
        ("is 'card declined' known", {"card declined", "card", "declined"}),
        ("Where is acme-corp.com hosted?", {"acme-corp.com"}),
    ],
)
def test_words_and_runs_of_words_are_names(question: str, names: set[str]) -> None:
    assert names <= set(question_names(question))


@pytest.mark.parametrize("question", ["", "   ", "what is it?", "?!...", "the of and"])
def test_small_words_are_no_names(question: str) -> None:
    assert question_names(question) == ()


@pytest.mark.parametrize(
    "question",
    ["word " * 20_000, "🪨" * 50_000, "a b c d " * 5_000, "'; DROP TABLE node; --", "x" * 100_000],
)
def test_any_question_has_a_bounded_number_of_names(question: str) -> None:
    assert len(question_names(question)) <= MAX_NAMES


def test_pairs_come_before_single_words() -> None:
    found = question_names("payout settlement delays")
    assert found.index("payout settlement") < found.index("payout")
