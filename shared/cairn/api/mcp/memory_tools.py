"""Tools over memory as an agent uses it: write, recall, read in context, say what was of use."""

from collections.abc import Mapping
from typing import Annotated, Any, NotRequired
from uuid import UUID

from pydantic import Field
from typing_extensions import TypedDict

from cairn.api.dependencies import require_client
from cairn.api.mcp.tool import WRITERS, Effect, RepeatKey, Tool, ToolAnswer, repeated
from cairn.api.routes.context import ContextIn
from cairn.api.routes.memories import KindName, MemoryIn
from cairn.api.routes.search import SearchIn
from cairn.api.routes.searches import FeedbackIn, feedback_of
from cairn.bootstrap.api import ApiServices
from cairn.kernel.access import Principal
from cairn.kernel.records import convert
from cairn.memories.items import MemoryOutcome, NewMemory
from cairn.memories.kinds import MemoryKind
from cairn.recall.rendering import related_line, set_in_words

NOTHING = "Nothing was found."
NO_ANSWER = "Nothing that is stored bears on this question."
AS_NAMED = "As memory_recall names it"
WHOSE = "Whose: an end user's or customer's id"


class RememberArguments(MemoryIn):
    """A memory, and what makes writing it repeatable."""

    type: KindName = MemoryKind.FACT
    idempotency_key: RepeatKey | None = None


class Remembered(TypedDict):
    """What became of a memory."""

    outcome: str
    id: UUID
    superseded: NotRequired[list[UUID]]
    warnings: NotRequired[list[str]]


class Hit(TypedDict):
    """One result. `type` is a memory's kind or a node's label; what is not said is left out."""

    id: str
    type: str
    text: str
    occurred_at: NotRequired[str]
    score: float
    name: NotRequired[str]
    source: NotRequired[str]
    validity: NotRequired[str]
    signal: NotRequired[str]
    personal: NotRequired[str]
    related: NotRequired[list[str]]


class Recalled(TypedDict):
    """Results, best first, and what they come to."""

    results: list[Hit]
    search_id: NotRequired[str]
    note: NotRequired[str]
    degraded: NotRequired[list[str]]


class InContext(TypedDict):
    """The block, and how many results had no room in it."""

    context: str
    search_id: NotRequired[str]
    left_out: NotRequired[int]


class FeedbackArguments(FeedbackIn):
    """What a reader says of one result of a search."""

    search_id: Annotated[UUID, Field(strict=False)]


class Judged(TypedDict):
    """What was kept."""

    node_id: UUID
    useful: bool


def _remember(
    services: ApiServices, principal: Principal, arguments: RememberArguments
) -> ToolAnswer:
    new = convert(arguments, NewMemory)
    repeat = repeated(arguments, arguments.idempotency_key)
    outcome = services.remember(principal, (new,), idempotency=repeat).outcomes[0]
    if outcome.error is not None:
        raise outcome.error
    structured = {name: getattr(outcome, name) for name in Remembered.__annotations__}
    return ToolAnswer(text=_outcome_text(outcome), structured=structured)


def _personal(row: Mapping[str, Any]) -> str | None:
    """Return why a result stands higher for whom the search is, and the ids it follows from."""
    reason = row.get("personal")
    if reason is None:
        return None
    why = " ".join(filter(None, (reason["relation"], reason.get("name"))))
    return f"{why}: {', '.join(reason['evidence'])}"


def _outcome_text(outcome: MemoryOutcome) -> str:
    lines = [f"{outcome.outcome}: {outcome.id}"]
    lines += [f"replaces {each}" for each in outcome.superseded]
    lines += [f"note: {each}" for each in outcome.warnings]
    return "\n".join(lines)


def _recall(services: ApiServices, principal: Principal, arguments: SearchIn) -> ToolAnswer:
    require_client(services, principal, arguments.client_id)
    recalled = services.search(principal, arguments.record())
    hits = [hit_of(row) for row in recalled.results]
    note = set_in_words(recalled.meta["set"])
    if not hits:
        note = note or (NO_ANSWER if recalled.meta["answerable"] is False else NOTHING)
    text = recalled.text or "\n".join(map(hit_line, hits))
    structured = {
        "results": hits,
        "search_id": recalled.meta.get("search_id"),
        "note": note,
        "degraded": recalled.meta.get("degraded"),
    }
    return ToolAnswer(text="\n".join(filter(None, (text, note))), structured=structured)


