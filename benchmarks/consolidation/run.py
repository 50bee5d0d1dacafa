"""The benchmark: embed labelled pairs, let the rules plan, compare with the labels.

Each pair is planned alone first, then 25 pairs of a class in one batch of 50, as a run would see
them: there, whatever is merged across pairs counts as wrong too. Every plan goes through its
checks, as in a run. Nothing is stored.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from uuid import UUID

from benchmarks.consolidation.corpus import DUPLICATES, PairClass
from benchmarks.metrics import DECIMALS
from cairn.consolidation.checks import checked
from cairn.consolidation.heuristic import HeuristicPlanner
from cairn.consolidation.plan import BATCH_SIZE, Add, Batch, BatchMemory, Flag, Link, Pair, Plan
from cairn.kernel.ids import derived_id
from cairn.kernel.text.hashes import content_hash
from cairn.memories.kinds import MemoryKind
from cairn.writing.audience import GLOBAL_CLIENT, Audience

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from cairn.embedding.port import Embedder, Vectors

PRECISION_ASKED = 0.95
RECALL_ASKED = 0.8

_ROOT = UUID("01890000-0000-7000-8000-000000000000")
_AT = datetime(2026, 1, 1, tzinfo=UTC)
_FROM_COSINE = 0.5
_TOGETHER = BATCH_SIZE // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ConsolidationBench:
    """Measures the heuristic planner with one embedder."""

    embedder: Embedder

    def run(self, pairs: Mapping[PairClass, tuple[tuple[str, str], ...]]) -> dict[str, Any]:
        """Return counts by class, precision and recall, and the pairs that went wrong."""
        merged, flagged, linked = Counter[str](), Counter[str](), Counter[str]()
        wrong: list[dict[str, str]] = []
        missed: list[dict[str, str]] = []
        across = 0
        for one, texts in pairs.items():
            vectors = self.embedder.embed([text for pair in texts for text in pair])
            for at, (a, b) in enumerate(texts):
                plan = _planned([a, b], vectors[2 * at : 2 * at + 2])
                kinds = {type(operation) for operation in plan.operations}
                merged[one] += Add in kinds
                flagged[one] += Flag in kinds
                linked[one] += Link in kinds
                told = {"class": one.value, "one": a, "other": b}
                if (Add in kinds) and one not in DUPLICATES:
                    wrong.append(told)
                if (Add in kinds) < (one in DUPLICATES):
                    missed.append(told)
            across += _wrong_together(one, texts, vectors)
        return {
            "pairs": {one.value: len(texts) for one, texts in pairs.items()},
            "merged": _counts(merged),
            "flagged": _counts(flagged),
            "linked": _counts(linked),
            "duplicates": _quality(merged, DUPLICATES, pairs),
            "contradictions": _quality(flagged, (PairClass.CONTRADICTION,), pairs),
            "wrong_supersedes": len(wrong),
            "wrong_in_batches": across,
            "wrong": wrong,
            "missed": missed,
        }


def meets(measured: Mapping[str, Any]) -> bool:
    """Return whether the measured set meets what is asked of the rules."""
    found = measured["duplicates"]
    return (
        found["precision"] >= PRECISION_ASKED
        and found["recall"] >= RECALL_ASKED
        and measured["wrong_supersedes"] == measured["wrong_in_batches"] == 0
    )


def _planned(texts: Sequence[str], vectors: Vectors) -> Plan:
    memories = tuple(_memory(text, at) for at, text in enumerate(texts))
    batch = Batch(client_id=GLOBAL_CLIENT, memories=memories)
    return checked(HeuristicPlanner().plan(batch, list(_pairs(memories, vectors))), batch)


def _pairs(memories: Sequence[BatchMemory], vectors: Vectors) -> Iterator[Pair]:
    cosines = vectors @ vectors.T
    for at, one in enumerate(memories):
        for place in range(at + 1, len(memories)):
            cosine = float(cosines[at, place])
            if cosine >= _FROM_COSINE:
                yield Pair(one=one.id, other=memories[place].id, cosine=cosine)


def _memory(text: str, at: int) -> BatchMemory:
    return BatchMemory(
        id=derived_id(_ROOT, at),
        position=at + 1,
        kind=MemoryKind.FACT,
        text=text,
        content_hash=content_hash(text),
        audience=Audience(scope="admin", agents=None, data_subjects=()),
        client_id=GLOBAL_CLIENT,
        occurred_at=_AT,
        valid_from=_AT,
    )


def _wrong_together(label: PairClass, texts: Sequence[tuple[str, str]], vectors: Vectors) -> int:
    """Return how many merges of whole batches join what is no pair of a class to be merged."""
    wrong = 0
    for at in range(0, len(texts), _TOGETHER):
        part = texts[at : at + _TOGETHER]
        plan = _planned(
            [text for pair in part for text in pair], vectors[2 * at : 2 * (at + len(part))]
        )
        places = {derived_id(_ROOT, place): place // 2 for place in range(2 * len(part))}
        for operation in plan.operations:
            if isinstance(operation, Add):
                pair = len({places[source] for source in operation.sources}) == 1
                wrong += not (pair and label in DUPLICATES)
    return wrong


def _quality(
    found: Counter[str], wanted: Sequence[PairClass], pairs: Mapping[PairClass, Sequence[object]]
) -> dict[str, float]:
    right, all_ = sum(found[class_] for class_ in wanted), sum(found.values())
    return {
        "precision": round(right / all_, DECIMALS) if all_ else 1.0,
        "recall": round(right / sum(len(pairs[class_]) for class_ in wanted), DECIMALS),
    }


def _counts(found: Counter[str]) -> dict[str, int]:
    return {item.value: found[item] for item in PairClass}
