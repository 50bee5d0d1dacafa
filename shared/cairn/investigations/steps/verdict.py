"""VERDICT: how it ended, and the message: each claim in it has a source or says it has none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from cairn.investigations import citations
from cairn.investigations.planning.verdicts import sober
from cairn.investigations.ports import Ruling
from cairn.investigations.run.ending import fixed, template_summary
from cairn.investigations.situation import Change, Fact
from cairn.investigations.state import Note, State, Step, Verdict
from cairn.investigations.steps.plan import readable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cairn.investigations.ports import Planner
    from cairn.investigations.situation import Situation
    from cairn.investigations.state import WorkingMemory

SYSTEM = "verdict"
MAX_SUMMARY_CHARS = 8_000
MAX_REASON_CHARS = 1_000

OURS = frozenset({Verdict.SKIPPED, Verdict.FAILED_BUDGET})
"""Verdicts that only triage and budgets give: a planner's is read as needs_tech."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GiveVerdict:
    """Asks how it ended, unless that is fixed already; then the message is a template's."""

    planner: Planner

    def __call__(self, situation: Situation) -> Change:
        """Return WRITING_BACK."""
        memory = situation.memory
        if memory.verdict is not None:
            text = memory.summary or template_summary(memory)
            return _given(replace(memory, summary=text), "rules")
        situation.budget.check()
        question = situation.question(memory)
        ruling = _allowed(self.planner.verdict(question), memory)
        text = self._summary(situation, ruling)
        memory = replace(
            fixed(memory, ruling.verdict, readable(ruling.reason, MAX_REASON_CHARS)), summary=text
        )
        return _given(memory, ruling.provider)

    def _summary(self, situation: Situation, ruling: Ruling) -> str:
        """Return a message without a claim that has neither source nor disclaimer."""
        memory = situation.memory
        known = citations.sources(memory)
        situation.budget.check()
        text = readable(self.planner.summary(situation.question(memory), ruling), MAX_SUMMARY_CHARS)
        lacking = citations.unsourced(text, known)
        if lacking:
            situation.budget.check()
            asked = situation.question(_reminded(memory, lacking))
            text = readable(self.planner.summary(asked, ruling), MAX_SUMMARY_CHARS)
        text = citations.disclaimed(text, known, language=memory.brief.language)
        decided = fixed(memory, ruling.verdict, ruling.reason)
        return text or template_summary(decided)


def _allowed(ruling: Ruling, memory: WorkingMemory) -> Ruling:
    """Return the ruling, or a sober one: what nobody may conclude becomes needs_tech."""
    if ruling.verdict in OURS:
        return Ruling(verdict=Verdict.NEEDS_TECH, reason=ruling.reason, provider=ruling.provider)
    return sober(ruling, memory)


def _reminded(memory: WorkingMemory, lacking: Sequence[citations.Claim]) -> WorkingMemory:
    """Return the memory with a note of what had no source, for the second asking only."""
    listed = "\n".join(f"- {one.text}" for one in lacking)
    note = Note(role="user", text=f"These claims had no source that resolves:\n{listed}")
    return replace(memory, notes=(*memory.notes, note))


def _given(memory: WorkingMemory, provider: str) -> Change:
    verdict = memory.verdict or Verdict.FAILED
    cited = tuple(dict.fromkeys(str(one) for one in citations.citations(memory.summary)))
    line = Step(
        system=SYSTEM,
        action=verdict.value,
        detail=f"{memory.verdict_reason} ({provider})",
        kind="verdict",
        citations=cited,
    )
    summary = Step(
        system=SYSTEM, action="summary", detail=memory.summary, kind="message", citations=cited
    )
    fact = Fact(
        type="investigation.verdict",
        meta={"verdict": verdict.value, "citations": len(cited)},
        body={
            "reason": memory.verdict_reason,
            "summary": memory.summary,
            "citations": list(cited),
            "provider": provider,
        },
    )
    return Change(
        target=State.WRITING_BACK,
        memory=memory,
        lines=(line, summary),
        facts=(fact,),
        verdict=verdict,
    )
