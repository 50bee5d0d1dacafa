"""Walks over the graph: what lies around, where it comes from and what came of it."""

from enum import StrEnum
from typing import Annotated
from uuid import UUID

from fastapi import Body as BodyParameter
from fastapi import Query, Response
from pydantic import Field, model_validator
from pydantic_core import PydanticCustomError
from typing_extensions import TypedDict

from cairn.api import pages
from cairn.api.answers import answer, encode, fitting
from cairn.api.conditions import Properties, PropertyConditionIn
from cairn.api.dependencies import Anyone, Options, Services, Writer, require_client
from cairn.api.documentation import answers, problems
from cairn.api.fields import AsOf, Body, Name, Text, at_most
from cairn.api.pages import key_page_answer
from cairn.api.recall_answers import Lineage, ProvDocument, Subgraph
from cairn.api.routes.nodes import LabelName
from cairn.api.routes.search import Label, Moment
from cairn.api.routing import router
from cairn.graph.intent_weights import Intent
from cairn.graph.traversal import LEAST, MOST, Bounds
from cairn.kernel.records import convert
from cairn.nodes.draft import MAX_LABELS
from cairn.nodes.views import NodeFilter, NodeView
from cairn.recall.walks.graph_ports import Method
from cairn.recall.walks.lineage import Direction, LineageRequest, lineage_json
from cairn.recall.walks.prov import prov_json
from cairn.recall.walks.subgraph import (
    MAX_NAMED,
    MAX_QUERY_CHARS,
    MAX_SEED_NODES,
    SubgraphRequest,
    subgraph_json,
)

routes = router("graph")

_DEFAULT = Bounds()
_ROOM = 4096
_QUERY = {
    "labels": ["Runbook"],
    "where": [
        {"path": ["owner"], "value": "platform team"},
        {"path": ["reviewed_at"], "op": "lt", "value": "2026-01-01", "type": "time"},
    ],
}

NodeId = Annotated[UUID, Field(strict=False)]
RelationName = Annotated[str, Field(pattern=r"^[A-Z][A-Z_]{0,63}$")]


class SubgraphIn(Body):
    """Where to start, and how far and by what to go."""

    query: Annotated[Text, at_most(MAX_QUERY_CHARS)] | None = None
    node_ids: Annotated[list[NodeId], Field(max_length=MAX_SEED_NODES)] = Field(
        default_factory=list[UUID]
    )
    intent: Annotated[Intent, Field(strict=False)] | None = None
    retrieval_method: Annotated[Method, Field(strict=False)] | None = None
    max_depth: Annotated[int, Field(ge=LEAST.max_depth, le=MOST.max_depth)] = _DEFAULT.max_depth
    max_nodes: Annotated[int, Field(ge=LEAST.max_nodes, le=MOST.max_nodes)] = _DEFAULT.max_nodes
    timeout_ms: Annotated[int, Field(ge=LEAST.timeout_ms, le=MOST.timeout_ms)] = _DEFAULT.timeout_ms
    as_of: Moment | None = None
    labels: Annotated[list[Label], Field(max_length=MAX_NAMED)] = Field(default_factory=list[str])
    relations: Annotated[list[RelationName], Field(max_length=MAX_NAMED)] = Field(
        default_factory=list[str]
    )
    session_id: Name | None = None

    @model_validator(mode="after")
    def says_where_to_start(self) -> "SubgraphIn":
        """Refuse a query without any start."""
        if self.query is None and not self.node_ids:
            raise PydanticCustomError("start", "query or node_ids must say where to start")
        return self

    def record(self) -> SubgraphRequest:
        """Return the use case's record."""
        return convert(self, SubgraphRequest, method=self.retrieval_method)


