"""Memory graphs over each backend, and graphs of records to put into them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from hypothesis import strategies as st
from tests.support.forgetting import Stand, open_stand
from tests.support.platform import platform_of

from cairn.adapters.memory_graph import InMemoryGraph
from cairn.adapters.postgres.store_transactions import StoreTransactions
from cairn.graph.edge import STATEABLE
from cairn.graph.memory_dump import MemoryLine, dump_lines, read_file
from cairn.graph.memory_records import EdgeDump, NodeDump, Provenance, Status, clean_edge
from cairn.kernel.clock import utc_now
from cairn.kernel.ids import new_id
from cairn.kernel.text.scrub import scrub_value
from cairn.memories.lines import new_memory
from cairn.memory_graph.ledger_graph import LedgerGraph
from cairn.writing.writer import Writer

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator
    from uuid import UUID

    from tests.plugins.postgres import Database

    from cairn.adapters.postgres.database import Database as Pool
    from cairn.graph.memory_records import Dump, MemoryEdge, MemoryNode
    from cairn.memory_graph.ports import MemoryGraph

NOON = datetime(2026, 3, 20, 12, tzinfo=UTC)
BACKENDS = ("memory", "postgres")


def read_graph(lines: Iterable[bytes]) -> Iterator[Dump]:
    """Yield the records of a file that has no memories."""
    for record in read_file(lines, new_memory):
        assert not isinstance(record, MemoryLine)
        yield record


@dataclass(frozen=True)
class Opened:
    """A backend, and an empty workspace in it."""

    graph: MemoryGraph
    workspace_id: UUID

    def put(self, label: str, key: str, **properties: Any) -> UUID:
        """An operator's node."""
        return self.graph.upsert_node(
            self.workspace_id, label, key, properties, "operator", "active"
        )

    def tie(self, source: UUID, relation: str, target: UUID, **more: Any) -> UUID:
        """An edge between two nodes."""
        return self.graph.upsert_edge(self.workspace_id, source, target, relation, **more)

    def dumped(self) -> bytes:
        """The bytes of an export."""
        return b"".join(dump_lines(self.graph.export_all(self.workspace_id)))

    def load(self, dumps: Iterable[Dump]) -> int:
        """Import records."""
        return self.graph.import_all(self.workspace_id, dumps)


def ledger_graph(stand: Stand) -> LedgerGraph:
    """The graph over the ledger of a workspace's database."""
    return LedgerGraph(
        writer=graph_writer(stand.pool, stand.keys, stand.system.sent), forget=stand.forget
    )


def graph_writer(pool: Pool, keys: Any, sent: Any) -> Writer:
    """What the graph writes with."""
    transactions = StoreTransactions(pool)
    return Writer(platform_of(transactions, keys=keys, dispatcher=sent))


def open_backend(name: str, database: Database | None = None, pool: Pool | None = None) -> Opened:
    """A backend by its name, with a new workspace."""
    if name == "memory":
        return Opened(InMemoryGraph(utc_now, new_id), new_id())
    assert database is not None
    assert pool is not None
    stand = open_stand(database, pool)
    return Opened(ledger_graph(stand), stand.workspace_id)


def names(found: Iterable[tuple[MemoryNode, MemoryEdge]]) -> list[tuple[Any, Any]]:
    """Neighbours without ids."""
    return [(node.dump, edge.dump) for node, edge in found]


def _node(label: str, key: str, **changes: Any) -> NodeDump:
    given: dict[str, Any] = {
        "properties": {},
        "provenance": Provenance.OPERATOR,
        "status": Status.ACTIVE,
    }
    return NodeDump(label=label, natural_key=key, **{**given, **changes})


def _edge(source: NodeDump, relation: str, target: NodeDump, **changes: Any) -> EdgeDump:
    weight, properties = changes.get("weight", 1.0), changes.get("properties", {})
    return clean_edge(source.ref, target.ref, relation, weight, properties, NOON)


