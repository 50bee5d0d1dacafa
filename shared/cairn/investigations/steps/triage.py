"""CREATED: read the ticket, hide what is personal, look around, and ask whether it is worth it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from cairn.investigations.planning.covering import own_names
from cairn.investigations.run.ending import fixed
from cairn.investigations.situation import Change
from cairn.investigations.state import Brief, Note, State, Step, Verdict
from cairn.kernel.errors import Unavailable
from cairn.safety.screening import screen
from cairn.safety.tools import Autonomy
from cairn.tickets.reopening import MOST_REOPENINGS
from cairn.tickets.ticket import MAX_BODY_CHARS, MAX_TITLE_CHARS, Priority

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.investigations.hiding import Hider, Hiding
    from cairn.investigations.ports import Planner, Surrounds, TicketDesk
    from cairn.investigations.situation import Situation
    from cairn.investigations.state import Evidence, WorkingMemory
    from cairn.tickets.ticket import Ticket

SYSTEM = "triage"
CUT = "\n[the rest of this ticket is left out]"
_MARGIN = 500  # read beyond the cut, so that no address is cut in two before it is seen


class Earlier(Protocol):
    """Says what earlier investigations of a ticket did and answered; see `agent.history`."""

    def __call__(self, situation: Situation, ticket: Ticket) -> Sequence[str]: ...


class Recent(Protocol):
    """Finds recent results of tools, hidden; see `agent.recent`."""

    def __call__(
        self, situation: Situation, ticket: Ticket, hide: Hider
    ) -> tuple[Evidence, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Triage:
    """Fills the memory of a new investigation. `degraded` says whether the queue is too long."""

    desk: TicketDesk
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
        notes = [Note(role="user", text=hiding(one)) for one in self.earlier(situation, ticket)]
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
        worth = Step(system=SYSTEM, action="taken", detail="Worth investigating.", kind="state")
        return Change(target=State.PLANNING, memory=memory, lines=(line, worth))

    def _around(
        self, situation: Situation, ticket: Ticket, hiding: Hider
    ) -> tuple[Mapping[str, tuple[Evidence, ...] | tuple[str, ...]], Step]:
        """Return what else is known, redacted; without it the investigation goes on."""
        try:
            facts, similar, hints = self.surrounds(situation.workspace_id, ticket)
            recent = self.recent(situation, ticket, hiding)
        except Unavailable as error:
            return {}, Step(system=SYSTEM, action="read", detail=error.detail, kind="error")
        said = (
            f"{len(facts)} facts, {len(similar)} similar tickets, {len(recent)} recent results, "
            f"{len(hints)} hints."
        )
        line = Step(
            system=SYSTEM,
            action="read",
            detail=said,
            kind="search",
            citations=tuple(one.citation for one in (*facts, *similar, *recent)),
        )
        return {
            "facts": hiding.evidence(facts),
            "similar": hiding.evidence(similar),
            "recent": recent,
            "hints": tuple(hiding(one) for one in hints),
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
    said = ticket.screening.get("injection")
    if said is not None:
        return bool(said)
    return screen(f"{ticket.title}\n{ticket.words}").injection


def _skipped(memory: WorkingMemory, line: Step, reason: str) -> Change:
    memory = fixed(memory, Verdict.SKIPPED, reason)
    skipped = Step(system=SYSTEM, action="skipped", detail=reason, kind="verdict")
    return Change(target=State.VERDICT, memory=memory, lines=(line, skipped))
