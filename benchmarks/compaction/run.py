"""Measures compaction: is the evidence of a question left, in the context or by recall with it?

Each conversation is one transcript, recorded by the first compaction. Strict: a turn counts as left
in the context only when its whole text stands there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.metrics import recall_at
from cairn.cli.client import Failure
from cairn.kernel.text.canonical import format_timestamp
from cairn.kernel.text.elements import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from uuid import UUID

    from benchmarks.api import TimedApi
    from benchmarks.locomo.corpus import Conversation, Question, Turn

SHARES = (0.1, 0.25, 0.5)
TOP = 10
POLL_SECONDS = 0.25
PATIENCE_SECONDS = 900.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Answered:
    """A question: the turns recalled, and those left in the context at each share."""

    question: Question
    recalled: tuple[frozenset[str], ...]
    left: Mapping[float, frozenset[str]]

    def recall(self) -> float:
        """Return the evidence among the first ten results, of the whole conversation."""
        return recall_at(TOP, self.recalled, self.question.evidence)

    def in_context(self, share: float) -> float:
        """Return the evidence that is left in the context."""
        evidence = self.question.evidence
        return len(evidence & self.left[share]) / len(evidence)

    def together(self, share: float) -> float:
        """Return the evidence that is in the context or recalled with it."""
        evidence = self.question.evidence
        recalled = {name for result in self.recalled[:TOP] for name in result}
        return len(evidence & (self.left[share] | recalled)) / len(evidence)


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Measures over HTTP. `open_workspace` makes one for a conversation's name."""

    open_workspace: Callable[[str], tuple[UUID, TimedApi]]
    progress: Callable[[str, int], AbstractContextManager[Callable[[int], None]]]
    stopwatch: Callable[[], float]
    sleep: Callable[[float], None]
    method: str | None = None

    def run(self, conversations: Sequence[Conversation]) -> dict[str, Any]:
        """Return the shares of evidence left, over all questions, and what compaction took."""
        answered: list[Answered] = []
        made: list[dict[str, Any]] = []
        total = sum(len(each.questions) for each in conversations)
        with self.progress("compact and ask", total) as done:
            for conversation in conversations:
                _, api = self.open_workspace(conversation.name)
                answers, times = self._compacted(api, conversation)
                made += times
                self._wait_until_embedded(api)
                answered += self._asked(api, conversation, answers, done)
        return report(answered, made)

    def _compacted(
        self, api: TimedApi, conversation: Conversation
    ) -> tuple[dict[float, dict[str, Any]], list[dict[str, Any]]]:
        """Compact at every share; nothing but the first call may record anything."""
        answers: dict[float, dict[str, Any]] = {}
        times: list[dict[str, Any]] = []
        for number, share in enumerate(SHARES):
            body: dict[str, Any] = {"session_id": conversation.name, "share": share, "infer": False}
            body["messages"] = [message(turn) for turn in conversation.turns]
            if self.method:
                body["method"] = self.method
            answers[share], ms = api.post("/v1/context/compact", body)
            tokens = answers[share]["tokens"]
            if number and answers[share]["stored"]:
                raise Failure("The same transcript was recorded twice.")
            if tokens["after"] > share * tokens["before"]:
                raise Failure(f"{tokens['after']} tokens are more than {share:.0%}.")
            times.append({"share": share, "ms": ms, "of": tokens["after"] / tokens["before"]})
        return answers, times

    def _wait_until_embedded(self, api: TimedApi) -> None:
        deadline = self.stopwatch() + PATIENCE_SECONDS
        while True:
            status = api.get("/v1/status")
            if status.get("failed_embeddings"):
                raise Failure("Messages could not be embedded.", advice="cairn redrive")
            if not status["pending_embeddings"]:
                return
            if self.stopwatch() > deadline:
                raise Failure("Messages were not embedded in time.", advice="cairn status")
            self.sleep(POLL_SECONDS)

    def _asked(
        self,
        api: TimedApi,
        conversation: Conversation,
        answers: Mapping[float, Mapping[str, Any]],
        done: Callable[[int], None],
    ) -> list[Answered]:
        names = [turn.id for turn in conversation.turns]
        of_message = dict(zip(answers[SHARES[0]]["message_ids"], names, strict=True))
        left = {
            share: left_in(answer["context"], conversation) for share, answer in answers.items()
        }
        found: list[Answered] = []
        for question in conversation.questions:
            body = {"query": question.text, "limit": TOP, "stages": {"cache": False}}
            answer, _ = api.post("/v1/search", body)
            if answer["meta"]["degraded"]:
                raise Failure("A search was degraded, so it says nothing.")
            ranked = tuple(
                frozenset(filter(None, [of_message.get(result["node_id"])]))
                for result in answer["results"]
            )
            found.append(Answered(question=question, recalled=ranked, left=left))
            done(1)
        return found


def message(turn: Turn) -> dict[str, Any]:
    """Return a turn as a transcript has it."""
    sender, _, text = turn.text.partition(": ")
    return {
        "role": "user",
        "sender": sender,
        "text": text,
        "occurred_at": format_timestamp(turn.occurred_at),
    }


def left_in(context: str, conversation: Conversation) -> frozenset[str]:
    """Return the turns whose whole text stands in a context."""
    shown = one_line(context)
    return frozenset(
        turn.id for turn in conversation.turns if one_line(turn.text.partition(": ")[2]) in shown
    )


def report(answered: Sequence[Answered], made: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the means over all questions."""

    def mean(values: Sequence[float]) -> float:
        return round(sum(values) / len(values), 4)

    return {
        "questions": len(answered),
        "recall_at_10": mean([each.recall() for each in answered]),
        "shares": {
            f"{share:g}": {
                "in_context": mean([each.in_context(share) for each in answered]),
                "in_context_or_recalled_at_10": mean([each.together(share) for each in answered]),
                "tokens": mean([one["of"] for one in made if one["share"] == share]),
                "ms": mean([one["ms"] for one in made if one["share"] == share]),
            }
            for share in SHARES
        },
    }
