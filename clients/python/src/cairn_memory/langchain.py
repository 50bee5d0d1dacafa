# pyright: basic, reportMissingImports=false
# LangChain is no package of this project; where it is installed, tests run this module.
"""LangChain over Cairn: a retriever and a chat history. Needs langchain-core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.callbacks import CallbackManagerForRetrieverRun
from langchain_core.chat_history import BaseChatMessageHistory
from langchain_core.documents import Document
from langchain_core.messages import BaseMessage, message_to_dict, messages_from_dict
from langchain_core.retrievers import BaseRetriever
from pydantic import ConfigDict, Field

from cairn_memory._sync import Memory
from cairn_memory._turns import Turns


class CairnRetriever(BaseRetriever):
    """What bears on a question, as documents, the best first; nothing is an answer, too.

    `options` are those of `Memory.recall`, such as `namespace_prefix` and `where`.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    memory: Memory
    limit: int = 5
    options: dict[str, Any] = Field(default_factory=dict)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun
    ) -> list[Document]:
        answer = self.memory.recall(query, limit=self.limit, **self.options)
        return [
            Document(
                id=str(hit.node_id),
                page_content=hit.text or "",
                metadata={
                    "type": hit.type,
                    "relevance": hit.relevance,
                    "entry_id": str(hit.provenance.entry_id),
                    "recorded_at": hit.provenance.recorded_at,
                },
            )
            for hit in answer.results
        ]


class CairnChatMessageHistory(BaseChatMessageHistory):
    """The messages of one session, whole and in their order."""

    def __init__(self, session_id: str, memory: Memory | None = None) -> None:
        self._turns = Turns(memory or Memory(), "langchain", session_id)

    @property
    def messages(self) -> list[BaseMessage]:
        """All messages, the oldest first."""
        return messages_from_dict(self._turns.read())

    def add_messages(self, messages: Sequence[BaseMessage]) -> None:
        """Put messages at the end."""
        self._turns.add([message_to_dict(each) for each in messages])

    def clear(self) -> None:
        """Take away all messages."""
        self._turns.clear()
