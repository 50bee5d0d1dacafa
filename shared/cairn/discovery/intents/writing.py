"""How intents are written: the row by compare-and-set and the entry that becomes the node."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from cairn.discovery.intents.rows import (
    CHANGED,
    CREATED,
    OPEN,
    UPDATED,
    IntentRow,
    IntentState,
)
from cairn.kernel.errors import Conflict, NotFound
from cairn.kernel.text.canonical import format_timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping
    from datetime import datetime
    from uuid import UUID

    from cairn.discovery.intents.statements import Side
    from cairn.writing.writer import Write

LASTS = timedelta(days=90)
"""How long an intent is looked for unless told otherwise; refreshing begins it again."""

MOST_OPEN = 500
"""Intents of a member that are not over."""


class IntentsMoved(Conflict):
    """Another change came first; it has to be looked at again."""

    code = "moved"

    def __init__(self) -> None:
        super().__init__("These intents were changed meanwhile; look at them again.")


@dataclass(frozen=True, slots=True, kw_only=True)
class IntentWrite:
    """A write of one member's intents. `touched` need vectors, `ready` are to be looked for."""

    write: Write
    member_id: UUID
    client_id: str
    source_agent: str
    touched: list[UUID] = field(default_factory=list["UUID"])

    def create(
        self,
        intent_id: UUID,
        side: Side,
        text: str,
        metadata: Mapping[str, Any],
        expires_at: datetime | None,
    ) -> IntentRow:
        """Make an intent; Conflict (`too-many-intents`) where the member has MOST_OPEN open."""
        now = self.write.now
        if len(self.write.stores.intents.open(self.member_id)) >= MOST_OPEN:
            raise Conflict(
                f"A member has at most {MOST_OPEN} open intents; close some first.",
                reason="too-many-intents",
            )
        row = IntentRow(
            id=intent_id,
            member_id=self.member_id,
            side=side.value,
            state=IntentState.ACTIVE,
            version=1,
            created_at=now,
            changed_at=now,
            expires_at=expires_at or now + LASTS,
        )
        self.write.stores.intents.add(row)
        self._note(CREATED, row, metadata, text)
        return row

    def update(
        self, seen: IntentRow, text: str, metadata: Mapping[str, Any], **changes: Any
    ) -> IntentRow:
        """Change what an intent says, in place."""
        row = self._moved(seen, replace(seen, **changes))
        self._note(UPDATED, row, metadata, text)
        return row

    def stand(
        self, seen: IntentRow, metadata: Mapping[str, Any], state: IntentState, **changes: Any
    ) -> IntentRow:
        """Change how an intent stands; one that is over leaves its networks."""
        row = self._moved(seen, replace(seen, state=state, **changes))
        if state not in OPEN:
            self.write.stores.intents.unassign((row.id,), self.write.now)
        self._note(CHANGED, row, metadata)
        return row

    def _moved(self, seen: IntentRow, to: IntentRow) -> IntentRow:
        to = replace(to, changed_at=self.write.now)
        if not self.write.stores.intents.move(seen, to):
            raise IntentsMoved
        return replace(to, version=seen.version + 1)

    def _note(
        self, type_: str, row: IntentRow, metadata: Mapping[str, Any], text: str | None = None
    ) -> None:
        meta = {
            "intent_id": str(row.id),
            "side": row.side,
            "state": row.state.value,
            "version": row.version,
            "expires_at": format_timestamp(row.expires_at) if row.expires_at else None,
            "scope": "shared",
        }
        body: dict[str, Any] = {
            "metadata": dict(metadata),
            "client_id": self.client_id,
            "agents": None,
            "source_agent": self.source_agent,
        }
        if text is not None:
            body["text"] = text
            self.touched.append(row.id)
        self.write.entries.add(
            type_, meta, body, data_subjects=(self.member_id,), occurred_at=self.write.now
        )


def missing(intent_id: UUID) -> NotFound:
    """Return the refusal of an intent that there is not."""
    return NotFound("There is no such intent.", intent_id=str(intent_id))
