"""Reads LoCoMo conversation files (snap-research/locomo). Only the format; nothing is measured."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, cast

from cairn.cli.client import Failure

CATEGORIES = {1: "multi_hop", 2: "temporal", 3: "open_domain", 4: "single_hop"}
"""The categories that count."""
ADVERSARIAL = 5

_SESSION = re.compile(r"session_(\d+)")
_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message. Turns of a session follow each other by a second: the file times sessions."""

    id: str
    text: str
    session_id: str
    sequence: int
    occurred_at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A question with the ids of the turns that answer it, never none; `answer` is the file's."""

    text: str
    category: str
    evidence: frozenset[str]
    answer: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Conversation:
    """One file. `adversarial` are questions that nothing in it answers (category 5)."""

    name: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]
    adversarial: tuple[str, ...] = ()


def read_conversation(path: Path) -> Conversation:
    """Read one file; Failure when it is not a conversation of this format."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        turns = tuple(_turns(content))
        questions = tuple(_questions(content, {turn.id for turn in turns}))
        adversarial = tuple(
            asked["question"] for asked in content["qa"] if asked["category"] == ADVERSARIAL
        )
    except OSError as exc:
        raise Failure(f"{path} cannot be read: {exc.strerror}.") from exc
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise Failure(f"{path} is not a LoCoMo conversation: {exc}.") from exc
    if not turns or not questions:
        raise Failure(f"{path} has no turns or no questions.")
    return Conversation(name=path.stem, turns=turns, questions=questions, adversarial=adversarial)


def _turns(content: Mapping[str, Any]) -> Iterator[Turn]:
    numbers = sorted(int(found[1]) for key in content if (found := _SESSION.fullmatch(key)))
    for number in numbers:
        session = f"session_{number}"
        named = f"{content[f'{session}_date_time']} +0000"  # the files leave the zone out
        start = datetime.strptime(named, "%I:%M %p on %d %B, %Y %z")
        for sequence, turn in enumerate(cast("list[dict[str, Any]]", content[session])):
            yield Turn(
                id=turn["dia_id"],
                text=f"{turn['speaker']}: {turn['text']}",
                session_id=session,
                sequence=sequence,
                occurred_at=start + timedelta(seconds=sequence),
            )


def _questions(content: Mapping[str, Any], turns: set[str]) -> Iterator[Question]:
    for asked in cast("list[dict[str, Any]]", content["qa"]):
        category = CATEGORIES.get(asked["category"])
        evidence = repaired(asked.get("evidence", ()), turns)
        if category and evidence:
            yield Question(
                text=asked["question"],
                category=category,
                evidence=evidence,
                answer=str(asked.get("answer", "")),
            )


def repaired(evidence: list[str], turns: set[str]) -> frozenset[str]:
    """Return the turns that evidence names, malformed ids included where a turn can be read.

    'D8:6; D9:17' names two, 'D:11:26' is D11:26 and 'D30:05' is D30:5; what names no turn is left
    out.
    """
    named = {
        f"D{int(session)}:{int(turn)}"
        for each in evidence
        for session, turn in _EVIDENCE.findall(each)
    }
    return frozenset(named & turns)
