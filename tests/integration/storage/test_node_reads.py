"""Reading nodes and entities from PostgreSQL: what is shown, to whom, and that hubs are bounded."""

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from tests.support.graph import Graphing, node
from tests.support.remembering import NOON, Remembering, admin_of, fact

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.api.answers import encode
from cairn.graph.edge import Edge, Relation, View
from cairn.graph.projection import Projection
from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.clock import utc_now
from cairn.kernel.errors import NotFound
from cairn.kernel.ids import new_id
from cairn.nodes.draft import NewEdge
from cairn.nodes.views import BrowseNodes, EntityFilter, NodeFilter

if TYPE_CHECKING:
    from uuid import UUID

    from tests.plugins.postgres import Database


@pytest.fixture(scope="module")
def pool(database: "Database") -> Iterator[Pool]:
    pool = Pool(database.app_url, size=2)
    yield pool
    pool.close()


@pytest.fixture
def graph(database: "Database", pool: Pool) -> Graphing:
    name = f"node-reads-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    system = Remembering(transactions=StoreTransactions(pool), principal=admin_of(workspace_id))
    return Graphing(system)


@pytest.fixture
def browse(pool: Pool) -> BrowseNodes:
    return BrowseNodes(transactions=StoreTransactions(pool))


def bot(graph: Graphing, slug: str = "bot") -> Principal:
    return replace(graph.system.principal, role=Role.AGENT, agent_slug=slug)


def test_a_node_is_shown_with_what_it_is_and_its_edges(
    graph: Graphing, browse: BrowseNodes
) -> None:
    problem = graph.note("Logins fail.")
    made = graph.one(
        node(
            "Runbook",
            kind="resolution",
            title="Clear sessions",
            text="Restart the cache.",
            keywords=["Keycloak", "keycloak"],
            slug="clear-sessions",
            owner="platform",
            importance=8,
            session_id="s1",
            edges=(NewEdge(relation="SOLVES", to_id=problem, weight=2.0),),
        )
    )
    shown = browse.node(graph.system.principal, made)
    assert (shown.label, shown.kind, shown.title) == ("Runbook", "resolution", "Clear sessions")
    assert (shown.keywords, shown.slug) == (("keycloak",), "clear-sessions")
    assert (shown.importance_band, shown.metadata) == ("high", {"owner": "platform"})
    assert (shown.provenance["source"], shown.provenance["session_id"]) == ("ledger", "s1")
    assert shown.edges is not None
    (edge,) = shown.edges.strongest
    assert (edge.relation, edge.direction, edge.weight, edge.node.id) == (
        "SOLVES",
        "out",
        2.0,
        problem,
    )
    told = json.loads(encode(shown))
    assert told["edges"]["strongest"][0]["node"]["id"] == str(problem)
    assert told["provenance"]["position"] == shown.position
    other = browse.node(graph.system.principal, problem)
    assert other.backlink_count == 1
    assert other.edges is not None
    assert [(count.direction, count.count) for count in other.edges.counts] == [("in", 1)]


def test_any_label_is_shown(graph: Graphing, browse: BrowseNodes) -> None:
    memory = graph.system.tell_one(fact("Acme uses Next.js.")).id
    assert memory is not None
    assert browse.node(graph.system.principal, memory).label == "Memory"


def test_compiled_truth_and_texts_among_properties_are_found_by_words(
    graph: Graphing, pool: Pool
) -> None:
    made = graph.one(node("Runbook", text="Restart.", owner="the zebrafish team"))
    graph.compile(graph.system.principal, made, "Restarting helps since the quokka release.")
    for word in ("zebrafish", "quokka"):
        with StoreTransactions(pool).reading(graph.system.principal) as stores:
            found = stores.connection.execute(
                "SELECT id FROM node WHERE workspace_id = %s AND search_tsv @@ to_tsquery(%s)",
                (graph.system.principal.workspace_id, word),
            ).fetchall()
        assert [one for (one,) in found] == [made], word


def test_what_a_reader_may_not_see_is_not_found_nor_shown_beside(
    graph: Graphing, browse: BrowseNodes
) -> None:
    public = replace(graph.system.principal, allowed_scopes=frozenset({Scope.PUBLIC}))
    mine = graph.note("for the bot", agents=("bot",), scope=Scope.PUBLIC)
    secret = graph.note("secret", NewEdge(relation="SOLVES", to_id=mine))
    for who, hidden in ((public, secret), (bot(graph, "other"), mine), (bot(graph), secret)):
        with pytest.raises(NotFound):
            browse.node(who, hidden)
    for who in (public, bot(graph)):
        edges = browse.node(who, mine).edges
        assert edges is not None
        assert (edges.counts, edges.strongest) == ((), ())
        assert [
            node.id for node in browse.nodes(who, NodeFilter(label="Note"), limit=9, after=None)
        ] == [mine]


def test_another_workspace_sees_nothing(
    graph: Graphing, browse: BrowseNodes, database: "Database"
) -> None:
    name = f"stranger-{new_id()}"
    workspace_id, _ = create_workspace(database.owner_url, name, clock=utc_now, new_id=new_id)
    stranger = admin_of(workspace_id)
    made, entity = graph.note("x"), graph.entity("Acme", "x")
    with pytest.raises(NotFound):
        browse.node(stranger, made)
    with pytest.raises(NotFound):
        browse.entity(stranger, entity)
    with pytest.raises(NotFound):
        graph.correct.add_alias(stranger, entity, "mine")
    assert browse.nodes(stranger, NodeFilter(label="Note"), limit=9, after=None) == []
    assert browse.entities(stranger, EntityFilter(), limit=9, after=None) == []


