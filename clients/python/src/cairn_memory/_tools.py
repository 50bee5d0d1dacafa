"""What the tools of agents do: remember a text, recall what bears on a question."""

from __future__ import annotations

from cairn_memory._sync import Memory

NOTHING = "Nothing is known of it."


def remembered(memory: Memory, text: str) -> str:
    """Remember a text and say so to a model."""
    return f"Remembered as {memory.remember(text).id}."


def recalled(memory: Memory, question: str, limit: int = 5) -> str:
    """Return what bears on a question, a line each, for a model."""
    answer = memory.recall(question, limit=limit)
    return "\n".join(hit.text for hit in answer.results if hit.text) or NOTHING
