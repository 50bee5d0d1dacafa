"""The tool that follows where a node comes from. Not the walk itself."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from cairn.api.fields import Body
from cairn.api.mcp.tool import Tool, ToolAnswer
from cairn.bootstrap.api import ApiServices
from cairn.graph.traversal import LEAST, MOST, Bounds
from cairn.kernel.access import Principal
from cairn.recall.walks.lineage import Direction, LineageRequest, lineage_json

SHOWN_CHARS = 300


class LineageArguments(Body):
    """A node, which way to go, and how far."""

    id: Annotated[UUID, Field(strict=False, description="As recall and context name it.")]
    direction: Annotated[Direction, Field(strict=False)] = Direction.ANCESTORS
    max_depth: Annotated[int, Field(ge=LEAST.max_depth, le=MOST.max_depth)] = Bounds().max_depth


def _lineage(
    services: ApiServices, principal: Principal, arguments: LineageArguments
) -> ToolAnswer:
    request = LineageRequest(
        node_id=arguments.id, direction=arguments.direction, max_depth=arguments.max_depth
    )
    found: dict[str, Any] = lineage_json(services.lineage(principal, request))
    lines = [_node(node) for node in found["nodes"]]
    lines += [
        f"{edge['source_id']} --[{edge['relation']}]--> {edge['target_id']}"
        for edge in found["edges"]
    ]
    return ToolAnswer(text="\n".join(lines), structured=found)


def _node(node: dict[str, Any]) -> str:
    text = " ".join(str(node["text"]).split())[:SHOWN_CHARS]
    when = node["provenance"]["occurred_at"]
    return f"[{node['type']}] (id: {node['node_id']}) {when} {text}"


LINEAGE = Tool(
    name="lineage",
    title="Lineage of a node",
    description=(
        "What a node comes from (ancestors) or what came of it (descendants): causes, what made "
        "it, what it stands for, the versions before it."
    ),
    arguments=LineageArguments,
    call=_lineage,
)
