"""What is put before a model: earlier turns of the session, as far as they fit. Not compaction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cairn.kernel.text.elements import as_data
from cairn.llm.budget import BYTES_A_TOKEN
from cairn.llm.port import Message, Role

if TYPE_CHECKING:
    from collections.abc import Sequence

WINDOW_TOKENS = 128_000
"""What the smallest of the configured chat models reads at once."""

SHARE = 0.75
MOST_EXCHANGES = 40
"""Earlier turns that are read at all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """An earlier turn: what was asked, and what was answered."""

    question: str
    answer: str


def tokens_of(text: str) -> int:
    """Return how many tokens a text has, rather too many."""
    return -(-len(text.encode("utf-8", errors="replace")) // BYTES_A_TOKEN)


def before_the_model(
    history: Sequence[Exchange], text: str, *, briefing: str = "", window: int = WINDOW_TOKENS
) -> tuple[Message, ...]:
    """Return the messages of a turn: the newest turns, a briefing of those before, the question.

    `history` is oldest first. What does not fit into three quarters of the window is left out, the
    oldest first; the question always stands.
    """
    left = round(window * SHARE) - tokens_of(text) - tokens_of(briefing)
    exchanges: list[Exchange] = []
    for exchange in reversed(history):
        left -= tokens_of(exchange.question) + tokens_of(exchange.answer)
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
