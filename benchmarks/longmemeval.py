"""Reads LongMemEval files (xiaowu0162/LongMemEval): each question with a history of its own.

Only the format: they are measured as LoCoMo's conversations are, by question type.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, cast

from benchmarks.locomo.corpus import Conversation, Question, Turn
from cairn.cli.client import Failure
from cairn.writing.checks import MAX_TEXT_CHARS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

SESSION, TURN = "session", "turn"
"""What counts as found: a message of an answer's session, or the very message."""


def read_histories(path: Path, *, grain: str, limit: int | None) -> list[Conversation]:
    """Return a conversation a question, the first `limit`; Failure for any other file.

    Questions that nothing answers (`_abs`), and by turn those without a marked message, are left
    out: there is nothing to find.
    """
    try:
        entries = cast("list[dict[str, Any]]", json.loads(path.read_text(encoding="utf-8")))
        histories = [
            conversation
            for entry in entries
            if not str(entry["question_id"]).endswith("_abs")
            and (conversation := _conversation(entry, grain)) is not None
        ]
    except OSError as exc:
        raise Failure(f"{path} cannot be read: {exc.strerror}.") from exc
    except (ValueError, KeyError, TypeError, AttributeError) as exc:
        raise Failure(f"{path} is not a LongMemEval file: {exc!r}.") from exc
    if not histories:
        raise Failure(f"{path} has no question with evidence.")
    return histories[:limit]


def _conversation(entry: Mapping[str, Any], grain: str) -> Conversation | None:
    messages = list(_messages(entry))
    answering = set(map(str, entry["answer_session_ids"]))
    if grain == SESSION:
        turns = [message.turn(message.session) for message in messages]
        evidence = answering & {message.session for message in messages}
    else:
        turns = [message.turn(message.place) for message in messages]
        evidence = {message.place for message in messages if message.answers}
    if not evidence:
        return None
    question = Question(
        text=entry["question"],
        category=entry["question_type"],
        evidence=frozenset(evidence),
        answer=str(entry.get("answer", "")),
    )
    return Conversation(name=str(entry["question_id"]), turns=tuple(turns), questions=(question,))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Message:
    """A message of a history; `place` names it in its history, `answers` says it is marked."""

    session: str
    sequence: int
    text: str
    at: datetime
    answers: bool

    @property
    def place(self) -> str:
        return f"{self.session}:{self.sequence}"

    def turn(self, id_: str) -> Turn:
        return Turn(
            id=id_,
            text=self.text,
            session_id=self.session,
            sequence=self.sequence,
            occurred_at=self.at + timedelta(seconds=self.sequence),
        )


def _messages(entry: Mapping[str, Any]) -> Iterator[_Message]:
    """Yield the messages that say anything, of each session once."""
    seen: set[str] = set()
    sessions = zip(
        entry["haystack_session_ids"],
        entry["haystack_dates"],
        entry["haystack_sessions"],
        strict=True,
    )
    for session, date, messages in sessions:
        if session in seen:
            continue
        seen.add(session)
        for sequence, message in enumerate(messages):
            text = f"{message['role']}: {message['content']}"[:MAX_TEXT_CHARS]
            if message["content"].strip():
                yield _Message(
                    session=str(session),
                    sequence=sequence,
                    text=text,
                    at=_moment(date),
                    answers=bool(message.get("has_answer")),
                )


def _moment(date: str) -> datetime:
    """Return the moment of "2023/05/20 (Sat) 02:21"; the files leave the zone out."""
    day, _, clock = date.split(" ")
    return datetime.strptime(f"{day} {clock}", "%Y/%m/%d %H:%M").replace(tzinfo=UTC)