def in_order(nodes: Iterable[NodeDump], edges: Iterable[EdgeDump]) -> list[Dump]:
    """Records as an export has them."""
    first = sorted(nodes, key=lambda node: node.ref)
    then = sorted(edges, key=lambda edge: edge.key)
    return [*first, *then]


def help_desk() -> list[Dump]:
    """The graph of a help desk: each of the nine labels, each status and provenance, a cycle."""
    customer = _node("customer", "customer:hartwell-law", properties={"name": "Hartwell Law"})
    user = _node("user", "user:kevin@hartwelllaw.com")
    system = _node("system", "system:keycloak-prod", properties={"url": "https://sso", "n": 3})
    connector = _node("connector", "connector:postgres-main")
    ticket = _node("ticket", "ticket:zoho:ZD-8891", provenance=Provenance.IMPORTED)
    inquiry = _node("investigation", "investigation:inv_01", status=Status.ARCHIVED)
    fact = _node("fact", "fact:legacy-pop3", properties={"text": "Prefers POP3 — ünd 🏔"})
    seen = _node(
        "observation",
        "observation:mfa-lockout@2026-02-20",
        provenance=Provenance.PROPOSED,
        status=Status.PROVISIONAL,
    )
    fix = _node("resolution", "resolution:clear-sessions", properties={"steps": ["a", {"b": None}]})
    nodes = [customer, user, system, connector, ticket, inquiry, fact, seen, fix]
    edges = [
        _edge(customer, "HAS_FACT", fact, weight=2.5),
        _edge(customer, "USES", system, properties={"since": "2024"}),
        _edge(user, "WORKS_WITH", system, weight=0.1),
        _edge(user, "PREFERS", fix, weight=1e-3),
        _edge(ticket, "LEADS_TO", inquiry),
        _edge(inquiry, "SOLVES", ticket),  # a cycle
        _edge(seen, "OCCURS_IN", system, weight=123456.789),
        _edge(fix, "SOLVES", seen),
        _edge(fix, "ADDRESSES", seen),
        _edge(connector, "APPLIES_TO", system),
    ]
    return in_order(nodes, edges)


_WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=12)
_KEYS = st.text("abcXYZ0:é漢🏔-_. ", min_size=1, max_size=8).filter(lambda item: item.strip() != "")
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | _WORDS,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(_WORDS, inner, max_size=2),
    max_leaves=4,
)
_PROPERTIES = st.dictionaries(
    _WORDS.filter(lambda item: item != "data_subjects"), _VALUES, max_size=3
).filter(lambda item: scrub_value(cast("Any", item))[0] == item)  # what looks secret is not kept
_WEIGHTS = st.floats(min_value=0, max_value=1e6, exclude_min=True, allow_subnormal=False)


@st.composite
def graphs(draw: st.DrawFn) -> list[Dump]:
    """Draw a small graph in the order of an export; its texts may hold anything that is stored."""
    nodes = draw(
        st.lists(
            st.builds(
                NodeDump,
                label=st.sampled_from(["customer", "fact", "system", "zebraHerd"]),
                natural_key=_KEYS,
                properties=_PROPERTIES,
                provenance=st.sampled_from(Provenance),
                status=st.sampled_from(Status),
            ),
            min_size=1,
            max_size=6,
            unique_by=lambda item: item.ref,
        )
    )
    refs = [node.ref for node in nodes]
    pairs = st.tuples(st.sampled_from(refs), st.sampled_from(refs)).filter(
        lambda pair: pair[0] != pair[1]
    )
    edges: list[EdgeDump] = []
    if len(refs) > 1:
        triples = st.tuples(pairs, st.sampled_from(sorted(STATEABLE)))
        for (source, target), relation in draw(st.lists(triples, max_size=8, unique=True)):
            edges.append(
                EdgeDump(
                    source=source,
                    target=target,
                    relation=relation.value,
                    weight=draw(_WEIGHTS),
                    properties=draw(_PROPERTIES),
                    observed_at=draw(
                        st.datetimes(datetime(1901, 1, 1), datetime(2199, 1, 1))  # noqa: DTZ001
                    ).replace(tzinfo=UTC),
                )
            )
    return in_order(nodes, edges)
