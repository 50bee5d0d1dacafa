"""Calls of people as they are shown, with the hand-off: all that an investigation did and knows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.investigations import citations
from cairn.investigations.journal import opened, text_in
from cairn.investigations.people.mending import mends_of
from cairn.investigations.run.moving import read
from cairn.investigations.snapshot import dump
from cairn.investigations.views import EscalationView, HandOff
from cairn.kernel.errors import Conflict, NotFound
from cairn.kernel.records import convert
from cairn.ledger.keys import BodyUnreadable, SubjectForgotten
from cairn.writing.append import principal_actor
from cairn.writing.ports import Topic

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.investigations.browse import BrowseInvestigations
    from cairn.investigations.journal import Journal
    from cairn.investigations.ports import Escalation, EscalationState
    from cairn.investigations.state import WorkingMemory
    from cairn.investigations.views import StepView
    from cairn.kernel.access import Principal
    from cairn.kernel.text.json_value import JsonValue
    from cairn.writing.writer import Write

MOST_LINES = 1_000
"""Of a transcript; an investigation with more of them is followed by its steps."""

MOST_CALLS = 200
_PAGE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Escalations:
    """Lists calls of people, shows one with its hand-off, and tries failed ones again.

    For admins and people, trying again for operators: Denied for others, NotFound for another
    workspace's.
    """

    journal: Journal
    browse: BrowseInvestigations

    def page(
        self,
        principal: Principal,
        *,
        state: EscalationState | None = None,
        before: UUID | None = None,
        limit: int = 50,
    ) -> tuple[EscalationView, ...]:
        """Return calls, the newest first."""
        principal.require_person()
        with self.journal.reading(principal.workspace_id) as stores:
            rows = stores.escalations.page(state=state, before=before, limit=limit)
        bodies = opened(self.journal, principal.workspace_id, [(row, row.why) for row in rows])
        pairs = zip(rows, bodies, strict=True)
        return tuple(_view(row, text_in(body, "why")) for row, body in pairs)

    def of(self, principal: Principal, investigation_id: UUID) -> EscalationView | None:
        """Return the call that an investigation made; None when it made none."""
        principal.require_person()
        workspace_id = principal.workspace_id
        with self.journal.reading(workspace_id) as stores:
            row = stores.escalations.of(investigation_id)
        if row is None:
            return None
        (body,) = opened(self.journal, workspace_id, [(row, row.why)])
        return _view(row, text_in(body, "why"))

    def show(self, principal: Principal, escalation_id: UUID) -> HandOff:
        """Return a call with everything whoever takes over needs."""
        principal.require_person()
        workspace_id = principal.workspace_id
        with self.journal.reading(workspace_id) as stores:
            row = stores.escalations.find(escalation_id)
            ticket = stores.tickets.find(row.ticket_id) if row else None
            mend = mends_of(stores, ticket.waits_for if ticket else None)
        if row is None:
            raise _no_such(escalation_id)
        (body,) = opened(self.journal, workspace_id, [(row, row.why)])
        memory = self._memory(workspace_id, row.investigation_id)
        return HandOff(
            escalation=_view(row, text_in(body, "why")),
            investigation=self.browse.glance(principal, row.investigation_id),
            transcript=self._transcript(principal, row.investigation_id),
            tool_calls=self.browse.tool_calls(
                principal,
                investigation_id=row.investigation_id,
                connector=None,
                session_id=None,
                before=None,
                limit=MOST_CALLS,
            ),
            citations=_cited(memory) if memory else (),
            memory=without_vault(memory) if memory else None,
            mend=mend,
        )

    def retry(self, principal: Principal, escalation_id: UUID) -> EscalationView:
        """Queue a call that failed anew; Conflict (`not-failed`) for any other."""
        principal.require_operator()
        workspace_id = principal.workspace_id
        with self.journal.reading(workspace_id) as stores:
            row = stores.escalations.find(escalation_id)
        if row is None:
            raise _no_such(escalation_id)

        def queue(write: Write) -> Escalation | None:
            if not write.stores.escalations.requeue(escalation_id, write.now):
                raise Conflict("This escalation has not failed.", reason="not-failed")
            meta = {
                "investigation_id": str(row.investigation_id),
                "ticket_id": str(row.ticket_id),
                "escalation_id": str(escalation_id),
                "again": True,
            }
            write.note("escalation.queued", meta, {})
            write.wake(Topic.ESCALATION, row.investigation_id)
            return write.stores.escalations.find(escalation_id)

        actor = principal_actor(principal)
        queued = self.journal.write(
            workspace_id, row.data_subjects, actor, queue, person=principal.person
        )
        (body,) = opened(self.journal, workspace_id, [(row, row.why)])
        return _view(queued or row, text_in(body, "why"))

    def _memory(self, workspace_id: UUID, investigation_id: UUID) -> WorkingMemory | None:
        try:
            return read(self.journal, workspace_id, investigation_id).memory
        except (BodyUnreadable, SubjectForgotten):
            return None

    def _transcript(self, principal: Principal, investigation_id: UUID) -> tuple[StepView, ...]:
        lines: list[StepView] = []
        while len(lines) < MOST_LINES:
            after = lines[-1].seq if lines else 0
            page = self.browse.steps(principal, investigation_id, after=after, limit=_PAGE)
            lines += page.items
            if len(page.items) < _PAGE:
                break
        return tuple(lines)


def without_vault(memory: WorkingMemory) -> dict[str, JsonValue]:
    """Return working memory as JSON, with placeholders and without what stands behind them."""
    return {name: value for name, value in dump(memory).items() if name != "vault"}


def _cited(memory: WorkingMemory) -> tuple[str, ...]:
    """Return what was read and what the summary rests on, each once."""
    read = (*memory.evidence, *memory.facts, *memory.similar, *memory.recent)
    tokens = [item.citation for item in read]
    tokens += [citations.tool(observation.action_id) for observation in memory.observations]
    tokens += [str(citation) for citation in citations.citations(memory.summary)]
    return tuple(dict.fromkeys(tokens))


def _view(row: Escalation, why: str | None) -> EscalationView:
    return convert(row, EscalationView, why=why)


def _no_such(escalation_id: UUID) -> NotFound:
    return NotFound("There is no such escalation.", escalation_id=str(escalation_id))
