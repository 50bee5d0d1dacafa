"""Retrieval metrics for one question, and their summary. Pure; the formulas are the textbook's.

Relevance is binary: a result is evidence or it is not. Manning, Raghavan and Schuetze,
Introduction to Information Retrieval (2008), chapter 8, for all of them.
"""

import math
from collections.abc import Collection, Sequence
from typing import Any

DECIMALS = 4


def recall_at(k: int, ranked: Sequence[Collection[str]], evidence: Collection[str]) -> float:
    """Return the share of `evidence` among the first `k` results.

    A result is the collection of evidence names it stands for: usually one, none for a result that
    is no turn, several where equal messages were stored once.
    """
    found = {name for result in ranked[:k] for name in result}
    return len(found.intersection(evidence)) / len(set(evidence))


def reciprocal_rank(ranked: Sequence[Collection[str]], evidence: Collection[str]) -> float:
    """Return 1 / rank of the first result that is evidence, 0 when none is."""
    wanted = set(evidence)
    for rank, result in enumerate(ranked, start=1):
        if wanted.intersection(result):
            return 1 / rank
    return 0.0


def ndcg_at(k: int, ranked: Sequence[Collection[str]], evidence: Collection[str]) -> float:
    """Return DCG / ideal DCG over `k` results: gain 1 a piece of evidence, discount log2(rank + 1).

    Evidence that two results stand for counts at the first.
    """
    left = set(evidence)
    ideal = sum(1 / math.log2(rank + 1) for rank in range(1, min(k, len(left)) + 1))
    gained = 0.0
    for rank, result in enumerate(ranked[:k], start=1):
        hits = left.intersection(result)
        gained += min(1, len(hits)) / math.log2(rank + 1)
        left -= hits
    return gained / ideal


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least `share` (0 to 1) of the values do not exceed."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)]


def quality(asked: Sequence[tuple[Sequence[Collection[str]], Collection[str]]]) -> dict[str, Any]:
    """Return the mean of each metric over (results, evidence) of at least one question."""
    sums = {
        "recall_at_5": [recall_at(5, *each) for each in asked],
        "recall_at_10": [recall_at(10, *each) for each in asked],
        "recall_at_20": [recall_at(20, *each) for each in asked],
        "mrr": [reciprocal_rank(*each) for each in asked],
        "ndcg_at_10": [ndcg_at(10, *each) for each in asked],
    }
    means = {name: round(sum(each) / len(asked), DECIMALS) for name, each in sums.items()}
    return {"questions": len(asked), **means}
