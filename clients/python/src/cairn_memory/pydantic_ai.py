# pyright: basic, reportMissingImports=false, reportIndexIssue=false, reportCallIssue=false
# pydantic-ai is no package of this project; where it is installed, tests run this module.
"""pydantic-ai over Cairn: a toolset to remember and recall, and a message history."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pydantic_ai import FunctionToolset
from pydantic_ai.messages import ModelMessage, ModelMessagesTypeAdapter

from cairn_memory._sync import Memory
from cairn_memory._tools import recalled, remembered
from cairn_memory._turns import Turns


def memory_toolset(memory: Memory) -> FunctionToolset[object]:
    """Return tools that let a model remember a text, and recall what bears on a question."""
    toolset: FunctionToolset[object] = FunctionToolset()

    @toolset.tool_plain
    async def remember(text: str) -> str:
        """Remember a lasting fact, in one sentence that stands by itself."""
        return await asyncio.to_thread(remembered, memory, text)

    @toolset.tool_plain
    async def recall(question: str) -> str:
        """Recall what was remembered before; ask as a question."""
        return await asyncio.to_thread(recalled, memory, question)

    return toolset


class CairnHistory:
    """The messages of one session, for `message_history`, whole and in their order."""

    def __init__(self, session_id: str, memory: Memory | None = None) -> None:
        self._turns = Turns(memory or Memory(), "pydantic-ai", session_id)

    def load(self) -> list[ModelMessage]:
        """Return all messages."""
        return ModelMessagesTypeAdapter.validate_python(self._turns.read())

    def save(self, new: Sequence[ModelMessage]) -> None:
        """Put the new messages of a run at the end: `result.new_messages()`."""
        self._turns.add(ModelMessagesTypeAdapter.dump_python(list(new), mode="json"))

    def clear(self) -> None:
        """Take away all messages."""
        self._turns.clear()
