"""Answers of a given shape: what may be asked for, how an answer is read, and how to ask once more.

Not the asking. A model's text is never believed and never repeated in an error.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Generic, TypeVar

from pydantic import AfterValidator, BaseModel, ConfigDict, ValidationError

from cairn.kernel.errors import Unavailable
from cairn.llm.port import Finish, Message, Role

if TYPE_CHECKING:
    from decimal import Decimal

    from cairn.llm.port import ChatAnswer, ChatRequest, Usage

WRONG_SHAPE = "chat-wrong-shape"
MOST_FAULTS = 12
"""Of an answer that is wrong all over, the first few say enough."""

MOST_REPEATED = 20_000
"""Characters of a wrong answer that are shown to the model again."""

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

Shape = TypeVar("Shape", bound=BaseModel)


@dataclass(frozen=True, slots=True, kw_only=True)
class Structured(Generic[Shape]):
    """A value of the shape asked for, and the answer it was read from.

    `usage` and `cost_usd` are of the clarifying request too, when there was one (`asked` is 2);
    the cost is None when one of them has no known price.
    """

    value: Shape
    answer: ChatAnswer
    usage: Usage
    cost_usd: Decimal | None
    asked: int


def read(answer: ChatAnswer, shape: type[Shape]) -> Shape:
    """Return the answer's text as a `shape`; code fences around it are forgiven, nothing else is.

    Raises Unavailable without a word of the answer in it.
    """
    value, _ = parsed(answer, shape)
    if value is not None:
        return value
    if answer.finish is not Finish.COMPLETE:
        raise Unavailable("The answer is not whole.", reason=f"chat-{answer.finish}")
    raise Unavailable("The answer is not of the shape asked for.", reason=WRONG_SHAPE)


def parsed(answer: ChatAnswer, shape: type[Shape]) -> tuple[Shape | None, tuple[str, ...]]:
    """Return the value, or None and what is wrong with the text: places and rules, no values."""
    if answer.finish is not Finish.COMPLETE:
        return None, ("the answer was cut off before its end: answer shorter",)
    fenced = _FENCED.match(answer.text)
    try:
        return shape.model_validate_json(fenced[1] if fenced else answer.text), ()
    except ValidationError as problem:
        details = problem.errors(include_url=False, include_context=False, include_input=False)
    return None, tuple(
        f"{'.'.join(str(part) for part in item['loc']) or 'the text'}: {item['msg']}"
        for item in details[:MOST_FAULTS]
    )


def clarified(request: ChatRequest, answer: ChatAnswer, faults: tuple[str, ...]) -> ChatRequest:
    """Return the request that shows the model its answer and says what was wrong with it."""
    listed = "\n".join(f"- {fault}" for fault in faults)
    message = Message(role=Role.ASSISTANT, text=answer.text[:MOST_REPEATED] or "(nothing)")
    clarification = Message(
        role=Role.USER,
        text=f"That is not of the shape asked for:\n{listed}\n"
        "Answer again with the JSON object alone, and nothing before or after it.",
    )
    return replace(request, messages=(*request.messages, message, clarification))
