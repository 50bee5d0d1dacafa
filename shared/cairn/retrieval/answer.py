"""The JSON form of a search's answer, the same for HTTP, the command line and Lambda events."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from cairn.retrieval.legs import LegOutcome
from cairn.retrieval.query import MAX_RESULTS, Format, SearchRequest
from cairn.retrieval.recall import RecallMeta, RecallResult, Result
from cairn.retrieval.records import FoundNode, NeighbourText
from cairn.text.canonical import format_timestamp

COMPACT_DECIMALS = 4
_SHOWN_AS_TEXT = ("document_id", "parent_id", "supersedes", "superseded_by")
_SHOWN_AS_TIME = ("valid_from", "valid_to", "superseded_at", "last_accessed_at")
_SHOWN = (
    "title", "summary", "canonical_name", "state", "scope", "client_id", "key", "subject",
    "status_value", "category", "knowledge_category", "importance", "confidence",
    "observation_count", "access_count", "sequence", "ordinal", "source_uri", "line_from",
    "line_to", "page_from", "page_to",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Results in rank order and what happened, both ready to be written as JSON."""

    results: tuple[Mapping[str, Any], ...]
    meta: Mapping[str, Any]


def answer(found: RecallResult, request: SearchRequest) -> Answer:
    """Return the answer in the request's format.

    `compact` leaves out attributes and context and rounds scores to four decimals.
    """
    shown = _compact if request.format == Format.COMPACT else _full
    results = tuple(shown(result) for result in found.results)
    return Answer(results=results, meta=_meta(found.meta, found, request))


def _full(result: Result) -> dict[str, Any]:
    node = result.node
    return {
        **_identity(node),
        "attributes": _attributes(node),
        "context": {
            "before": [_neighbour(each) for each in result.neighbours.before],
            "after": [_neighbour(each) for each in result.neighbours.after],
        },
        "provenance": _provenance(node),
        "scores": {name: round(value, 6) for name, value in result.scores.items()},
        "retrieval_reason": result.retrieval_reason,
    }


def _compact(result: Result) -> dict[str, Any]:
    return {
        **_identity(result.node),
        "provenance": _provenance(result.node),
        "scores": {name: round(value, COMPACT_DECIMALS) for name, value in result.scores.items()},
        "retrieval_reason": result.retrieval_reason,
    }


def _identity(node: FoundNode) -> dict[str, Any]:
    return {"node_id": str(node.id), "type": node.label, "kind": node.kind, "text": node.text}


def _attributes(node: FoundNode) -> dict[str, Any]:
    """Return what is set on the node; empty values are left out."""
    values: dict[str, Any] = {name: getattr(node, name) for name in _SHOWN}
    for name in _SHOWN_AS_TEXT:
        value = getattr(node, name)
        values[name] = None if value is None else str(value)
    values |= {name: _time(getattr(node, name)) for name in _SHOWN_AS_TIME}
    values |= {
        "agents": list(node.agents),
        "headings": list(node.headings),
        "metadata": dict(node.metadata),
    }
    return {name: value for name, value in values.items() if value not in (None, [], {})}


def _provenance(node: FoundNode) -> dict[str, Any]:
    return {
        "entry_id": str(node.entry_id),
        "position": node.position,
        "source": "ledger",
        "occurred_at": _time(node.occurred_at),
        "recorded_at": _time(node.recorded_at),
        "session_id": node.session_id,
        "agent_id": node.source_agent,
        "trace_id": node.trace_id,
    }


def _neighbour(each: NeighbourText) -> dict[str, Any]:
    return {
        "node_id": str(each.node_id),
        "text": each.text,
        "occurred_at": _time(each.occurred_at),
    }


def _meta(meta: RecallMeta, found: RecallResult, request: SearchRequest) -> dict[str, Any]:
    return {
        "search_id": str(meta.search_id),
        "query_ms": round(meta.query_ms, 3),
        "nodes_returned": len(found.results),
        "truncated": meta.candidates > len(found.results),
        "recipe": meta.recipe,
        "legs": {name: _leg(outcome) for name, outcome in meta.legs.items()},
        "degraded": list(meta.degraded),
        "as_of_position": meta.as_of_position,
        "stages_ms": {name: round(ms, 3) for name, ms in meta.stages_ms.items()},
        "embedder": meta.embedder,
        "cost_usd": 0,
        "seed_nodes": [],
        "inferred_intents": {},
        "intent_override": None,
        "proactive_nodes_count": 0,
        "retrieval_class": meta.understanding.retrieval_class,
        "capacity": {"limit": request.limit, "max_limit": MAX_RESULTS},
    }


def _leg(outcome: LegOutcome) -> dict[str, Any]:
    shown = {"found": len(outcome.candidates), "ms": round(outcome.ms, 3)}
    return shown | ({"failure": outcome.failure} if outcome.failure else {})


def _time(value: datetime | None) -> str | None:
    return None if value is None else format_timestamp(value)
