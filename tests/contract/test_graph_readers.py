"""Reading the graph: what holds for the fake and for PostgreSQL alike."""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from tests.fakes.graph import InMemoryGraphTransactions
from tests.fakes.stores import InMemoryTransactions
from tests.support.graphs import NOON, Planted
from tests.support.remembering import admin_of

from cairn.adapters.postgres.accounts import create_workspace
from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.graph.node import State
from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.recall.records import Filters
from cairn.recall.results import expand
from cairn.recall.walks.exploration import find_starts
from cairn.recall.walks.graph_ports import GraphSeeds

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

NOW = Filters()


@dataclass
class System:
    """A planted workspace, a second one, and the transactions a walk reads in."""

    graph: Planted
    stranger: Planted
    reading_transactions: Any

    @contextmanager
    def reading(self, principal: Principal | None = None) -> Generator[Any]:
        with self.reading_transactions.reading(principal or self.graph.principal) as stores:
            yield stores.graph


@pytest.fixture(params=["in memory", "postgres"])
def system(request: pytest.FixtureRequest) -> Iterator[System]:
    if request.param == "in memory":
        yield in_memory()
        return
    yield from in_postgres(request.getfixturevalue("database"))


def over(reader: Any) -> Any:
    """The stores that `expand` reads, of a graph."""
    return SimpleNamespace(graph=reader)


def in_memory() -> System:
    transactions = InMemoryTransactions()
    graphs: list[Planted] = []
    for _ in range(2):
        principal = admin_of(new_id())
        transactions.create_workspace(principal.workspace_id)
        graphs.append(Planted(transactions=transactions, principal=principal))
    return System(graphs[0], graphs[1], InMemoryGraphTransactions(transactions))


def in_postgres(database: "Database") -> Iterator[System]:
    pool = Pool(database.app_url, size=2)
    graphs: list[Planted] = []
    for name in ("graph", "stranger"):
        workspace_id, _ = create_workspace(
            database.owner_url, f"{name}-{new_id()}", clock=utc_now, new_id=new_id
        )
        principal = admin_of(workspace_id)
        graphs.append(Planted(transactions=StoreTransactions(pool), principal=principal))
    yield System(graphs[0], graphs[1], StoreTransactions(pool))
    pool.close()


def hop(system: System, *names: str, principal: Principal | None = None, **options: Any) -> Any:
    asked = {"filters": NOW, "per_node": 50, "limit": 1000} | options
    with system.reading(principal) as reader:
        return reader.hop([system.graph.id(name) for name in names], **asked)


def ends(system: System, edges: Any) -> set[tuple[str, str, str]]:
    by_id = {id_: name for name, id_ in system.graph.ids.items()}
    return {(by_id[edge.source_id], edge.relation, by_id[edge.target_id]) for edge in edges}


def test_an_entity_is_found_by_its_name_whatever_its_case(system: System) -> None:
    system.graph.plant([system.graph.node("NEXT.JS"), system.graph.node("other")])
    with system.reading() as reader:
        found = reader.find_entities(["Next.js", "other", "nobody"], NOW)
    assert [(item.node_id, item.name, item.type) for item in found] == [
        (system.graph.id("NEXT.JS"), "next.js", "technology")
    ]


@pytest.mark.parametrize(
    "name",
    ["'; DROP TABLE node; --", "a' OR '1'='1", "%", "_", "", " ", "\\", "{}", "é", "🪨" * 50],
)
def test_a_name_like_sql_is_only_a_name(system: System, name: str) -> None:
    system.graph.plant([system.graph.node("ROBERT"), system.graph.node("X", canonical_name=name)])
    with system.reading() as reader:
        found = reader.find_entities([name], NOW)
    assert [item.node_id for item in found] == [system.graph.id("X")]


def test_no_names_no_entities(system: System) -> None:
    with system.reading() as reader:
        assert list(reader.find_entities([], NOW)) == []


def test_a_hop_goes_both_ways_and_names_the_labels_of_both_ends(system: System) -> None:
    system.graph.grow(("a", "CAUSED_BY", "b"), ("c", "FOLLOWS", "a"), ("a", "REFERENCES", "E"))
    found = hop(system, "a")
    assert ends(system, found) == {
        ("a", "CAUSED_BY", "b"),
        ("c", "FOLLOWS", "a"),
        ("a", "REFERENCES", "E"),
    }
    to_entity = next(item for item in found if item.relation == "REFERENCES")
    assert (to_entity.source_label, to_entity.target_label) == ("Memory", "Entity")


