"""`cairn bench entities`: who and what the rules find in labelled texts, with junk and types."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from benchmarks.metrics import DECIMALS
from cairn.cli.client import Failure
from cairn.cli.options import table
from cairn.graph.entities import extract_entities

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

    from rich.console import Console


@dataclass(frozen=True, slots=True)
class LabelledText:
    """A text, who says it, and the type of each name in it."""

    text: str
    speaker: str | None
    types: Mapping[str, str]


@dataclass(slots=True)
class Tally:
    """What the rules found in texts, and how it compares with their labels."""

    texts: int = 0
    labels: int = 0
    right: int = 0
    right_types: int = 0
    junk: list[str] = field(default_factory=list[str])
    missed: list[str] = field(default_factory=list[str])

    def add(self, labelled: LabelledText) -> None:
        """Compare what the rules find in a text with its labels."""
        entities = extract_entities(
            labelled.text, client_id=None, source_agent=None, speaker=labelled.speaker
        )
        names = {entity.name: entity.type for entity in entities}
        right = names.keys() & labelled.types.keys()
        self.texts, self.labels = self.texts + 1, self.labels + len(labelled.types)
        self.right += len(right)
        self.right_types += sum(names[name] == labelled.types[name] for name in right)
        self.junk += [f"{name}: {labelled.text}" for name in names.keys() - right]
        self.missed += [f"{name}: {labelled.text}" for name in labelled.types.keys() - right]

    def summary(self) -> dict[str, Any]:
        """Return the numbers as the JSON has them."""
        found = self.right + len(self.junk)
        return {
            "texts": self.texts,
            "names": self.labels,
            "found": found,
            "precision": _share(self.right, found),
            "recall": _share(self.right, self.labels),
            "type_right": _share(self.right_types, self.right),
            "junk_rate": round(1 - _share(self.right, found), DECIMALS),
            "junk": sorted(self.junk),
            "missed": sorted(self.missed),
        }


def measured(paths: Iterable[Path]) -> dict[str, Any]:
    """Return the summary of each file by its name; Failure for what is no file of texts."""
    summaries: dict[str, Any] = {}
    for path in paths:
        tally = Tally()
        for labelled in read_texts(path):
            tally.add(labelled)
        summaries[path.stem] = tally.summary()
    return summaries


def read_texts(path: Path) -> list[LabelledText]:
    """Return the labelled texts of a file, one JSON object a line."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return [_labelled(json.loads(line)) for line in lines if line.strip()]
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise Failure(f"{path} is not a file of labelled texts: {exc!r}.") from exc


def show(out: Console, summaries: Mapping[str, Mapping[str, Any]]) -> None:
    """Print the numbers, and every name that is junk or missed."""
    columns = table("", *summaries)
    for name in ("texts", "names", "found", "precision", "recall", "type_right", "junk_rate"):
        columns.add_row(name, *(str(summary[name]) for summary in summaries.values()))
    out.print(columns)
    for summary in summaries.values():
        for name in ("junk", "missed"):
            for text in summary[name]:
                out.print(f"[yellow]{name}[/]", escape(text))


def _labelled(given: Mapping[str, Any]) -> LabelledText:
    return LabelledText(
        text=str(given["text"]),
        speaker=given.get("speaker"),
        types={str(name): str(type) for name, type in given["entities"]},
    )


def _share(part: int, whole: int) -> float:
    return round(part / whole, DECIMALS) if whole else 1.0
