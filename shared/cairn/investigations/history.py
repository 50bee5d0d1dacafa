"""What earlier investigations of a ticket did, for the one that goes on. Not the asking of a person
before a write is repeated: `earlier`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.investigations import citations
from cairn.investigations.ports import ActionState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cairn.investigations.journal import Journal
    from cairn.investigations.ports import ActionRow
    from cairn.investigations.situation import Situation
    from cairn.investigations.state import Investigation
    from cairn.tickets.ticket import Ticket

MOST = 3
"""Earlier investigations that are told of, the newest."""

CALLS = 50
"""Calls of each that are looked at, the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class History:
    """Tells of a ticket's earlier investigations: verdict, tools, answer. Not hidden yet."""

    journal: Journal

    def __call__(self, situation: Situation, ticket: Ticket) -> Sequence[str]:
        """Return a text for each, the oldest first; none for a ticket's first investigation."""
        own = situation.investigation.id
        with self.journal.reading(situation.workspace_id) as stores:
            page = stores.investigations.page(
                before=None, limit=MOST + 1, state=None, ticket_id=ticket.id
            )
            earlier = [one for one in page if one.id != own][:MOST]
            calls = [
                stores.actions.page(
                    investigation_id=one.id, connector=None, before=None, limit=CALLS
                )
                for one in earlier
            ]
        told = zip(earlier, calls, strict=True)
        texts = [_told(one, did, ticket.answers.get(one.id, "")) for one, did in told]
        return texts[::-1]


def _told(investigation: Investigation, calls: Sequence[ActionRow], answer: str) -> str:
    ended = investigation.verdict.value if investigation.verdict else "failed"
    sent = (one for one in reversed(calls) if one.state is not ActionState.PROPOSED)
    did = ", ".join(dict.fromkeys(f"{one.connector}.{one.tool} ({_came(one)})" for one in sent))
    parts = [f"An earlier investigation of this ticket ended as {ended}."]
    parts += [f"It called: {did}."] if did else []
    parts += [f"It answered:\n{citations.without(answer)}"] if answer else []
    return " ".join(parts)


def _came(call: ActionRow) -> str:
    return f"{call.state.value}, dry run" if call.dry_run else call.state.value
