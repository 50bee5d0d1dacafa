"""The prompt that asks for the next step: search, act, or conclude."""

from __future__ import annotations

from typing import Annotated, Final

from pydantic import AfterValidator

from cairn.investigations.planning.prompts import WHO
from cairn.investigations.state import NextKind
from cairn.kernel.text.elements import one_line
from cairn.llm.structured import AnswerShape

MAX_REASON_CHARS: Final = 300
MAX_QUERY_CHARS: Final = 400
MAX_TOOL_CHARS: Final = 200
MAX_EVIDENCE: Final = 12

SYSTEM: Final = (
    WHO
    + """
Say what to do next. <tools> lists the tools there are: scope "read" changes nothing, scope "write"
does, and a person may have to agree first. Prefer what is known already, then reading, then
writing. Write only what mends the problem of the ticket, for whom the ticket is about, and only
when results show that it is needed. A step that was denied or rejected is not repeated: find
another way, or conclude. Conclude as soon as you know how it ends, also when a person has to go on.

Answer with one JSON object and nothing else:
kind: "retrieve" to search the knowledge base, "act" to use a tool, "conclude" to end.
reason: one sentence, why.
query: what to search for, in the words of a runbook; "" unless kind is "retrieve".
tool: the name of the tool exactly as listed; "" unless kind is "act".
evidence: the citations that speak for this step; [] when there are none.

Example ticket: Cannot sign in. Since this morning the portal says my account is locked.
Example of a result before: find_user said locked=true, failed_attempts=7 [tool:0198-a]
Example answer: {"kind": "act", "reason": "The account is locked after failed sign-ins, and the \
runbook says to unlock it.", "query": "", "tool": "accounts.unlock_user", "evidence": \
["[tool:0198-a]", "[doc:kb://lockout.md#Unlock#L12-L30]"]}"""
)


def _short(limit: int) -> AfterValidator:
    def checked(text: str) -> str:
        line = one_line(text)
        if len(line) > limit:
            raise ValueError(f"longer than {limit} characters")
        return line

    return AfterValidator(checked)


def _few(citations: list[str]) -> list[str]:
    if len(citations) > MAX_EVIDENCE:
        raise ValueError(f"more than {MAX_EVIDENCE} citations")
    return citations


class NextStep(AnswerShape):
    """What a model wants to do next. Its tool and its citations are claims."""

    kind: NextKind
    reason: Annotated[str, _short(MAX_REASON_CHARS)]
    query: Annotated[str, _short(MAX_QUERY_CHARS)]
    tool: Annotated[str, _short(MAX_TOOL_CHARS)]
    evidence: Annotated[list[str], AfterValidator(_few)]
