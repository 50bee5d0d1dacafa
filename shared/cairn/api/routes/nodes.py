"""Nodes of any label, and edges between nodes: write, read, list, compile, delete softly."""

from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import Body as BodyParameter
from fastapi import Path, Query, Response
from pydantic import Discriminator, Field, SkipValidation, Tag
from typing_extensions import TypedDict

from cairn.api import pages
from cairn.api.answers import answer, replay_headers
from cairn.api.batches import Answers, Batch, BatchOf, checked_item, one_or_many
from cairn.api.dependencies import ClientGiven, Idempotency, Options, Services, Writer
from cairn.api.documentation import PageOf, answers, problems
from cairn.api.fields import Body, Name, Names, ScopeName, Text, Timestamp, at_most
from cairn.api.pages import Cursor, Limit, key_page_answer
from cairn.api.routes.memories import Importance
from cairn.api.routing import router
from cairn.kernel.records import convert
from cairn.nodes.changes import NewRelationship
from cairn.nodes.draft import (
    MAX_EDGES,
    MAX_LABELS,
    MAX_TRUTH_CHARS,
    MAX_WEIGHT,
    NewEdge,
    NewNode,
    NodeOutcome,
    NodesWritten,
)
from cairn.nodes.views import NodeFilter, NodeView
from cairn.writing.audience import GLOBAL_CLIENT
from cairn.writing.batches import MAX_BATCH
from cairn.writing.items import Deleted, Outcome

routes = router("nodes")

LabelName = Annotated[str, Field(max_length=64, examples=["Runbook"])]
RelationName = Annotated[str, Field(max_length=64, examples=["SOLVES", "depends_on"])]
Weight = Annotated[float, Field(gt=0, le=MAX_WEIGHT)]
Id = Annotated[UUID, Field(strict=False)]
NodeId = Annotated[UUID, Path(description="The node's id.")]


class NodeResult(TypedDict):
    """What became of one node."""

    outcome: Literal[Outcome.CREATED, Outcome.DUPLICATE]
    id: UUID
    position: int
    edges: int
    warnings: list[str]


class NodeItemResult(NodeResult):
    """What became of one item of a batch, at its place among the items."""

    index: int


class NodeChanged(TypedDict):
    """What was changed, and the ledger position of its entry."""

    id: UUID
    position: int


class EdgeIn(Body):
    """An edge of a new node: `to` leads from it, `from` to it; exactly one of them."""

    relation: RelationName
    to: Id | None = None
    from_: Annotated[Id | None, Field(alias="from")] = None
    weight: Weight = 1.0
    properties: dict[str, Any] = Field(default_factory=dict[str, Any])

    def record(self) -> NewEdge:
        """Return the use case's record."""
        return convert(self, NewEdge, to_id=self.to, from_id=self.from_)


class NodeIn(Body):
    """One node to write."""

    label: LabelName
    labels: Annotated[list[LabelName], Field(max_length=MAX_LABELS + 1)] = Field(
        default_factory=list[str]
    )
    kind: Annotated[str, Field(max_length=200)] | None = None
    properties: dict[str, Any]
    edges: Annotated[list[EdgeIn], Field(max_length=MAX_EDGES)] = Field(
        default_factory=list[EdgeIn]
    )
    client_id: Name = GLOBAL_CLIENT
    source_agent: Name | None = None
    scope: ScopeName | None = None
    agents: Names = Field(default_factory=list[str])
    data_subjects: Names = Field(default_factory=list[str])
    occurred_at: Timestamp | None = None
    valid_from: Timestamp | None = None
    valid_to: Timestamp | None = None
    session_id: Name | None = None
    trace_id: Name | None = None
    importance: Importance | None = None
    confidence: Annotated[float, Field(ge=0, le=1)] = 1.0
    produced_by_task_id: Id | None = None

    def record(self) -> NewNode:
        """Return the use case's record."""
        return convert(self, NewNode, edges=tuple(edge.record() for edge in self.edges))


class NodeBatch(Batch):
    """Up to 500 nodes; each is validated and answered for itself."""

    items: Annotated[list[SkipValidation[NodeIn]], Field(min_length=1, max_length=MAX_BATCH)]


class RelationshipIn(Body):
    """An edge between two stored nodes."""

    source_id: Id
    target_id: Id
    relation: RelationName
    weight: Weight = 1.0
    properties: dict[str, Any] = Field(default_factory=dict[str, Any])


class LabelsIn(Body):
    """What a node is beside its first label."""

    labels: Annotated[list[LabelName], Field(max_length=MAX_LABELS + 1)]


class TruthIn(Body):
    """What is held true of a node now."""

    text: Annotated[Text, at_most(MAX_TRUTH_CHARS)]


