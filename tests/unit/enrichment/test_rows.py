"""Bodies of `node.enriched` and the rows they become: bounded, pure, gone with their keys."""

from dataclasses import replace
from itertools import combinations
from typing import Any
from uuid import UUID

from tests.support.embedding import HashingEmbedder
from tests.support.observing import Observing, event
from tests.support.platform import platform_of
from tests.support.remembering import fact, in_memory
from tests.unit.enrichment.test_similar import node

from cairn.enrichment.causes import CauseChanges
from cairn.enrichment.enrich import Enrich
from cairn.enrichment.plan import MAX_PAIRS, PAIRED_ENTITIES, Derived, bodies, derive
from cairn.enrichment.ports import Outgoing
from cairn.enrichment.rows import enriched
from cairn.graph.edge import Edge, EdgeStrength, Role
from cairn.graph.entities import ExtractedEntity, entity_id
from cairn.graph.node import Node
from cairn.ledger.entry import Entry
from cairn.ledger.keys import BodyCipher, key_subjects
from cairn.writing.projectors import project

WORKSPACE = UUID(int=1)
ADA = UUID(int=0xADA)


def derived(number: int, *names: str, subjects: tuple[UUID, ...] = (), **changes: Any) -> Derived:
    return Derived(
        node=node(number, data_subjects=subjects, **changes),
        keywords=("word",),
        entities=tuple(ExtractedEntity(name=n, type="concept", role=Role.MENTIONED) for n in names),
    )


def body(*given: Derived, held: tuple[Outgoing, ...] = ()) -> dict[str, Any]:
    (only,) = bodies(WORKSPACE, given, held, (), CauseChanges()).values()
    return only


def concept(name: str) -> UUID:
    return entity_id(WORKSPACE, "admin", None, "concept", name)


def test_there_is_a_body_a_set_of_data_subjects() -> None:
    made = bodies(
        WORKSPACE, [derived(1, "A"), derived(2, "B", subjects=(ADA,))], (), (), CauseChanges()
    )
    assert {
        subjects: [entity["name"] for entity in each["entities"]] for subjects, each in made.items()
    } == {
        (): ["A"],
        (ADA,): ["B"],
    }


def test_pairs_count_how_often_entities_are_named_together() -> None:
    made = body(derived(1, "A", "B"), derived(2, "B", "A"), derived(3, "A", "C"))
    names = [entity["name"] for entity in made["entities"]]
    counts = {frozenset((names[a], names[b])): n for a, b, n in made["strengths"]}
    assert counts == {frozenset("AB"): 2, frozenset("AC"): 1}


def test_a_node_seen_before_adds_only_what_is_new() -> None:
    held = (
        Outgoing(
            id=UUID(int=50),
            relation="REFERENCES",
            source_id=UUID(int=1),
            target_id=concept("A"),
            role="mentioned",
        ),
        Outgoing(
            id=UUID(int=51),
            relation="REFERENCES",
            source_id=UUID(int=1),
            target_id=concept("gone"),
            role="mentioned",
        ),
    )
    made = body(derived(1, "A", "B"), held=held)
    names = [entity["name"] for entity in made["entities"]]
    assert [names[place] for _, place, _, _ in made["references"]] == ["B"]
    assert made["closed"] == [str(UUID(int=51))]
    assert [n for _, _, n in made["strengths"]] == [1]
    assert body(derived(1, "A"), held=held[:1])["strengths"] == []


def test_a_role_that_grew_stronger_replaces_the_edge() -> None:
    held = Outgoing(
        id=UUID(int=50),
        relation="REFERENCES",
        source_id=UUID(int=1),
        target_id=concept("A"),
        role="tool",
    )
    made = body(derived(1, "A"), held=(held,))
    assert (made["closed"], len(made["references"])) == ([str(held.id)], 1)
    assert made["strengths"] == []


def test_a_node_of_many_names_ties_few_of_them() -> None:
    made = body(derived(1, *(f"N{n}" for n in range(20))))
    assert len(made["strengths"]) == PAIRED_ENTITIES * (PAIRED_ENTITIES - 1) // 2
    assert len(made["references"]) == 20


