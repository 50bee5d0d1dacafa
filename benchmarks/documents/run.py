"""The benchmark itself: ingest documents, wait until they are searchable, ask, measure."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.metrics import percentile, quality
from cairn.cli.client import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from benchmarks.api import TimedApi
    from benchmarks.locomo.run import Progress

LIMIT = 50
"""Results a question: several may be parts of one document."""
AT_ONCE = 50
"""Documents sent before they are waited for: what a machine works off is not piled up."""
POLL_SECONDS = 0.5
PATIENCE_SECONDS = 3600.0
WARM_UP = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """A document to ingest."""

    id: str
    title: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """A question and the ids of the documents that answer it."""

    text: str
    relevant: frozenset[str]


def read_documents(path: Path) -> list[Text]:
    """Return the documents of a file, one JSON object a line: id, title, text; blank ones left out.

    Failure when a line is none.
    """
    try:
        rows = [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]
        found = [
            Text(id=str(row["id"]), title=str(row["title"]).strip(), text=str(row["text"]))
            for row in rows
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Failure(f"{path} is no file of documents: {type(error).__name__}.") from error
    return [each for each in found if each.text.strip()]


def read_questions(path: Path) -> list[Asked]:
    """Return the questions of a JSON list of objects: query, relevant; Failure when it is none."""
    try:
        return [
            Asked(text=str(row["query"]), relevant=frozenset(map(str, row["relevant"])))
            for row in json.loads(path.read_text("utf-8"))
            if row["relevant"]
        ]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise Failure(f"{path} is no file of questions: {type(error).__name__}.") from error


@dataclass(frozen=True, kw_only=True)
class DocumentsBench:
    """Measures over one workspace of its own."""

    api: TimedApi
    progress: Progress
    stopwatch: Callable[[], float]
    sleep: Callable[[float], None]

    def run(
        self,
        questions: Sequence[Asked],
        documents: Sequence[Text],
        *,
        recipe: str | None = None,
        off: Sequence[str] = (),
    ) -> dict[str, Any]:
        """Return quality over documents, rates in documents a second, times in ms."""
        start = self.stopwatch()
        names = self._ingest(documents)
        seconds = self.stopwatch() - start
        body: dict[str, Any] = {"limit": LIMIT, "stages": {"cache": False}}
        body["stages"] |= dict.fromkeys(off, False)
        body |= {"recipe": recipe} if recipe else {}
        for question in questions[:WARM_UP]:
            self.api.post("/v1/search", {**body, "query": question.text})
        found: list[tuple[list[frozenset[str]], frozenset[str]]] = []
        times: list[float] = []
        with self.progress("ask", len(questions)) as done:
            for question in questions:
                answer, ms = self.api.post("/v1/search", {**body, "query": question.text})
                if degraded := answer["meta"]["degraded"]:
                    raise Failure(f"A search was degraded, so it says nothing: {degraded}.")
                found.append((ranked(answer["results"], names), question.relevant))
                times.append(ms)
                done(1)
        return {
            **quality(found),
            "documents": len(documents),
            "ingest_per_s": round(len(documents) / seconds, 2),
            "search_ms_p50": round(percentile(times, 0.5), 2),
            "search_ms_p95": round(percentile(times, 0.95), 2),
        }

    def _ingest(self, documents: Sequence[Text]) -> dict[str, str]:
        """Send the documents and return their names by the id they got, once all are ready."""
        names: dict[str, str] = {}
        with self.progress("ingest", len(documents)) as done:
            for at in range(0, len(documents), AT_ONCE):
                some = documents[at : at + AT_ONCE]
                self._wait([self._send(document, names) for document in some], done)
        return names

    def _send(self, document: Text, names: dict[str, str]) -> str:
        body = {
            "source_uri": f"bench:{document.id}",
            "title": document.title or document.id,
            "media_type": "text/plain",
            "text": document.text,
        }
        taken, _ = self.api.post("/v1/documents", body)
        names[taken["document_id"]] = document.id
        return taken["ingestion_id"]

    def _wait(self, waiting: list[str], done: Callable[[int], None]) -> None:
        deadline = self.stopwatch() + PATIENCE_SECONDS
        while waiting:
            states = {each: self.api.get(f"/v1/ingestions/{each}")["status"] for each in waiting}
            if "failed" in states.values():
                raise Failure("A document could not be ingested.", advice="cairn doctor")
            left = [each for each in waiting if states[each] != "ready"]
            done(len(waiting) - len(left))
            waiting = left
            if waiting and self.stopwatch() > deadline:
                raise Failure(f"{len(waiting)} documents were not ingested in an hour.")
            if waiting:
                self.sleep(POLL_SECONDS)


def ranked(results: Sequence[Mapping[str, Any]], names: Mapping[str, str]) -> list[frozenset[str]]:
    """Return the documents of the results, each once, where its best part is."""
    found = (names.get(each["attributes"].get("document_id", each["node_id"])) for each in results)
    return [frozenset({name}) for name in dict.fromkeys(found) if name is not None]
