"""`cairn bench languages`: what questions in four languages find by their words alone."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.metrics import DECIMALS, recall_at
from cairn.cli.client import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from benchmarks.api import TimedApi

LANGUAGES = ("de", "fr", "es", "ja")
WORDS_ALONE = {"recall": {"weights": {"vector": 0.0, "graph": 0.0, "keyword": 1.0}}}
SEARCH = {"limit": 10, "stages": {"cache": False, "relevance": False, "second_pass": False}}
PAUSE_S, PAUSES = 0.25, 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Texts by id, and questions with the ids of what answers them."""

    texts: Mapping[str, str]
    questions: Sequence[tuple[str, frozenset[str]]]


def read_samples(folder: Path) -> dict[str, Sample]:
    """Return the sample of each language; Failure for what is no folder of them."""
    return {code: _sample(folder / f"{code}.json") for code in LANGUAGES}


def measured(
    api: TimedApi, samples: Mapping[str, Sample], sleep: Callable[[float], None]
) -> dict[str, Any]:
    """Remember all texts in one workspace, ask, and return recall among five by language."""
    api.patch("/v1/settings", WORDS_ALONE)
    names: dict[str, str] = {}
    for sample in samples.values():
        items = [{"type": "fact", "text": text} for text in sample.texts.values()]
        told, _ = api.post("/v1/memories", {"items": items})
        names |= dict(zip((each["id"] for each in told["results"]), sample.texts, strict=True))
    _settled(api, sleep)
    return {code: _asked(api, sample, names) for code, sample in samples.items()}


def _settled(api: TimedApi, sleep: Callable[[float], None]) -> None:
    """Wait until searches are asked of words alone: a setting holds within a second."""
    for _ in range(PAUSES):
        answer, _ = api.post("/v1/search", {**SEARCH, "query": "harbour"})
        if [*answer["meta"]["legs"]] == ["keyword"]:
            return
        sleep(PAUSE_S)
    raise Failure("The workspace's weights of legs did not hold in time.")


def _asked(api: TimedApi, sample: Sample, names: Mapping[str, str]) -> dict[str, Any]:
    found: list[float] = []
    missed: list[str] = []
    for query, relevant in sample.questions:
        answer, _ = api.post("/v1/search", {**SEARCH, "query": query})
        if answer["meta"]["degraded"]:
            raise Failure(f"A search was degraded: {answer['meta']['degraded']}.")
        ranked = [{names[result["node_id"]]} for result in answer["results"]]
        found.append(recall_at(5, ranked, relevant))
        missed += [] if found[-1] else [query]
    return {
        "texts": len(sample.texts),
        "questions": len(found),
        "keyword_recall_at_5": round(sum(found) / len(found), DECIMALS),
        "missed": missed,
    }


def _sample(path: Path) -> Sample:
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
        questions = [
            (str(each["query"]), frozenset(map(str, each["relevant"])))
            for each in given["questions"]
        ]
        return Sample(texts=dict(given["texts"]), questions=questions)
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise Failure(f"{path} is no sample of a language: {exc!r}.") from exc
