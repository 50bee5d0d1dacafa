"""The widget of a workspace and its sessions, in PostgreSQL."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from cairn.adapters.postgres.store import Store, record, scalar
from cairn.chat.widget import WidgetRow
from cairn.chat.widget_sessions import SessionKind, SessionRow, SessionState

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping
    from datetime import date, datetime
    from decimal import Decimal
    from uuid import UUID

    from cairn.adapters.postgres.database import Database
    from cairn.chat.widget_sessions import NewSession

SESSION = record(SessionRow, kind=SessionKind, state=SessionState)


class PostgresWidgets(Store):
    """The widget of the transaction's workspace."""

    def find(self) -> WidgetRow | None:
        """Return it."""
        return self.first_of(record(WidgetRow), "widget.find")

    def keep(
        self, widget_id: UUID, settings: Mapping[str, Any], secret: bytes | None, now: datetime
    ) -> None:
        """Keep what it may do; None leaves the secret as it is."""
        self.run("widget.keep", id=widget_id, settings=json.dumps(settings), secret=secret, now=now)

    def remove(self) -> bool:
        """Remove it with its sessions; False when there is none."""
        self.run("widget.drop_sessions")
        return self.run("widget.remove").rowcount == 1

    def spend(self, turn_id: UUID, day: date) -> None:
        """Add what a turn has cost to its day."""
        self.run("widget.spend", turn_id=turn_id, day=day)


class PostgresChatSessions(Store):
    """The sessions of a widget's customers."""

    def tidy(
        self,
        kind: SessionKind,
        now: datetime,
        *,
        idle_before: datetime,
        unused_before: datetime,
        before: datetime,
    ) -> int:
        """Resolve idle sessions of a kind and return how many; drop old ones, and unused ones."""
        moments = {"idle_before": idle_before, "unused_before": unused_before, "before": before}
        return self.run("widget.tidy", kind=kind.value, now=now, **moments).rowcount

    def opened(self, counted: bytes, *, minute: datetime, day: datetime) -> tuple[int, int]:
        """Return how many sessions were opened since two moments; others wait meanwhile."""
        self.run("widget.lock", counted=counted)
        row = self.run("widget.opened", counted=counted, minute=minute, day=day).fetchone()
        return row or (0, 0)

    def said(self, counted: bytes, *, minute: datetime, day: datetime) -> tuple[int, int]:
        """Return how many messages were said since two moments; others wait meanwhile."""
        self.run("widget.lock", counted=counted)
        row = self.run("chat.counted", address=counted, minute=minute, day=day).fetchone()
        return row or (0, 0)

    def open(self, session: NewSession) -> None:
        """Keep a session that begins."""
        self.write("widget.open", session)

    def find(self, token_hash: bytes) -> SessionRow | None:
        """Return the session of a token."""
        return self.first_of(SESSION, "widget.session", token_hash=token_hash)

    def by_id(self, session_id: UUID) -> SessionRow | None:
        """Return a session."""
        return self.first_of(SESSION, "widget.by_id", id=session_id)

    def door_of(self, session_id: UUID) -> str | None:
        """Return by which door a session came; None when there is no such session."""
        return self.value("widget.door_of", id=session_id)

    def agent_of(self, session_id: UUID) -> str | None:
        """Return whose public documents a session is answered from."""
        return self.value("widget.agent_of", id=session_id)

    def spent(self, day: date) -> Decimal:
        """Return what chats have cost on a day, by whatever door."""
        return self.value("widget.spent", day=day)

    def say(self, session_id: UUID, now: datetime) -> tuple[int, bool] | None:
        """Count a message; return how many there are, and whether a challenge was solved."""
        return self.run("widget.say", id=session_id, now=now).fetchone()

    def move(
        self,
        session_id: UUID,
        before: Collection[SessionState],
        state: SessionState,
        now: datetime,
        *,
        ended: bool = False,
    ) -> bool:
        """Move a session; False when it is in none of the states before."""
        moved = self.run(
            "widget.move",
            id=session_id,
            before=[each.value for each in before],
            state=state.value,
            now=now,
            ended_at=now if ended else None,
        )
        return moved.rowcount == 1

    def keep_challenge(self, session_id: UUID, challenge: str) -> None:
        """Keep what a session has to solve."""
        self.run("widget.challenge", id=session_id, challenge=challenge)

    def check(self, session_id: UUID, most: int) -> bool:
        """Count that an answer is asked about elsewhere; False when that was often enough."""
        return self.run("widget.check", id=session_id, most=most).rowcount == 1

    def unchecked(self, session_id: UUID) -> None:
        """Take back that an answer was asked about: nobody said what it is."""
        self.run("widget.unchecked", id=session_id)

    def take_challenge(self, session_id: UUID) -> str | None:
        """Take away what a session had to solve, and return it."""
        return self.value("widget.take_challenge", id=session_id)

    def pass_challenge(self, session_id: UUID) -> None:
        """Note that a session has solved its challenge."""
        self.run("widget.pass", id=session_id)


@dataclass(frozen=True)
class WorkspaceOfWidget:
    """Calls the definer function that says whose a widget is."""

    database: Database

    def __call__(self, widget_id: UUID) -> UUID | None:
        """Return the workspace; None when there is no such widget."""
        with self.database.connection() as connection:
            return scalar(connection, "widget.workspace_of", {"id": widget_id})
