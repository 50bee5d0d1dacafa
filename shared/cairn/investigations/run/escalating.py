"""Queues the call of a person: one an investigation, and the message that wakes who delivers it.

Not the delivery: `people.delivering`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.investigations.journal import agent_of
from cairn.investigations.people.ports import Escalation
from cairn.investigations.run.moving import found, ids
from cairn.kernel.ids import derived_id
from cairn.writing.ports import Topic

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.investigations.journal import Journal, Page
    from cairn.investigations.ports import TicketDesk
    from cairn.investigations.state import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEscalation:
    """Implements `agent.ports.Escalate`: whoever was called before is not called again."""

    journal: Journal
    desk: TicketDesk

    def __call__(
        self, workspace_id: UUID, investigation_id: UUID, *, verdict: Verdict, why: str
    ) -> None:
        """Queue the call, and say so in the ledger."""
        with self.journal.reading(workspace_id) as stores:
            investigation = found(stores, investigation_id)
        channel = self.desk.persona(workspace_id, investigation.persona).escalation
        escalation_id = derived_id(investigation_id, "escalation")

        def queue(page: Page) -> None:
            new = Escalation(
                id=escalation_id,
                investigation_id=investigation_id,
                ticket_id=investigation.ticket_id,
                verdict=verdict,
                channel=channel,
                why=page.entries.seal(escalation_id, page.data_subjects, {"why": why}),
                data_subjects=page.data_subjects,
                queued_at=page.now,
                updated_at=page.now,
            )
            if not page.stores.escalations.add(new):
                return
            meta = {**ids(investigation), "verdict": verdict.value}
            meta |= {"escalation_id": str(escalation_id), "channel": channel.partition(":")[0]}
            page.note("escalation.queued", meta, {"why": why})
            page.wake(Topic.ESCALATION, investigation_id)

        actor = agent_of(investigation)
        self.journal.write(workspace_id, investigation.data_subjects, actor, queue)
