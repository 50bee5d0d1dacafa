"""Projectors of nodes and entities: the ledger alone gives the same graph again."""

from typing import Any

import pytest
from tests.fakes.stores import InMemoryNodes, Tables
from tests.support.graph import Graphing, node
from tests.support.remembering import Remembering, in_memory

from cairn.graph.projection import Projection
from cairn.kernel.access import Scope
from cairn.kernel.errors import ValidationFailed
from cairn.ledger.entry import Entry
from cairn.ledger.keys import BodyCipher, key_subjects
from cairn.nodes.draft import NewEdge
from cairn.nodes.entities import MAX_ALIASES
from cairn.nodes.views import Split
from cairn.writing.projectors import project


def projected(system: Remembering, entry: Entry) -> Projection:
    """What an entry alone makes, its body read back with the keys of its subjects."""
    body: dict[str, Any] = {}
    if entry.body:
        subjects = key_subjects(entry.workspace_id, entry.data_subjects)
        keys = system.keys.get(entry.workspace_id, subjects)
        body = BodyCipher().open(entry.id, entry.workspace_id, subjects, keys, entry.body)
    return project(entry, body, {})


def replayed(system: Remembering) -> Tables:
    """The tables that the ledger's entries make, applied in order."""
    ledger = system.transactions.workspaces[system.principal.workspace_id]
    tables = Tables(head=ledger.head)
    InMemoryNodes(tables).apply([projected(system, entry) for entry in ledger.entries])
    return tables


def busy() -> Graphing:
    graph = Graphing(in_memory())
    who = graph.system.principal
    acme, corp = graph.entity("Acme", "organisation"), graph.entity("Acme Corp", "organisation")
    redis = graph.entity("Redis", "technology", client_id="acme")
    country = graph.mention("to Jordan", jordan := graph.entity("Jordan", "person"))
    graph.mention("of Acme", acme, "about")
    note = graph.note("note", NewEdge(relation="SOLVES", to_id=country), data_subjects=("ada",))
    graph.compile(who, note, "It is so.")
    for entity in (acme, corp):
        graph.relate(entity, "USES", redis)
    graph.correct.add_alias(who, acme, "ACME Ltd")
    graph.correct.merge(who, acme, corp)
    graph.correct.split(who, corp, Split(undo=acme))
    graph.correct.merge(who, acme, corp)
    graph.correct.split(who, jordan, Split(name="Jordan", type="place", mentions=(country,)))
    graph.correct.remove_alias(who, corp, "acme ltd")
    graph.add(node("Note", text="public", scope=Scope.PUBLIC))
    graph.delete(who, note)
    return graph


def test_the_ledger_gives_the_same_nodes_edges_and_aliases_again() -> None:
    system = busy().system
    present = system.transactions.workspaces[system.principal.workspace_id]
    again = replayed(system)
    assert again.nodes == present.nodes
    assert again.edges == present.edges
    assert again.aliases == present.aliases
    assert again.closed_edges == present.closed_edges


def test_entries_applied_twice_change_no_node() -> None:
    system = busy().system
    workspace = system.transactions.workspaces[system.principal.workspace_id]
    with system.transactions.writing(system.principal) as stores:
        stores.nodes.apply([projected(system, entry) for entry in workspace.entries])
    after = system.transactions.workspaces[system.principal.workspace_id]
    assert after.nodes == workspace.nodes
    assert after.aliases == workspace.aliases


def test_the_clear_part_of_an_entry_holds_no_names() -> None:
    system = busy().system
    for entry in system.transactions.workspaces[system.principal.workspace_id].entries:
        for name in ("acme", "jordan", "redis", "runbook", "note"):
            assert name not in entry.meta_text.lower()


def test_an_entity_has_at_most_so_many_aliases() -> None:
    graph = Graphing(in_memory())
    who, one = graph.system.principal, graph.entity("One", "x")
    for number in range(MAX_ALIASES):
        graph.correct.add_alias(who, one, f"alias {number}")
    with pytest.raises(ValidationFailed, match="200"):
        graph.correct.add_alias(who, one, "one more")
