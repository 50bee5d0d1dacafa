# pyright: basic, reportMissingImports=false
# The SDK is no package of this project; where it is installed, tests run this module.
"""The OpenAI Agents SDK over Cairn: a session, and tools to remember and recall."""

from __future__ import annotations

import asyncio
from typing import Any

from agents import FunctionTool, TResponseInputItem, function_tool
from agents.memory.session_settings import SessionSettings, resolve_session_limit

from cairn_memory._sync import Memory
from cairn_memory._tools import recalled, remembered
from cairn_memory._turns import Turns


class CairnSession:
    """The items of one session, whole and in their order: a `Session` of the SDK."""

    def __init__(
        self,
        session_id: str,
        memory: Memory | None = None,
        *,
        session_settings: SessionSettings | None = None,
    ) -> None:
        self.session_id = session_id
        self.session_settings = session_settings or SessionSettings()
        self._turns = Turns(memory or Memory(), "openai-agents", session_id)

    async def get_items(self, limit: int | None = None) -> list[TResponseInputItem]:
        """Return the last `limit` items, or all, in their order."""
        most = resolve_session_limit(limit, self.session_settings)
        return await asyncio.to_thread(self._turns.read, most)

    async def add_items(self, items: list[TResponseInputItem]) -> None:
        """Put items at the end."""
        plain: list[Any] = [dict(item) for item in items]
        await asyncio.to_thread(self._turns.add, plain)

    async def pop_item(self) -> TResponseInputItem | None:
        """Take away the last item and return it."""
        return await asyncio.to_thread(self._turns.pop)

    async def clear_session(self) -> None:
        """Take away all items."""
        await asyncio.to_thread(self._turns.clear)


def memory_tools(memory: Memory) -> list[FunctionTool]:
    """Return tools that let a model remember a text, and recall what bears on a question."""

    @function_tool
    async def remember(text: str) -> str:
        """Remember a lasting fact, in one sentence that stands by itself.

        Args:
            text: What is to be remembered.
        """
        return await asyncio.to_thread(remembered, memory, text)

    @function_tool
    async def recall(question: str) -> str:
        """Recall what was remembered before.

        Args:
            question: What you want to know, as a question.
        """
        return await asyncio.to_thread(recalled, memory, question)

    return [remember, recall]
