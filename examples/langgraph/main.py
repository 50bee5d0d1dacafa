"""A graph that remembers what a person says, and asks before it acts on what is known."""

import sys
from typing import TypedDict
from uuid import uuid4

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore
from langgraph.types import Command, interrupt

from cairn_memory.langgraph import CairnSaver, CairnStore

CLIENT = "langgraph-example"


class Turn(TypedDict, total=False):
    """What was said, what was known about it, and what a person answered."""

    said: str
    known: list[str]
    answer: str


def remember(state: Turn, *, store: BaseStore) -> Turn:
    """Find what bears on a message, then keep it unless it asks."""
    people, said = ("people", "dana"), state["said"]
    known = [item.value["said"] for item in store.search(people, query=said, limit=3)]
    if not said.endswith("?"):
        store.put(people, said, {"said": said})
    return {"known": known}


def ask(state: Turn) -> Turn:
    """Stop until a person answers."""
    return {"answer": interrupt(f"Order without nuts? {len(state['known'])} known.")}


def main() -> None:
    """Say two things, a thread each: the second finds the first, and waits for a yes."""
    store = CairnStore(client_id=CLIENT, wait="embedded")
    saver = CairnSaver(client_id=CLIENT)
    graph = StateGraph(Turn)
    graph.add_node("remember", remember)
    graph.add_node("ask", ask)
    graph.add_edge(START, "remember")
    graph.add_edge("remember", "ask")
    graph.add_edge("ask", END)
    first = graph.compile(store=store, checkpointer=saver)
    threads = [{"configurable": {"thread_id": str(uuid4())}} for _ in range(2)]
    first.invoke({"said": "I am badly allergic to peanuts."}, threads[0])
    first.invoke({"said": "Which nuts am I allergic to?"}, threads[1])
    saver.close()

    later = CairnSaver(client_id=CLIENT)  # as another process would
    second = graph.compile(store=store, checkpointer=later)
    ended = second.invoke(Command(resume="yes"), threads[1])
    sys.stdout.write(f"Known: {ended['known'][0]}\nAnswered: {ended['answer']}\n")
    later.close()
    store.close()


if __name__ == "__main__":
    main()
