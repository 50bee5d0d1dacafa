"""VERDICT: how it ended, and the message: each claim in it has a source or says it has none."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from cairn.investigations import citations
from cairn.investigations.planning.covering import own_names
from cairn.investigations.planning.letters import sober
from cairn.investigations.ports import Change, Fact, Ruling
from cairn.investigations.run.moving import fixed, template_summary
from cairn.investigations.state import Brief, Note, State, Step, Verdict
from cairn.investigations.steps.plan import readable
from cairn.kernel.errors import Unavailable
from cairn.safety.screening import screen
from cairn.safety.tools import Autonomy
from cairn.tickets.queue import MOST_REOPENINGS
from cairn.tickets.ticket import MAX_BODY_CHARS, MAX_TITLE_CHARS, Priority

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.investigations.hiding import Hider, Hiding
    from cairn.investigations.ports import Planner, Situation, Surrounds
    from cairn.investigations.state import Evidence, WorkingMemory
    from cairn.tickets.ticket import Ticket
    from cairn.tickets.write_back import Desk


TRIAGE = "triage"
CUT = "\n[the rest of this ticket is left out]"
_MARGIN = 500  # read beyond the cut, so that no address is cut in two before it is seen


Earlier: TypeAlias = "Callable[[Situation, Ticket], Sequence[str]]"
"""Says what earlier investigations of a ticket did and answered; `History` does."""


Recent: TypeAlias = "Callable[[Situation, Ticket, Hider], tuple[Evidence, ...]]"
"""Finds recent results of tools, hidden; `RecentResults` does."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Triage:
    """Fills the memory of a new investigation. `degraded` says whether the queue is too long."""

    desk: Desk
    hiding: Hiding
    surrounds: Surrounds
    recent: Recent
    earlier: Earlier
    planner: Planner
    degraded: Callable[[UUID], bool]

    def __call__(self, situation: Situation) -> Change:
        """Return PLANNING, or VERDICT with `skipped` for what is not worth investigating."""
        workspace_id = situation.workspace_id
        ticket = self.desk.ticket(workspace_id, situation.investigation.ticket_id)
        hiding = self.hiding.of(situation)
        memory = replace(situation.memory, brief=_brief(ticket, hiding))
        around, line = self._around(situation, ticket, hiding)
        low = ticket.priority is Priority.LOW
        notes = [Note(role="user", text=hiding(item)) for item in self.earlier(situation, ticket)]
        memory = replace(
            memory,
            **around,
            notes=tuple(notes),
            vault=hiding.vault,
            skip_retrieval=low and self.degraded(workspace_id),
        )
        return self._judged(situation, ticket, memory, line)

    def _judged(
        self, situation: Situation, ticket: Ticket, memory: WorkingMemory, line: Step
    ) -> Change:
        if situation.persona.autonomy is Autonomy.OFF:
            return _skipped(memory, line, "agents are switched off for this persona")
        if ticket.reopenings > MOST_REOPENINGS:
            often = f"its requester answered more than {MOST_REOPENINGS} times"
            return _skipped(memory, line, often)
        ruling = self.planner.triage(situation.question(memory))
        if ruling is not None:
            return _skipped(memory, line, ruling.reason)
        worth = Step(system=TRIAGE, action="taken", detail="Worth investigating.", kind="state")
        return Change(target=State.PLANNING, memory=memory, lines=(line, worth))

    def _around(
        self, situation: Situation, ticket: Ticket, hiding: Hider
    ) -> tuple[Mapping[str, tuple[Evidence, ...] | tuple[str, ...]], Step]:
        """Return what else is known, redacted; without it the investigation goes on."""
        try:
            facts, similar, hints = self.surrounds(situation.workspace_id, ticket)
            recent = self.recent(situation, ticket, hiding)
        except Unavailable as error:
            return {}, Step(system=TRIAGE, action="read", detail=error.detail, kind="error")
        text = (
            f"{len(facts)} facts, {len(similar)} similar tickets, {len(recent)} recent results, "
            f"{len(hints)} hints."
        )
        line = Step(
            system=TRIAGE,
            action="read",
            detail=text,
            kind="search",
            citations=tuple(fact.citation for fact in (*facts, *similar, *recent)),
        )
        return {
            "facts": hiding.evidence(facts),
            "similar": hiding.evidence(similar),
            "recent": recent,
            "hints": tuple(hiding(hint) for hint in hints),
        }, line


