"""What tests of questions to a chat model share: answers over a scripted model, and a budget."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any
from uuid import UUID

from tests.fakes.model_calls import InMemoryCallLog
from tests.support.chat import ScriptedModel

from cairn.llm.budget import Budget, Limits, Terms
from cairn.llm.costs import Call
from cairn.llm.gateway import Gateway, Surroundings
from cairn.recall.questions.model_answers import ModelAnswers
from cairn.recall.questions.model_calls import ModelCalls

if TYPE_CHECKING:
    from collections.abc import Generator

    from cairn.kernel.errors import Unavailable
    from cairn.kernel.ids import IdSource
    from cairn.llm.costs import CallLog
    from cairn.llm.port import ChatModel


CALL = Call(workspace_id=UUID(int=1), run_id=UUID(int=2))
NOON = datetime(2026, 3, 10, 12, tzinfo=UTC)


class Watch:
    """A stopwatch that stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    def pause(self, seconds: float) -> None:
        """Let so much time go by."""
        self.pauses.append(seconds)
        self.now += seconds


def gateway(
    *models: ChatModel,
    terms: Terms | None = None,
    calls: CallLog | None = None,
    watch: Watch | None = None,
    told: list[tuple[str, dict[str, Any]]] | None = None,
    new_ids: IdSource | None = None,
) -> Gateway:
    """Return a gateway whose clock stands still; a pause moves its stopwatch on."""
    watch = watch or Watch()
    heard = [] if told is None else told
    ids = count(1)
    return Gateway(
        models,
        Surroundings(
            terms=lambda workspace_id: terms or Terms(),
            calls=calls or InMemoryCallLog(),
            clock=lambda: NOON,
            stopwatch=watch,
            pause=watch.pause,
            new_id=new_ids or (lambda: UUID(int=next(ids))),
            report=lambda event, fields: heard.append((event, fields)),
        ),
    )


def model_calls(**limits: object) -> ModelCalls:
    """Return the calls of one search, with these limits."""
    budget = Budget(Limits(**limits), stopwatch=Watch())  # pyright: ignore[reportArgumentType]
    return ModelCalls(budget, CALL)


@contextmanager
def scripted(*answers: str | Unavailable) -> Generator[tuple[ModelAnswers, ScriptedModel]]:
    """Yield answers that come from `answers` in turn, and the model that gives them."""
    model = ScriptedModel(*answers)
    with ThreadPoolExecutor(2) as pool:
        yield ModelAnswers(gateway(model), pool=pool, stopwatch=Watch()), model