def test_what_an_edge_says_of_itself_comes_with_it(system: System) -> None:
    graph = system.graph
    graph.plant(
        [graph.node(name) for name in ("a", "b", "c", "E")],
        [
            graph.edge("a", "SIMILAR_TO", "b", properties={"score": 0.91}),
            graph.edge("a", "CAUSED_BY", "c", properties={"mechanism": "inferred"}),
            graph.edge("a", "REFERENCES", "E", properties={"role": "tool"}, weight=2.5),
        ],
    )
    found = {item.relation: item for item in hop(system, "a")}
    assert found["SIMILAR_TO"].score == pytest.approx(0.91)
    assert found["CAUSED_BY"].mechanism == "inferred"
    assert (found["REFERENCES"].role, found["REFERENCES"].weight) == ("tool", 2.5)
    assert found["REFERENCES"].score is None


def test_a_self_loop_comes_once(system: System) -> None:
    system.graph.grow(("a", "FOLLOWS", "a"))
    assert len(hop(system, "a")) == 1


def test_only_the_relations_asked_for(system: System) -> None:
    system.graph.grow(("a", "CAUSED_BY", "b"), ("a", "FOLLOWS", "c"))
    assert ends(system, hop(system, "a", relations=["FOLLOWS"])) == {("a", "FOLLOWS", "c")}


def test_a_hub_shows_its_heaviest_edges_and_keeps_a_share_for_co_occurrence(
    system: System,
) -> None:
    graph = system.graph
    leaves = [f"leaf{number}" for number in range(6)]
    others = [f"O{number}" for number in range(6)]
    graph.plant(
        [graph.node(name) for name in ("HUB", *leaves, *others)],
        [
            *(
                graph.edge(leaf, "REFERENCES", "HUB", weight=n / 10)
                for n, leaf in enumerate(leaves)
            ),
            *(graph.edge("HUB", "CO_OCCURRENCE", o, weight=n) for n, o in enumerate(others)),
        ],
    )
    found = hop(system, "HUB", per_node=2)
    assert ends(system, found) == {
        ("leaf5", "REFERENCES", "HUB"),
        ("leaf4", "REFERENCES", "HUB"),
        ("HUB", "CO_OCCURRENCE", "O5"),
        ("HUB", "CO_OCCURRENCE", "O4"),
    }


def test_no_more_edges_than_the_limit(system: System) -> None:
    system.graph.grow(*((f"n{number}", "FOLLOWS", "m") for number in range(9)))
    assert len(hop(system, "m", limit=4)) == 4


def test_nothing_at_nothing(system: System) -> None:
    assert list(hop(system)) == []
    assert list(hop(system, "unknown")) == []


@pytest.mark.parametrize("state", [State.DELETED, State.QUARANTINED])
def test_what_is_gone_is_at_no_edge(system: System, state: State) -> None:
    system.graph.grow(("a", "FOLLOWS", "b"), ("b", "FOLLOWS", "c"))
    system.graph.change("b", state=state)
    assert list(hop(system, "a")) == []
    assert list(hop(system, "b")) == []
    with system.reading() as reader:
        assert list(reader.starts([system.graph.id("b")], NOW)) == []
        assert list(reader.read([system.graph.id("b")], NOW)) == []


def test_an_edge_that_was_closed_is_not_there(system: System) -> None:
    system.graph.grow(("a", "FOLLOWS", "b"), ("a", "FOLLOWS", "c"))
    system.graph.close("a", "FOLLOWS", "b")
    assert ends(system, hop(system, "a")) == {("a", "FOLLOWS", "c")}


def test_another_scope_is_not_walked_into(system: System) -> None:
    graph = system.graph
    graph.plant(
        [graph.node("p", scope="public"), graph.node("S"), graph.node("q", scope="public")],
        [graph.edge("p", "REFERENCES", "S"), graph.edge("p", "FOLLOWS", "q")],
    )
    reader = graph.as_other(allowed_scopes=frozenset({Scope.PUBLIC}))
    assert ends(system, hop(system, "p", "S", principal=reader)) == {("p", "FOLLOWS", "q")}
    with system.reading(reader) as found:
        assert list(found.find_entities(["s"], NOW)) == []
        assert graph.names(
            node_id for node_id, _ in found.starts(list(graph.ids.values()), NOW)
        ) == {
            "p",
            "q",
        }


