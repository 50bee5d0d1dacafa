# pyright: basic, reportMissingImports=false
"""What frameworks keep of sessions, over a running stack: run by tests/e2e/test_examples.py."""

import asyncio
import sys
from uuid import uuid4

from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from llama_index.core.base.llms.types import ChatMessage
from pydantic_ai.messages import ModelRequest, ModelResponse, TextPart, UserPromptPart

from cairn_memory import Memory, errors
from cairn_memory.langchain import CairnChatMessageHistory, CairnRetriever
from cairn_memory.llama_index import CairnMemory
from cairn_memory.openai_agents import CairnSession
from cairn_memory.pydantic_ai import CairnHistory

TEXT = "Grüße 🌊 \u2028 sk-not-a-real-key-but-like-one-0123456789"


def a_session_of_the_agents_sdk(memory: Memory, name: str) -> None:
    async def walk() -> None:
        session = CairnSession(name, memory)
        items = [{"role": "user", "content": f"{TEXT} {number}"} for number in range(5)]
        assert await session.get_items() == []
        assert await session.pop_item() is None
        await session.add_items([])
        await session.add_items(items[:3])
        await CairnSession(name, memory).add_items(items[3:])
        assert await session.get_items() == items
        assert await session.get_items(2) == items[3:]
        assert await session.get_items(4) == items[1:]
        assert await session.get_items(0) == []
        assert [await session.pop_item() for _ in range(3)] == items[:1:-1]
        assert await session.get_items() == items[:2]
        try:
            await session.add_items([{"role": "user", "content": "x" * 2_500_000}])
        except errors.TooLarge:
            assert await session.get_items() == items[:2]
        else:
            raise AssertionError("it was to be refused")
        assert await CairnSession(f"{name}/2", memory).get_items() == []
        await session.clear_session()
        assert await session.get_items() == []

    asyncio.run(walk())


def more_rows_than_a_page(memory: Memory, name: str) -> None:
    history = CairnChatMessageHistory(name, memory)
    for number in range(52):
        history.add_message(HumanMessage(str(number)))
    assert [each.content for each in history.messages] == [str(n) for n in range(52)]


def a_history_of_langchain(memory: Memory, name: str) -> None:
    history = CairnChatMessageHistory(name, memory)
    call = {"name": "recall", "args": {"question": "?"}, "id": "c1", "type": "tool_call"}
    messages = [
        HumanMessage(TEXT),
        AIMessage("", tool_calls=[call]),
        ToolMessage("nothing", tool_call_id="c1"),
        AIMessage([{"type": "text", "text": "No."}]),
    ]
    history.add_messages(messages)
    assert CairnChatMessageHistory(name, memory).messages == messages
    assert CairnChatMessageHistory(name, Memory(client_id="other")).messages == []
    assert asyncio.run(history.aget_messages()) == messages
    assert CairnRetriever(memory=memory).invoke("Grüße") == []
    history.clear()
    assert history.messages == []


def a_history_of_pydantic_ai(memory: Memory, name: str) -> None:
    history = CairnHistory(name, memory)
    assert history.load() == []
    messages = [
        ModelRequest(parts=[UserPromptPart(TEXT)]),
        ModelResponse(parts=[TextPart("Moin.")], model_name="m"),
    ]
    history.save(messages)
    history.save([])
    assert CairnHistory(name, memory).load() == messages


def a_memory_of_llama_index(memory: Memory, name: str) -> None:
    chat = CairnMemory.from_defaults(session_id=name, memory=memory, limit=2)
    for number in range(3):
        chat.put(ChatMessage(role="user", content=f"{TEXT} {number}"))
    assert [each.content for each in chat.get()] == [f"{TEXT} 1", f"{TEXT} 2"]
    assert len(chat.get_all()) == 3
    chat.set([ChatMessage(role="assistant", content="One.")])
    assert [each.content for each in asyncio.run(chat.aget_all())] == ["One."]
    assert [each.content for each in chat.get("What of the ferry?")] == ["One."]
    chat.reset()
    assert chat.get_all() == []


CHECKS = (
    a_session_of_the_agents_sdk,
    more_rows_than_a_page,
    a_history_of_langchain,
    a_history_of_pydantic_ai,
    a_memory_of_llama_index,
)


def main() -> None:
    for check in CHECKS:
        memory = Memory(client_id=f"check-{check.__name__}")
        check(memory, f"session {uuid4()}")
        memory.close()
        sys.stdout.write(f"{check.__name__}\n")


if __name__ == "__main__":
    main()
