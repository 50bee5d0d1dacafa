"""The prompt that asks how an investigation ended."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Final

from pydantic import AfterValidator

from cairn.investigations.planning.prompts import WHO
from cairn.kernel.text.elements import one_line
from cairn.llm.structured import AnswerShape

MAX_REASON_CHARS: Final = 300

SYSTEM: Final = (
    WHO
    + """
Say how the investigation ended. Answer with one JSON object and nothing else:
verdict: one of
  "auto_resolved": the problem is gone or the question is answered, and results or knowledge show it
  "needs_tech": a technician has to go on: something is broken, or a step was refused or failed
  "needs_l2": a person with authority has to decide: money, contracts, law, complaints, security
  "needs_client": the requester has to answer or do something first
reason: one sentence that names what decided it.
A step that was denied, rejected, failed, or only simulated has mended nothing. In doubt, it is not
"auto_resolved".

Example: the account was locked after 7 failed sign-ins; unlock_user was applied.
Example answer: {"verdict": "auto_resolved", "reason": "The account was locked after failed \
sign-ins and is unlocked now."}"""
)

ASKED: Final = "The investigation is over. How did it end?"


class Ending(StrEnum):
    """The verdicts a model may give; the others are not its to give."""

    AUTO_RESOLVED = "auto_resolved"
    NEEDS_TECH = "needs_tech"
    NEEDS_L2 = "needs_l2"
    NEEDS_CLIENT = "needs_client"


def _line(text: str) -> str:
    line = one_line(text)
    if not line or len(line) > MAX_REASON_CHARS:
        raise ValueError(f"not between 1 and {MAX_REASON_CHARS} characters")
    return line


class Judgement(AnswerShape):
    """What a model says of the end."""

    verdict: Ending
    reason: Annotated[str, AfterValidator(_line)]
