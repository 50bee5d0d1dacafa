"""Reads the text shipped in samples/: memories, documents and questions. Not the demo itself."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cairn.cli.deps import PROJECT
from cairn.cli.failure import Failure
from cairn.cli.memories import read_lines

SAMPLES = PROJECT / "samples"
_DOCUMENT_TYPES = frozenset({".md", ".html", ".htm", ".pdf", ".txt", ".py"})


@dataclass(frozen=True, kw_only=True)
class Samples:
    """What the demo remembers, ingests and asks."""

    memories: list[dict[str, Any]]
    documents: list[Path]
    questions: list[str]


def read_samples(folder: Path = SAMPLES) -> Samples:
    """Return the samples of a folder: *.jsonl, documents/*, questions.txt (one a line).

    Raises Failure when the folder is not there.
    """
    if not folder.is_dir():
        raise Failure(
            f"There are no samples in {folder}.", advice="clone the project and run it there"
        )
    questions = (folder / "questions.txt").read_text(encoding="utf-8").splitlines()
    documents = sorted((folder / "documents").iterdir())
    return Samples(
        memories=[each for file in sorted(folder.glob("*.jsonl")) for each in read_lines(file)],
        documents=[each for each in documents if each.suffix.lower() in _DOCUMENT_TYPES],
        questions=[line.strip() for line in questions if line.strip()],
    )
