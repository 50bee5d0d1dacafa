"""`cairn bench extraction`: what is drawn from labelled turns of talk, with precision and recall.

A turn lists the memories it holds: the words each must contain, the kinds it may be of, whether it
denies. A drawn statement is right when it contains the words of one of them and denies as it does;
one that has the words and the kind but says the opposite is reversed.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from benchmarks.metrics import DECIMALS
from cairn.cli.client import Failure
from cairn.cli.options import table
from cairn.extraction.draw import Speaker, Statement, draw

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from pathlib import Path

    from rich.console import Console

_NEGATION = re.compile(
    r"\b(?:not|no|never|cannot|without|nobody|none|neither|nor|against)\b|n't\b", re.I
)
_ENDING = re.compile(r"(?:ing|ed|es|s)$")
_STEMMED = 4
"""Words of up to so many letters are looked for as they are."""


@dataclass(frozen=True, slots=True)
class Label:
    """A memory that a turn holds."""

    words: tuple[str, ...]
    kinds: frozenset[str]
    negated: bool


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a conversation, with what it holds."""

    conversation: str
    speaker: str
    text: str
    labels: tuple[Label, ...]


@dataclass(slots=True)
class Tally:
    """What was drawn from turns, and how it compares with their labels."""

    turns: int = 0
    labels: int = 0
    recalled: int = 0
    drawn: int = 0
    kinds_right: int = 0
    wrong: list[str] = field(default_factory=list[str])
    missed: list[str] = field(default_factory=list[str])
    reversed: list[str] = field(default_factory=list[str])

    def add(self, turn: Turn, statements: Sequence[Statement]) -> None:
        """Compare what was drawn from a turn with what it holds."""
        self.turns, self.drawn = self.turns + 1, self.drawn + len(statements)
        self.labels += len(turn.labels)
        met: set[Label] = set()
        for statement in statements:
            same = [label for label in turn.labels if _contains(statement.text, label.words)]
            right = [label for label in same if _denies(statement, label) == label.negated]
            met.update(right)
            self.kinds_right += any(statement.kind in label.kinds for label in right)
            if not right:
                self.wrong.append(statement.text)
            if not right and any(statement.kind in label.kinds for label in same):
                self.reversed.append(statement.text)
        self.recalled += len(met)
        self.missed += [
            f"{' '.join(label.words)}: {turn.text}" for label in turn.labels if label not in met
        ]

    def summary(self) -> dict[str, Any]:
        """Return the numbers as the JSON has them."""
        right = self.drawn - len(self.wrong)
        return {
            "turns": self.turns,
            "memories": self.labels,
            "drawn": self.drawn,
            "precision": round(right / self.drawn, DECIMALS) if self.drawn else 1.0,
            "recall": round(self.recalled / self.labels, DECIMALS) if self.labels else 1.0,
            "kind_right": round(self.kinds_right / right, DECIMALS) if right else 1.0,
            "reversed": self.reversed,
            "wrong": self.wrong,
            "missed": self.missed,
        }


def measured(paths: Iterable[Path]) -> dict[str, Any]:
    """Return the summary of each file by its name; Failure for what is no file of turns."""
    return {path.stem: _tallied(read_turns(path)).summary() for path in paths}


def read_turns(path: Path) -> list[Turn]:
    """Return the turns of a file, one JSON object a line, in the order they were said."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        return [_turn(json.loads(line)) for line in lines if line.strip()]
    except (OSError, ValueError, KeyError, TypeError) as exc:
        raise Failure(f"{path} is not a file of labelled turns: {exc!r}.") from exc


def show(out: Console, found: Mapping[str, Mapping[str, Any]]) -> None:
    """Print the numbers, and every statement that is wrong, reversed or missed."""
    columns = table("", *found)
    for name in ("turns", "memories", "drawn", "precision", "recall", "kind_right"):
        columns.add_row(name, *(str(summary[name]) for summary in found.values()))
    columns.add_row("reversed", *(str(len(summary["reversed"])) for summary in found.values()))
    out.print(columns)
    for summary in found.values():
        for name in ("reversed", "wrong", "missed"):
            for text in summary[name]:
                out.print(f"[yellow]{name}[/]", escape(text))


def _tallied(turns: Iterable[Turn]) -> Tally:
    tally, speakers = Tally(), dict[tuple[str, str], Speaker]()
    for turn in turns:
        speaker = speakers.setdefault((turn.conversation, turn.speaker), Speaker(turn.speaker))
        tally.add(turn, draw(turn.text, speaker))
    return tally


def _turn(given: Mapping[str, Any]) -> Turn:
    return Turn(
        conversation=str(given["conversation"]),
        speaker=str(given["speaker"]),
        text=str(given["text"]),
        labels=tuple(
            Label(
                words=tuple(map(str, memory["words"])),
                kinds=frozenset(map(str, memory["kinds"])),
                negated=bool(memory.get("negated", False)),
            )
            for memory in given["memories"]
        ),
    )


def _contains(text: str, words: Iterable[str]) -> bool:
    """Return whether a text has all the words, each in any ending."""
    low = text.lower()
    return all(re.search(rf"(?<!\w){re.escape(_stem(word))}", low) for word in words)


def _stem(word: str) -> str:
    low = word.lower()
    return _ENDING.sub("", low) if len(low) > _STEMMED and low.isalpha() else low


def _denies(statement: Statement, label: Label) -> bool:
    """Return whether the part of a statement that has the label's words denies them."""
    said = statement.text.split(":", 1)[-1]
    part = next((part for part in re.split("[,;]", said) if _contains(part, label.words)), said)
    own = {word.lower() for word in label.words}
    negations = [found[0] for found in _NEGATION.finditer(part) if found[0].lower() not in own]
    return len(negations) % 2 == 1
