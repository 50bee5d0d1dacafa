"""A crew whose agent remembers a fact in one run, and recalls it in the next."""

import os
import sys

from crewai import LLM, Agent, Crew, Task
from crewai.tools import tool

from cairn_memory import Memory

memory = Memory(client_id="crewai-example")


@tool("remember")
def remember(text: str) -> str:
    """Remember a lasting fact, in one sentence that stands by itself."""
    return f"Remembered as {memory.remember(text).id}."


@tool("recall")
def recall(question: str) -> str:
    """Recall what was remembered before; ask as a question."""
    results = memory.recall(question, limit=5).results
    return "\n".join(hit.text for hit in results if hit.text) or "Nothing is known of it."


def main() -> None:
    """Say something, then ask about it in another crew."""
    for said in ("I am allergic to peanuts.", "What am I allergic to?"):
        keeper = Agent(
            role="Keeper",
            goal="Remember what people tell of themselves; recall before you answer.",
            backstory="You keep what people say for the next crew.",
            tools=[remember, recall],
            llm=LLM(model=os.environ.get("OPENAI_MODEL", "openai/gpt-5-mini")),
        )
        task = Task(description=said, expected_output="A short answer.", agent=keeper)
        sys.stdout.write(f"{Crew(agents=[keeper], tasks=[task]).kickoff().raw}\n")
    memory.close()


if __name__ == "__main__":
    main()
