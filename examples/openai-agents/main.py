"""An agent that remembers a fact in one session, and recalls it in another."""

import asyncio
import os
import sys
from uuid import uuid4

from agents import Agent, OpenAIChatCompletionsModel, Runner, set_tracing_disabled
from openai import AsyncOpenAI

from cairn_memory import Memory
from cairn_memory.openai_agents import CairnSession, memory_tools


async def main() -> None:
    """Say something, then ask about it in a new session."""
    set_tracing_disabled(disabled=True)
    memory = Memory(client_id="openai-agents-example")
    model = os.environ.get("OPENAI_MODEL", "gpt-5-mini")
    agent = Agent(
        name="Keeper",
        instructions="Remember what people tell of themselves; recall before you answer.",
        tools=list(memory_tools(memory)),
        model=OpenAIChatCompletionsModel(model=model, openai_client=AsyncOpenAI()),
    )
    sessions = [CairnSession(f"visit-{number}-{uuid4()}", memory) for number in (1, 2)]
    questions = ("I am allergic to peanuts.", "What am I allergic to?")
    for session, said in zip(sessions, questions, strict=True):
        result = await Runner.run(agent, said, session=session)
        sys.stdout.write(f"{result.final_output}\n")
    kept = await sessions[1].get_items()
    sys.stdout.write(f"{len(kept)} items kept, the first: {kept[0]['content']}\n")
    memory.close()


if __name__ == "__main__":
    asyncio.run(main())
