"""The memory graph: the same over every backend, and from any of them into any other."""

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, given, settings
from tests.support.memory_graphs import (
    BACKENDS,
    NOON,
    Opened,
    graphs,
    help_desk,
    names,
    open_backend,
    read_graph,
)

from cairn.adapters.postgres.database import Database as Pool
from cairn.graph.memory_dump import dump_lines
from cairn.graph.memory_records import Dump, EdgeDump, NodeDump, Provenance, Status
from cairn.graph.memory_walk import MAX_DEPTH
from cairn.kernel.errors import NotFound, ValidationFailed
from cairn.kernel.ids import new_id

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

Open = Callable[[str], Opened]


@pytest.fixture(scope="module")
def pool(database: "Database") -> Iterator[Pool]:
    pool = Pool(database.app_url, size=4)
    yield pool
    pool.close()


@pytest.fixture(scope="module")
def opened(request: pytest.FixtureRequest) -> Open:
    def one(name: str) -> Opened:
        if name == "memory":
            return open_backend(name)
        fixture = request.getfixturevalue
        return open_backend(name, fixture("database"), fixture("pool"))

    return one


@pytest.fixture(params=BACKENDS)
def graph(request: pytest.FixtureRequest, opened: Open) -> Opened:
    return opened(request.param)


@pytest.mark.parametrize("source", BACKENDS)
@pytest.mark.parametrize("target", BACKENDS)
def test_a_graph_goes_from_any_backend_into_any_other_byte_for_byte(
    opened: Open, source: str, target: str
) -> None:
    one, other = opened(source), opened(target)
    assert one.load(help_desk()) == len(help_desk())
    first = one.dumped()
    assert first == b"".join(dump_lines(help_desk()))

    assert other.load(read_graph(first.splitlines(keepends=True))) == len(help_desk())
    assert other.dumped() == first
    assert other.load(read_graph(first.splitlines(keepends=True))) == len(help_desk())
    assert other.dumped() == first

    for dump in help_desk():
        if isinstance(dump, NodeDump):
            for depth, limit in ((1, 10), (3, 10), (MAX_DEPTH, 3)):
                around = [
                    names(each.graph.neighbors(
                        each.workspace_id, _id(each, dump), depth=depth, limit=limit
                    ))
                    for each in (one, other)
                ]  # fmt: skip
                assert around[0] == around[1]


@settings(max_examples=12, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs())
@pytest.mark.parametrize("target", BACKENDS)
def test_any_graph_comes_out_as_it_went_in(opened: Open, target: str, dumps: list[Dump]) -> None:
    whole = b"".join(dump_lines(dumps))
    assert list(read_graph(whole.splitlines(keepends=True))) == dumps
    other = opened(target)
    other.load(dumps)
    assert other.dumped() == whole


