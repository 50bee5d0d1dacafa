"""Retrieve what was remembered, and keep a conversation."""

import sys

from cairn_memory import Memory
from cairn_memory.langchain import CairnChatMessageHistory, CairnRetriever


def main() -> None:
    """Remember, retrieve, and read a conversation back."""
    with Memory(client_id="langchain-example") as memory:
        memory.remember("The ferry to Aldersund leaves at noon.", key="ferry", wait="embedded")
        found = CairnRetriever(memory=memory, limit=1).invoke("When does the ferry leave?")
        sys.stdout.write(f"Found: {found[0].page_content}\n")

        history = CairnChatMessageHistory("visit-1", memory)
        history.clear()
        history.add_user_message("When does the ferry leave?")
        history.add_ai_message("At noon.")
        told = " | ".join(f"{each.type}: {each.content}" for each in history.messages)
        sys.stdout.write(f"History: {told}\n")


if __name__ == "__main__":
    main()
