"""The benchmark of documents over a stand-in for the API."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, cast

import pytest

from benchmarks.documents.run import DocumentsBench, ranked, read_documents, read_questions
from cairn.cli.client import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from pathlib import Path

    from benchmarks.api import TimedApi

LINES = [
    {"id": 1, "title": "Kilns", "text": "How to fire a kiln."},
    {"id": 2, "title": "", "text": "How to warp a loom."},
    {"id": 3, "title": "Empty", "text": " "},
]


class Api:
    """Takes documents, is ready at the second look, and finds those with a word of the question."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}
        self.looks = 0

    def post(self, path: str, body: dict[str, Any]) -> tuple[Any, float]:
        if path == "/v1/documents":
            name = f"d{len(self.texts)}"
            self.texts[name] = body["text"]
            return {"document_id": name, "ingestion_id": f"i-{name}"}, 1.0
        asked = set(body["query"].split())
        found = [name for name, text in self.texts.items() if asked & set(text.split())]
        results = [
            {"node_id": f"{name}-{part}", "attributes": {"document_id": name}}
            for name in found
            for part in (1, 2)
        ]
        return {"results": results, "meta": {"degraded": []}}, 5.0

    def get(self, path: str) -> Any:
        self.looks += 1
        return {"status": "ready" if self.looks > len(self.texts) else "running"}


@contextmanager
def progress(stage: str, total: int) -> Generator[Callable[[int], None]]:
    yield lambda steps: None


def files(folder: Path) -> tuple[Path, Path]:
    documents, questions = folder / "documents.ndjson", folder / "questions.json"
    documents.write_text("\n".join(map(json.dumps, LINES)), encoding="utf-8")
    asked = [{"id": 1, "query": "fire", "relevant": [1]}, {"query": "loom.", "relevant": [1]}]
    questions.write_text(json.dumps([*asked, {"query": "none", "relevant": []}]), encoding="utf-8")
    return documents, questions


def test_documents_are_ranked_where_their_best_part_is(tmp_path: Path) -> None:
    documents, questions = map(str, files(tmp_path))
    bench = DocumentsBench(
        api=cast("TimedApi", Api()),
        progress=progress,
        stopwatch=iter(range(100)).__next__,
        sleep=lambda seconds: None,
    )
    found = bench.run(
        read_questions(tmp_path / questions), read_documents(tmp_path / documents), off=["late"]
    )
    assert found["documents"] == 2  # a blank text is none
    assert found["questions"] == 2  # a question that nothing answers is none
    assert found["ndcg_at_10"] == found["recall_at_10"] == 0.5
    assert found["search_ms_p50"] == 5.0


def test_a_document_counts_once_and_other_nodes_not_at_all() -> None:
    results: list[dict[str, Any]] = [
        {"node_id": "x", "attributes": {}},
        {"node_id": "c", "attributes": {"document_id": "d"}},
        {"node_id": "d", "attributes": {}},
    ]
    assert ranked(results, {"d": "1"}) == [{"1"}]


@pytest.mark.parametrize("content", ["{", '{"id": 1}', "[]", "5"])
def test_a_file_of_something_else_is_refused(content: str, tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(Failure, match="is no file of documents"):
        read_documents(path)
