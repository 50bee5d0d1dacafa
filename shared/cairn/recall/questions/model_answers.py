"""One question to a chat model, answered in a given shape within a deadline, or not at all.

Not the prompts: each stands beside its use. Not retrying, and not deciding what to do without an
answer: whoever asks has a rule for that.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Generic, TypeVar

from cairn.kernel.errors import CairnError, Unavailable
from cairn.llm.structured import AnswerShape, read
from cairn.recall.questions.model_calls import ModelUse

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from cairn.kernel.clock import Stopwatch
    from cairn.llm.gateway import Gateway
    from cairn.llm.port import ChatAnswer, ChatRequest
    from cairn.recall.questions.model_calls import ModelCalls

SECONDS = 3.0
AT_ONCE = 8
LATE = "chat-late"

Shape = TypeVar("Shape", bound=AnswerShape)


@dataclass(frozen=True, slots=True)
class Answered(Generic[Shape]):
    """What a model answered, and whose model it was."""

    value: Shape
    provider: str


class ModelAnswers:
    """Asks through the gateway on `pool`'s threads, and waits for each answer `seconds` at most.

    At most `at_once` questions are on their way; one more is refused at once, so that a provider
    that hangs cannot hold up every search.
    """

    def __init__(
        self,
        gateway: Gateway,
        *,
        pool: Executor,
        stopwatch: Stopwatch,
        seconds: float = SECONDS,
        at_once: int = AT_ONCE,
    ) -> None:
        self._gateway = gateway
        self._pool = pool
        self._stopwatch = stopwatch
        self._seconds = seconds
        self._places = BoundedSemaphore(at_once)

    def ask(self, request: ChatRequest, shape: type[Shape], calls: ModelCalls) -> Answered[Shape]:
        """Return the answer to `request` as a `shape`, and write the attempt into `calls`.

        Raises Unavailable, with the reason, when there is none in time, when the budget is spent,
        and when the answer is refused, cut short or of another shape.
        """
        began = self._stopwatch()
        use = ModelUse(purpose=request.purpose, ms=0.0)
        try:
            answer = self._within(request, shape, calls)
            use = replace(
                use,
                provider=answer.provider,
                model=answer.model,
                usage=answer.usage,
                cost_usd=answer.cost_usd,
            )
            value = read(answer, shape)
        except CairnError as problem:
            calls.add(replace(use, ms=self._ms_since(began), failure=problem.reason))
            raise Unavailable("No model answered.", reason=problem.reason) from problem
        calls.add(replace(use, ms=self._ms_since(began)))
        return Answered(value, answer.provider)

    def _within(self, request: ChatRequest, shape: type[Shape], calls: ModelCalls) -> ChatAnswer:
        if not self._places.acquire(blocking=False):
            raise Unavailable("Too many questions are on their way.", reason="chat-saturated")
        full = replace(request, schema=shape.model_json_schema(), timeout_s=self._seconds)
        future = self._pool.submit(self._chat, full, calls)
        try:
            return future.result(timeout=self._seconds)
        except TimeoutError:
            if future.cancel():  # it had not begun
                self._places.release()
            raise Unavailable("The model did not answer in time.", reason=LATE) from None

    def _chat(self, request: ChatRequest, calls: ModelCalls) -> ChatAnswer:
        try:
            call = replace(calls.call, attempts=1, seconds=self._seconds)
            return self._gateway.of(call).chat(request, calls.budget)
        finally:
            self._places.release()

    def _ms_since(self, began: float) -> float:
        return (self._stopwatch() - began) * 1000
