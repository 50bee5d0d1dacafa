"""What earlier investigations of a ticket did, or may have done: a person is asked before it is
done again. Not what this one did: its own records say that by their digest.

Placeholders have other numbers in every investigation: what is compared is the values.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from cairn.investigations.run.moving import read
from cairn.investigations.tool_calls import opened_input
from cairn.kernel.errors import NotFound, ValidationFailed
from cairn.ledger.keys import BodyUnreadable, SubjectForgotten
from cairn.safety.approval import same_arguments
from cairn.safety.redaction import restore, unknown_placeholder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from cairn.investigations.journal import Journal
    from cairn.investigations.ports import ActionRow
    from cairn.investigations.situation import Situation
    from cairn.kernel.text.json_value import JsonValue
    from cairn.safety.pipeline import Attempt

MOST = 100
"""Calls of a tool for one ticket that are looked at, the newest."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """Finds a write of an earlier investigation of the same ticket with the same arguments."""

    journal: Journal

    def __call__(self, situation: Situation, attempt: Attempt) -> ActionRow | None:
        """Return the newest such call that was not known to fail; None when there is none."""
        investigation, action = situation.investigation, attempt.action
        with self.journal.reading(situation.workspace_id) as stores:
            rows = stores.actions.earlier(
                investigation.ticket_id,
                investigation.id,
                connector=action.connector,
                tool=action.tool,
                limit=MOST,
            )
        wanted = attempt.restored
        return next((row for row in rows if self._is_same(situation, row, wanted)), None)

    def _is_same(
        self, situation: Situation, row: ActionRow, wanted: Mapping[str, JsonValue]
    ) -> bool:
        """Return whether a call had these arguments; True where nobody can read any more which."""
        workspace_id, investigation_id = situation.workspace_id, row.investigation_id
        if investigation_id is None:  # no investigation's: an agent's own call
            return False
        try:
            given = opened_input(self.journal, workspace_id, row)
            vault = read(self.journal, workspace_id, investigation_id).memory.vault
            if given is None or unknown_placeholder(given, vault):
                return True
            made = cast("Mapping[str, JsonValue]", restore(given, vault))
            return same_arguments(made, wanted)
        except (BodyUnreadable, SubjectForgotten, NotFound, ValidationFailed):
            return True
