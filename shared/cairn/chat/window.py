"""What is put before a model: a briefing, and the turns since, as far as they fit. Pure.

Not the compaction that makes the briefing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.kernel.text.elements import as_data
from cairn.llm.budget import BYTES_A_TOKEN, estimate_tokens
from cairn.llm.port import ChatRequest, Message, Purpose, Role

if TYPE_CHECKING:
    from collections.abc import Sequence
    from datetime import datetime
    from uuid import UUID

    from cairn.llm.port import Tool

FULL = 0.75
"""The share of a model's window that instructions, tools and a conversation may take."""

LEAST_ROOM = 1_000
"""Tokens for what was said that a window must have for it to be made shorter."""

MOST_EXCHANGES = 40
"""Earlier turns that are read at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """An earlier turn: what was asked, what was answered, and where and when that was kept."""

    question: str
    answer: str
    conversation_id: UUID | None = None
    ended_at: datetime | None = None

    @property
    def tokens(self) -> int:
        """Return how long it is in a prompt."""
        return tokens_of(self.question) + tokens_of(self.answer)


@dataclass(frozen=True, slots=True, kw_only=True)
class Briefing:
    """What was said in a session before `since`, made shorter; None where nobody knows."""

    text: str
    since: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What a model is told of the turns before: a briefing of the first, the others as they were.

    `exchanges` are oldest first.
    """

    exchanges: tuple[Exchange, ...] = ()
    briefing: str = ""

    @property
    def tokens(self) -> int:
        """Return how long it is in a prompt."""
        return tokens_of(self.briefing) + sum(each.tokens for each in self.exchanges)


def tokens_of(text: str) -> int:
    """Return how many tokens a text has, rather too many."""
    return -(-len(text.encode("utf-8", errors="replace")) // BYTES_A_TOKEN)


def room_of(window: int, system: str, tools: Sequence[Tool]) -> int:
    """Return how many tokens of a window a conversation may take, beside instructions and tools."""
    request = ChatRequest(purpose=Purpose.CHAT, system=system, messages=(), tools=tuple(tools))
    return max(0, round(window * FULL) - estimate_tokens(request))


def since(history: Sequence[Exchange], briefing: Briefing | None) -> Earlier:
    """Return a briefing and the turns that it does not stand for."""
    if briefing is None:
        return Earlier(exchanges=tuple(history))
    start = briefing.since
    later = [each for each in history if not (start and each.ended_at and each.ended_at < start)]
    return Earlier(exchanges=tuple(later), briefing=briefing.text)


def grown(earlier: Earlier, exchange: Exchange, room: int) -> int | None:
    """Return how long a session is with a turn more, when it is time to make it shorter.

    None before: while it fits into its room, and the next turn would read all of it. Nor where a
    window has hardly room for a question: nothing would be gained.
    """
    if room < LEAST_ROOM:
        return None
    size = earlier.tokens + exchange.tokens
    full = size >= room or len(earlier.exchanges) + 1 >= MOST_EXCHANGES
    return size if full else None


def before_the_model(earlier: Earlier, text: str, *, room: int) -> tuple[Message, ...]:
    """Return the messages of a turn: the newest turns, a briefing of those before, the question.

    What does not fit into the room is left out, the oldest first; the question always stands, and
    the briefing where it fits beside it.
    """
    left = room - tokens_of(text)
    briefing = earlier.briefing if tokens_of(earlier.briefing) <= left else ""
    left -= tokens_of(briefing)
    exchanges: list[Exchange] = []
    for exchange in reversed(earlier.exchanges):
        left -= exchange.tokens
        if left < 0:
            break
        exchanges.append(exchange)
    thread = [
        message
        for each in reversed(exchanges)
        for message in (
            Message(role=Role.USER, text=each.question),
            Message(role=Role.ASSISTANT, text=each.answer or "(no answer)"),
        )
    ]
    last = f"{as_data('briefing', briefing)}\n{text}" if briefing else text
    return (*thread, Message(role=Role.USER, text=last))