def test_an_agent_walks_over_untagged_nodes_and_starts_from_its_own(system: System) -> None:
    graph = system.graph
    graph.plant(
        [
            graph.node("mine", agents=("bot",), scope="public"),
            graph.node("open", scope="public"),
            graph.node("theirs", agents=("other",), scope="public"),
            graph.node("none", agents=(), scope="public"),
            graph.node("E", agents=("other",), scope="public"),
        ],
        [
            graph.edge("mine", "FOLLOWS", "open"),
            graph.edge("mine", "FOLLOWS", "theirs"),
            graph.edge("mine", "FOLLOWS", "none"),
            graph.edge("mine", "REFERENCES", "E"),
        ],
    )
    bot = graph.as_other(
        role=Role.PUBLIC, allowed_scopes=frozenset({Scope.PUBLIC}), agent_slug="bot"
    )
    ids = [graph.id(name) for name in ("mine", "open", "theirs", "none", "E")]
    assert ends(system, hop(system, "mine", principal=bot)) == {("mine", "FOLLOWS", "open")}
    with system.reading(bot) as reader:
        assert graph.names(node_id for node_id, _ in reader.starts(ids, NOW)) == {"mine"}
        assert graph.names(reader.eligible(ids, NOW)) == {"mine"}
        assert graph.names(item.id for item in reader.read(ids, NOW)) == {"mine", "open"}
        assert list(reader.find_entities(["e"], NOW)) == []


def test_another_workspaces_ids_are_unknown(system: System) -> None:
    theirs = system.stranger
    theirs.grow(("a", "REFERENCES", "E"))
    ids = [theirs.id("a"), theirs.id("E")]
    with system.reading() as reader:
        assert list(reader.hop(ids, NOW, per_node=5, limit=5)) == []
        assert list(reader.starts(ids, NOW)) == []
        assert reader.eligible(ids, NOW) == frozenset()
        assert list(reader.read(ids, NOW)) == []
        assert list(reader.find_entities(["e"], NOW)) == []
        assert expand(over(reader), ids, NOW) == {}


def test_an_edge_into_another_workspaces_node_leads_nowhere(system: System) -> None:
    graph, theirs = system.graph, system.stranger
    theirs.plant([theirs.node("secret")])
    graph.plant(
        [graph.node("a")],
        [graph.edge("a", "FOLLOWS", "x", target_id=theirs.id("secret"))],
    )
    assert list(hop(system, "a")) == []


def test_eligible_is_what_passes_every_filter(system: System) -> None:
    graph = system.graph
    later = NOON + timedelta(days=1)
    graph.plant(
        [
            graph.node("plain"),
            graph.node("event", kind="event", occurred_at=later),
            graph.node("old", state=State.SUPERSEDED, valid_to=later),
            graph.node("idle", state=State.ARCHIVED, valid_to=later),
            graph.node("acme", client_id="acme"),
            graph.node("chunk", label="Chunk", kind=None),
            graph.node("E"),
            graph.node("gone", state=State.EXPIRED),
        ]
    )
    ids = list(graph.ids.values())

    def eligible(**filters: Any) -> set[str]:
        with system.reading() as reader:
            return graph.names(reader.eligible(ids, Filters(**filters)))

    assert eligible() == {"plain", "event", "acme", "chunk"}
    assert eligible(kinds=("event",)) == {"event"}
    assert eligible(labels=("Chunk",)) == {"chunk"}
    assert eligible(labels=("Entity",)) == {"E"}
    assert eligible(client_id="acme") == {"acme"}
    assert eligible(include_superseded=True) == {
        "plain", "event", "acme", "chunk", "old", "idle",
    }  # fmt: skip
    assert eligible(occurred_from=later) == {"event"}
    assert eligible(occurred_to=later) == {"plain", "acme", "chunk"}
    assert eligible(valid_at=later) == {"plain", "event", "acme", "chunk"}
    assert eligible(valid_at=NOON, kinds=("fact",)) == {"plain", "acme", "old", "idle"}
    assert eligible(scopes=("public",)) == set()


def test_the_past_is_walked_as_it_stood(system: System) -> None:
    graph = system.graph
    first = graph.grow(("a", "FOLLOWS", "b"))
    second = graph.grow(("c", "REFERENCES", "E"), ("c", "FOLLOWS", "a"))
    graph.change("b", state=State.DELETED)

    def seen(position: int | None) -> set[tuple[str, str, str]]:
        return ends(system, hop(system, "a", "b", "c", filters=Filters(as_of_position=position)))

    assert seen(first) == {("a", "FOLLOWS", "b")}
    assert seen(second) == {
        ("a", "FOLLOWS", "b"),
        ("c", "FOLLOWS", "a"),
        ("c", "REFERENCES", "E"),
    }
    assert seen(None) == {("c", "FOLLOWS", "a"), ("c", "REFERENCES", "E")}
    assert seen(0) == set()
    assert seen(2**53) == seen(None)


