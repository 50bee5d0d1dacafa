"""Who says what a question to the graph is after."""

from decimal import Decimal
from typing import Any
from uuid import UUID

from cairn.graph.intent_weights import Intent
from cairn.kernel.clock import monotonic, utc_now
from cairn.llm.budget import Limits
from cairn.recall.questions.intents import InferredIntents, by_rules
from cairn.recall.questions.model_calls import ModelCalls
from cairn.recall.walks.subgraph import Classified

WORKSPACE = UUID(int=1)
LIMITS = Limits(tokens=10, usd=Decimal("0.01"))


def test_a_question_is_classified_as_recall_does_with_a_fresh_budget_each_time() -> None:
    seen: list[ModelCalls] = []

    def model(question: str, *, understanding: Any, calls: ModelCalls) -> InferredIntents:
        seen.append(calls)
        return InferredIntents(confidence={Intent.WHO_IS: 0.9})

    classified = Classified(model, LIMITS, clock=utc_now, stopwatch=monotonic)
    assert classified(WORKSPACE, "Why did it fail?") == {Intent.WHO_IS: 0.9}
    classified(WORKSPACE, "Why did it fail?")
    assert seen[0].call.workspace_id == WORKSPACE
    assert seen[0].budget is not seen[1].budget


def test_without_a_model_the_rules_say() -> None:
    assert Intent.WHY in Classified(by_rules, LIMITS, clock=utc_now, stopwatch=monotonic)(
        WORKSPACE, "Why did the payout fail?"
    )