def _brief(ticket: Ticket, hide: Hider) -> Brief:
    """Return the ticket as models see it.

    The requester is hidden first: an address gives away the name that stands in the text.
    """
    requester, customer = hide(ticket.requester_email or ""), hide(ticket.customer)
    words = ticket.words
    body = hide(words[: MAX_BODY_CHARS + _MARGIN])
    if len(body) > MAX_BODY_CHARS or len(words) > MAX_BODY_CHARS + _MARGIN:
        body = body[:MAX_BODY_CHARS] + CUT
    title = hide(ticket.title[:MAX_TITLE_CHARS])
    return Brief(
        ticket_id=ticket.id,
        source=ticket.source,
        external_id=ticket.external_id,
        title=title,
        body=body,
        customer=customer,
        requester=requester,
        priority=ticket.priority.value,
        language=str(ticket.screening.get("language") or "en"),
        suspicious=_suspicious(ticket),
        own_names=own_names(ticket.requester_email or "", hide.vault, f"{title}\n{body}"),
    )


def _suspicious(ticket: Ticket) -> bool:
    """Return whether the gateway found somebody giving orders; without its word, screening does."""
    screening = ticket.screening.get("injection")
    if screening is not None:
        return bool(screening)
    return screen(f"{ticket.title}\n{ticket.words}").injection


def _skipped(memory: WorkingMemory, line: Step, reason: str) -> Change:
    memory = fixed(memory, Verdict.SKIPPED, reason)
    skipped = Step(system=TRIAGE, action="skipped", detail=reason, kind="verdict")
    return Change(target=State.VERDICT, memory=memory, lines=(line, skipped))


VERDICT = "verdict"
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
            return _verdict_change(replace(memory, summary=text), "rules")
        situation.budget.check()
        question = situation.question(memory)
        ruling = _allowed(self.planner.verdict(question), memory)
        text = self._summary(situation, ruling)
        memory = replace(
            fixed(memory, ruling.verdict, readable(ruling.reason, MAX_REASON_CHARS)), summary=text
        )
        return _verdict_change(memory, ruling.provider)

    def _summary(self, situation: Situation, ruling: Ruling) -> str:
        """Return a message without a claim that has neither source nor disclaimer."""
        memory = situation.memory
        sources = citations.sources(memory)
        situation.budget.check()
        text = readable(self.planner.summary(situation.question(memory), ruling), MAX_SUMMARY_CHARS)
        lacking = citations.unsourced(text, sources)
        if lacking:
            situation.budget.check()
            question = situation.question(_reminded(memory, lacking))
            text = readable(self.planner.summary(question, ruling), MAX_SUMMARY_CHARS)
        text = citations.disclaimed(text, sources, language=memory.brief.language)
        decided = fixed(memory, ruling.verdict, ruling.reason)
        return text or template_summary(decided)


def _allowed(ruling: Ruling, memory: WorkingMemory) -> Ruling:
    """Return the ruling, or a sober one: what nobody may conclude becomes needs_tech."""
    if ruling.verdict in OURS:
        return Ruling(verdict=Verdict.NEEDS_TECH, reason=ruling.reason, provider=ruling.provider)
    return sober(ruling, memory)


def _reminded(memory: WorkingMemory, lacking: Sequence[citations.Claim]) -> WorkingMemory:
    """Return the memory with a note of what had no source, for the second asking only."""
    listed = "\n".join(f"- {claim.text}" for claim in lacking)
    note = Note(role="user", text=f"These claims had no source that resolves:\n{listed}")
    return replace(memory, notes=(*memory.notes, note))


def _verdict_change(memory: WorkingMemory, provider: str) -> Change:
    verdict = memory.verdict or Verdict.FAILED
    cited = tuple(dict.fromkeys(str(citation) for citation in citations.citations(memory.summary)))
    line = Step(
        system=VERDICT,
        action=verdict.value,
        detail=f"{memory.verdict_reason} ({provider})",
        kind="verdict",
        citations=cited,
    )
    summary = Step(
        system=VERDICT, action="summary", detail=memory.summary, kind="message", citations=cited
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
