"""What was imported, imported again: nothing is added, and what replaced what is kept."""

from typing import Any

from tests.support.remembering import Remembering, in_memory
from tests.unit.memories.foreign.test_graphiti import GRAPH
from tests.unit.memories.foreign.test_mem0 import MEMORY

from cairn.graph.node import Node, State
from cairn.memories.foreign.graphiti import read_graphiti
from cairn.memories.foreign.items import Defaults, ExportValue, ForeignMemory
from cairn.memories.foreign.mem0 import read_mem0
from cairn.memories.items import NewMemory
from cairn.writing.items import Outcome


def of_graphiti() -> list[NewMemory]:
    items = read_graphiti([ExportValue(name="graph.json", value=GRAPH)], Defaults())
    return [item.new for item in items if isinstance(item, ForeignMemory)]


def of_mem0(*memories: Any) -> list[NewMemory]:
    value = {"results": list(memories)}
    items = read_mem0([ExportValue(name="export.json", value=value)], Defaults())
    return [item.new for item in items if isinstance(item, ForeignMemory)]


def nodes(system: Remembering) -> list[Node]:
    tables = system.transactions.workspaces[system.principal.workspace_id]
    return list(tables.nodes.values())


def test_a_second_import_of_a_graph_adds_nothing() -> None:
    system = in_memory()
    system.tell(*of_graphiti())
    before = nodes(system)
    outcomes = system.tell(*of_graphiti())
    assert {outcome.outcome for outcome in outcomes} == {Outcome.DUPLICATE}
    assert nodes(system) == before


def test_a_fact_that_was_replaced_is_superseded_by_the_one_that_replaced_it() -> None:
    system = in_memory()
    system.tell(*of_graphiti())
    by_text = {node.text: node for node in nodes(system)}
    was, now = by_text["Ada works at Acme."], by_text["Ada works at Globex."]
    assert (was.state, now.state) == (State.SUPERSEDED, State.ACTIVE)
    assert was.superseded_by == now.id
    assert was.valid_to == now.valid_from


def test_a_second_import_of_memories_adds_only_what_is_new() -> None:
    system = in_memory()
    system.tell(*of_mem0(MEMORY))
    changed = MEMORY | {"id": "other", "memory": "User likes thrillers."}
    outcomes = system.tell(*of_mem0(MEMORY, changed))
    assert [outcome.outcome for outcome in outcomes] == [Outcome.DUPLICATE, Outcome.CREATED]


def test_secrets_of_an_export_are_scrubbed_and_its_users_are_data_subjects() -> None:
    system = in_memory()
    secret = "ghp_" + "a1B2" * 9
    system.tell(*of_mem0(MEMORY | {"memory": f"The token is {secret}"}))
    [node] = nodes(system)
    assert secret not in node.text
    assert len(node.data_subjects) == 1
