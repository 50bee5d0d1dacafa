"""What every change of a hand-off goes by: its chat held, its session moved, its refusals."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.chat.handoff import OPEN, SESSION_OF, HandOffRow, HandOffState, Line, LineBy, LineRow
from cairn.chat.turns import hash_of_session
from cairn.kernel.errors import Conflict, NotFound, RateLimited
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.checks import clean_name

if TYPE_CHECKING:
    from cairn.chat.widget_sessions import CustomerSession, SessionState
    from cairn.kernel.access import Principal
    from cairn.kernel.stores import Stores
    from cairn.writing.writer import Write

MOST_OF_A_CHAT = 5
"""How often a chat may go to a person."""

NAMELESS = "A member of our team"


class Grown(Conflict):
    """Something was said while a ticket was made of what had been said before."""


def session_of(session: CustomerSession) -> bytes:
    """Return what the turns of a customer's session have in common."""
    client = session.row.client_id or GLOBAL_CLIENT
    return hash_of_session(session.workspace_id, session.row.id, client, session.name)


def name_of(principal: Principal, name: str | None = None) -> str:
    """Return by which name a customer knows who answers."""
    if principal.person is not None:
        return principal.name or NAMELESS
    return clean_name(name, "name") or NAMELESS


def current_of(stores: Stores, row: HandOffRow) -> HandOffRow:
    """Return a hand-off as it is, and hold its chat until the transaction ends."""
    stores.hand_offs.hold(row.session)
    current = stores.hand_offs.find(row.id)
    if current is None:
        raise NotFound("There is no such chat with a person.")
    return current


def note(write: Write, row: HandOffRow, what: str) -> None:
    """Plan the entry of a transition: ids and words of ours, nothing that anybody said."""
    meta = {
        "hand_off_id": str(row.id),
        "state": row.state.value,
        "cause": row.cause.value,
        "operator_id": str(row.operator_id) if row.operator_id else None,
        "ticket_id": str(row.ticket_id) if row.ticket_id else None,
    }
    write.note(what, meta)
    write.tell_channels(row.id)


def move_session(stores: Stores, row: HandOffRow, before: tuple[SessionState, ...]) -> None:
    """Move the widget's session along; one that was removed with its widget is let be."""
    if row.chat_session_id is None:
        return
    state, ended = SESSION_OF[row.state], row.state in (HandOffState.CLOSED, HandOffState.TICKET)
    moved = stores.chat_sessions.move(row.chat_session_id, before, state, row.moved_at, ended=ended)
    if not moved and stores.chat_sessions.by_id(row.chat_session_id) is not None:
        raise Conflict("Nothing was said in this chat, or it is over.", reason="session-state")


def require_room(stores: Stores, session: bytes) -> None:
    """Raise RateLimited for a chat that went to people too often."""
    if stores.hand_offs.number_of(session) >= MOST_OF_A_CHAT:
        raise RateLimited(
            "A person was asked for too often in this chat.", retry_after=3_600, reason="hand-offs"
        )


def the_same(line: Line, present: LineRow, text: str) -> Line:
    """Return a line that is there; Conflict when it says something else."""
    if present.speaker is not LineBy.OPERATOR or line.text != text:
        raise Conflict("This line_id is another line's.", reason="line-id")
    return line


def taken(row: HandOffRow) -> Conflict:
    """Return the refusal of a chat that somebody has."""
    detail = f"{row.operator or 'Somebody'} has accepted this chat; you can take it over."
    return Conflict(detail, reason="accepted")


def over(row: HandOffRow) -> Conflict:
    """Return the refusal of a chat that is no person's any more."""
    ends = {
        HandOffState.RETURNED: "The agent answers this chat again.",
        HandOffState.TICKET: "This chat is over: it became a ticket.",
    }
    return Conflict(ends.get(row.state, "This chat is over."), reason="hand-off-over")


def not_yours(row: HandOffRow) -> Conflict:
    """Return the refusal of who does not have a chat."""
    if row.state not in OPEN:
        return over(row)
    if row.operator is None:
        return Conflict("Nobody has this chat: accept it first.", reason="not-yours")
    return Conflict(f"{row.operator} has this chat; take it over first.", reason="not-yours")
