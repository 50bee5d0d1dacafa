"""What tests of questions to a chat model share: answers over a scripted model, and a budget."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.support.chat import ScriptedModel

from cairn.llm.budget import Budget, Limits
from cairn.llm.router import Router
from cairn.retrieval.model_answers import ModelAnswers
from cairn.retrieval.model_calls import ModelCalls

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cairn.errors import Unavailable


class Watch:
    """A stopwatch that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def model_calls(**limits: object) -> ModelCalls:
    """Return the calls of one search, with these limits."""
    budget = Budget(Limits(**limits), stopwatch=Watch())  # pyright: ignore[reportArgumentType]
    return ModelCalls(budget)


@contextmanager
def scripted(*answers: str | Unavailable) -> Iterator[tuple[ModelAnswers, ScriptedModel]]:
    """Yield answers that come from `answers` in turn, and the model that gives them."""
    model = ScriptedModel(*answers)
    with ThreadPoolExecutor(2) as pool:
        yield ModelAnswers(Router([model]), pool=pool, stopwatch=Watch()), model
