"""WRITING_BACK: the answer goes where the ticket came from, once. The adapters are `helpdesk`'s."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from cairn.investigations import citations
from cairn.investigations.run.ending import halted
from cairn.investigations.situation import Change
from cairn.investigations.state import State, Step, Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.investigations.hiding import Hiding
    from cairn.investigations.ports import TicketDesk
    from cairn.investigations.situation import Situation
    from cairn.investigations.state import WorkingMemory

SYSTEM = "helpdesk"
LOST: Mapping[str, str] = MappingProxyType(
    {
        "refused": "The help desk did not take the answer: nobody has read it.",
        "needs-auth": "The help desk has to be signed in to again: nobody has read the answer.",
    }
)
"""What became of a reply that nobody will read, in a sentence."""

_MS_A_MINUTE = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteBack:
    """Puts the values back into the summary and hands it to the desk."""

    desk: TicketDesk
    hiding: Hiding

    def __call__(self, situation: Situation) -> Change:
        """Return DONE, or HALTED when the source does not take the answer.

        Raises Unavailable when it does not answer.
        """
        memory = situation.memory
        verdict = memory.verdict or Verdict.FAILED
        private = not verdict.answers
        done = self.desk.write_back(
            situation.workspace_id,
            situation.investigation.ticket_id,
            investigation_id=situation.investigation.id,
            verdict=verdict,
            summary=self._said(memory, private=private),
            minutes=max(1, -(-memory.spending.ms // _MS_A_MINUTE)),
            private=private,
            data_subjects=situation.investigation.data_subjects,
        )
        reply = done.get("reply", "")
        if reply in LOST:
            return halted(memory, Verdict.NEEDS_TECH, LOST[reply], code=f"write-back-{reply}")
        parts = ", ".join(f"{part} {how}" for part, how in sorted(done.items()))
        what = "note" if private else "reply"
        line = Step(
            system=SYSTEM,
            action="written_back",
            detail=f"A {what}: {parts or 'nothing to do'}.",
            kind="message",
        )
        return Change(target=State.DONE, memory=memory, lines=(line,), verdict=verdict)

    def _said(self, memory: WorkingMemory, *, private: bool) -> str:
        """Return the summary as it is read: with its citations by the desk's own people.

        The requester reads the titles of documents in their place, and no values but the ticket's
        own.
        """
        if private:
            return self.hiding.restored(memory.summary, memory.vault)
        return self.hiding.restored(citations.for_readers(memory.summary), of_ticket(memory))


def of_ticket(memory: WorkingMemory) -> Mapping[str, str]:
    """Return what of the vault stands in the ticket itself: what was read elsewhere stays hidden.

    A public answer may be read by anybody.
    """
    brief = memory.brief
    told = f"{brief.title}\n{brief.body}\n{brief.customer}\n{brief.requester}"
    return {one: value for one, value in memory.vault.items() if one in told}
