"""Queues the call of a person: the message that wakes who delivers it. Not the delivery."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.agent.journal import agent_of
from cairn.agent.moving import found, ids
from cairn.ingestion.ports import Topic

if TYPE_CHECKING:
    from uuid import UUID

    from cairn.agent.journal import Journal, Page
    from cairn.agent.state import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueEscalation:
    """Implements `agent.ports.Escalate`; whoever delivers knows what was delivered before."""

    journal: Journal

    def __call__(
        self, workspace_id: UUID, investigation_id: UUID, *, verdict: Verdict, why: str
    ) -> None:
        """Queue the call, and say so in the ledger."""
        with self.journal.reading(workspace_id) as stores:
            investigation = found(stores, investigation_id)

        def queue(page: Page) -> None:
            meta = {**ids(investigation), "verdict": verdict.value}
            page.note("escalation.queued", meta, {"why": why})
            page.wake(Topic.ESCALATION, investigation_id)

        actor = agent_of(investigation)
        self.journal.write(workspace_id, investigation.data_subjects, actor, queue)
