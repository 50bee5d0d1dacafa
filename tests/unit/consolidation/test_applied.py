"""A checked plan as entries and as rows: what is made, replaced, linked, filed and named."""

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

from tests.unit.consolidation.batches import NOON, batch, memory, merge, near, plan, texts

from cairn.consolidation.applied import (
    MAX_CONNECTIONS,
    Applied,
    applied,
    contradiction_id,
    merged_id,
)
from cairn.consolidation.checks import checked
from cairn.consolidation.heuristic import HeuristicPlanner
from cairn.consolidation.plan import (
    SOURCE_AGENT,
    AddEntity,
    Batch,
    Clash,
    EntityName,
    Flag,
    Link,
    Operation,
    Recategorise,
    Relate,
)
from cairn.graph.edge import Edge, EdgeStrength, Relation, View
from cairn.graph.entities import entity_id
from cairn.graph.node import KnowledgeCategory, Label, Node, NodeChange, State
from cairn.graph.projection import Alias, Projection
from cairn.ledger.chain import empty_head, seal
from cairn.ledger.entry import Actor, ActorKind, Entry, NewEntry
from cairn.memories.kinds import MemoryKind
from cairn.writing.audience import Audience
from cairn.writing.projectors import project

A, B, C = (UUID(int=number) for number in (1, 2, 3))
WORKSPACE, RUN, ADA = UUID(int=9), UUID(int=10), UUID(int=0xADA)
LATER = NOON + timedelta(days=3)
STOVE = "the hut has a stove"


def made(given: Batch, *operations: Operation, **metadata: Any) -> tuple[Applied, ...]:
    sound = checked(plan(*operations), given)
    assert not sound.refused
    return applied(
        sound,
        given,
        workspace_id=WORKSPACE,
        run_id=RUN,
        now=LATER,
        metadata={UUID(int=int(name[1:])): value for name, value in metadata.items()},
    )


def entry_of(one: Applied) -> Entry:
    new = NewEntry(
        id=UUID(int=77),
        workspace_id=WORKSPACE,
        type="consolidation.applied",
        actor=Actor(kind=ActorKind.SYSTEM, id="cairn"),
        occurred_at=LATER,
        data_subjects=one.data_subjects,
        meta=one.meta,
    )
    (entry,) = seal(empty_head(WORKSPACE), [new], LATER)
    return entry


def rows(given: Batch, *operations: Operation, **metadata: Any) -> Projection:
    (one,) = made(given, *operations, **metadata)
    return project(entry_of(one), one.body, {})


def nodes(found: Projection) -> dict[UUID, Node]:
    return {node.id: node for node in found.nodes if isinstance(node, Node)}


def changes(found: Projection) -> dict[UUID, NodeChange]:
    listed = [node for node in found.nodes if isinstance(node, NodeChange)]
    assert len({item.id for item in listed}) == len(listed)
    return {item.id: item for item in listed}


def edges(found: Projection, relation: Relation) -> set[tuple[UUID, UUID]]:
    return {
        (edge.source_id, edge.target_id)
        for edge in found.edges
        if isinstance(edge, Edge) and edge.relation == relation
    }


def test_a_merge_replaces_its_sources_from_when_the_youngest_holds() -> None:
    given = batch(
        memory(1, key="stove", importance=3, screening="suspicious"),
        memory(2, valid_from=LATER, occurred_at=LATER, importance=8),
    )
    found = rows(given, *merge(STOVE, 1, 2))
    new = nodes(found)[merged_id([B, A])]
    assert (new.label, new.kind, new.text, new.state) == ("Memory", "fact", STOVE, State.ACTIVE)
    assert (new.source_agent, new.key, new.supersedes) == (SOURCE_AGENT, "stove", A)
    assert (new.valid_from, new.occurred_at, new.importance) == (LATER, LATER, 8)
    assert (new.screening, new.consolidated) == ("suspicious", True)
    assert new.chain_key is not None
    for item in (A, B):
        change = changes(found)[item]
        assert (change.state, change.superseded_by) == (State.SUPERSEDED, new.id)
        assert (change.valid_to, change.consolidated) == (LATER, True)
    assert edges(found, Relation.SUPERSEDES) == {(new.id, A), (new.id, B)}
    assert edges(found, Relation.DERIVED_FROM) == {(new.id, A), (new.id, B)}
    views = {edge.relation: edge.view for edge in found.edges if isinstance(edge, Edge)}
    assert views["SUPERSEDES"] is View.TEMPORAL
    assert views["DERIVED_FROM"] is View.PROVENANCE


def test_a_merge_of_statuses_keeps_subject_and_value() -> None:
    status: dict[str, Any] = {"kind": MemoryKind.STATUS, "subject": "hut", "status_value": "open"}
    given = batch(memory(1, **status), memory(2, **status))
    new = nodes(rows(given, *merge(STOVE, 1, 2, kind=MemoryKind.STATUS)))[merged_id([A, B])]
    assert (new.kind, new.subject, new.status_value) == ("status", "hut", "open")


