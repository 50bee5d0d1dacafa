"""The messages around a message: what is indexed with it so that "yes, that one" can be found.

A neighbour is of the same session and the same audience, so context never carries text to someone
who may not see it.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

CONTEXT_MESSAGES = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One message of a session, as far as its neighbours are concerned."""

    id: UUID
    sequence: int
    text: str


class Conversation:
    """The messages of one session and audience, in order. Not all of them need be known: those
    around the one asked about are enough."""

    def __init__(self, messages: Iterable[Message] = ()) -> None:
        self._messages = sorted(messages, key=_order)

    def add(self, message: Message) -> None:
        """Take in a new message."""
        insort(self._messages, message, key=_order)

    def remove(self, message_id: UUID) -> None:
        """Let a message go."""
        self._messages = [one for one in self._messages if one.id != message_id]

    def context(self, message: Message) -> tuple[Message, ...]:
        """Return up to CONTEXT_MESSAGES messages before `message`, oldest first."""
        index = bisect_left(self._messages, _order(message), key=_order)
        return tuple(self._messages[max(0, index - CONTEXT_MESSAGES) : index])

    def dependants(self, message: Message) -> tuple[Message, ...]:
        """Return the messages whose context holds `message`: they are enriched again with it."""
        index = bisect_left(self._messages, _order(message), key=_order)
        after = self._messages[index : index + CONTEXT_MESSAGES + 1]
        return tuple(one for one in after if one.id != message.id)[:CONTEXT_MESSAGES]


def _order(message: Message) -> tuple[int, UUID]:
    return (message.sequence, message.id)
