"""Lineage: where a node comes from and what came of it, also as W3C PROV."""

from datetime import datetime
from enum import StrEnum
from typing import Annotated
from uuid import UUID

from fastapi import Query, Response
from pydantic import BeforeValidator, Field

from cairn.api.answers import answer
from cairn.api.dependencies import Anyone, Services
from cairn.api.documentation import answers, problems
from cairn.api.fields import timestamp
from cairn.api.recall_answers import Lineage, ProvDocument
from cairn.api.routing import router
from cairn.graph.intent_weights import Intent
from cairn.graph.traversal import LEAST, MOST, Bounds
from cairn.recall.walks.lineage import Direction, LineageRequest, lineage_json
from cairn.recall.walks.prov import prov_json

routes = router("graph")


class LineageFormat(StrEnum):
    """How a lineage is written."""

    ATLAS = "atlas"  # nodes, edges and meta, as in other answers
    PROV = "prov"  # a PROV-JSON document


def _moment(value: object) -> object:
    return int(value) if isinstance(value, str) and value.isdecimal() else timestamp(value)


AsOf = Annotated[
    datetime | Annotated[int, Field(ge=0, le=2**53 - 1)],
    BeforeValidator(_moment),
    Query(description="A time, or a ledger position: what was known then."),
]


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
    found = services.lineage(
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
    return answer(prov_json(found) if format is LineageFormat.PROV else lineage_json(found))
