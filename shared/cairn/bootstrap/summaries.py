"""Summaries of documents while they are ingested: by rules, whatever is configured."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cairn.clock import monotonic

if TYPE_CHECKING:
    from collections.abc import Callable

SUMMARY_SECONDS = 240.0


def summariser() -> Callable[[str, str], str]:
    """Return (text, level) -> summary; one budget of seconds for each document."""

    def summarised(text: str, level: str) -> str:
        from cairn.llm.budget import Budget, Limits  # loaded with the first document
        from cairn.llm.heuristic import Rules
        from cairn.llm.summaries import Level, summarise

        budget = Budget(Limits(seconds=SUMMARY_SECONDS), stopwatch=monotonic)
        return summarise(Rules(), text, Level(level), budget).text

    return summarised
