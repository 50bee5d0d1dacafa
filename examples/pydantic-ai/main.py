"""An agent that remembers a fact, and recalls it in the next run of the same session."""

import os
import sys

from pydantic_ai import Agent
from pydantic_ai.models.openai import OpenAIChatModel

from cairn_memory import Memory
from cairn_memory.pydantic_ai import CairnHistory, memory_toolset


def main() -> None:
    """Say something, then ask about it."""
    memory = Memory(client_id="pydantic-ai-example")
    history = CairnHistory("visit-1", memory)
    history.clear()
    agent = Agent(
        OpenAIChatModel(os.environ.get("OPENAI_MODEL", "gpt-5-mini")),
        instructions="Remember what people tell of themselves; recall before you answer.",
        toolsets=[memory_toolset(memory)],
    )
    for said in ("I am allergic to peanuts.", "What am I allergic to?"):
        result = agent.run_sync(said, message_history=history.load())
        history.save(result.new_messages())
        sys.stdout.write(f"{result.output}\n")
    sys.stdout.write(f"{len(history.load())} messages kept\n")
    memory.close()


if __name__ == "__main__":
    main()
