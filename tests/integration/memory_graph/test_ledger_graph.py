"""The memory graph over a real ledger: rebuilt, raced, interrupted, forgotten, and kept apart."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from tests.support.everything import Everything, open_everything
from tests.support.forgetting import Stand, open_stand
from tests.support.graph import Graphing
from tests.support.memory_graphs import (
    NOON,
    Opened,
    graph_writer,
    help_desk,
    in_order,
    ledger_graph,
)
from tests.support.remembering import admin_of, fact

from cairn.adapters.postgres.database import Database as Pool
from cairn.adapters.postgres.database import bound
from cairn.adapters.postgres.sql import query
from cairn.forgetting.forget import Forgotten, Target
from cairn.forgetting.ports import Reason
from cairn.graph.memory_records import Dump, EdgeDump, NodeDump, Provenance, Status
from cairn.kernel.access import Principal, Role, Scope
from cairn.kernel.errors import Conflict, Denied, NotFound
from cairn.kernel.ids import new_id
from cairn.memory_graph.ledger_graph import LedgerGraph
from cairn.memory_graph.ports import IMPORT_BATCH
from cairn.nodes.changes import NewRelationship

if TYPE_CHECKING:
    from uuid import UUID

    from tests.plugins.postgres import Database


@pytest.fixture(scope="module")
def pool(database: "Database") -> Iterator[Pool]:
    pool = Pool(database.app_url, size=4)
    yield pool
    pool.close()


@pytest.fixture
def stand(database: "Database", pool: Pool) -> Stand:
    return open_stand(database, pool)


@pytest.fixture
def graph(stand: Stand) -> LedgerGraph:
    return ledger_graph(stand)


@pytest.fixture
def everything(database: "Database") -> Iterator[Everything]:
    opened = open_everything(database)
    yield opened
    opened.pool.close()


def facts(count: int) -> list[Dump]:
    return [
        NodeDump(
            label="fact",
            natural_key=f"fact:{number:05}",
            properties={"text": f"Fact {number}."},
            provenance=Provenance.IMPORTED,
            status=Status.ACTIVE,
        )
        for number in range(count)
    ]


def no_forgetting(principal: Principal, target: Target, reason: Reason) -> Forgotten:
    raise NotFound("Nobody is known by that.")


def test_a_rebuild_makes_the_same_rows_and_the_same_export(everything: Everything) -> None:
    writer = graph_writer(everything.pool, everything.keys, everything.sent)
    one = Opened(LedgerGraph(writer=writer, forget=no_forgetting), everything.workspace_id)
    one.load(help_desk())
    acme, sso = one.put("customer", "customer:acme", tier="gold"), one.put("system", "system:sso")
    one.tie(acme, "USES", sso)
    one.tie(acme, "USES", sso, weight=7)  # replaces the first
    one.put("customer", "customer:acme", tier="silver")
    one.graph.mark_archived(one.workspace_id, sso)
    everything.embed()
    before = one.dumped()
    done = everything.rebuild(everything.workspace_id)
    assert (done.equal, done.replaced.rows) == (True, 0)
    assert one.dumped() == before
    writes = everything.rows("SELECT count(*) FROM ledger WHERE workspace_id = $w")
    one.load(one.graph.export_all(one.workspace_id))
    assert everything.rows("SELECT count(*) FROM ledger WHERE workspace_id = $w") == writes


def test_names_and_texts_of_the_graph_are_nowhere_in_clear_in_the_ledger(
    everything: Everything,
) -> None:
    writer = graph_writer(everything.pool, everything.keys, everything.sent)
    one = Opened(LedgerGraph(writer=writer, forget=no_forgetting), everything.workspace_id)
    one.tie(one.put("customer", "customer:zanzibar"), "USES", one.put("system", "quokka"))
    clear = everything.rows(
        "SELECT meta, encode(body, 'escape') FROM ledger WHERE workspace_id = $w"
    )
    assert not [row for row in clear if "zanzibar" in str(row) or "quokka" in str(row)]


def test_nodes_of_the_graph_are_shown_like_any_and_may_be_deleted_and_come_back(
    stand: Stand, graph: LedgerGraph
) -> None:
    one = Opened(graph, stand.workspace_id)
    node_id = one.put("system", "system:sso", text="Keycloak signs people in")
    graphing = Graphing(stand.system)
    graphing.delete(stand.principal, node_id)
    assert graph.get_node(stand.workspace_id, "system", "system:sso") is None
    assert list(graph.export_all(stand.workspace_id)) == []
    with pytest.raises(NotFound):
        graph.mark_archived(stand.workspace_id, node_id)
    assert one.put("system", "system:sso", text="Keycloak again") == node_id
    found = graph.get_node(stand.workspace_id, "system", "system:sso")
    assert found is not None
    assert found.dump.properties == {"text": "Keycloak again"}


def test_edges_stated_by_the_other_route_are_in_the_graph_and_have_a_canonical_form(
    stand: Stand, graph: LedgerGraph
) -> None:
    one = Opened(graph, stand.workspace_id)
    a, b = one.put("fact", "a"), one.put("fact", "b")
    stated = NewRelationship(source_id=a, target_id=b, relation="CAUSES", properties={"p": 0.25})
    Graphing(stand.system).relate_(stand.principal, stated, idempotency=None)
    assert b'"properties":{"p":"0.25"},"relation":"CAUSES"' in one.dumped()


def test_an_import_that_is_interrupted_goes_on_where_it_stopped(
    stand: Stand, graph: LedgerGraph
) -> None:
    one, every = Opened(graph, stand.workspace_id), facts(IMPORT_BATCH + 30)

    def torn() -> Iterator[Dump]:
        yield from every[: IMPORT_BATCH + 10]
        raise ConnectionError

    with pytest.raises(ConnectionError):
        one.load(torn())
    assert list(graph.export_all(stand.workspace_id)) == every[:IMPORT_BATCH]
    done = graph.import_records(stand.workspace_id, every)
    assert (done.read, done.changed) == (len(every), 30)
    assert list(graph.export_all(stand.workspace_id)) == every


def test_imports_at_once_write_each_record_once(stand: Stand, graph: LedgerGraph) -> None:
    with ThreadPoolExecutor(3) as threads:
        runs = [
            threads.submit(graph.import_records, stand.workspace_id, help_desk()) for _ in range(3)
        ]
        changed = sum(run.result().changed for run in runs)
    assert changed == len(help_desk())
    assert list(graph.export_all(stand.workspace_id)) == help_desk()


def test_pages_of_any_size_make_the_same_export_and_leave_out_what_came_since(
    stand: Stand, graph: LedgerGraph
) -> None:
    ws = stand.workspace_id
    graph.import_all(ws, help_desk())
    for limit in (1, 2, 7, 100):
        page = graph.export_page(ws, limit=limit)
        found = [*page.records]
        if limit == 2:
            newest = graph.upsert_node(ws, "zebra", "late", {}, "operator", "active")
            first = graph.get_node(ws, "fact", "fact:legacy-pop3")
            assert first is not None
            graph.upsert_edge(ws, newest, first.id, "USES")
        while page.after is not None:
            assert len(page.records) <= limit
            page = graph.export_page(ws, page.after, position=page.position, limit=limit)
            found += page.records
        if limit <= 2:
            assert found == help_desk()
    assert found[-1] != help_desk()[-1]


def test_forgetting_a_customer_takes_their_memories_along_and_a_new_one_may_come(
    stand: Stand, graph: LedgerGraph
) -> None:
    ws, one = stand.workspace_id, Opened(graph, stand.workspace_id)
    memory = stand.tell("Acme keeps goats.", client="acme")
    first = one.put("customer", "customer:acme", name="Acme")
    report = graph.forget_subject(ws, "customer:acme")
    assert (report.known, report.erased, len(report.forgettings)) == (True, 1, 1)
    with stand.system.transactions.reading(stand.principal) as stores:
        assert stores.memories.find(memory) is None
    proof = stand.prove(stand.principal, report.forgettings[0], ("Acme keeps goats",))
    assert {place.place: place.note for place in proof.places if place.found} == {}

    again = one.put("customer", "customer:acme")
    assert again != first
    assert graph.forget_subject(ws, "customer:acme").erased == 1


def test_whose_data_a_node_is_does_not_change(stand: Stand, graph: LedgerGraph) -> None:
    one = Opened(graph, stand.workspace_id)
    node = one.put("fact", "k", data_subjects=["user:ada"])
    stand.forget(stand.principal, Target(owner=("person", "ada")), Reason.REQUEST)
    assert graph.get_node(stand.workspace_id, "fact", "k") is None
    later = one.put("fact", "k")
    assert later != node
    Graphing(stand.system).delete(stand.principal, later)
    with pytest.raises(Conflict, match="Whose data"):
        one.put("fact", "k", data_subjects=["user:eve"])


def test_a_key_sees_its_own_workspace_only_and_needs_to_be_an_admins(
    database: "Database", pool: Pool, stand: Stand, graph: LedgerGraph
) -> None:
    other = open_stand(database, pool)
    mine = graph.bound_to(stand.principal)
    with pytest.raises(NotFound):
        mine.get_node(other.workspace_id, "fact", "k")
    with pytest.raises(NotFound):
        list(mine.export_all(other.workspace_id))
    with pytest.raises(NotFound):
        mine.upsert_node(new_id(), "fact", "k", {}, "operator")
    for refused in (
        replace(stand.principal, role=Role.AGENT),
        replace(stand.principal, allowed_scopes=frozenset({Scope.PUBLIC})),
    ):
        with pytest.raises(Denied):
            graph.bound_to(refused)


def test_row_security_hides_the_graph_of_another_workspace_from_its_queries(
    database: "Database", pool: Pool, stand: Stand, graph: LedgerGraph
) -> None:
    graph.import_all(stand.workspace_id, help_desk())
    stranger = admin_of(open_stand(database, pool).workspace_id)
    asked = {"workspace_id": stand.workspace_id, "position": 10**9, "limit": 500}
    names = ("source_label", "source_key", "target_label", "target_key", "relation", "label", "key")
    with bound(pool, stranger) as connection:
        for name in ("memory_graph.node_page", "memory_graph.edge_page"):
            given = {**asked, **dict.fromkeys(names, "")}
            assert connection.execute(query(name), given).fetchall() == []


def test_a_memory_is_no_node_of_the_graph(stand: Stand, graph: LedgerGraph) -> None:
    stand.system.tell_one(fact("Acme moved.", key="where"))
    stand.system.tell_one(fact("Acme moved on.", key="where"))
    assert list(graph.export_all(stand.workspace_id)) == []


def test_an_export_of_thousands_reads_each_page_by_the_index(
    database: "Database", stand: Stand, graph: LedgerGraph
) -> None:
    nodes = [fact for fact in facts(1_500) if isinstance(fact, NodeDump)]
    edges = [
        EdgeDump(source=one.ref, target=other.ref, relation="RELATED_TO", observed_at=NOON)
        for step in (1, 2)
        for one, other in zip(nodes, nodes[step:], strict=False)
    ]
    graph.import_all(stand.workspace_id, in_order(nodes, edges))
    with database.connect_as_superuser() as root:
        root.execute("ANALYZE node")
        root.execute("ANALYZE edge")
    common = {"workspace_id": stand.workspace_id, "position": 10**9, "limit": 20}
    source = {"source_label": "Fact", "source_key": "fact:00700"}
    rest = {"target_label": "", "target_key": "", "relation": ""}
    asked = {
        "memory_graph.node_page": {**common, "label": "Fact", "key": "fact:00700"},
        "memory_graph.edge_page": {**common, **source, **rest},
        "memory_graph.named": {**common, "labels": ["Fact"], "keys": ["fact:00700"]},
    }
    with bound(stand.pool, stand.principal) as connection:
        for name, given in asked.items():
            plan = connection.execute(b"EXPLAIN " + query(name), given).fetchall()
            lines = "\n".join(row[0] for row in plan)
            assert "label_key_idx" in lines, lines
            assert "Seq Scan on edge" not in lines, lines


def test_what_waits_for_a_person_is_read_by_the_index_however_much_is_active(
    database: "Database", stand: Stand, graph: LedgerGraph
) -> None:
    graph.import_all(stand.workspace_id, facts(1_500))
    waiting = [
        graph.upsert_node(stand.workspace_id, label, f"{label}:{number}", {}, "proposed")
        for number in range(3)
        for label in ("fact", "observation", "ticket")
    ]
    graph.mark_archived(stand.workspace_id, waiting[0])
    graph.upsert_node(stand.workspace_id, "observation", "observation:0", {}, "operator", "active")
    newest = [waiting[place] for place in (8, 7, 6, 5, 4, 3, 2)]
    pages: list[UUID] = []
    while page := graph.provisional(
        stand.workspace_id,
        before=pages[-1] if pages else None,
        limit=3,
    ):
        pages += [item.id for item in page]
    assert pages == newest
    with database.connect_as_superuser() as root:
        root.execute("ANALYZE node")
    asked = {"workspace_id": stand.workspace_id, "limit": 3}
    with bound(stand.pool, stand.principal) as connection:
        for before in (None, waiting[6]):
            given = asked | {"before": before}
            plan = connection.execute(
                b"EXPLAIN " + query("memory_graph.provisional"), given
            ).fetchall()
            lines = "\n".join(row[0] for row in plan)
            assert "label_id_idx" in lines, lines
            assert "Seq Scan" not in lines, lines