@settings(max_examples=6, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(graphs(), graphs())
@pytest.mark.parametrize("backend", BACKENDS)
def test_nothing_of_another_workspace_is_ever_reached(
    opened: Open, backend: str, mine: list[Dump], theirs: list[Dump]
) -> None:
    here = opened(backend)
    there = opened(backend)
    there = Opened(here.graph, there.workspace_id)  # one backend, two workspaces
    here.load(mine)
    before = here.dumped()
    there.load(theirs)
    assert here.dumped() == before
    own = {dump.ref: dump for dump in mine if isinstance(dump, NodeDump)}
    foreign = [their for their in theirs if isinstance(their, NodeDump)]
    for node in foreign:
        its = _id(there, node)
        assert here.graph.neighbors(here.workspace_id, its, depth=3, limit=500) == []
        found = here.graph.get_node(here.workspace_id, *node.ref)
        assert (found.dump if found else None) == own.get(node.ref)
        with pytest.raises(NotFound):
            here.graph.mark_archived(here.workspace_id, its)
        for mine_too in own.values():
            me = _id(here, mine_too)
            assert here.graph.path(here.workspace_id, me, its) is None
            with pytest.raises(NotFound):
                here.graph.upsert_edge(here.workspace_id, me, its, "USES")
    labels = sorted({item.label for item in (*own.values(), *foreign)})
    asked = here.graph.query_by_labels(here.workspace_id, labels, 500)
    assert {item.dump.ref for item in asked} <= own.keys()
    assert there.dumped() == b"".join(dump_lines(theirs))


def test_an_upsert_replaces_properties_and_status_and_keeps_the_first_provenance(
    graph: Opened,
) -> None:
    ws = graph.workspace_id
    first = graph.graph.upsert_node(ws, "Customer", "customer:acme", {"tier": "gold"}, "proposed")
    again = graph.graph.upsert_node(ws, "customer", "customer:acme", {"n": 1}, "operator", "active")
    found = graph.graph.get_node(ws, "customer", "customer:acme")
    assert found is not None
    assert found.id == first == again
    assert found.dump == NodeDump(
        label="customer",
        natural_key="customer:acme",
        properties={"n": 1},
        provenance=Provenance.PROPOSED,
        status=Status.ACTIVE,
    )


def test_a_proposal_is_never_active_and_changes_nothing_that_was_accepted(graph: Opened) -> None:
    ws = graph.workspace_id
    with pytest.raises(ValidationFailed, match="provisional until an operator"):
        graph.graph.upsert_node(ws, "fact", "fact:pop3", {}, "proposed", "active")
    assert graph.graph.get_node(ws, "fact", "fact:pop3") is None
    accepted = graph.put("fact", "fact:pop3", text="uses POP3")
    before = graph.dumped()
    assert graph.graph.upsert_node(ws, "fact", "fact:pop3", {"text": "x"}, "proposed") == accepted
    assert graph.dumped() == before


def test_an_edge_holds_once_and_is_replaced_by_the_next_of_its_relation(graph: Opened) -> None:
    acme, sso = graph.put("customer", "acme"), graph.put("system", "sso")
    first = graph.tie(acme, "uses", sso, weight=2, observed_at=NOON)
    assert graph.tie(acme, "USES", sso, weight=2) == first
    later = NOON + timedelta(days=1)
    graph.tie(acme, "USES", sso, weight=3.5, properties={"why": "sso"}, observed_at=later)
    edges = [
        item for item in graph.graph.export_all(graph.workspace_id) if isinstance(item, EdgeDump)
    ]
    assert [(edge.weight, edge.properties, edge.observed_at) for edge in edges] == [
        (3.5, {"why": "sso"}, later)
    ]


def test_archived_nodes_are_kept_but_no_walk_or_question_finds_them(graph: Opened) -> None:
    ws = graph.workspace_id
    acme, old, far = (
        graph.put("customer", "acme"),
        graph.put("fact", "old"),
        graph.put("fact", "far"),
    )
    graph.tie(acme, "HAS_FACT", old)
    graph.tie(old, "LEADS_TO", far)
    path = graph.graph.path(ws, acme, far)
    assert path is not None
    assert [item.dump.relation for item in path] == ["HAS_FACT", "LEADS_TO"]
    graph.graph.mark_archived(ws, old)
    graph.graph.mark_archived(ws, old)
    assert graph.graph.neighbors(ws, acme, depth=3) == []
    assert graph.graph.path(ws, acme, far) is None
    assert [label.dump.natural_key for label in graph.graph.query_by_labels(ws, ["fact"])] == [
        "far"
    ]
    kept = graph.graph.get_node(ws, "fact", "old")
    assert kept is not None
    assert kept.dump.status is Status.ARCHIVED
    with pytest.raises(NotFound):
        graph.graph.mark_archived(ws, new_id())


def test_walks_end_in_cycles_and_take_the_strongest_and_the_nearest_first(graph: Opened) -> None:
    ws = graph.workspace_id
    a, b, c, d = (graph.put("system", name) for name in "abcd")
    for source, target, weight in ((a, b, 1), (b, c, 1), (c, a, 5), (c, d, 1)):
        graph.tie(source, "DEPENDS_ON", target, weight=weight)
    graph.tie(a, "BLOCKS", d, weight=0.5)
    near = graph.graph.neighbors(ws, a, depth=5, limit=10)
    assert [node.dump.natural_key for node, _ in near] == ["c", "b", "d"]
    only = graph.graph.neighbors(ws, a, depth=2, relations=["BLOCKS"])
    assert [node.dump.natural_key for node, _ in only] == ["d"]
    assert [n.dump.natural_key for n, _ in graph.graph.neighbors(ws, a, limit=1)] == ["c"]
    assert graph.graph.path(ws, a, a) == []
    with pytest.raises(ValidationFailed, match="depth is 1 to 5"):
        graph.graph.neighbors(ws, a, depth=6)
    with pytest.raises(ValidationFailed, match="no relation"):
        graph.graph.neighbors(ws, a, relations=["KNOWS"])


def test_forgetting_a_subject_erases_what_is_theirs_and_archives_what_speaks_of_them(
    graph: Opened,
) -> None:
    ws = graph.workspace_id
    acme, other = graph.put("customer", "customer:acme"), graph.put("customer", "customer:other")
    own = graph.put("fact", "own", text="Acme's own", data_subjects=["customer:acme"])
    said, shared = graph.put("fact", "said"), graph.put("fact", "shared")
    sso = graph.put("system", "sso")
    for source, relation, target in (
        (acme, "HAS_FACT", own), (acme, "HAS_FACT", said), (acme, "HAS_FACT", shared),
        (other, "HAS_FACT", shared), (acme, "USES", sso),
    ):  # fmt: skip
        graph.tie(source, relation, target)

    report = graph.graph.forget_subject(ws, "customer:acme")
    assert (report.known, report.erased, report.archived) == (True, 2, 1)
    left = {
        item.natural_key: item.status
        for item in graph.graph.export_all(ws)
        if isinstance(item, NodeDump)
    }
    assert left == {
        "customer:other": "active", "said": "archived", "shared": "active", "sso": "active"
    }  # fmt: skip
    assert b"acme" not in graph.dumped()
    again = graph.graph.forget_subject(ws, "customer:nobody")
    assert (again.known, again.erased, again.archived) == (False, 0, 0)


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"label": "Memory"}, "written by its own route"),
        ({"label": "no label"}, "is a letter"),
        ({"label": ""}, "is a letter"),
        ({"natural_key": ""}, "must not be empty"),
        ({"natural_key": "a\0b"}, "NUL"),
        ({"natural_key": "\ud800"}, "surrogate"),
        ({"natural_key": "x" * 257}, "257 characters"),
        ({"natural_key": "AKIAIOSFODNN7EXAMPLE"}, "secret"),
        ({"properties": {"a": 1.5}}, "write it as a string"),
        ({"properties": {"a": 2**53}}, "write it as a string"),
        ({"properties": {"a": "\0"}}, "NUL"),
        ({"properties": {"a": "x" * 20_000}}, "at most 16384"),
        ({"properties": []}, "is an object"),
        ({"properties": {"data_subjects": "user:ada"}}, "list of natural keys"),
        ({"provenance": "rumour"}, "is one of operator"),
        ({"status": "deleted"}, "is one of provisional"),
    ],
)
def test_what_is_no_node_is_refused_and_named(
    graph: Opened, bad: dict[str, Any], says: str
) -> None:
    good: dict[str, Any] = {
        "label": "fact",
        "natural_key": "k",
        "properties": {},
        "provenance": "operator",
    }
    with pytest.raises(ValidationFailed, match=says):
        graph.graph.upsert_node(graph.workspace_id, **{**good, **bad})
    assert list(graph.graph.export_all(graph.workspace_id)) == []