def test_an_entry_strengthens_no_more_than_its_share() -> None:
    nodes = [derived(n, *(f"N{n}-{k}" for k in range(20))) for n in range(1, 501)]
    assert len(body(*nodes)["strengths"]) == MAX_PAIRS


def entry_of(number: int = 7) -> Entry:
    system = in_memory()
    system.tell(fact("x"))
    entries = system.transactions.workspaces[system.principal.workspace_id].entries
    return replace(entries[-1], position=number)


def test_the_same_entry_gives_the_same_rows_again() -> None:
    entry = entry_of()
    made = body(derived(1, "A", "B"), derived(2, "A", "B"))
    first, second = enriched(entry, {}, made), enriched(entry, {}, made)
    assert first == second
    assert len({row.id for row in first.edges}) == len(first.edges) == 5
    assert {type(row) for row in first.edges} == {Edge, EdgeStrength}
    assert all(
        row.source_id < row.target_id for row in first.edges if isinstance(row, EdgeStrength)
    )


def test_without_its_key_an_entry_gives_no_rows() -> None:
    assert enriched(entry_of(), {}, {}).nodes == ()


def test_the_graph_is_rebuilt_from_the_ledger_alone() -> None:
    seeing = Observing(in_memory())
    system = seeing.system
    enrich = Enrich(
        platform=platform_of(system.transactions, keys=system.keys), embedder=HashingEmbedder()
    )
    first = seeing.see_one(event(at=0, tool_name="kubectl", trace_id="t", agent_id="d"))
    seeing.see(
        event("tool.error", at=9, trace_id="t", payload={"retry_of": str(first)}),
        event(at=5, client_id="acme", payload={"service": "billing"}),
    )
    system.tell(
        fact("Ada says PostgreSQL is slow today, again and again", data_subjects=("ada",)),
        fact("Ada says PostgreSQL is slow today, again and again!", data_subjects=("ada",)),
    )
    for row in list(system.sent.rows):
        enrich.rows(system.principal.workspace_id, [row.id])
    tables = system.transactions.workspaces[system.principal.workspace_id]
    again = in_memory()
    again.transactions.create_workspace(system.principal.workspace_id)
    for entry in tables.entries:
        subjects = key_subjects(entry.workspace_id, entry.data_subjects)
        opened = (
            BodyCipher().open(
                entry.id,
                entry.workspace_id,
                subjects,
                system.keys.get(entry.workspace_id, subjects),
                entry.body,
            )
            if entry.body
            else {}
        )
        with again.transactions.writing(system.principal) as stores:
            stores.nodes.apply([project(entry, opened, {})])
    rebuilt = again.transactions.workspaces[system.principal.workspace_id]
    assert rebuilt.edges == tables.edges
    assert rebuilt.nodes == tables.nodes
    assert {edge.relation for edge in rebuilt.edges.values()} == {
        "FOLLOWS",
        "CAUSED_BY",
        "REFERENCES",
        "CO_OCCURRENCE",
        "SIMILAR_TO",
    }


def test_entities_of_one_name_are_one_node() -> None:
    projection = enriched(entry_of(), {}, body(derived(1, "Hut"), derived(2, "hut")))
    assert len([row for row in projection.nodes if isinstance(row, Node)]) == 1


def test_a_chunk_gets_an_importance_nobody_gave_it() -> None:
    chunk = node(1, label="Chunk", text="The outage was severe and customers left that day.")
    assert derive(chunk, {}).importance == 8
    assert derive(replace(chunk, importance=8), {}).importance is None
    assert derive(replace(chunk, label="Memory"), {}).importance is None


def test_every_pair_is_within_the_paired_entities() -> None:
    made = body(derived(1, *(f"N{n}" for n in range(20))))
    pairs = {tuple(sorted(strength[:2])) for strength in made["strengths"]}
    assert pairs == set(combinations(range(PAIRED_ENTITIES), 2))
