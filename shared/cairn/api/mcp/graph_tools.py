"""Tools over the graph: read a node, follow where it comes from, write one, list and walk."""

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NotRequired
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.dependencies import require_client
from cairn.api.fields import Body, Name, ScopeName, Text, Timestamp
from cairn.api.mcp.tool import WRITERS, Effect, RepeatKey, Tool, ToolAnswer, repeated
from cairn.api.routes.graph import SubgraphIn
from cairn.api.routes.nodes import NodeChanged, RelationName
from cairn.bootstrap.api import ApiServices
from cairn.graph.conditions import MAX_CONDITIONS
from cairn.graph.traversal import LEAST, MOST, Bounds
from cairn.kernel.access import Principal
from cairn.kernel.errors import FieldError, ValidationFailed
from cairn.kernel.records import convert
from cairn.kernel.text.canonical import format_timestamp
from cairn.nodes.changes import NewRelationship
from cairn.nodes.draft import MAX_LABELS, NewNode
from cairn.nodes.properties import condition_of
from cairn.nodes.views import EdgesView, NodeFilter, NodeView
from cairn.recall.walks.lineage import Direction, LineageRequest, lineage_json
from cairn.recall.walks.subgraph import subgraph_json
from cairn.writing.audience import GLOBAL_CLIENT

SHOWN_CHARS = 300
_TOLD = ("name", "title", "slug", "summary", "compiled_truth")
Id = Annotated[UUID, Field(strict=False)]


class ShownNode(TypedDict):
    """A node in an answer; what is not set is left out."""

    id: str
    type: str
    text: str
    labels: NotRequired[list[str]]
    kind: NotRequired[str]
    name: NotRequired[str]
    occurred_at: NotRequired[str]


class ShownEdge(TypedDict):
    """An edge in an answer: it leads from its source to its target."""

    source_id: str
    relation: str
    target_id: str


class WholeNode(ShownNode):
    """A node with all that is set on it, and where it comes from."""

    attributes: NotRequired[dict[str, Any]]
    properties: NotRequired[dict[str, Any]]
    provenance: NotRequired[dict[str, Any]]
    edges: NotRequired[list[ShownEdge]]


class Walked(TypedDict):
    """Nodes, nearest first, and the edges between them."""

    nodes: list[ShownNode]
    edges: list[ShownEdge]
    truncated: NotRequired[bool]
    warnings: NotRequired[list[str]]


class NodePage(TypedDict):
    """Nodes of a label, where the next page begins, and what names nothing."""

    nodes: list[ShownNode]
    after: NotRequired[str]
    warnings: NotRequired[list[str]]


class NodeWritten(TypedDict):
    """What became of a node."""

    outcome: str
    id: UUID


LabelNames = Annotated[str, Field(max_length=64 * (MAX_LABELS + 2))]
"""A label, or several with colons between them."""


class NodeArguments(Body):
    """One node."""

    id: Id


class TraceArguments(Body):
    """A node, which way to go, and how far."""

    id: Id
    direction: Annotated[Direction, Field(strict=False)] = Direction.ANCESTORS
    max_depth: Annotated[int, Field(ge=LEAST.max_depth, le=MOST.max_depth)] = Bounds().max_depth


class Property(Body):
    """One property of a node."""

    name: Annotated[Name, Field(description="Its name")]
    value: Annotated[str, Field(description="Its value")]


class WriteArguments(Body):
    """A node, and its properties by name and value."""

    label: LabelNames
    kind: Annotated[str, Field(max_length=200)] | None = None
    title: Annotated[str, Field(max_length=2000)] | None = None
    text: str | None = None
    properties: Annotated[list[Property], Field(max_length=100)] = Field(
        default_factory=list[Property]
    )
    client_id: Name = GLOBAL_CLIENT
    source_agent: Name | None = None
    scope: ScopeName | None = None
    occurred_at: Timestamp | None = None
    session_id: Name | None = None
    idempotency_key: RepeatKey | None = None

    def record(self) -> NewNode:
        """Return the use case's record; ValidationFailed for two properties of one name."""
        texts = [("title", self.title), ("text", self.text)]
        texts += [(each.name, each.value) for each in self.properties]
        pairs = [(name, value) for name, value in texts if value is not None]
        properties = dict(pairs)
        if len(properties) < len(pairs):
            wrong = "names a property twice"
            raise ValidationFailed(f"properties {wrong}.", errors=[FieldError("properties", wrong)])
        first, *labels = self.label.split(":")
        return convert(self, NewNode, label=first, labels=tuple(labels), properties=properties)


class RelateArguments(Body):
    """An edge between two stored nodes."""

    source_id: Id
    target_id: Id
    relation: RelationName


