"""A graph of one node that remembers what a person says, and answers with what is known."""

import sys
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore

from cairn_memory.langgraph import CairnStore


class Turn(TypedDict):
    """What was said, and what was known about it."""

    said: str
    known: list[str]


def remember(state: Turn, *, store: BaseStore) -> Turn:
    """Find what bears on a message, then keep it."""
    people = ("people", "dana")
    found = store.search(people, query=state["said"], limit=3)
    known = [item.value["said"] for item in found]
    store.put(people, state["said"], {"said": state["said"]})
    return {"said": state["said"], "known": known}


def main() -> None:
    """Say two things, a run each: the second finds the first."""
    store = CairnStore(client_id="langgraph-example", wait="embedded")
    graph = StateGraph(Turn)
    graph.add_node("remember", remember)
    graph.add_edge(START, "remember")
    graph.add_edge("remember", END)
    agent = graph.compile(store=store)
    agent.invoke({"said": "I am badly allergic to peanuts.", "known": []})
    answer = agent.invoke({"said": "Which nuts am I allergic to?", "known": []})
    sys.stdout.write(f"Known: {answer['known'][0]}\n")
    store.close()


if __name__ == "__main__":
    main()
