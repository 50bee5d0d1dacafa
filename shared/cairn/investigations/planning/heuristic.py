"""The planner without a model: playbooks, read as data against what was seen so far. A `Planner`.

It keeps nothing: the same question gets the same answer, so a lost execution goes on where it was.
It does what rules can be sure of: it looks, changes what a playbook says may be changed, and hands
over all else, with what it has seen. It costs nothing and asks nobody.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from cairn.investigations.planning.letters import letter, sober
from cairn.investigations.planning.looking import act
from cairn.investigations.planning.playbooks.general import ANSWER, AUTHORITY, OUTCOMES
from cairn.investigations.planning.playbooks.playbook import Sign
from cairn.investigations.planning.records import filled, serving
from cairn.investigations.planning.signs import View, view
from cairn.investigations.ports import Ruling
from cairn.investigations.state import MAX_DENIALS, NextKind, Plan, Verdict
from cairn.kernel.errors import Unavailable, ValidationFailed
from cairn.kernel.text.elements import one_line
from cairn.kernel.text.words import words
from cairn.recall.questions.small_talk import small_talk

if TYPE_CHECKING:
    from collections.abc import Callable

    from cairn.investigations.planning.playbooks.playbook import Change, Ending
    from cairn.investigations.ports import Planner, Question
    from cairn.safety.tools import ToolSpec


Said = TypeVar("Said")


@dataclass(frozen=True, slots=True, kw_only=True)
class FallbackPlanner:
    """Asks `first`, and `rules` in its place when it is Unavailable or its request refused.

    `report` is told which part of planning fell back, and why. BudgetExceeded passes through.
    """

    first: Planner
    rules: Planner
    report: Callable[[str, dict[str, Any]], None] = field(default=lambda event, fields: None)

    def triage(self, question: Question) -> Ruling | None:
        """As `Planner`; what rules skip costs no call."""
        return self.rules.triage(question) or self._ask_or_fall_back(
            "triage", question, lambda item: item.triage(question)
        )

    def plan(self, question: Question) -> Plan:
        """As `Planner`."""
        return self._ask_or_fall_back("plan", question, lambda item: item.plan(question))

    def verdict(self, question: Question) -> Ruling:
        """As `Planner`."""
        return self._ask_or_fall_back("verdict", question, lambda item: item.verdict(question))

    def summary(self, question: Question, ruling: Ruling) -> str:
        """As `Planner`."""
        return self._ask_or_fall_back(
            "summary", question, lambda item: item.summary(question, ruling)
        )

    def _ask_or_fall_back(
        self, part: str, question: Question, ask: Callable[[Planner], Said]
    ) -> Said:
        try:
            return ask(self.first)
        except (Unavailable, ValidationFailed) as problem:
            fields = {
                "workspace_id": str(question.workspace_id),
                "investigation_id": str(question.investigation_id),
                "part": part,
                "reason": problem.reason,
            }
            self.report("planner.fell_back", fields)
            return ask(self.rules)


PROVIDER = "heuristic"
QUERY_CHARS = 400
ANOTHER_WAY = frozenset(["denied", "failed"])
"""Outcomes after which another tool is tried: by the rules or the tool, not a person's no."""

_GRAVE = (frozenset([Sign.CLAIMS]), frozenset([Sign.DOUBTED, Sign.SIGN_IN]))
"""Signs of a matter for who has authority, when a rule cannot close it."""

