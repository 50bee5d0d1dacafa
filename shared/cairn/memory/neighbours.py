"""The messages around a message: what is indexed with it so that "yes, that one" can be found.

A neighbour is of the same session and the same audience, so context never carries text to someone
who may not see it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

CONTEXT_MESSAGES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a session, as far as its neighbours are concerned."""

    id: UUID
    sequence: int
    text: str


def context_of(session: Iterable[Message], message: Message) -> str | None:
    """Return up to CONTEXT_MESSAGES earlier messages, oldest first, one a line; None if none."""
    earlier = [other for other in session if _order(other) < _order(message)]
    chosen = sorted(earlier, key=_order)[-CONTEXT_MESSAGES:]
    return "\n".join(other.text for other in chosen) or None


def dependants(session: Sequence[Message], message: Message) -> tuple[Message, ...]:
    """Return the later messages whose context contains `message`: they are re-enriched with it."""
    later = [other for other in session if _order(other) > _order(message)]
    return tuple(sorted(later, key=_order)[:CONTEXT_MESSAGES])


def _order(message: Message) -> tuple[int, UUID]:
    return (message.sequence, message.id)
