"""The JSON form of a search's answer, the same for HTTP, the command line and Lambda events."""

from __future__ import annotations

import json
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from cairn.kernel.text.canonical import format_timestamp
from cairn.recall.personal import personal_json
from cairn.recall.proactive import proactive_json
from cairn.recall.query import MAX_RESULTS, Format, SearchRequest
from cairn.recall.rendering import (
    DIVIDER,
    as_text,
    attributes,
    identity,
    path_json,
    provenance,
    set_in_words,
)
from cairn.recall.results import RecallMeta, RecallResult, Result, related_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from datetime import datetime

    from cairn.kernel.access import Principal
    from cairn.recall.legs import LegOutcome
    from cairn.recall.questions.model_calls import ModelUse
    from cairn.recall.recall import Recall
    from cairn.recall.records import NeighbourText

COMPACT_DECIMALS = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Results in rank order and what happened, both ready to be written as JSON.

    `text` has the results as plain text, in the format of that name only; `results` is empty then.
    """

    results: tuple[Mapping[str, Any], ...]
    meta: Mapping[str, Any]
    text: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Dropped:
    """What was left out of an answer so that it stays within its budget."""

    related: int = 0
    context: int = 0
    results: int = 0


@dataclass(frozen=True, slots=True)
class Search:
    """Recall and the JSON form of its answer."""

    recall: Recall

    def __call__(self, principal: Principal, request: SearchRequest, /) -> Answer:
        """Answer a question."""
        return answer(self.recall(principal, request), request)


def answer(recalled: RecallResult, request: SearchRequest) -> Answer:
    """Return the answer in the request's format, within its budget of characters (of JSON).

    `compact` leaves out attributes and context and rounds scores to four decimals. `fields`
    narrows the properties (text and attributes) of each result, not those of related nodes.
    """
    compact = request.format == Format.COMPACT
    rows = [_compact(each) if compact else _full(each) for each in recalled.results]
    narrowed = [projected(row, request.fields) for row in rows]
    fields = None
    if request.fields is not None:
        property_count = sum(len(_properties(row)) for row in narrowed)
        all_of_them = sum(len(_properties(row)) for row in rows)
        fields = {
            "asked": list(request.fields),
            "returned_properties": property_count,
            "dropped_properties": all_of_them - property_count,
        }
    results, dropped = fitting(narrowed, max_chars=request.max_chars)
    meta = _meta(recalled, request, returned=results, dropped=dropped)
    if fields:
        meta["fields"] = fields
    if request.format == Format.TEXT:
        set_text = set_in_words(meta["set"])
        return Answer(
            results=(), meta=meta, text=DIVIDER.join(filter(None, (as_text(results), set_text)))
        )
    return Answer(results=tuple(results), meta=meta)


def projected(row: Mapping[str, Any], fields: Sequence[str] | None) -> dict[str, Any]:
    """Return a result with only the properties named; None leaves it as it is.

    Properties are `text` and what stands under `attributes`. A name that the result lacks, or
    that nobody knows, is skipped; no names leave no properties.
    """
    if fields is None:
        return dict(row)
    names = frozenset(fields)
    narrowed = {name: value for name, value in row.items() if name != "text" or name in names}
    if "attributes" in row:
        attributes = row["attributes"]
        narrowed["attributes"] = {name: attributes[name] for name in attributes if name in names}
    return narrowed


def fitting(
    rows: Sequence[Mapping[str, Any]], *, max_chars: int
) -> tuple[list[dict[str, Any]], Dropped]:
    """Return the rows that fit into `max_chars` characters of JSON, and what had to go.

    Related nodes go first, from the last result up; then what stands beside the results; then
    results from the end. The first result stays, whatever its size.
    """
    fitted = [dict(row) for row in rows]
    sizes = [_size(row) for row in fitted]
    left_out = dict.fromkeys(("related", "context"), 0)
    for part in left_out:
        for index in reversed(range(len(fitted))):
            if sum(sizes) <= max_chars:
                break
            left_out[part] += _strip(fitted[index], part)
            sizes[index] = _size(fitted[index])
    gone = 0
    while len(fitted) > 1 and sum(sizes) > max_chars:
        fitted.pop()
        sizes.pop()
        gone += 1
    return fitted, Dropped(results=gone, **left_out)


def _strip(row: dict[str, Any], part: str) -> int:
    """Take a part out of a row and return how many nodes that were."""
    value = row.get(part)
    if not value:
        return 0
    row[part] = [] if part == "related" else {"before": [], "after": []}
    return len(value) if part == "related" else len(value["before"]) + len(value["after"])


def _size(row: Mapping[str, Any]) -> int:
    return len(json.dumps(row, ensure_ascii=False, default=str))


def _properties(row: Mapping[str, Any]) -> list[str]:
    return [*(["text"] if "text" in row else []), *row.get("attributes", {})]


def _full(result: Result) -> dict[str, Any]:
    node = result.node
    shown = {
        **identity(node),
        "attributes": attributes(node),
        "context": {
            "before": [_neighbour(each) for each in result.neighbours.before],
            "after": [_neighbour(each) for each in result.neighbours.after],
        },
        "provenance": provenance(node),
        "scores": {name: round(value, 6) for name, value in result.scores.items()},
        **_reason(result),
    }
    if result.related.nodes:
        shown["related"] = [related_json(each) for each in result.related.nodes]
        shown["related_dropped"] = result.related.dropped
    return shown


def _compact(result: Result) -> dict[str, Any]:
    return {
        **identity(result.node),
        "provenance": provenance(result.node),
        "scores": {name: round(value, COMPACT_DECIMALS) for name, value in result.scores.items()},
        **_reason(result),
    }


def _reason(result: Result) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "retrieval_reason": result.retrieval_reason,
        "validity": result.validity.value,
        "relevance": None if result.relevance is None else round(result.relevance, 4),
    }
    if path := path_json(result.node):
        shown["path"] = path
    if result.surfaced:
        shown |= proactive_json(result.surfaced)
    if result.personal:
        shown["personal"] = personal_json(result.personal)
    if result.merged:
        shown["merged"] = [str(each) for each in result.merged]
    return shown


def _neighbour(each: NeighbourText) -> dict[str, Any]:
    return {
        "node_id": str(each.node_id),
        "text": each.text,
        "occurred_at": _time(each.occurred_at),
    }


def _meta(
    recalled: RecallResult,
    request: SearchRequest,
    *,
    returned: Sequence[Mapping[str, Any]],
    dropped: Dropped,
) -> dict[str, Any]:
    meta = recalled.meta
    search, question = meta.search, meta.search.asked
    proactive = sum(each.surfaced is not None for each in recalled.results)
    return {
        "search_id": str(search.id),
        "query_ms": round(meta.query_ms, 3),
        "nodes_returned": len(returned),
        "truncated": _candidates(meta) > len(returned) - proactive or dropped.results > 0,
        "recipe": search.recipe.name,
        "mode": search.recipe.fusion.value,
        "legs": {name: _leg(outcome) for name, outcome in meta.legs.items()},
        "stages": dict(meta.counts),
        "degraded": [*meta.degraded, *(f"workspace: {name}" for name in search.ignored)],
        "as_of_position": search.filters.as_of_position,
        "stages_ms": {name: round(ms, 3) for name, ms in meta.stages_ms.items()},
        "embedder": meta.embedder,
        "cost_usd": _cost(search.calls.uses),
        "models": [_use(each) for each in search.calls.uses],
        "seed_nodes": list(meta.seeds),
        "retrieval_method": meta.method.value if meta.method else None,
        "inferred_intents": {} if question.intent_override else dict(search.intents),
        "intent_override": question.intent_override.value if question.intent_override else None,
        "proactive_nodes_count": proactive,
        "retrieval_class": question.retrieval_class.value,
        "gate": _gate(meta) if search.recipe.gate else None,
        "scoring_weights": _weights(meta),
        "capacity": _capacity(meta, request, used=len(returned)),
        "dropped": {
            "related": dropped.related + sum(each.related.dropped for each in recalled.results),
            "context": dropped.context,
            "results": dropped.results,
        },
        **_relevance(meta),
        "facets": meta.coverage.facets_json() if meta.coverage else None,
        "set": meta.coverage.set_json() if meta.coverage else None,
        "merged": sum(len(each.merged) for each in recalled.results),
        "cached": str(meta.cached) if meta.cached else None,
    }


def _candidates(meta: RecallMeta) -> int:
    """Return how many candidates were left when duplicates were merged and none cut off.

    Those that were fused and not scored count too, unless some were left out: then these are
    worse.
    """
    counts = meta.counts
    if meta.judgement and meta.judgement.left_out:
        return counts["relevant"]
    return counts["fused"] - (counts["scored"] - counts["deduped"])


def _relevance(meta: RecallMeta) -> dict[str, Any]:
    """Return whether there is an answer, and what results were held to."""
    judgement = meta.judgement
    if judgement is None:  # nothing was looked up
        return {"answerable": None, "relevance": None}
    return {"answerable": judgement.answerable, "relevance": judgement.json()}


def _gate(meta: RecallMeta) -> dict[str, Any]:
    verdict = meta.search.asked.verdict
    return {
        "search": verdict.search,
        "rewritten": verdict.query is not None,
        "query": verdict.query,
        "reason": verdict.reason,
        "source": verdict.source.value,
        "language": verdict.language,
        "complexity": verdict.complexity.value,
        "topic_change": verdict.topic_change,
        "topic_change_confidence": verdict.topic_change_confidence,
    }


def _weights(meta: RecallMeta) -> dict[str, Any]:
    """Return what the final score was made with, as the recipe, workspace and request say."""
    recipe = meta.search.recipe
    signals = {name: getattr(recipe.signals, name) for name in recipe.signals.__slots__}
    return {
        "legs": {leg: weight for leg, weight in recipe.weights.items() if leg in meta.legs},
        "signals": {name: weight for name, weight in signals.items() if weight},
        "recency": recipe.decay,
        "access": recipe.access,
        "compiled_truth": recipe.compiled_truth,
        "backlinks": recipe.backlinks,
        "relevance": 1.0,
    }


def _capacity(meta: RecallMeta, request: SearchRequest, *, used: int) -> dict[str, Any]:
    search = meta.search
    return {
        "limit": search.limit,
        "max_limit": MAX_RESULTS,
        "max_nodes": search.recipe.candidates,
        "used_nodes": used,
        "max_chars": request.max_chars,
        "expand_hops": search.hops,
    }


def _cost(uses: Sequence[ModelUse]) -> float:
    """Return what model calls cost in USD; one without a known price adds nothing."""
    return float(sum((each.cost_usd or Decimal(0) for each in uses), Decimal(0)))


def _use(use: ModelUse) -> dict[str, Any]:
    return {
        "purpose": str(use.purpose),
        "provider": use.provider,
        "model": use.model,
        "ms": round(use.ms, 3),
        "cost_usd": None if use.cost_usd is None else float(use.cost_usd),
        "failure": use.failure,
        "cached": use.cached,
    }


def _leg(outcome: LegOutcome) -> dict[str, Any]:
    shown = {"found": len(outcome.candidates), "ms": round(outcome.ms, 3)}
    return shown | ({"failure": outcome.failure} if outcome.failure else {})


def _time(value: datetime | None) -> str | None:
    return None if value is None else format_timestamp(value)
