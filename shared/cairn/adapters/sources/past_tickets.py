"""Reads the workspace's own resolved tickets: what is learned of them, without who it was about.

What an item says is what an investigation would stage for review, redacted as it was; a ticket that
is reopened, disputed or forgotten is listed no longer.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from typing import TYPE_CHECKING
from uuid import UUID

from cairn.investigations.people.learning import POOR, is_resolved, text_of, title_of
from cairn.investigations.run.moving import read
from cairn.kernel.errors import NotFound
from cairn.ledger.keys import BodyUnreadable, SubjectForgotten
from cairn.sources.reader import Item, Page
from cairn.sources.source import Content

if TYPE_CHECKING:
    from cairn.investigations.journal import Journal
    from cairn.sources.configs import TicketsConfig
    from cairn.sources.reader import Limits, Marks
    from cairn.tickets.ticket import ResolvedTicket

A_PAGE = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class TicketsReader:
    """Implements `Reader`, by ids of tickets."""

    config: TicketsConfig
    limits: Limits
    journal: Journal

    def version(self) -> str | None:
        """Nothing tells at once."""
        return None

    def page(self, cursor: str | None, marks: Marks) -> Page:
        """Return the tickets after a cursor."""
        until = self.limits.began - timedelta(days=self.config.after_days)
        with self.journal.reading(self.limits.workspace_id) as stores:
            rows = stores.tickets.resolved(
                self.config.sources,
                until,
                poor=POOR,
                after=UUID(cursor) if cursor else UUID(int=0),
                limit=A_PAGE,
            )
        return Page(
            items=tuple(self._item(row) for row in rows),
            cursor=str(rows[-1].id) if len(rows) == A_PAGE else None,
        )

    def close(self) -> None:
        """Nothing is open."""

    def _item(self, row: ResolvedTicket) -> Item:
        mark = f"{row.investigation_id} {row.ended_at.isoformat()}"
        return Item(key=str(row.id), mark=mark, load=partial(self._load, row))

    def _load(self, row: ResolvedTicket) -> Content:
        try:
            ended = read(self.journal, self.limits.workspace_id, row.investigation_id)
        except (BodyUnreadable, SubjectForgotten):
            raise NotFound("Whom the ticket was about was forgotten.", reason="forgotten") from None
        if not is_resolved(ended.investigation) or not ended.memory.summary.strip():
            raise NotFound("The ticket has no answer.", reason="no-answer")
        return Content(
            body=text_of(ended.investigation, ended.memory).encode(),
            media_type="text/markdown",
            title=title_of(ended.memory),
            metadata={"ticket_id": str(row.id), "tickets": row.source},
            subjects=tuple(sorted({*row.data_subjects, *ended.investigation.data_subjects})),
        )