def test_a_contradiction_is_an_event_of_high_importance_and_both_stay() -> None:
    given = texts("Rent is 900 euros.", "Rent is 950 euros.")
    found = rows(given, Flag(one=B, other=A, clash=Clash.NUMBER, why="900 or 950?"))
    event = nodes(found)[contradiction_id(A, B)]
    assert (event.kind, event.importance, event.label) == ("event", 7, Label.MEMORY)
    assert (event.source_agent, event.occurred_at) == (SOURCE_AGENT, LATER)
    assert "Rent is 900 euros." in event.text
    assert "Rent is 950 euros." in event.text
    assert event.metadata == {"contradiction": "number", "memories": [str(A), str(B)]}
    assert all(change.state is None for change in changes(found).values())
    assert edges(found, Relation.CONTRADICTS) == {(A, B)}
    assert edges(found, Relation.DERIVED_FROM) == {(event.id, A), (event.id, B)}


def test_links_are_connections_and_edges_and_keep_other_metadata() -> None:
    given = batch(memory(1), memory(2))
    held = {"colour": "red", "connections": [str(C)]}
    found = rows(given, Link(memories=(A, B), description="Both huts."), m1=held)
    assert changes(found)[A].metadata == {
        "colour": "red",
        "connections": [str(C), str(B)],
        "connection_description": "Both huts.",
    }
    assert changes(found)[B].metadata == {
        "connections": [str(A)],
        "connection_description": "Both huts.",
    }
    assert edges(found, Relation.RELATED_TO) == {(B, A)}


def test_connections_stay_few_and_the_newest() -> None:
    given = batch(memory(1), memory(2))
    held = {"connections": [str(UUID(int=100 + item)) for item in range(MAX_CONNECTIONS)]}
    found = rows(given, Link(memories=(A, B), description="x"), m1=held)
    metadata = changes(found)[A].metadata
    assert metadata is not None
    assert len(metadata["connections"]) == MAX_CONNECTIONS
    assert metadata["connections"][-1] == str(B)


def test_memories_count_as_consolidated_and_known_ones_are_left() -> None:
    given = batch(memory(1), memory(2, known=True))
    found = rows(given, Recategorise(memory=A, category=KnowledgeCategory.BRAND))
    assert set(changes(found)) == {A}
    assert changes(found)[A].consolidated is True
    assert changes(found)[A].knowledge_category == "brand"


def test_entities_get_aliases_references_and_strength() -> None:
    acme, following = EntityName(name="Acme", type="client"), EntityName(name="Next.js", type="x")
    given = texts("Acme, also called AC, uses Next.js.")
    found = rows(
        given,
        AddEntity(entity=acme, memories=(A,), aliases=("AC",)),
        Relate(source=acme, target=following, relation=Relation.USES, memories=(A,)),
    )
    ids = [entity_id(WORKSPACE, "admin", None, item.type, item.name) for item in (acme, following)]
    assert {node.id for node in nodes(found).values()} == set(ids)
    (alias,) = found.aliases
    assert isinstance(alias, Alias)
    assert (alias.alias, alias.canonical_name, alias.origin) == ("ac", "Acme", "consolidation")
    assert edges(found, Relation.REFERENCES) == {(A, ids[0])}
    (strength,) = (edge for edge in found.edges if isinstance(edge, EdgeStrength))
    assert (strength.source_id, strength.target_id, strength.amount) == (ids[0], ids[1], 1.0)


def test_relationships_that_hold_both_ways_are_stored_once() -> None:
    one, other = (EntityName(name=name, type="domain") for name in ("a.com", "b.com"))
    given = texts("a.com and b.com have one owner.")
    for source, target in ((one, other), (other, one)):
        relate = Relate(source=source, target=target, relation=Relation.SAME_OWNER, memories=(A,))
        (found,) = (edge for edge in rows(given, relate).edges if isinstance(edge, EdgeStrength))
        assert found.source_id < found.target_id


def test_there_is_an_entry_a_set_of_data_subjects_and_it_carries_them() -> None:
    hers = Audience(scope="admin", agents=None, data_subjects=(ADA,))
    given = batch(memory(1, audience=hers), memory(2, audience=hers), memory(3))
    whose = {item.data_subjects: item for item in made(given, *merge(STOVE, 1, 2))}
    assert set(whose) == {(), (ADA,)}
    assert whose[()].meta["memories"] == [str(C)]
    found = project(entry_of(whose[(ADA,)]), whose[(ADA,)].body, {})
    assert nodes(found)[merged_id([A, B])].data_subjects == (ADA,)


def test_nothing_comes_back_of_an_entry_whose_key_is_destroyed() -> None:
    (one,) = made(batch(memory(1), memory(2)), *merge(STOVE, 1, 2))
    assert project(entry_of(one), {}, {}) == Projection()


def test_the_meta_tells_nothing_that_a_reader_could_recognise() -> None:
    given = texts("Acme rents for 900 euros.", "Acme rents for 950 euros.")
    (one,) = made(given, Flag(one=A, other=B, clash=Clash.NUMBER, why="900 or 950?"))
    assert not any(word in str(one.meta) for word in ("Acme", "900", "rents"))


def test_the_same_plan_gives_the_same_entries_in_any_order_of_the_batch() -> None:
    given = texts("Ida rows.", "ida rows", "Rent is 900 euros.", "Rent is 950 euros.")
    planner = HeuristicPlanner()
    sound = checked(planner.plan(given, near(given)), given)
    arguments: dict[str, Any] = {
        "workspace_id": WORKSPACE, "run_id": RUN, "now": LATER, "metadata": {},
    }  # fmt: skip
    turned = replace(given, memories=given.memories[::-1])
    again = checked(planner.plan(turned, near(turned)), turned)
    first, second = applied(sound, given, **arguments), applied(again, given, **arguments)
    assert first == second