class QueryArguments(Body):
    """Which nodes; `after` is that of the answer before."""

    label: LabelNames
    where: Annotated[list[Text], Field(max_length=MAX_CONDITIONS)] = Field(
        default_factory=list[str]
    )
    kind: Name | None = None
    client_id: Name | None = None
    limit: Annotated[int, Field(ge=1, le=100)] = 20
    after: Annotated[str, Field(pattern=r"^[0-9]{1,15}:[0-9a-f-]{36}$")] | None = None


def _get(services: ApiServices, principal: Principal, arguments: NodeArguments) -> ToolAnswer:
    node = services.nodes.node(principal, arguments.id)
    whole = _whole(node)
    lines = [_line(whole)]
    for part in ("attributes", "properties", "provenance"):
        lines += [f"  {name}: {_plain(value)}" for name, value in whole[part].items()]
    lines += [f"  {edge_line(edge)}" for edge in whole["edges"]]
    return ToolAnswer(text="\n".join(lines), structured=whole)


def _whole(node: NodeView) -> dict[str, Any]:
    provenance = {name: value for name, value in node.provenance.items() if value}
    attributes = {name: getattr(node, name) for name in (*_TOLD, "state", "client_id", "scope")}
    return {
        **_of_view(node),
        "attributes": {name: value for name, value in attributes.items() if value},
        "properties": dict(node.metadata),
        "provenance": provenance,
        "edges": _edges(node.id, node.edges),
    }


def _of_view(node: NodeView) -> dict[str, Any]:
    return {
        "id": str(node.id),
        "type": node.label,
        "text": node.text,
        "labels": list(node.labels[1:]),
        "kind": node.kind,
        "name": node.title or node.name,
        "occurred_at": _time(node.provenance.get("occurred_at")),
    }


def _time(value: Any) -> str | None:
    return format_timestamp(value) if hasattr(value, "utcoffset") else value


def _edges(node_id: UUID, edges: EdgesView | None) -> list[dict[str, str]]:
    records: list[dict[str, str]] = []
    for edge in edges.strongest if edges else ():
        ends = (str(node_id), str(edge.node.id))
        source, target = ends if edge.direction == "out" else ends[::-1]
        records.append({"source_id": source, "relation": edge.relation, "target_id": target})
    return records