def hit_of(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a result as agents are shown it: what the answer needs, and nothing constant."""
    attributes, provenance = row.get("attributes", {}), row.get("provenance", {})
    validity = row.get("validity", "current")
    return {
        "id": row["node_id"],
        "type": row.get("kind") or row["type"],
        "text": row.get("text", ""),
        "occurred_at": provenance.get("occurred_at"),
        "score": round(row.get("scores", {}).get("relevance_score", 0.0), 3),
        "name": attributes.get("title") or attributes.get("canonical_name"),
        "source": _source(attributes, provenance),
        "validity": None if validity == "current" else validity,
        "signal": row.get("proactive_signal"),
        "personal": _personal(row),
        "related": [related_line(each) for each in row.get("related", ())],
    }


def _source(attributes: Mapping[str, Any], provenance: Mapping[str, Any]) -> str | None:
    if not (uri := attributes.get("source_uri")):
        return provenance.get("agent_id")
    return " > ".join([uri, *attributes.get("headings", ())])


def hit_line(hit: Mapping[str, Any]) -> str:
    """Return a result in a line, and its neighbours in one each."""
    about = [hit[name] for name in ("occurred_at", "source", "validity", "signal") if hit[name]]
    name = f"{hit['name']}: " if hit["name"] else ""
    head = f"[{hit['type']}] {name}{hit['text']} ({', '.join([*about, hit['id']])})"
    return "\n  ".join([head, *hit["related"]])


def _context(services: ApiServices, principal: Principal, arguments: ContextIn) -> ToolAnswer:
    require_client(services, principal, arguments.client_id)
    context = services.context(principal, arguments.record(), max_tokens=arguments.max_tokens)
    structured = {
        "context": context["context"],
        "search_id": context["meta"].get("search_id"),
        "left_out": context["left_out"] or None,
    }
    return ToolAnswer(text=context["context"], structured=structured)


def _judge(services: ApiServices, principal: Principal, arguments: FeedbackArguments) -> ToolAnswer:
    services.give_feedback(principal, feedback_of(arguments, arguments.search_id))
    judgement = "of use" if arguments.useful else "of no use"
    structured = {"node_id": arguments.node_id, "useful": arguments.useful}
    return ToolAnswer(text=f"{judgement}: {arguments.node_id}", structured=structured)


REMEMBER = Tool(
    name="memory_remember",
    aliases=("remember",),
    title="Remember",
    description="Write one memory. Secrets are removed.",
    arguments=RememberArguments,
    parameters={
        "text": "One thing",
        "type": "fact if null",
        "key": "A fact's",
        "subject": "A status's",
        "client_id": "Whose",
    },
    result=Remembered,
    call=_remember,
    of_a_client=True,
    roles=WRITERS,
    effect=Effect.CHANGE,
    eager=True,
)
RECALL = Tool(
    name="memory_recall",
    aliases=("recall", "memory-search"),
    title="Recall",
    description="Find memories, messages and document passages by meaning and words.",
    arguments=SearchIn,
    parameters={
        "query": "In plain words, with names and dates",
        "limit": "10 if null",
        "client_id": "Whose",
        "as_of": "What was known then: RFC 3339",
    },
    result=Recalled,
    call=_recall,
    of_a_client=True,
    eager=True,
)
CONTEXT = Tool(
    name="context_get",
    aliases=("context",),
    title="Context for a task",
    description=(
        "What memory knows for a task, as one block with a citation for each text. Call it before "
        "answering or acting."
    ),
    arguments=ContextIn,
    parameters={
        "query": "The task, in plain words",
        "max_tokens": "2000 if null",
        "client_id": WHOSE,
        "session_id": "This conversation",
    },
    result=InContext,
    call=_context,
    of_a_client=True,
    eager=True,
)
FEEDBACK = Tool(
    name="memory_judge",
    title="Judge a result",
    description="Say whether a result of your own search was of use. A second time replaces it.",
    arguments=FeedbackArguments,
    parameters={
        "search_id": AS_NAMED,
        "node_id": "The result's id",
        "useful": "Whether it helped",
    },
    result=Judged,
    call=_judge,
    of_a_client=True,
    effect=Effect.CHANGE,
)
