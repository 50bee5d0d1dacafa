"""The benchmark: observe the events, wait until they are enriched, ask each query each way."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.metrics import DECIMALS, percentile, recall_at
from cairn.cli.client import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping, Sequence
    from uuid import UUID

    from benchmarks.api import TimedApi
    from benchmarks.intents.corpus import AskedFor, EventCorpus
    from benchmarks.locomo.run import Progress

CUTOFFS = (5, 10)
MAX_NODES = 100
POLL_SECONDS = 0.25
PATIENCE_SECONDS = 300.0

METHODS = ("intent_weighted", "ppr", "auto", "search")
"""Two ways to walk the graph, what is chosen when none is named, and the search without a walk."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedEvent:
    """One query asked one way: the keys found, best first, and the milliseconds it took."""

    query: AskedFor
    ranked: tuple[str, ...]
    inferred: frozenset[str]
    ms: float


@dataclass(frozen=True, kw_only=True)
class IntentsBench:
    """Measures. `open_workspace` makes one and returns its id and API."""

    open_workspace: Callable[[str], tuple[UUID, TimedApi]]
    progress: Progress
    stopwatch: Callable[[], float]
    sleep: Callable[[float], None]

    def run(self, corpus: EventCorpus) -> dict[str, Any]:
        """Return precision and recall at 5 and 10 and times, by method and by intent."""
        _, api = self.open_workspace("intents")
        keys = self._observe(api, corpus)
        self._wait_until_enriched(api, len(keys))
        asked = {method: self._ask(api, corpus.queries, method, keys) for method in METHODS}
        return {
            "events": len(keys),
            "queries": len(corpus.queries),
            "intents_inferred": share_inferred(asked[METHODS[0]]),
            "methods": {method: summed_up(found) for method, found in asked.items()},
        }

    def _observe(self, api: TimedApi, corpus: EventCorpus) -> dict[str, str]:
        """Post every session's events and return the key of each node."""
        keys: dict[str, str] = {}
        with self.progress("observe", len(corpus.sessions)) as done:
            for session in corpus.sessions:
                answer, _ = api.post("/v1/events", {"items": [body for _, body in session]})
                for (key, _), result in zip(session, answer["results"], strict=True):
                    if "id" not in result:
                        raise Failure(f"The event {key} was rejected: {result.get('error')}.")
                    keys[result["id"]] = key
                done(1)
        return keys

    def _wait_until_enriched(self, api: TimedApi, total: int) -> None:
        deadline = self.stopwatch() + PATIENCE_SECONDS
        shown = 0
        with self.progress("enrich", total) as done:
            while pending := int(api.get("/v1/status")["pending_embeddings"]):
                done(max(0, total - pending - shown))
                shown = max(shown, total - pending)
                if self.stopwatch() > deadline:
                    raise Failure(
                        f"{pending} events were not enriched in {PATIENCE_SECONDS:.0f} s.",
                        advice="see what is down: cairn status",
                    )
                self.sleep(POLL_SECONDS)
            done(total - shown)

    def _ask(
        self, api: TimedApi, queries: Sequence[AskedFor], method: str, keys: Mapping[str, str]
    ) -> list[AskedEvent]:
        _asked(api, queries[0], method, keys)  # warms up
        found: list[AskedEvent] = []
        with self.progress(method, len(queries)) as done:
            for query in queries:
                found.append(_asked(api, query, method, keys))
                done(1)
        return found


def _asked(api: TimedApi, query: AskedFor, method: str, keys: Mapping[str, str]) -> AskedEvent:
    if method == "search":
        body = {"query": query.query, "limit": max(CUTOFFS), "stages": {"cache": False}}
        answer, ms = api.post("/v1/search", body | {"labels": ["Event"]})
        rows = answer["results"]
    else:
        body = {"query": query.query, "max_nodes": MAX_NODES}
        named = {} if method == "auto" else {"retrieval_method": method}
        answer, ms = api.post("/v1/query/subgraph", body | named)
        rows = [row for row in answer["nodes"] if row["type"] == "Event"]
    found = [keys[row["node_id"]] for row in rows if row["node_id"] in keys]
    inferred = frozenset(answer["meta"].get("inferred_intents", {}))
    return AskedEvent(query=query, ranked=tuple(found), inferred=inferred, ms=ms)


def precision_at(k: int, ranked: Sequence[str], relevant: Collection[str]) -> float:
    """Return the share of the first `k` results that are relevant; missing results are not."""
    return sum(1 for each in ranked[:k] if each in relevant) / k


def summed_up(asked: Sequence[AskedEvent]) -> dict[str, Any]:
    """Return the measures over all queries and by intent, with the percentiles of the times."""
    groups: dict[str, list[AskedEvent]] = defaultdict(list)
    for each in asked:
        groups[each.query.intent].append(each)
    times = [each.ms for each in asked]
    return {
        **_quality(asked),
        "ms_p50": round(percentile(times, 0.5), 2),
        "ms_p95": round(percentile(times, 0.95), 2),
        "by_intent": {name: _quality(groups[name]) for name in sorted(groups)},
    }


def share_inferred(asked: Sequence[AskedEvent]) -> float:
    """Return for how many queries the intent a person gave is among those inferred."""
    right = sum(1 for each in asked if each.query.intent in each.inferred)
    return round(right / len(asked), DECIMALS)


def _quality(asked: Sequence[AskedEvent]) -> dict[str, Any]:
    measures: dict[str, Any] = {"queries": len(asked)}
    for k in CUTOFFS:
        precision = [precision_at(k, each.ranked, each.query.relevant) for each in asked]
        recall = [
            recall_at(k, [[key] for key in each.ranked], each.query.relevant) for each in asked
        ]
        measures[f"precision_at_{k}"] = round(sum(precision) / len(asked), DECIMALS)
        measures[f"recall_at_{k}"] = round(sum(recall) / len(asked), DECIMALS)
    return measures