_EXAMPLE: dict[str, Any] = {
    "label": "Runbook",
    "kind": "resolution",
    "properties": {
        "title": "Clear stale Keycloak sessions",
        "text": "Restart the cache, then clear the sessions older than a day.",
        "slug": "clear-stale-keycloak-sessions",
        "keywords": ["keycloak", "sessions"],
        "owner": "platform team",
    },
    "edges": [{"relation": "SOLVES", "to": "019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e"}],
}
OneOrMany = Annotated[
    Annotated[NodeIn, Tag("as-one")] | Annotated[NodeBatch, Tag("as-batch")],
    Discriminator(one_or_many),
    BodyParameter(
        openapi_examples={"one": {"value": _EXAMPLE}, "many": {"value": {"items": [_EXAMPLE]}}}
    ),
]
_RESULT: dict[str, Any] = {
    "outcome": "created",
    "id": "019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e",
    "position": 17,
    "edges": 1,
    "warnings": [],
}


def _more(outcome: NodeOutcome) -> dict[str, Any]:
    return {"edges": outcome.edges, "warnings": outcome.warnings}


_ANSWERS = Answers(more=_more)


@routes.post(
    "/v1/nodes",
    summary="Write one node or a batch, with typed edges",
    response_model=None,
    responses={
        **answers(
            200,
            "A node that stands already; or a batch's results, in order",
            NodeResult | BatchOf[NodeItemResult],
        ),
        **answers(201, "The node is new", NodeResult, _RESULT),
        **problems("conflict", "not-found", body=True),
    },
)
def write_nodes(
    body: OneOrMany, caller: Writer, services: Services, idempotency: Idempotency
) -> Response:
    """Store nodes and their edges in one transaction; found by their words at once."""

    def write(nodes: tuple[NewNode, ...]) -> NodesWritten:
        return services.write_nodes(caller, nodes, idempotency=idempotency)

    if isinstance(body, NodeIn):
        return _ANSWERS.one(write((body.record(),)))
    return _ANSWERS.many([checked_item(_record, item) for item in body.items], write)


def _record(item: object) -> NewNode:
    return NodeIn.model_validate(item).record()


@routes.get(
    "/v1/nodes",
    summary="List the nodes of a label, newest first",
    response_model=None,
    responses={**answers(200, "One page", PageOf[NodeView]), **problems()},
)
def list_nodes(
    caller: Writer,
    services: Services,
    options: Options,
    client_id: ClientGiven,
    label: Annotated[str, Query(max_length=64, description="A label, such as Runbook or Event.")],
    kind: Annotated[Name | None, Query()] = None,
    limit: Limit = 50,
    cursor: Cursor = None,
) -> Response:
    """List what the key may see of one label, with every filter given."""
    where = NodeFilter(label=label, kind=kind, client_id=client_id)
    filters = {"label": label, "kind": kind, "client_id": client_id}
    after = pages.decode_key(cursor, kind=int, route="nodes", filters=filters)
    nodes = services.nodes.nodes(caller, where, limit=limit + 1, after=after)
    return key_page_answer(
        nodes, limit=limit, key="position", route="nodes", filters=filters, options=options
    )


@routes.get(
    "/v1/nodes/{node_id}",
    summary="Read one node of any label, with its edges",
    response_model=None,
    responses={**answers(200, "The node", NodeView), **problems("not-found")},
)
def get_node(node_id: NodeId, caller: Writer, services: Services) -> Response:
    """Read a node with its provenance; its edges are counted by kind, and the strongest shown."""
    return answer(services.nodes.node(caller, node_id))


@routes.put(
    "/v1/nodes/{node_id}/compiled-truth",
    summary="Set what is held true of a node",
    response_model=None,
    responses={**answers(200, "It is set", NodeChanged), **problems("not-found", body=True)},
)
def replace_compiled_truth(
    node_id: NodeId, body: TruthIn, caller: Writer, services: Services
) -> Response:
    """Replace a node's compiled truth; it is searched with the node and lifts its score."""
    done = services.compile_truth(caller, node_id, body.text)
    return answer({"id": done.id, "position": done.position})


@routes.put(
    "/v1/nodes/{node_id}/labels",
    summary="Set what a node is beside its first label",
    response_model=None,
    responses={**answers(200, "They are set", NodeChanged), **problems("not-found", body=True)},
)
def replace_labels(node_id: NodeId, body: LabelsIn, caller: Writer, services: Services) -> Response:
    """Replace a node's other labels; the first, which says what wrote it, stays."""
    done = services.label_node(caller, node_id, body.labels)
    return answer({"id": done.id, "position": done.position})


@routes.delete(
    "/v1/nodes/{node_id}",
    summary="Delete one node softly",
    response_model=None,
    responses={**answers(200, "It is hidden now", Deleted), **problems("not-found")},
)
def delete_node(node_id: NodeId, caller: Writer, services: Services) -> Response:
    """Hide a node from search, lists and the graph; its ledger entries stay."""
    return answer(services.delete_node(caller, node_id))


@routes.post(
    "/v1/relationships",
    summary="State a relation between two nodes",
    response_model=None,
    responses={
        **answers(200, "It holds", NodeChanged),
        **problems("conflict", "not-found", body=True),
    },
)
def relate_nodes(
    body: RelationshipIn, caller: Writer, services: Services, idempotency: Idempotency
) -> Response:
    """Tie two nodes by a typed edge; between entities it grows stronger each time it is stated."""
    done = services.relate(caller, convert(body, NewRelationship), idempotency=idempotency)
    shown = {"id": done.id, "position": done.position}
    return answer(shown, headers=replay_headers(replayed=done.replayed))