def test_names_and_results_of_the_past_are_those_of_then(system: System) -> None:
    graph = system.graph
    before = graph.grow(("x", "FOLLOWS", "y"))
    graph.grow(("z", "REFERENCES", "E"))
    past = Filters(as_of_position=before)
    ids = list(graph.ids.values())
    with system.reading() as reader:
        assert list(reader.find_entities(["e"], past)) == []
        assert graph.names(reader.eligible(ids, past)) == {"x", "y"}
        assert graph.names(node_id for node_id, _ in reader.starts(ids, past)) == {"x", "y"}
        assert graph.names(item.id for item in reader.read(ids, past)) == {"x", "y"}
        assert expand(over(reader), [graph.id("z")], past) == {}
        assert set(expand(over(reader), [graph.id("x")], past)) == {graph.id("x")}


def test_one_hop_keeps_direction_and_order_and_says_what_it_dropped(system: System) -> None:
    graph = system.graph
    targets = [f"t{number:02}" for number in range(25)]
    graph.plant(
        [graph.node(name) for name in ("r", "before", *targets)],
        [
            *(graph.edge("r", "RELATED_TO", name, weight=0.5) for name in targets),
            graph.edge("before", "LEADS_TO", "r"),
        ],
    )
    with system.reading() as reader:
        related = expand(over(reader), [graph.id("r")], NOW)[graph.id("r")]
    assert len(related.nodes) == 20
    assert related.dropped == 6
    first = related.nodes[0]
    assert (first.node_id, first.direction, first.relation) == (
        graph.id("before"),
        "incoming",
        "LEADS_TO",
    )
    assert {node.direction for node in related.nodes[1:]} == {"outgoing"}
    assert all(node.of_id == graph.id("r") for node in related.nodes)


def test_one_hop_of_several_results_is_told_apart(system: System) -> None:
    graph = system.graph
    graph.grow(("a", "FOLLOWS", "b"), ("b", "REFERENCES", "E"), ("lonely", "FOLLOWS", "lonely"))
    ids = [graph.id(name) for name in ("a", "b", "lonely")]
    with system.reading() as reader:
        related = expand(over(reader), ids, NOW)
        assert expand(over(reader), ids, NOW, hops=0) == {}
        assert expand(over(reader), [], NOW) == {}
    beside = {of: graph.names(node.node_id for node in each.nodes) for of, each in related.items()}
    assert beside == {
        graph.id("a"): {"b"},
        graph.id("b"): {"a", "E"},
        graph.id("lonely"): {"lonely"},
    }


def test_one_hop_shows_untagged_nodes_and_no_other_agents(system: System) -> None:
    graph = system.graph
    graph.plant(
        [
            graph.node("mine", agents=("bot",)),
            graph.node("open", text="o" * 3000),
            graph.node("theirs", agents=("other",)),
        ],
        [graph.edge("mine", "FOLLOWS", "open"), graph.edge("mine", "FOLLOWS", "theirs")],
    )
    with system.reading(graph.as_other(agent_slug="bot")) as reader:
        related = expand(over(reader), [graph.id("mine")], NOW)[graph.id("mine")]
    assert [node.node_id for node in related.nodes] == [graph.id("open")]
    assert related.dropped == 0
    assert len(related.nodes[0].text) == 1000


def sessions(system: System) -> None:
    """Plant an incident like one of an earlier session that was solved, and one that was not."""
    graph = system.graph
    earlier = NOON - timedelta(days=9)
    graph.plant(
        [
            graph.node("now", session_id="s2"),
            graph.node("then", session_id="s1", occurred_at=earlier),
            graph.node("fix", session_id="s1", occurred_at=earlier),
            graph.node("open", session_id="s0", occurred_at=earlier),
            graph.node("same", session_id="s2", occurred_at=earlier),
            graph.node("later", session_id="s3", occurred_at=NOON + timedelta(days=1)),
            graph.node("weak", session_id="s4", occurred_at=earlier),
        ],
        [
            graph.edge("now", "SIMILAR_TO", "then", properties={"score": 0.95}),
            graph.edge("fix", "SOLVES", "then"),
            graph.edge("now", "SIMILAR_TO", "open", properties={"score": 0.97}),
            graph.edge("now", "SIMILAR_TO", "same", properties={"score": 0.98}),
            graph.edge("fix", "SOLVES", "same"),
            graph.edge("later", "SIMILAR_TO", "now", properties={"score": 0.96}),
            graph.edge("fix", "SOLVES", "later"),
            graph.edge("now", "SIMILAR_TO", "weak", properties={"score": 0.86}),
            graph.edge("fix", "ADDRESSES", "weak"),
        ],
    )


