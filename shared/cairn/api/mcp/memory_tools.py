"""Tools over memories: write, recall, read one, follow where it comes from. Not the walk."""

from typing import Annotated, Any
from uuid import UUID

from pydantic import Field

from cairn.api.dependencies import require_client
from cairn.api.fields import Body
from cairn.api.mcp.tool import WRITERS, RepeatKey, Tool, ToolAnswer, repeated
from cairn.api.routes.context import ContextIn
from cairn.api.routes.memories import KindName, MemoryIn
from cairn.api.routes.search import SearchIn
from cairn.bootstrap.api import ApiServices
from cairn.graph.traversal import LEAST, MOST, Bounds
from cairn.kernel.access import Principal
from cairn.kernel.records import convert
from cairn.memories.items import MemoryOutcome, NewMemory
from cairn.memories.kinds import MemoryKind
from cairn.recall.rendering import as_text, set_in_words
from cairn.recall.walks.lineage import Direction, LineageRequest, lineage_json

NOTHING = "Nothing was found."
NO_ANSWER = "Nothing that is stored bears on this question."


class RememberArguments(MemoryIn):
    """A memory, and what makes writing it repeatable."""

    type: KindName = MemoryKind.FACT
    idempotency_key: RepeatKey | None = None


class NodeArguments(Body):
    """One node."""

    id: Annotated[UUID, Field(strict=False, description="As recall and context name it.")]


def _remember(
    services: ApiServices, principal: Principal, arguments: RememberArguments
) -> ToolAnswer:
    new = convert(arguments, NewMemory)
    repeat = repeated(arguments, arguments.idempotency_key)
    done = services.remember(principal, (new,), idempotency=repeat)
    outcome = done.outcomes[0]
    if outcome.error is not None:
        raise outcome.error
    return ToolAnswer(text=_said(outcome), structured=_outcome(outcome))


def _said(outcome: MemoryOutcome) -> str:
    said = [f"{outcome.outcome}: {outcome.id}"]
    said += [f"replaces {each}" for each in outcome.superseded]
    said += [f"note: {each}" for each in outcome.warnings]
    return "\n".join(said)


def _outcome(outcome: MemoryOutcome) -> dict[str, Any]:
    return {
        "outcome": outcome.outcome,
        "id": outcome.id,
        "position": outcome.position,
        "superseded": list(outcome.superseded),
        "warnings": list(outcome.warnings),
    }


def _recall(services: ApiServices, principal: Principal, arguments: SearchIn) -> ToolAnswer:
    require_client(services, principal, arguments.client_id)
    found = services.search(principal, arguments.record())
    nothing = NO_ANSWER if found.meta["answerable"] is False else NOTHING
    told = set_in_words(found.meta["set"])
    return ToolAnswer(
        text="\n".join(filter(None, (as_text(found.results) or nothing, told))),
        structured={"results": list(found.results), "meta": dict(found.meta)},
    )


def _context(services: ApiServices, principal: Principal, arguments: ContextIn) -> ToolAnswer:
    require_client(services, principal, arguments.client_id)
    made = services.context(principal, arguments.record(), max_tokens=arguments.max_tokens)
    return ToolAnswer(text=made["context"], structured=made)


def _get(services: ApiServices, principal: Principal, arguments: NodeArguments) -> ToolAnswer:
    node = services.nodes.node(principal, arguments.id)
    lines = [f"[{node.label}] (id: {node.id})"]
    for name in ("name", "title", "kind", "state", "text", "summary", "compiled_truth"):
        if value := getattr(node, name):
            lines.append(f"  {name}: {value}")
    lines += [f"  {name}: {value}" for name, value in node.provenance.items() if value]
    return ToolAnswer(text="\n".join(lines), structured={"node": node})


REMEMBER = Tool(
    name="remember",
    title="Remember",
    description=(
        "Write one memory: an event (happened), a fact (holds until it changes; give it a key), a "
        "decision (choice and reason) or a status (present state; give it a subject). Secrets are "
        "removed before it is stored. Said again, it is counted once."
    ),
    arguments=RememberArguments,
    call=_remember,
    of_a_client=True,
    roles=WRITERS,
    reads=False,
)
RECALL = Tool(
    name="recall",
    title="Recall",
    description=(
        "Find memories, events, messages and document passages by meaning and by words. Ask in "
        "plain words; names, dates and relative times in the question count. `as_of` asks what was "
        "known at an earlier moment, `valid_at` what held in the world then. Where nothing bears "
        "on the question, there are no results and `meta.answerable` is false. Asked how often, "
        "which of, or when first or last, `meta.set` lists and counts what was found in time order."
    ),
    arguments=SearchIn,
    call=_recall,
    of_a_client=True,
)
CONTEXT = Tool(
    name="context",
    title="Context for a task",
    description=(
        "What memory knows for a task, as one block that fits `max_tokens`: texts with a citation "
        "each, neighbours as far as there is room. Call it before answering or acting."
    ),
    arguments=ContextIn,
    call=_context,
    of_a_client=True,
)
GET = Tool(
    name="get",
    title="Get one node",
    description="Read one node whole, by the id that recall or context gave.",
    arguments=NodeArguments,
    call=_get,
    roles=WRITERS,
)


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
    of_a_client=True,
)
