"""What is kept of a search: enough to replay and to explain it, and none of its words. Pure."""

from __future__ import annotations

import hashlib
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from cairn.recall.records import Explored, ScoredNode, SearchRun

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from uuid import UUID

    from cairn.recall.in_flight import Search
    from cairn.recall.legs import LegOutcome
    from cairn.recall.query import SearchRequest
    from cairn.recall.ranking import Ranking
    from cairn.recall.recipes import Recipe
    from cairn.recall.results import RecallMeta

MAX_EDGES = 200
"""Edges of the graph leg's walk that are kept, the heaviest first."""


def digest_of(request: SearchRequest, workspace_id: UUID) -> bytes:
    """Return 32 bytes that equal requests of a workspace share: SHA-256 over every field."""
    values = [getattr(request, name) for name in request.__slots__ if name != "stages"]
    text = repr((str(workspace_id), values, sorted(request.stages.items())))
    return hashlib.sha256(text.encode("utf-8", errors="surrogatepass")).digest()


def recipe_json(recipe: Recipe) -> dict[str, Any]:
    """Return the recipe as plain JSON values."""
    values = {name: getattr(recipe, name) for name in recipe.__slots__}
    return values | {
        "fusion": recipe.fusion.value,
        "weights": dict(recipe.weights),
        "signals": asdict(recipe.signals),
        "labels": list(recipe.labels),
        "with_kinds": list(recipe.with_kinds),
    }


def line_of(meta: RecallMeta) -> dict[str, Any]:
    """Return the fields of the search's log line: ids, counts, times, codes; nobody's words."""
    search = meta.search
    return {
        "workspace_id": str(search.principal.workspace_id),
        "search_id": str(search.id),
        "recipe": search.recipe.name,
        "mode": search.recipe.fusion.value,
        "retrieval_class": search.asked.retrieval_class.value,
        "intents": list(search.intents),
        "searched": search.asked.verdict.search,
        "counts": dict(meta.counts),
        "ms": round(meta.query_ms, 3),
        "stages_ms": {name: round(ms, 3) for name, ms in meta.stages_ms.items()},
        "degraded": [each.partition(":")[0] for each in meta.degraded],
        "cached": meta.cached is not None,
        "as_of": search.filters.as_of_position is not None,
        "model_calls": len(search.calls.uses),
        "cost_usd": float(search.calls.cost_usd),
    }


def run_of(
    search: Search,
    outcomes: Mapping[str, LegOutcome],
    ranking: Ranking,
    returned: Sequence[UUID],
    *,
    degraded: Sequence[str],
    duration_ms: float,
) -> SearchRun:
    """Return what is kept of this search."""
    graph = next((one.graph for one in outcomes.values() if one.graph), None)
    edges = sorted(graph.edges, key=lambda edge: -edge.weight)[:MAX_EDGES] if graph else []
    return SearchRun(
        id=search.id,
        workspace_id=search.principal.workspace_id,
        principal_id=search.principal.principal_id,
        recipe=search.recipe.name,
        started_at=search.started_at,
        returned=tuple(returned),
        candidates={name: outcome.candidates for name, outcome in outcomes.items()},
        degraded=tuple(degraded),
        duration_ms=duration_ms,
        counts_as_access=search.filters.as_of_position is None,
        request_digest=digest_of(search.request, search.principal.workspace_id),
        recipe_used=recipe_json(search.recipe),
        wanted=search.limit,
        retrieval_class=search.asked.retrieval_class.value,
        intents=search.intents,
        seeds=graph.seed_ids if graph else (),
        scored=tuple(
            ScoredNode(one.sketch.id, one.sketch.position, one.signals) for one in ranking.scored
        ),
        reranked=ranking.reranked,
        merged=ranking.merged,
        edges=tuple(
            Explored(edge.source_id, edge.target_id, edge.view, edge.relation, edge.weight)
            for edge in edges
        ),
        as_of_position=search.filters.as_of_position,
        session_id=search.request.session_id,
    )
