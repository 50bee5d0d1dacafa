"""Hand-offs of chats to people, and their lines, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from uuid import UUID

from cairn.adapters.postgres.store import Store, record
from cairn.chat.handoff import (
    SILENCE,
    HandOffCause,
    HandOffRow,
    HandOffState,
    LineBy,
    LineKind,
    LineRow,
)

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence
    from datetime import datetime

_ROW = record(HandOffRow, state=HandOffState, cause=HandOffCause)
_LINE = record(LineRow, kind=LineKind, speaker=LineBy)
NEWEST = UUID(int=2**128 - 1)


class PostgresHandOffs(Store):
    """The hand-offs of the transaction's workspace."""

    def hold(self, session: bytes) -> HandOffRow | None:
        """Return the open hand-off of a chat; whoever else changes the chat waits meanwhile."""
        self.run("widget.lock", counted=session)
        return self.first_of(_ROW, "handoff.open_of", session=session)

    def find(self, handoff_id: UUID) -> HandOffRow | None:
        """Return one."""
        return self.first_of(_ROW, "handoff.find", id=handoff_id)

    def last_of(self, session: bytes) -> HandOffRow | None:
        """Return the last one of a chat, open or not."""
        return self.first_of(_ROW, "handoff.last_of", session=session)

    def number_of(self, session: bytes) -> int:
        """Return how many a chat has had."""
        return self.value("handoff.number_of", session=session)

    def page(
        self, states: Collection[HandOffState], *, before: UUID | None, limit: int
    ) -> Sequence[HandOffRow]:
        """Return those in some states, the newest first."""
        names = [state.value for state in states]
        return self.all_of(_ROW, "handoff.page", states=names, before=before or NEWEST, limit=limit)

    def waiting(self, limit: int) -> Sequence[HandOffRow]:
        """Return those that wait for somebody, whoever waits longest first."""
        return self.all_of(_ROW, "handoff.waiting", limit=limit)

    def due(self, now: datetime, limit: int) -> Sequence[UUID]:
        """Return open ones whose time is up."""
        return self.values("handoff.due", now=now, silence=SILENCE, limit=limit)

    def numbers(self, since: datetime) -> Mapping[str, Any]:
        """Return how many there are and how long customers waited."""
        return self.rows("handoff.numbers", since=since)[0]

    def begin(self, row: HandOffRow) -> bool:
        """Keep one that begins; False when the chat has an open one."""
        return self.write("handoff.begin", row).rowcount == 1

    def move(self, before: HandOffRow, after: HandOffRow) -> bool:
        """Move one; False when it is no longer where it was seen, or another's."""
        moved = self.write(
            "handoff.move",
            after,
            state_before=before.state.value,
            operator_before=before.operator_id,
        )
        return moved.rowcount == 1

    def add_line(self, handoff_id: UUID, line: LineRow) -> int | None:
        """Add a line at the end and return its number; None when it is over."""
        rows = self.write("handoff.add_line", line, handoff_id=handoff_id).fetchone()
        return rows[0] if rows else None

    def line(self, handoff_id: UUID, line_id: UUID) -> LineRow | None:
        """Return the line of an id."""
        return self.first_of(_LINE, "handoff.line", handoff_id=handoff_id, id=line_id)

    def lines(self, handoff_id: UUID, *, after: int, limit: int) -> Sequence[LineRow]:
        """Return lines after a number."""
        return self.all_of(_LINE, "handoff.lines", handoff_id=handoff_id, after=after, limit=limit)

    def unrecorded(self, handoff_id: UUID, limit: int) -> Sequence[LineRow]:
        """Return lines that the conversation does not have yet."""
        return self.all_of(_LINE, "handoff.unrecorded", handoff_id=handoff_id, limit=limit)

    def record_line(self, handoff_id: UUID, seq: int) -> None:
        """Note that the conversation has a line."""
        self.run("handoff.record_line", handoff_id=handoff_id, seq=seq)

    def behind(self, before: datetime, limit: int) -> Sequence[UUID]:
        """Return hand-offs with lines that the conversation should have by now."""
        return self.values("handoff.behind", before=before, limit=limit)

    def drop_old(self, before: datetime) -> None:
        """Drop those that were kept long enough."""
        self.run("handoff.drop_old", before=before)
