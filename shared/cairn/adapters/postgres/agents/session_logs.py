"""What is logged of a session, over the tables where it stands, in PostgreSQL."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.adapters.postgres.store import Store, record
from cairn.sessions.logs import Asker, LineSource, LogLine

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID


class PostgresSessionLogs(Store):
    """The lines that the transaction's principal may see."""

    def askers(self) -> Sequence[Asker]:
        """Return whose chats there are."""
        return self.all_of(record(Asker), "session_log.askers")

    def page(
        self,
        session_id: str,
        sessions: Sequence[bytes],
        *,
        stream: str,
        after: tuple[datetime, UUID] | None,
        limit: int,
    ) -> Sequence[LogLine]:
        """Return lines after one, the newest first; `sessions` are the hashes of its chats."""
        before, before_id = after or (None, None)
        return self.all_of(
            record(LogLine, source=LineSource),
            "session_log.page",
            session_id=session_id,
            sessions=list(sessions),
            stream=stream,
            before=before,
            before_id=before_id,
            limit=limit,
        )
