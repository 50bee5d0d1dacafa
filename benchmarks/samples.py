"""Reads the text shipped in samples/: memories, documents and questions. Not the demo itself."""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cairn.cli.client import Failure
from cairn.cli.deps import PROJECT
from cairn.cli.memories import read_lines

SAMPLES = PROJECT / "samples"
_DOCUMENTS = "documents/"


@dataclass(frozen=True, kw_only=True)
class Question:
    """A question, its answer, and the quotes that carry it; `origin` is the first one's source."""

    text: str
    answer: str
    origin: str
    quotes: tuple[str, ...]

    def answered_by(self, texts: Iterable[str]) -> bool:
        """Return whether one of the texts holds a quote, or the answer as whole words."""
        wanted = [re.escape(" ".join(each.split())) for each in (*self.quotes, self.answer)]
        pattern = re.compile(rf"(?<!\w)({'|'.join(wanted)})(?!\w)", re.IGNORECASE)
        return any(pattern.search(" ".join(text.split())) for text in texts)


@dataclass(frozen=True, kw_only=True)
class Samples:
    """What the demo remembers, ingests and asks."""

    memories: list[dict[str, Any]]
    documents: list[Path]
    questions: list[Question]


def read_samples(folder: Path = SAMPLES) -> Samples:
    """Return the samples of a folder; samples/README.md says what its files hold.

    Raises Failure when the folder is not there.
    """
    if not folder.is_dir():
        raise Failure(
            f"There are no samples in {folder}.", advice="clone the project and run it there"
        )
    messages = [_message(each) for each in read_lines(folder / "conversation.ndjson")]
    return Samples(
        memories=messages + _json(folder / "memories.json"),
        documents=sorted((folder / "documents").iterdir()),
        questions=[_question(each) for each in _json(folder / "questions.json")],
    )


def varied(questions: Sequence[Question], many: int) -> list[Question]:
    """Return up to `many` questions of different origins, documents before conversations."""
    first: dict[str, Question] = {}
    for question in questions:
        first.setdefault(question.origin, question)
    chosen = sorted(first.values(), key=lambda each: not each.origin.startswith(_DOCUMENTS))
    return [each for each in questions if each in chosen[:many]]


def _message(line: dict[str, Any]) -> dict[str, Any]:
    return {
        "text": f"{line['speaker']}: {line['text']}",
        "type": "event",
        "session_id": line["session_id"],
        "sequence": line["sequence"],
        "occurred_at": line["occurred_at"],
    }


def _question(entry: dict[str, Any]) -> Question:
    first = entry["sources"][0]
    return Question(
        text=entry["question"],
        answer=entry["answer"],
        origin=first.get("document") or first["session_id"],
        quotes=tuple(each["quote"] for each in entry["sources"]),
    )


def _json(file: Path) -> list[dict[str, Any]]:
    return json.loads(file.read_text(encoding="utf-8"))