def test_a_list_of_nodes_goes_on_after_the_last(graph: Graphing, browse: BrowseNodes) -> None:
    made = [graph.note(f"number {n}", client_id="acme" if n % 2 else "global") for n in range(5)]
    seen: list[UUID] = []
    after = None
    while page := browse.nodes(
        graph.system.principal, NodeFilter(label="Note"), limit=2, after=after
    ):
        seen += [item.id for item in page]
        after = page[-1].position, page[-1].id
    assert seen == made[::-1]
    where = NodeFilter(label="Note", client_id="acme")
    assert len(browse.nodes(graph.system.principal, where, limit=9, after=None)) == 2


def test_an_entity_tells_its_names_mentions_roles_and_relations(
    graph: Graphing, browse: BrowseNodes
) -> None:
    acme, redis = graph.entity("Acme", "organisation"), graph.entity("Redis", "technology")
    for day, role in ((1, "about"), (5, "mentioned"), (3, "mentioned")):
        edge = NewEdge(relation="REFERENCES", to_id=acme, properties={"role": role})
        graph.note(f"day {day}", edge, occurred_at=NOON + timedelta(days=day))
    hidden = NewEdge(relation="REFERENCES", to_id=acme)
    graph.note("the bot's", hidden, agents=("bot",), occurred_at=NOON + timedelta(days=9))
    graph.relate(acme, "USES", redis)
    graph.relate(acme, "USES", redis)
    graph.correct.add_alias(graph.system.principal, acme, "The Client")
    shown = browse.entity(graph.system.principal, acme)
    assert (shown.name, shown.type, shown.aliases) == ("Acme", "organisation", ("the client",))
    assert (shown.mention_count, shown.roles) == (4, {"about": 1, "mentioned": 3})
    assert shown.first_seen == NOON + timedelta(days=1)
    assert shown.last_seen == NOON + timedelta(days=9)
    (relation,) = shown.relations
    assert (relation.relation, relation.direction, relation.strength) == ("USES", "out", 2.0)
    assert relation.entity.title == "Redis"
    assert json.loads(encode(shown))["roles"] == {"about": 1, "mentioned": 3}


def test_entities_are_listed_by_name_and_found_by_alias(
    graph: Graphing, browse: BrowseNodes
) -> None:
    who = graph.system.principal
    acme = graph.entity("acme", "organisation")
    for name, type in (("Zoe", "person"), ("Bea", "person"), ("50% \\_off", "x")):
        graph.entity(name, type)
    graph.correct.add_alias(who, acme, "The Client")

    def found(q: str | None = None, type: str | None = None) -> list[str]:
        where = EntityFilter(q=q, type=type)
        return [entity.name for entity in browse.entities(who, where, limit=9, after=None)]

    assert found() == ["50% \\_off", "acme", "Bea", "Zoe"]
    assert found(type="person") == ["Bea", "Zoe"]
    assert (found("CLIENT"), found("%"), found("nobody")) == (["acme"], ["50% \\_off"], [])
    first = browse.entities(who, EntityFilter(), limit=2, after=None)
    after = first[-1].sort_key, first[-1].id
    assert [
        entity.name for entity in browse.entities(who, EntityFilter(), limit=9, after=after)
    ] == (["Bea", "Zoe"])


def test_a_merged_entity_is_read_and_no_longer_listed(graph: Graphing, browse: BrowseNodes) -> None:
    who = graph.system.principal
    acme, corp = graph.entity("Acme", "x"), graph.entity("Acme Corp", "x")
    graph.correct.merge(who, acme, corp)
    assert browse.entity(who, acme).superseded_by == corp
    assert browse.entity(who, corp).aliases == ("acme",)
    assert [entity.id for entity in browse.entities(who, EntityFilter(), limit=9, after=None)] == [
        corp
    ]


def test_a_hub_of_ten_thousand_edges_is_answered_in_bounds(
    graph: Graphing, browse: BrowseNodes
) -> None:
    hub, notes = graph.entity("Hub", "x"), [graph.note(f"note {n}") for n in range(3)]
    with graph.system.transactions.writing(graph.system.principal) as stores:
        position = stores.ledger.head().position
        edges = [
            Edge(
                workspace_id=graph.system.principal.workspace_id,
                id=new_id(),
                view=View.ENTITY,
                relation=Relation.REFERENCES if number else Relation.WORKS_ON,
                source_id=notes[number % 3] if number < 3 else new_id(),
                target_id=hub,
                valid_from=NOON,
                recorded_at=NOON,
                position=position,
            )
            for number in range(10_001)
        ]
        stores.nodes.apply([Projection(edges=tuple(edges))])
    start = time.perf_counter()
    shown = browse.node(graph.system.principal, hub)
    detail = browse.entity(graph.system.principal, hub)
    assert time.perf_counter() - start < 5
    assert shown.edges is not None
    assert shown.edges.truncated
    assert len(shown.edges.strongest) <= 50
    assert detail.mention_count <= 2
