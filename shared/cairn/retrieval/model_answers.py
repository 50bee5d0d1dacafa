"""One question to a chat model, answered in a given shape within a deadline, or not at all.

Not the prompts: each stands beside its use. Not retrying, and not deciding what to do without an
answer: whoever asks has a rule for that.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from threading import BoundedSemaphore
from typing import TYPE_CHECKING, Annotated, Generic, TypeVar
from xml.sax.saxutils import escape, quoteattr

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from cairn.errors import CairnError, Unavailable
from cairn.llm.port import Finish
from cairn.retrieval.model_calls import ModelUse

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from cairn.clock import Stopwatch
    from cairn.llm.port import ChatAnswer, ChatRequest, Purpose
    from cairn.llm.router import Router
    from cairn.retrieval.model_calls import ModelCalls

SECONDS = 3.0
AT_ONCE = 8
LATE = "chat-late"

_SPACE = re.compile(r"[\s\x00-\x1f\x7f]+")
_FENCED = re.compile(r"\A\s*```(?:json)?\s*(.*?)\s*```\s*\Z", re.DOTALL)


class AnswerShape(BaseModel):
    """Base of what models are to answer: nothing more, nothing less, no number that is none.

    A shape states no bounds, since not every provider accepts them in a schema; its validators do.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, allow_inf_nan=False)


def _within_one(value: float) -> float:
    if not 0.0 <= value <= 1.0:
        raise ValueError("not between 0 and 1")
    return value


Share = Annotated[float, AfterValidator(_within_one)]
"""A number from 0 to 1."""

Shape = TypeVar("Shape", bound=AnswerShape)


@dataclass(frozen=True, slots=True)
class Answered(Generic[Shape]):
    """What a model answered, and whose model it was."""

    value: Shape
    provider: str


class ModelAnswers:
    """Asks through the router on `pool`'s threads, and waits for each answer `seconds` at most.

    At most `at_once` questions are on their way; one more is refused at once, so that a provider
    that hangs cannot hold up every search.
    """

    def __init__(
        self,
        router: Router,
        *,
        pool: Executor,
        stopwatch: Stopwatch,
        seconds: float = SECONDS,
        at_once: int = AT_ONCE,
    ) -> None:
        self._router = router
        self._pool = pool
        self._stopwatch = stopwatch
        self._seconds = seconds
        self._places = BoundedSemaphore(at_once)

    def can(self, purpose: Purpose) -> bool:
        """Return whether any model is configured for `purpose`."""
        return self._router.answers(purpose)

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
            return self._router.chat(request, calls.budget)
        finally:
            self._places.release()

    def _ms_since(self, began: float) -> float:
        return (self._stopwatch() - began) * 1000


def read(answer: ChatAnswer, shape: type[Shape]) -> Shape:
    """Return the answer's text as a `shape`; code fences around it are forgiven, nothing else is.

    Raises Unavailable without a word of the answer in it.
    """
    if answer.finish is not Finish.COMPLETE:
        raise Unavailable("The answer is not whole.", reason=f"chat-{answer.finish}")
    fenced = _FENCED.match(answer.text)
    try:
        return shape.model_validate_json(fenced[1] if fenced else answer.text)
    except ValidationError:
        pass  # its text repeats the answer's
    raise Unavailable("The answer is not of the shape asked for.", reason="chat-wrong-shape")


def one_line(text: str) -> str:
    """Return `text` in one line; NUL and other control characters, which no store takes, go."""
    return _SPACE.sub(" ", text).strip()


def as_data(tag: str, text: str, **attributes: str) -> str:
    """Return `text` inside an XML element that it cannot close: data, whatever it says."""
    given = "".join(f" {name}={quoteattr(value)}" for name, value in attributes.items())
    return f"<{tag}{given}>{escape(text)}</{tag}>"
