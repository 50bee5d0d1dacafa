"""The prompt that asks whether a ticket is worth investigating at all."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator

from cairn.investigations.planning.prompts import WHO
from cairn.kernel.text.elements import one_line
from cairn.llm.structured import AnswerShape

MAX_REASON_CHARS: Final = 200

SYSTEM: Final = (
    WHO
    + """
Say whether the ticket is worth an investigation. It is not when nobody asks for anything: thanks,
out-of-office replies, delivery reports, advertising, an empty message. It is in any doubt.

Answer with one JSON object and nothing else:
worth: true or false.
reason: at most twelve words.

Example ticket: Automatic reply: I am out of the office until 3 March.
Example answer: {"worth": false, "reason": "an automatic out-of-office reply"}"""
)


def _line(text: str) -> str:
    line = one_line(text)
    if len(line) > MAX_REASON_CHARS:
        raise ValueError(f"longer than {MAX_REASON_CHARS} characters")
    return line


class Worth(AnswerShape):
    """What a model says of a ticket."""

    worth: bool
    reason: Annotated[str, AfterValidator(_line)]