def test_a_recurring_pattern_is_an_earlier_sessions_with_its_resolution(system: System) -> None:
    sessions(system)
    with system.reading() as reader:
        found = list(reader.recurring([system.graph.id("now")], minimum=0.9, limit=9))
        assert list(reader.recurring([system.graph.id("fix")], minimum=0.9, limit=9)) == []
    now = system.graph.id("now")
    assert found == [
        (system.graph.id("fix"), now, pytest.approx(0.95)),
        (system.graph.id("then"), now, pytest.approx(0.95)),
    ]


def test_a_recurring_pattern_of_another_agent_is_not_told(system: System) -> None:
    sessions(system)
    system.graph.change("then", state=State.QUARANTINED)
    with system.reading() as reader:
        assert list(reader.recurring([system.graph.id("now")], minimum=0.9, limit=9)) == []


def test_an_entitys_context_is_what_is_important_at_it(system: System) -> None:
    graph = system.graph
    graph.plant(
        [
            graph.node("E"),
            graph.node("F", importance=10),
            graph.node("big", importance=9),
            graph.node("bigger", importance=10),
            graph.node("small", importance=6),
            graph.node("theirs", importance=10, agents=("other",)),
        ],
        [
            graph.edge("big", "REFERENCES", "E"),
            graph.edge("E", "HAS_FACT", "bigger"),
            graph.edge("small", "REFERENCES", "E"),
            graph.edge("theirs", "REFERENCES", "E"),
            graph.edge("E", "USES", "F"),
            graph.edge("E", "CO_OCCURRENCE", "F"),
        ],
    )
    with system.reading(graph.as_other(agent_slug="bot")) as reader:
        found = list(reader.important_connections([graph.id("E")], minimum=7, limit=9))
    assert found == [
        (graph.id("bigger"), graph.id("E"), 10.0),
        (graph.id("big"), graph.id("E"), 9.0),
    ]


def test_a_question_of_oneself_starts_at_ones_own_entity_and_what_is_important_there(
    system: System,
) -> None:
    graph = system.graph
    graph.plant(
        [
            graph.node("ACME", kind="client"),
            graph.node("GLOBEX", kind="client"),
            graph.node("BOT"),
            *(graph.node(f"big{n}", importance=7 + n % 3) for n in range(8)),
            graph.node("small", importance=6),
            graph.node("theirs", importance=10),
            graph.node("hidden", importance=10, agents=("other",)),
        ],
        [
            *(graph.edge(f"big{n}", "REFERENCES", "ACME") for n in range(8)),
            graph.edge("small", "REFERENCES", "ACME"),
            graph.edge("hidden", "REFERENCES", "ACME"),
            graph.edge("theirs", "REFERENCES", "GLOBEX"),
            graph.edge("theirs", "REFERENCES", "BOT"),
        ],
    )
    big = {graph.id(f"big{n}") for n in range(8)}
    with system.reading_transactions.reading(graph.as_other(agent_slug="bot")) as stores:
        assert find_starts(stores, GraphSeeds(own="acme"), NOW).labels == {}
    with system.reading_transactions.reading(graph.principal) as stores:
        found = find_starts(stores, GraphSeeds(own="acme"), NOW)
        best = find_starts(stores, GraphSeeds(own="acme", matched={graph.id("big2"): 1.0}), NOW)
        nobody = find_starts(stores, GraphSeeds(own="bot"), NOW)
    assert found.given == {graph.id("ACME")}
    assert found.matched.keys() == {graph.id("hidden")} | (found.matched.keys() & big)
    assert sorted(found.matched.values()) == [pytest.approx(0.64)] * 2 + [
        pytest.approx(0.81),
        pytest.approx(0.81),
        1.0,
    ]
    assert best.matched[graph.id("big2")] == 1.0
    assert nobody.labels == {}
