"""The graph around a node: as a list, and as data that the browser draws. Not how it is drawn.

The list is the page; the drawing is made beside it, of the same nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import JSONResponse

from cairn.api.console import pages
from cairn.api.console.cited import page_of
from cairn.api.console.forms import number_of, wrong_field
from cairn.api.console.guard import id_of
from cairn.api.console.memories import Moment, moment_of
from cairn.api.console.routes import ConsoleRoute, Reader, shown
from cairn.graph.edge import Relation
from cairn.graph.node import Label
from cairn.nodes.views import EntityFilter
from cairn.recall.walks.subgraph import SubgraphRequest

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from cairn.api.console.guard import Visitor
    from cairn.recall.records import FoundNode
    from cairn.recall.walks.subgraph import Subgraph

GRAPH = "/console/graph"
DEPTHS, NUMBERS = (1, 2, 3), (50, 200, 500)
SHOWN_CHARS, STARTS = 300, 30
TIMEOUT_MS = 5_000

routes = APIRouter(route_class=ConsoleRoute, include_in_schema=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Where the walk stands and what it follows, as the form writes it; empty texts mean any."""

    q: str = ""
    node: str = ""
    relation: str = ""
    label: str = ""
    depth: str = "1"
    most: str = "200"

    def link(self, moment: Moment | None, path: str = GRAPH, **changes: str) -> str:
        """Return the path of a page with this selection, changed; without a moment, of now."""
        chosen = replace(self, **changes)
        values = {name: getattr(chosen, name) for name in self.__slots__}
        values = {name: value for name, value in values.items() if value}
        if moment is not None and moment.is_past:
            values["as_of"] = str(moment.position)
        return f"{path}?{urlencode(values)}"

    def request(self, moment: Moment) -> SubgraphRequest:
        """Return what is asked of the graph; a node counts before a question."""
        return SubgraphRequest(
            query=None if self.node else self.q,
            node_ids=(id_of(self.node),) if self.node else (),
            max_depth=_one_of(self.depth, DEPTHS, "depth"),
            max_nodes=_one_of(self.most, NUMBERS, "most"),
            timeout_ms=TIMEOUT_MS,
            as_of=moment.position,
            labels=(self.label,) if self.label else (),
            relations=(self.relation,) if self.relation else (),
        )

    def command(self, moment: Moment) -> str:
        """Return the same as a command."""
        start = f"--node {self.node}" if self.node else pages.quoted(self.q or "QUESTION")
        options = {"relation": self.relation, "label": self.label, "depth": self.depth}
        more = [f" --{name} {pages.quoted(value)}" for name, value in options.items() if value]
        then = f" --as-of {moment.position}" if moment.is_past else ""
        return f"cairn graph query {start}{''.join(more)} --nodes {self.most}{then}"


def _one_of(text: str, numbers: tuple[int, ...], field: str) -> int:
    number = number_of(text)
    if number not in numbers:
        raise wrong_field(field, f"is one of {', '.join(map(str, numbers))}")
    return number


def selection_of(query: Mapping[str, str]) -> Selection:
    """Return what is asked for; ValidationFailed for a relation there is not."""
    chosen = Selection(
        **{name: query[name].strip() for name in Selection.__slots__ if query.get(name)}
    )
    if chosen.relation:
        pages.choice(Relation, chosen.relation)
    return chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """An edge at the node where the walk stands: its relation, which way, and the other end."""

    relation: str
    outgoing: bool
    node: FoundNode


@routes.get(GRAPH)
def show_graph(request: Request, visitor: Reader) -> Response:
    """Show what lies around a node or a question; without either, where one may start."""
    query = request.query_params
    chosen, moment = selection_of(query), moment_of(visitor, query)
    values: dict[str, Any] = {"around": None, "focus": None, "lines": (), "data": None}
    if chosen.node or chosen.q:
        around = visitor.services.subgraph(visitor.principal, chosen.request(moment))
        focus = next((each.node for each in around.nodes if str(each.node.id) == chosen.node), None)
        values = {
            "around": around,
            "focus": focus,
            "lines": lines_of(around, focus) if focus else (),
            "data": chosen.link(moment, f"{GRAPH}/data"),
        }
    return shown(
        request,
        visitor,
        "graph.html",
        chosen=chosen,
        moment=moment,
        starts=() if values["around"] else _starts(visitor),
        relations=[each.value for each in Relation],
        labels=[each.value for each in Label],
        depths=DEPTHS,
        numbers=NUMBERS,
        page_of=page_of,
        name_of=name_of,
        **values,
    )


def _starts(visitor: Visitor) -> Sequence[Any]:
    """Return entities to start from, those that most is said of first."""
    entities = visitor.services.nodes.entities(
        visitor.principal, EntityFilter(), limit=200, after=None
    )
    return sorted(entities, key=lambda each: -each.backlink_count)[:STARTS]


def lines_of(around: Subgraph, focus: FoundNode) -> list[Line]:
    """Return the edges at a node by relation, with their other ends."""
    nodes = {each.node.id: each.node for each in around.nodes}
    lines = [
        Line(
            relation=edge.relation,
            outgoing=edge.source_id == focus.id,
            node=nodes[edge.target_id if edge.source_id == focus.id else edge.source_id],
        )
        for edge in around.edges
        if focus.id in (edge.source_id, edge.target_id)
    ]
    return sorted(lines, key=lambda each: (each.relation, not each.outgoing, each.node.text))


@routes.get(GRAPH + "/data")
def read_graph(request: Request, visitor: Reader) -> Response:
    """Return the same nodes and edges for the drawing: ids, short texts, relations."""
    query = request.query_params
    chosen, moment = selection_of(query), moment_of(visitor, query)
    around = visitor.services.subgraph(visitor.principal, chosen.request(moment))
    nodes = [
        {
            "id": str(each.node.id),
            "label": each.node.label,
            "text": name_of(each.node)[:SHOWN_CHARS],
            "page": page_of(each.node.label, each.node.id),
        }
        for each in around.nodes
    ]
    edges = [
        {"from": str(each.source_id), "to": str(each.target_id), "relation": each.relation}
        for each in around.edges
    ]
    answer = {"focus": chosen.node, "nodes": nodes, "edges": edges}
    return JSONResponse(answer, headers={**pages.HEADERS, "cache-control": "no-store"})


def name_of(node: FoundNode) -> str:
    """Return what a node is called, or says."""
    return node.canonical_name or node.title or node.text or node.label
