"""What is logged of a session: searches, calls of tools, chats, messages and events. No texts.

Read over what each of them keeps anyway; nothing is written for it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from cairn.chat.turns import hash_of_session
from cairn.kernel.access import Principal, Role
from cairn.kernel.errors import Denied, ValidationFailed
from cairn.kernel.stores import Stores
from cairn.kernel.transaction import Transactions
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.checks import clean_name


class LogStream(StrEnum):
    """Which lines: all; those with an error; what chats told and agents observed."""

    ALL = "all"
    ERRORS = "errors"
    EVENTS = "events"


class LineSource(StrEnum):
    """What a line is of."""

    SEARCH = "search"
    TOOL = "tool"
    CHAT = "chat"
    EVENT = "event"
    MESSAGE = "message"


@dataclass(frozen=True, slots=True, kw_only=True)
class Asker:
    """Whose chats there are; `client_id` is empty for those about nobody in particular."""

    principal_id: UUID
    client_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    """A line. `subject_id` is the search, call, turn, event or message, `error` a code."""

    id: UUID
    at: datetime
    source: LineSource
    subject_id: UUID
    name: str | None
    state: str | None
    error: str | None
    duration_ms: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSessionLog:
    """The use case. An admin's: a session's chats are of whoever chatted."""

    transactions: Transactions[Stores]

    def __call__(
        self,
        principal: Principal,
        session_id: str,
        *,
        stream: LogStream,
        after: tuple[str, UUID] | None,
        limit: int,
    ) -> Sequence[LogLine]:
        """Return lines after one, the newest first; Denied unless the principal is an admin."""
        if principal.role is not Role.ADMIN:
            raise Denied("Only an admin reads what is logged of a session.", reason="role")
        name = clean_name(session_id, "session_id") or ""
        with self.transactions.reading(principal) as stores:
            askers = stores.session_logs.askers()
            sessions = [
                hash_of_session(
                    principal.workspace_id,
                    asker.principal_id,
                    asker.client_id or GLOBAL_CLIENT,
                    name,
                )
                for asker in askers
            ]
            return stores.session_logs.page(
                name, sessions, stream=stream.value, after=_moment(after), limit=limit
            )


def _moment(after: tuple[str, UUID] | None) -> tuple[datetime, UUID] | None:
    if after is None:
        return None
    try:
        return datetime.fromisoformat(after[0]), after[1]
    except ValueError as error:
        raise ValidationFailed(
            "This cursor is damaged; start again without one.", reason="bad-cursor"
        ) from error
