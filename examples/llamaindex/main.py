"""Put a message into a session, and ask for what a model would be given."""

import sys

from llama_index.core.base.llms.types import ChatMessage

from cairn_memory import Memory
from cairn_memory.llama_index import CairnMemory


def main() -> None:
    """Remember, put, and get with a question."""
    with Memory(client_id="llamaindex-example") as memory:
        memory.remember("Dana is badly allergic to peanuts.", key="nuts", wait="embedded")
        chat = CairnMemory("visit-1", memory)
        chat.set([ChatMessage(role="user", content="Hello!")])
        for message in chat.get("What can Dana not eat because of an allergy?"):
            sys.stdout.write(f"{message.role.value}: {message.content}\n")


if __name__ == "__main__":
    main()