@routes.post(
    "/v1/query/subgraph",
    summary="Query the graph",
    response_model=None,
    responses={**answers(200, "Nodes, edges, and what happened", Subgraph), **problems(body=True)},
)
def query_subgraph(
    body: Annotated[
        SubgraphIn,
        BodyParameter(
            openapi_examples={"plain": {"value": {"query": "Why did the Stripe payout fail?"}}}
        ),
    ],
    caller: Anyone,
    services: Services,
    options: Options,
) -> Response:
    """Walk the graph from what the question names, or from given nodes.

    Intents are inferred; `intent` overrides them. Nodes with `retrieval_reason: proactive` were
    not asked for. Unknown ids and names lead nowhere; `meta.warnings` says so.
    """
    require_client(services, caller, None)
    shown = subgraph_json(services.subgraph(caller, body.record()))
    room = options.max_answer_bytes - len(encode([shown["edges"], shown["meta"]])) - _ROOM
    nodes = fitting(shown["nodes"], max_bytes=room)
    if len(nodes) < len(shown["nodes"]):
        node_ids = {node["node_id"] for node in nodes}
        edges = [e for e in shown["edges"] if {e["source_id"], e["target_id"]} <= node_ids]
        meta = {**shown["meta"], "truncated": True, "nodes_returned": len(nodes)}
        shown = {"nodes": nodes, "edges": edges, "meta": {**meta, "edges_returned": len(edges)}}
    return answer(shown)


class NodeQueryIn(Body):
    """Which nodes: of all these labels, and with properties as asked."""

    labels: Annotated[list[LabelName], Field(min_length=1, max_length=MAX_LABELS + 1)]
    where: Properties = Field(default_factory=list[PropertyConditionIn])
    kind: Name | None = None
    client_id: Name | None = None
    limit: Annotated[int, Field(ge=1, le=200)] = 50
    cursor: str | None = None

    def filter(self) -> NodeFilter:
        """Return what narrows the nodes beside their properties."""
        first, *others = self.labels
        return NodeFilter(
            label=first, labels=tuple(others), kind=self.kind, client_id=self.client_id
        )


class NodeQueryAnswer(TypedDict):
    """Nodes, and what of the question names nothing."""

    items: list[NodeView]
    next_cursor: str | None
    warnings: list[str]


@routes.post(
    "/v1/query/nodes",
    summary="Query nodes by label and property",
    response_model=None,
    responses={**answers(200, "One page", NodeQueryAnswer), **problems(body=True)},
)
def query_nodes(
    body: Annotated[NodeQueryIn, BodyParameter(openapi_examples={"runbooks": {"value": _QUERY}})],
    caller: Writer,
    services: Services,
    options: Options,
) -> Response:
    """List nodes whose properties are as asked, newest first.

    A property that no node has is no error: `warnings` names it, and one that is like it.
    """
    require_client(services, caller, body.client_id)
    filters = body.model_dump(mode="json", exclude={"cursor", "limit"})
    after = pages.decode_key(body.cursor, kind=int, route="query-nodes", filters=filters)
    conditions = [each.record() for each in body.where]
    results = services.nodes.query(
        caller, body.filter(), conditions, limit=body.limit + 1, after=after
    )
    return key_page_answer(
        results.nodes,
        limit=body.limit,
        key="position",
        route="query-nodes",
        filters=filters,
        options=options,
        more={"warnings": results.warnings},
    )


class LineageFormat(StrEnum):
    """How a lineage is written."""

    ATLAS = "atlas"  # nodes, edges and meta, as in other answers
    PROV = "prov"  # a PROV-JSON document


@routes.get(
    "/v1/nodes/{node_id}/lineage",
    summary="Trace a node",
    response_model=None,
    responses={
        **answers(200, "Nodes, nearest first, and edges", Lineage | ProvDocument),
        **problems("not-found"),
    },
)
def get_lineage(
    node_id: UUID,
    caller: Anyone,
    services: Services,
    direction: Direction = Direction.ANCESTORS,
    max_depth: Annotated[int, Query(ge=LEAST.max_depth, le=MOST.max_depth)] = Bounds().max_depth,
    intent: Intent | None = None,
    as_of: AsOf | None = None,
    format: LineageFormat = LineageFormat.ATLAS,
) -> Response:
    """Follow causes, makers, summaries, parts and earlier versions from a node.

    `ancestors` is what it comes from, `descendants` what came of it. `intent` orders what is
    followed first where there is much.
    """
    lineage = services.lineage(
        caller,
        LineageRequest(
            node_id=node_id,
            direction=direction,
            max_depth=max_depth,
            intent=intent,
            as_of=as_of,
            beside=format is LineageFormat.PROV,
        ),
    )
    return answer(prov_json(lineage) if format is LineageFormat.PROV else lineage_json(lineage))
