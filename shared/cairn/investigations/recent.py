"""What tools told other investigations of the same customer a moment ago: nobody has to ask twice.

Reads alone, and never another customer's. What was hidden there is hidden here, under placeholders
of this investigation; what nobody can read any more, and what gives orders, is left out.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import timedelta
from functools import cache, partial
from typing import TYPE_CHECKING, cast

from cairn.investigations import citations
from cairn.investigations.opening import Opener, Sealed
from cairn.investigations.run.moving import read
from cairn.investigations.state import Evidence
from cairn.investigations.tool_calls import arguments_in, cut
from cairn.kernel.errors import NotFound, ValidationFailed
from cairn.ledger.keys import BodyUnreadable
from cairn.safety.screening import screen
from cairn.tickets.subjects import owners_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from uuid import UUID

    from cairn.investigations.hiding import Hider
    from cairn.investigations.journal import Journal
    from cairn.investigations.ports import ActionRow
    from cairn.investigations.situation import Situation
    from cairn.kernel.text.json_value import JsonValue
    from cairn.tickets.ticket import Ticket
    from cairn.workspace.settings import EnvelopeSettings

MARGIN = 4
"""Times more calls are read than are shown: the same may have been asked more than once."""

MAX_CHARS = 1_000
"""Of a result that is kept; planners are shown less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentResults:
    """Finds recent results of tools, as many and as old as a workspace's envelope may hold."""

    journal: Journal
    bounds: Callable[[UUID], EnvelopeSettings]

    def __call__(self, situation: Situation, ticket: Ticket, hide: Hider) -> tuple[Evidence, ...]:
        """Return each tool's newest answer to a question, the newest first.

        Only values of what is returned come into the vault: its owners are known, and can forget.
        """
        workspace_id = situation.workspace_id
        bounds = self.bounds(workspace_id)
        most, seconds = bounds.connector_recent_results, bounds.connector_recent_seconds
        if not most or not seconds:
            return ()
        rows = self._rows(situation, ticket, most * MARGIN, timedelta(seconds=seconds))
        vault_of = cache(partial(self._vault, workspace_id))
        found: dict[str, Evidence] = {}
        for row in rows:
            before, said = hide.vault, self._opened(workspace_id, row)
            vault = vault_of(row.investigation_id) if said is not None else None
            told = _told(row, said, vault, hide)
            if told is None or told[0] in found or screen(told[1]).injection:
                hide.vault = before
                continue
            found[told[0]] = Evidence(citation=citations.tool(row.id), text=told[1])
            if len(found) == most:
                break
        return tuple(found.values())

    def _rows(
        self, situation: Situation, ticket: Ticket, most: int, window: timedelta
    ) -> Sequence[ActionRow]:
        """Return calls for the ticket's customer's tickets; for its requester's without one."""
        owners = owners_of(ticket)[:1]
        with self.journal.reading(situation.workspace_id) as stores:
            known = stores.subjects.find(owners)
            return stores.actions.recent(
                ticket.id,
                situation.investigation.id,
                owner=next(iter(known.values()), None),
                alone=any(kind == "person" for kind, _ in owners),
                since=self.journal.clock() - window,
                limit=most,
            )

    def _opened(self, workspace_id: UUID, row: ActionRow) -> dict[str, JsonValue] | None:
        """Return a call's arguments and result; None where nobody can read them any more."""
        sealed = [
            Sealed(id=row.id, data_subjects=row.data_subjects, body=body)
            for body in (row.input, row.output)
        ]
        try:
            opener = Opener(keys=self.journal.keys, cipher=self.journal.cipher)
            asked, came = opener(workspace_id, sealed)
        except BodyUnreadable:
            return None
        arguments = arguments_in(asked or {})
        if arguments is None or came is None:
            return None
        return {"arguments": arguments, "text": str(came.get("text", ""))}

    def _vault(self, workspace_id: UUID, investigation_id: UUID | None) -> Mapping[str, str] | None:
        """Return what the placeholders of a call stand for; None where nobody knows any more."""
        if investigation_id is None:
            return None
        try:
            return read(self.journal, workspace_id, investigation_id).memory.vault
        except (BodyUnreadable, NotFound):
            return None


def _told(
    row: ActionRow,
    said: Mapping[str, JsonValue] | None,
    vault: Mapping[str, str] | None,
    hide: Hider,
) -> tuple[str, str] | None:
    """Return what was asked, and that with what came of it, in this investigation's placeholders.

    None for what cannot be hidden again.
    """
    if said is None or vault is None:
        return None
    try:
        moved = cast("dict[str, JsonValue]", hide.moved(dict(said), vault))
    except ValidationFailed:
        return None
    arguments = json.dumps(moved["arguments"], sort_keys=True, ensure_ascii=False)
    asked = f"{row.connector}.{row.tool} {arguments}"
    came = citations.without(str(moved["text"]))
    return asked, cut(f"{asked} at {row.completed_at:%Y-%m-%d %H:%M:%S} UTC: {came}", MAX_CHARS)
