"""What the rules make of a question's intents: a table, and what holds for every answer."""

from datetime import UTC, datetime
from decimal import Decimal
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cairn.graph.intent_weights import Intent
from cairn.llm.budget import Budget, Limits
from cairn.llm.costs import Call
from cairn.recall.questions.intents import THRESHOLD, by_rules, chosen, classify, overridden
from cairn.recall.questions.model_calls import ModelCalls, Source
from cairn.recall.questions.understanding import understand

ASKED = datetime(2026, 3, 10, tzinfo=UTC)
WHY, WHEN, WHAT, RELATED = Intent.WHY, Intent.WHEN, Intent.WHAT, Intent.RELATED
GENERAL, WHO_IS, HOW_DOES = Intent.GENERAL, Intent.WHO_IS, Intent.HOW_DOES
PERSONALIZE = Intent.PERSONALIZE


def confidence(question: str) -> dict[Intent, float]:
    return dict(classify(question, understanding=understand(question, ASKED)))


def test_a_question_with_three_intents_has_three() -> None:
    found = confidence("Why do my customers' payments keep failing?")
    assert found == {WHY: 0.7, WHAT: 0.5, WHEN: 0.4}
    assert list(found) == [WHY, WHAT, WHEN]


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("Why did the agent choose a retry?", {WHY}),
        ("What caused the outage?", {WHY}),
        ("What is the root cause of the outage?", {WHY}),
        ("Is there a reason for it?", {WHY}),
        ("How come it stopped?", {WHY}),
        ("Pourquoi le paiement échoue?", {WHY}),
        ("Warum schlägt das fehl?", {WHY}),
        ("¿Por qué falla el pago?", {WHY}),
        ("Почему платёж не прошёл?", {WHY}),
        ("なぜ失敗しましたか", {WHY}),
        ("When did the deploy finish?", {WHEN}),
        ("How often does it fail?", {WHEN}),
        ("How long did it take?", {WHEN}),
        ("In which year did she move?", {WHEN}),
        ("it keeps failing", {WHEN}),
        ("What happened before the crash?", {WHEN, WHAT}),
        ("the outage in 2025", {WHEN}),
        ("What tools were used?", {WHAT}),
        ("Which pump is it?", {WHAT}),
        ("Where is the spare key?", {WHAT}),
        ("notes on Ana Lima", {WHAT}),
        ("Find events similar to the crash", {RELATED}),
        ("more like this", {RELATED}),
        ("Has this happened before?", {RELATED, WHEN}),
        ("Who is Ana?", {WHO_IS, WHAT}),
        ("Who was the owner", {WHO_IS, WHAT}),
        ("How does the deploy work?", {HOW_DOES}),
        ("how to reset the router", {HOW_DOES}),
        ("steps to restore a backup", {HOW_DOES}),
        ("Personalise the digest", {PERSONALIZE}),
        ("what are my preferences for meetings", {PERSONALIZE, WHAT}),
        ("which tea do I like", {PERSONALIZE, WHAT}),
        ("status", {GENERAL}),
        ("blue pump in hall two", {GENERAL}),
        ("Who was running the deploy?", {WHAT}),
        ("", {GENERAL}),
        ("?!", {GENERAL}),
        ("🙂🙂", {GENERAL}),
        ("'; drop table node; --", {GENERAL}),
    ],
)
def test_a_question_has_the_intents_its_words_say(question: str, expected: set[Intent]) -> None:
    assert set(chosen(confidence(question))) == expected


def test_two_witnesses_are_surer_than_one() -> None:
    found = confidence("Why did it fail, what is the root cause?")
    assert found[WHY] == pytest.approx(0.88)  # 1 - (1 - 0.7) x (1 - 0.6)


def test_the_first_word_is_no_name_for_having_a_capital() -> None:
    assert set(chosen(confidence("Restore the backup"))) == {GENERAL}


def test_what_comes_after_the_limit_does_not_count() -> None:
    assert confidence("x " * 50_000 + "why") == {GENERAL: 1.0}


@given(st.text())
def test_something_is_always_above_the_threshold_and_the_surest_comes_first(question: str) -> None:
    found = confidence(question)
    assert max(found.values()) > THRESHOLD
    assert all(0 < sure <= 1 for sure in found.values())
    assert list(found.values()) == sorted(found.values(), reverse=True)


def test_general_stands_alone() -> None:
    assert confidence("nothing in particular") == {GENERAL: 1.0}


def test_an_override_is_the_only_intent() -> None:
    assert overridden(RELATED).confidence == {RELATED: 1.0}


def test_the_rules_say_that_they_are_rules_and_ask_nobody() -> None:
    calls = ModelCalls(Budget(Limits(), stopwatch=lambda: 0.0), Call(workspace_id=UUID(int=1)))
    found = by_rules("why", understanding=understand("why", ASKED), calls=calls)
    assert (found.source, found.provider) == (Source.RULES, None)
    assert (calls.uses, calls.cost_usd) == ((), Decimal(0))
