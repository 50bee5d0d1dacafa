# pyright: basic, reportMissingImports=false
"""LangGraph's checkpoints over a running stack: run by tests/e2e/test_examples.py, as the store is.

First LangGraph's own conformance suite, every capability of it; then what it does not ask: that a
graph goes on after a failure, an interruption and in another process, without `await` as with it.
"""

import asyncio
import sys
from operator import add
from typing import Annotated, TypedDict
from uuid import uuid4

from langgraph.checkpoint.conformance import checkpointer_test, validate
from langgraph.graph import END, START, StateGraph
from langgraph.types import Command, interrupt

from cairn_memory import Memory, errors, models, operations
from cairn_memory.langgraph import CairnSaver


@checkpointer_test(name="CairnSaver")
async def saver():
    made = CairnSaver(client_id="conformance")
    yield made
    await made.aclose()


def it_conforms_in_every_capability() -> None:
    report = asyncio.run(validate(saver))
    failed = {name: each.failures for name, each in report.results.items() if not each.passed}
    assert not failed, failed
    assert report.passed_all(), report.to_dict()
    sys.stdout.write(f"{sum(each.tests_passed for each in report.results.values())} tests\n")


class State(TypedDict):
    said: Annotated[list[str], add]


def graph_of(saver: CairnSaver, *, broken: bool = False):
    def greet(state: State) -> State:
        return {"said": ["greeted"]}

    def ask(state: State) -> State:
        answer = interrupt("Shall I?")
        return {"said": [f"answered {answer}"]}

    def act(state: State) -> State:
        if broken:
            raise RuntimeError("lost")
        return {"said": ["acted"]}

    graph = StateGraph(State)
    for node in (greet, ask, act):
        graph.add_node(node.__name__, node)
    graph.add_edge(START, "greet")
    graph.add_edge("greet", "ask")
    graph.add_edge("ask", "act")
    graph.add_edge("act", END)
    return graph.compile(checkpointer=saver)


def a_graph_goes_on_where_it_stopped() -> None:
    thread = str(uuid4())
    config = {"configurable": {"thread_id": thread}}
    graph_of(CairnSaver(client_id="dana")).invoke({"said": ["hello"]}, config)
    try:
        graph_of(CairnSaver(client_id="dana"), broken=True).invoke(Command(resume="yes"), config)
    except RuntimeError:
        pass
    else:
        raise AssertionError("it was to fail")
    last = CairnSaver(client_id="dana")
    ended = asyncio.run(graph_of(last).ainvoke(None, config))
    assert ended["said"] == ["hello", "greeted", "answered yes", "acted"], ended
    history = list(graph_of(last).get_state_history(config))
    assert len(history) == 5, history
    assert CairnSaver(client_id="eli").get_tuple(config) is None
    last.delete_thread(thread)
    assert last.get_tuple(config) is None


def what_is_too_large_is_refused_and_nothing_is_lost() -> None:
    config = {"configurable": {"thread_id": str(uuid4())}}
    saver = CairnSaver(client_id="dana")
    graph = graph_of(saver)
    graph.invoke({"said": ["hello"]}, config)
    try:
        graph.update_state(config, {"said": ["x" * 3_000_000]})
    except errors.TooLarge:
        pass
    else:
        raise AssertionError("it was to be refused")
    assert graph.get_state(config).values["said"] == ["hello", "greeted"]


def a_list_longer_than_an_answer_comes_in_pages() -> None:
    memory = Memory(client_id="pages")
    for number in range(4):
        fields = {"thread_id": "t", "checkpoint_id": str(number), "client_id": "pages"}
        body = models.CheckpointIn(**fields, data="x" * 2_400_000)
        memory.call(operations.put_checkpoint(body))
    first = memory.call(operations.list_checkpoints(thread_id="t", client_id="pages"))
    assert [item.checkpoint_id for item in first.items] == ["3", "2"]
    rest = operations.list_checkpoints(thread_id="t", client_id="pages", cursor=first.next_cursor)
    second = memory.call(rest)
    assert [item.checkpoint_id for item in second.items] == ["1", "0"]
    assert second.next_cursor is None


CHECKS = (
    it_conforms_in_every_capability,
    a_graph_goes_on_where_it_stopped,
    what_is_too_large_is_refused_and_nothing_is_lost,
    a_list_longer_than_an_answer_comes_in_pages,
)


def main() -> None:
    for check in CHECKS:
        check()
        sys.stdout.write(f"{check.__name__}\n")


if __name__ == "__main__":
    main()