_AUTOMATIC = re.compile(
    r"\b(?:automatic reply|auto-?reply|out of (?:the )?office|autoreply|abwesenheitsnotiz|"
    r"automatische antwort|absence du bureau|r[eé]ponse automatique|respuesta autom[aá]tica|"
    r"fuera de la oficina|delivery status notification|undeliverable|mail delivery failed|"
    r"unzustellbar)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class HeuristicPlanner:
    """Implements `Planner` by rules."""

    def triage(self, question: Question) -> Ruling | None:
        """As `Planner`: skips what is empty, small talk, or written by a machine to a machine."""
        brief = question.memory.brief
        both = f"{brief.title}\n{brief.body}".strip()
        talk = small_talk(brief.body.strip() or brief.title)
        if not words(both):
            return _skipped("the ticket is empty")
        if talk and (small_talk(brief.title) or not brief.title.strip()):
            return _skipped(f"the ticket is {talk}")
        if _AUTOMATIC.search(brief.title):
            return _skipped("an automatic message asks for nothing")
        return None

    def plan(self, question: Question) -> Plan:
        """As `Planner`: search once, look at what the playbook looks at, change, conclude."""
        question.budget.check()
        seen = view(question)
        memory = question.memory
        if not memory.queries and not memory.skip_retrieval:
            return _search(question, seen)
        done = _ending(seen).verdict is Verdict.AUTO_RESOLVED
        if not done and memory.denials < MAX_DENIALS - 1:  # one more would end without a message
            for use in seen.reading.book.looks:
                if (look := seen.looker.next(use)) is not None:
                    return look
            if (change := _change(question, seen)) is not None:
                return change
        return Plan(kind=NextKind.CONCLUDE, reason=_ending(seen).reason, provider=PROVIDER)

    def verdict(self, question: Question) -> Ruling:
        """As `Planner`: the first ending whose signs are seen."""
        seen = view(question)
        ending = _ending(seen)
        verdict, reason = ending.verdict, ending.reason
        closing = verdict in (Verdict.AUTO_RESOLVED, Verdict.NEEDS_CLIENT)
        if Sign.SUSPICIOUS in seen.signs and closing:
            verdict = Verdict.NEEDS_TECH
            reason = "The ticket has words that try to direct a model; a person has to read it."
        elif Sign.UNCOVERED in seen.signs and closing and ending is not ANSWER:
            grave = any(item <= seen.signs.keys() for item in _GRAVE)
            verdict = Verdict.NEEDS_L2 if grave else Verdict.NEEDS_TECH
            reason = "The ticket says more than the rules cover; a person has to read it."
        ruling = Ruling(verdict=verdict, reason=reason, provider=PROVIDER)
        return sober(ruling, question.memory)

    def summary(self, question: Question, ruling: Ruling) -> str:
        """As `Planner`, in English, German, French or Spanish."""
        seen = view(question)
        ending = _ending(seen)
        fits = ending if ending.verdict is ruling.verdict else None
        return letter(question, ruling, seen, fits)


def _search(question: Question, seen: View) -> Plan:
    brief = question.memory.brief
    text = f"{brief.title} {seen.reading.book.search or one_line(brief.body)[:200]}"
    query = one_line(text)[:QUERY_CHARS].strip()
    return Plan(
        kind=NextKind.RETRIEVE,
        reason=f"Look for what is known: {seen.reading.book.name}.",
        query=query,
        provider=PROVIDER,
    )


def _change(question: Question, seen: View) -> Plan | None:
    """Return the change, when its signs are seen, by the first tool that serves."""
    change = seen.reading.book.change
    signs = seen.signs.keys()
    if change is None or not change.when <= signs or change.unless & signs:
        return None
    tried = seen.looker.tries(change.use)
    if any(item.outcome not in ANOTHER_WAY for item in tried):
        return None
    for tool in serving(question.tools, change.use):
        arguments = filled(tool, change.use, seen.looker.slots, change.reason)
        is_tried = any((item.connector, item.tool) == (tool.connector, tool.name) for item in tried)
        if arguments is not None and _may(tool, change) and not is_tried:
            return act(tool, arguments, change.reason, _evidence(seen))
    return None


def _may(tool: ToolSpec, change: Change) -> bool:
    """Return whether a tool is guarded well enough: careful changes need a person's yes."""
    asks = tool.dangerous or tool.requires_approval_above_autonomy is not None
    return asks or not change.careful


def _evidence(seen: View) -> list[str]:
    """Return the sources that speak for a change: what was seen, and the runbook."""
    speaks = (Sign.LOCKED, Sign.ACCOUNT, Sign.FAILURES, Sign.FACTOR_FAILURES, Sign.KNOWN)
    return [seen.signs[sign].citation for sign in speaks if sign in seen.signs]


def _ending(seen: View) -> Ending:
    signs, book = seen.signs.keys(), seen.reading.book
    answer = () if book is AUTHORITY else (ANSWER,)
    return next(
        outcome
        for outcome in (*OUTCOMES, *answer, *book.endings)
        if outcome.when <= signs and not outcome.unless & signs
    )


def _skipped(reason: str) -> Ruling:
    return Ruling(verdict=Verdict.SKIPPED, reason=reason, provider=PROVIDER)
