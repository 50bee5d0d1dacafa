"""How good a ranking of people is, question by question. Pure."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.discovery.corpus import FORBIDDEN

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from benchmarks.discovery.corpus import Corpus

TOP = 10
DECIMALS = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranked:
    """The people found for an intent, best first; those shown; and what each is said to be."""

    intent: str
    people: Sequence[str]
    shown: frozenset[str] = frozenset()
    roles: Mapping[str, str] | None = None
    ms: float = 0.0


def summed_up(corpus: Corpus, rankings: Sequence[Ranked]) -> dict[str, Any]:
    """Return the means over the questions that have a pair."""
    each = [_question(corpus, ranked) for ranked in rankings]
    with_negative = [one["hard"] for one in each if one["hard"] is not None]
    return {
        "questions": len(each),
        "hit_at_1": _mean([one["hit"] for one in each]),
        "recall_at_10": _mean([one["recall"] for one in each]),
        "ndcg_at_10": _mean([one["ndcg"] for one in each]),
        "hard_negative_first": _mean(with_negative),
    }


def shown_of(corpus: Corpus, rankings: Sequence[Ranked]) -> dict[str, Any]:
    """Return how much of what is shown is right, how much of the right is shown, and the roles."""
    shown = good = pairs = forbidden = 0
    roles: list[bool] = []
    for ranked in rankings:
        graded = corpus.pairs[ranked.intent]
        counted = ranked.shown - corpus.ungraded.get(ranked.intent, frozenset())
        shown, pairs = shown + len(counted), pairs + len(graded)
        good += len(counted & graded.keys())
        negatives = corpus.negatives.get(ranked.intent, {})
        forbidden += sum(negatives.get(person) in FORBIDDEN for person in ranked.people)
        forbidden += corpus.intents[ranked.intent]["person"] in ranked.people
        forbidden += len(ranked.people) - len(set(ranked.people))
        roles += [
            (ranked.roles or {}).get(person) == pair.get("target_role")
            for person, pair in graded.items()
            if person in ranked.shown and pair.get("target_role")
        ]
    return {
        "precision_shown": round(good / shown, DECIMALS) if shown else 0.0,
        "pairs_shown": round(good / pairs, DECIMALS) if pairs else 0.0,
        "forbidden": forbidden,
        "role_accuracy": _mean(roles),
    }


def _question(corpus: Corpus, ranked: Ranked) -> dict[str, Any]:
    graded = {person: pair["grade"] for person, pair in corpus.pairs[ranked.intent].items()}
    ungraded = corpus.ungraded.get(ranked.intent, frozenset())
    people = [person for person in ranked.people if person not in ungraded]
    gain = sum(
        (2 ** graded.get(person, 0) - 1) / math.log2(place + 2)
        for place, person in enumerate(people[:TOP])
    )
    ideal = sum(
        (2**grade - 1) / math.log2(place + 2)
        for place, grade in enumerate(sorted(graded.values(), reverse=True)[:TOP])
    )
    negatives = {
        person
        for person, kind in corpus.negatives.get(ranked.intent, {}).items()
        if kind not in FORBIDDEN
    }
    best = min((people.index(person) for person in graded if person in people), default=len(people))
    return {
        "hit": bool(people) and people[0] in graded,
        "recall": sum(person in people[:TOP] for person in graded) / len(graded),
        "ndcg": gain / ideal if ideal else 0.0,
        "hard": bool(negatives & set(people[:best])) if negatives else None,
    }


def _mean(values: Sequence[float]) -> float:
    return round(sum(values) / len(values), DECIMALS) if values else 0.0