@pytest.mark.parametrize(
    ("bad", "says"),
    [
        ({"relation": "KNOWS"}, "is no relation"),
        ({"relation": "DERIVED_FROM"}, "kept by Cairn itself"),
        ({"weight": 0}, "above 0"),
        ({"weight": float("nan")}, "above 0"),
        ({"weight": True}, "must be a number"),
        ({"properties": {"x": float("inf")}}, "finite"),
    ],
)
def test_what_is_no_edge_is_refused_and_named(
    graph: Opened, bad: dict[str, Any], says: str
) -> None:
    a, b = graph.put("fact", "a"), graph.put("fact", "b")
    with pytest.raises(ValidationFailed, match=says):
        graph.tie(a, target=b, **{"relation": "CAUSES", **bad})
    with pytest.raises(ValidationFailed, match="the source itself"):
        graph.tie(a, "CAUSES", a)
    with pytest.raises(NotFound):
        graph.tie(a, "CAUSES", new_id())


def test_a_dangling_edge_is_refused_and_names_its_end(graph: Opened) -> None:
    edge = next(item for item in help_desk() if isinstance(item, EdgeDump))
    with pytest.raises(ValidationFailed, match="is no node here") as refused:
        graph.load([edge])
    assert refused.value.reason == "dangling-edge"


def test_secrets_do_not_get_in_and_a_backend_says_that_it_answers(graph: Opened) -> None:
    graph.put("system", "s3", note="the key is AKIAIOSFODNN7EXAMPLE")
    assert b"AKIAIOSFODNN7EXAMPLE" not in graph.dumped()
    assert graph.graph.healthcheck().ok


def _id(opened: Opened, node: NodeDump) -> Any:
    found = opened.graph.get_node(opened.workspace_id, *node.ref)
    assert found is not None
    return found.id