def _plain(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _trace(services: ApiServices, principal: Principal, arguments: TraceArguments) -> ToolAnswer:
    request = LineageRequest(
        node_id=arguments.id, direction=arguments.direction, max_depth=arguments.max_depth
    )
    return _walked(lineage_json(services.lineage(principal, request)))


def _walk(services: ApiServices, principal: Principal, arguments: SubgraphIn) -> ToolAnswer:
    require_client(services, principal, None)
    return _walked(subgraph_json(services.subgraph(principal, arguments.record())))


def _walked(graph: Mapping[str, Any]) -> ToolAnswer:
    nodes = [_of_row(row) for row in graph["nodes"]]
    edges = [{name: edge[name] for name in ShownEdge.__annotations__} for edge in graph["edges"]]
    warnings: Sequence[str] = graph["meta"].get("warnings", ())
    lines = [_line({**node, "text": _short(node["text"])}) for node in nodes]
    lines += [*map(edge_line, edges), *(f"note: {each}" for each in warnings)]
    structured = {
        "nodes": nodes,
        "edges": edges,
        "truncated": graph["meta"]["truncated"] or None,
        "warnings": list(warnings),
    }
    return ToolAnswer(text="\n".join(lines) or "Nothing was found.", structured=structured)


def _of_row(row: Mapping[str, Any]) -> dict[str, Any]:
    attributes = row.get("attributes", {})
    return {
        "id": row["node_id"],
        "type": row["type"],
        "text": row.get("text", ""),
        "kind": row.get("kind"),
        "name": attributes.get("title") or attributes.get("canonical_name"),
        "occurred_at": row["provenance"]["occurred_at"],
    }


def _short(text: str) -> str:
    return " ".join(text.split())[:SHOWN_CHARS]


def _line(node: Mapping[str, Any]) -> str:
    kind = f" {node['kind']}" if node["kind"] else ""
    labels = ", ".join([node["type"], *node.get("labels", ())])
    name = f"{node['name']}: " if node["name"] else ""
    return f"[{labels}{kind}] {name}{node['text']} ({node['occurred_at']}, {node['id']})"


def edge_line(edge: Mapping[str, str]) -> str:
    """Return an edge in a line."""
    return f"{edge['source_id']} --[{edge['relation']}]--> {edge['target_id']}"


def _write(services: ApiServices, principal: Principal, arguments: WriteArguments) -> ToolAnswer:
    repeat = repeated(arguments, arguments.idempotency_key)
    done = services.write_nodes(principal, (arguments.record(),), idempotency=repeat)
    outcome = done.outcomes[0]
    if outcome.error is not None:
        raise outcome.error
    structured = {name: getattr(outcome, name) for name in NodeWritten.__annotations__}
    lines = [f"{outcome.outcome}: {outcome.id}", *(f"note: {each}" for each in outcome.warnings)]
    return ToolAnswer(text="\n".join(lines), structured=structured)


def _relate(services: ApiServices, principal: Principal, arguments: RelateArguments) -> ToolAnswer:
    new = NewRelationship(
        source_id=arguments.source_id,
        target_id=arguments.target_id,
        relation=arguments.relation,
        properties={},
    )
    done = services.relate(principal, new, idempotency=None)
    structured = {"id": done.id, "position": done.position}
    return ToolAnswer(text=f"related: {done.id}", structured=structured)


def _query(services: ApiServices, principal: Principal, arguments: QueryArguments) -> ToolAnswer:
    require_client(services, principal, arguments.client_id)
    first, *labels = arguments.label.split(":")
    where = NodeFilter(
        label=first,
        labels=tuple(labels),
        kind=arguments.kind,
        client_id=arguments.client_id,
    )
    after = None
    if arguments.after is not None:
        position, _, node_id = arguments.after.partition(":")
        after = (int(position), UUID(node_id))
    conditions = [condition_of(each) for each in arguments.where]
    matches = services.nodes.query(
        principal, where, conditions, limit=arguments.limit + 1, after=after
    )
    page = matches.nodes[: arguments.limit]
    nodes = [_of_view(node) for node in page]
    lines = [_line({**node, "text": _short(node["text"])}) for node in nodes]
    lines = lines or ["Nothing was found."]
    lines += [f"note: {each}" for each in matches.warnings]
    structured: dict[str, Any] = {"nodes": nodes, "warnings": list(matches.warnings)}
    if len(matches.nodes) > len(page):
        structured["after"] = f"{page[-1].position}:{page[-1].id}"
        lines.append(f"more: ask again after {structured['after']}")
    return ToolAnswer(text="\n".join(lines), structured=structured)


GET = Tool(
    name="node_get",
    aliases=("get",),
    title="Get one node",
    description="Read one node whole, with where it comes from and its edges.",
    arguments=NodeArguments,
    parameters={"id": "As memory_recall names it"},
    result=WholeNode,
    call=_get,
    roles=WRITERS,
    eager=True,
)
TRACE = Tool(
    name="node_trace",
    aliases=("lineage",),
    title="Trace a node",
    description="What a node comes from, or what came of it.",
    arguments=TraceArguments,
    parameters={"id": "A node's id", "direction": "ancestors if null", "max_depth": "How far"},
    result=Walked,
    call=_trace,
    of_a_client=True,
    eager=True,
)
WRITE = Tool(
    name="node_write",
    aliases=("memory-write",),
    title="Write a node",
    description="Write a node; node_relate ties it.",
    arguments=WriteArguments,
    parameters={
        "label": "Runbook or Runbook:New",
        "title": "In few words",
        "text": "In full",
        "properties": "More",
    },
    result=NodeWritten,
    call=_write,
    roles=WRITERS,
    effect=Effect.CHANGE,
)
RELATE = Tool(
    name="node_relate",
    title="Relate two nodes",
    description="Tie two stored nodes by a typed edge.",
    arguments=RelateArguments,
    parameters={
        "source_id": "It leads from here",
        "target_id": "To here",
        "relation": "Such as SOLVES",
    },
    result=NodeChanged,
    call=_relate,
    roles=WRITERS,
    effect=Effect.CHANGE,
    repeatable=False,
)
QUERY = Tool(
    name="graph_query",
    title="Query nodes",
    description="List nodes by label and properties, newest first.",
    arguments=QueryArguments,
    parameters={
        "label": "Such as Entity, or Runbook:Draft for both",
        "where": 'All of: owner=Ann, cost>=5, tags~web, state!=done, due, !due, team=["a","b"]',
        "limit": "20 if null",
        "after": "Of the page before",
    },
    result=NodePage,
    call=_query,
    roles=WRITERS,
)
WALK = Tool(
    name="graph_walk",
    aliases=("subgraph",),
    title="Walk the graph",
    description="What lies around the names in a question, or around nodes.",
    arguments=SubgraphIn,
    parameters={
        "query": "In plain words",
        "node_ids": "Or start here",
        "max_depth": "Edges away",
        "max_nodes": "At most",
    },
    result=Walked,
    call=_walk,
    of_a_client=True,
)
