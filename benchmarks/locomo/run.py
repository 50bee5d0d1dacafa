"""The benchmark itself: load conversations, wait until they are embedded, ask, measure."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from benchmarks.locomo.adversarial import UNANSWERABLE, refuse_one, shares, unanswerable
from benchmarks.locomo.calibration import Candidates
from benchmarks.locomo.fit import fitted
from benchmarks.locomo.folds import (
    Fold,
    answered,
    leave_one_out,
    refuse_too_few,
    weights_of,
)
from benchmarks.locomo.judged import accuracy
from benchmarks.metrics import percentile, quality
from cairn.cli.client import Failure
from cairn.kernel.text.canonical import format_timestamp
from cairn.recall.recipes import SECOND_PASS
from cairn.recall.relevance import MOST_CANDIDATES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from contextlib import AbstractContextManager
    from uuid import UUID

    from benchmarks.api import TimedApi
    from benchmarks.locomo.corpus import Conversation, Question, Turn
    from benchmarks.locomo.judged import Judge
    from benchmarks.locomo.weights import Answered
    from cairn.embedding.port import Embedder

T = TypeVar("T")

BATCH = 500
LIMIT = 20
RANKED_AGAIN = 100
WARM_UP = 5
RATED = 5_000
"""Turns by which the embedder alone is timed."""

POLL_SECONDS = 0.25
PATIENCE_SECONDS = 900.0
ABLATED = (
    "vector",
    "keyword",
    "signals",
    "speaker",
    "time",
    "time_words",
    "length",
    "question",
    "parent",
    "specifics",
    "facets",
    "second_pass",
    "words",
    "late",
    "whole",
    "answers",
    "next",
)
"""The stages that are switched off in turn, as a search names them; `signals` is all of them."""


class Progress(Protocol):
    """Shows how far a stage is."""

    def __call__(self, stage: str, total: int) -> AbstractContextManager[Callable[[int], None]]:
        """Show a stage; the function says how many steps were done since it was called last."""
        ...


class MeasuresFloor(Protocol):
    """Times the least a search can cost."""

    def ms(self, workspace_id: UUID, question: str, asked_at: datetime) -> float:
        """Return milliseconds."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """A conversation in its workspace. `turns` maps a node id to the turns it holds."""

    conversation: Conversation
    workspace_id: UUID
    api: TimedApi
    turns: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One question's results, best first, as the turns each stands for, and its times in ms."""

    question: Question
    ranked: tuple[frozenset[str], ...]
    search_ms: float
    floor_ms: float


class Via(StrEnum):
    """How the turns come in."""

    MEMORIES = "memories"  # remembered, a memory a turn
    CONVERSATIONS = "conversations"  # said, a message a turn; what they state is drawn from them


@dataclass(frozen=True, kw_only=True)
class Bench:
    """Measures. `open_workspace` makes one for a conversation's name and returns its id and API.

    `via` says how turns come in; a result that was drawn from a message stands for its turn.
    """

    open_workspace: Callable[[str], tuple[UUID, TimedApi]]
    embedder: Embedder
    floor: MeasuresFloor
    progress: Progress
    clock: Callable[[], datetime]
    stopwatch: Callable[[], float]
    sleep: Callable[[float], None]
    via: Via = Via.MEMORIES
    judge: Judge | None = None

    def run(
        self,
        conversations: Sequence[Conversation],
        *,
        ablate: bool = False,
        leave_out: bool = False,
        fit: bool = False,
        routes: bool = False,
        adversarial: Sequence[str] = (),
    ) -> dict[str, Any]:
        """Return the report: quality over all questions, rates in turns a second, times in ms.

        With `ablate` it has `ablation` too: the quality with each of `ABLATED` switched off. With
        `leave_out` it has `leave_one_out`: the quality with weights chosen on other conversations;
        Failure when there are none. With `fit` it is the same with fitted weights, and `fitted` has
        those of all conversations together. With `routes` it has `routes`: by retrieval class, the
        quality as it is and with each class routed. With questions of another domain,
        `adversarial`, it has that too: the shares answered with nothing, and the quality when
        nothing is left out. With a judge it has `accuracy`: the shares of questions that a model
        answers rightly.
        """
        if leave_out or fit:
            refuse_too_few(conversations)
        if adversarial:
            refuse_one(conversations)
        turns = [turn for conversation in conversations for turn in conversation.turns]
        embedder_per_s = self._embedder_rate([turn.text for turn in turns[:RATED]])
        loaded, seconds = self._load(conversations)
        asked = self._ask(loaded)
        off = {name: self._without(loaded, name) for name in ABLATED} if ablate else {}
        return {
            **report(asked),
            **({"ablation": off} if off else {}),
            **(self._left_out(loaded, fit=fit) if leave_out or fit else {}),
            **({"routes": self._routed(loaded)} if routes else {}),
            **({"adversarial": self._silent(loaded, adversarial)} if adversarial else {}),
            **({"accuracy": self._judged(loaded, self.judge)} if self.judge else {}),
            "ingest_per_s": round(len(turns) / seconds, 1),
            "embedder_per_s": round(embedder_per_s, 1),
        }

    def _embedder_rate(self, texts: Sequence[str]) -> float:
        """Return texts a second of the embedder alone, in this process, warmed up."""
        self.embedder.embed(texts[:BATCH])
        start = self.stopwatch()
        with self.progress("embedder alone", len(texts)) as done:
            for part in _parts(texts, BATCH):
                self.embedder.embed(part)
                done(len(part))
        return len(texts) / (self.stopwatch() - start)

    def _load(self, conversations: Sequence[Conversation]) -> tuple[list[Loaded], float]:
        """Store every turn and return when the last is embedded, with the seconds it took."""
        opened = [(each, *self.open_workspace(each.name)) for each in conversations]
        total = sum(len(conversation.turns) for conversation in conversations)
        start = self.stopwatch()
        with self.progress("remember", total) as done:
            loaded = [
                Loaded(
                    conversation=conversation,
                    workspace_id=workspace_id,
                    api=api,
                    turns=_STORES[self.via](api, conversation.turns, done),
                )
                for conversation, workspace_id, api in opened
            ]
        self._wait_until_embedded(loaded, total)
        return loaded, self.stopwatch() - start

    def _wait_until_embedded(self, loaded: Sequence[Loaded], total: int) -> None:
        deadline = self.stopwatch() + PATIENCE_SECONDS
        shown = 0
        with self.progress("embed", total) as done:
            while True:
                pending = sum(_pending(each.api) for each in loaded)
                done(max(0, total - pending - shown))
                shown = max(shown, total - pending)
                if pending == 0:
                    return
                if self.stopwatch() > deadline:
                    raise Failure(
                        f"{pending} memories were not embedded in {PATIENCE_SECONDS:.0f} s.",
                        advice="see what is down: cairn status",
                    )
                self.sleep(POLL_SECONDS)

    def _ask(self, loaded: Sequence[Loaded]) -> list[Asked]:
        for question in loaded[0].conversation.questions[:WARM_UP]:  # the server reads its model
            loaded[0].api.post("/v1/search", _search(question))
            self._floor_ms(loaded[0], question)
        total = sum(len(each.conversation.questions) for each in loaded)
        asked: list[Asked] = []
        with self.progress("ask", total) as done:
            for each in loaded:
                for question in each.conversation.questions:
                    asked.append(self._ask_one(each, question))
                    done(1)
        return asked

    def _without(self, loaded: Sequence[Loaded], stage: str) -> dict[str, Any]:
        """Ask every question again with one stage off, untimed; return the quality."""
        total = sum(len(each.conversation.questions) for each in loaded)
        found: list[tuple[tuple[frozenset[str], ...], frozenset[str]]] = []
        with self.progress(f"without {stage}", total) as done:
            for each in loaded:
                for question in each.conversation.questions:
                    answer, _ = each.api.post(
                        "/v1/search", _search(question, switched={stage: False})
                    )
                    found.append((_turns_found(each, answer), question.evidence))
                    done(1)
        return quality(found)

    def _judged(self, loaded: Sequence[Loaded], judge: Judge) -> Mapping[str, Any]:
        """Let a model answer each question that has an answer in its file, and one judge."""
        asked = [
            (each, question)
            for each in loaded
            for question in each.conversation.questions
            if question.answer
        ]
        judged: list[tuple[str, bool]] = []
        with self.progress("answer and judge", len(asked)) as done:
            for each, question in asked:
                block, _ = each.api.post("/v1/context", {"query": question.text})
                right = judge(each.workspace_id, question.text, block["context"], question.answer)
                judged.append((question.category, right))
                done(1)
        return accuracy(judged)

    def _silent(self, loaded: Sequence[Loaded], elsewhere: Sequence[str]) -> dict[str, Any]:
        """Ask what nothing answers, and everything again with nothing left out."""
        conversations = [each.conversation for each in loaded]
        silent: dict[str, list[bool]] = {name: [] for name in UNANSWERABLE}
        with self.progress("ask what nothing answers", len(loaded)) as done:
            for each in loaded:
                others = [other for other in conversations if other is not each.conversation]
                asked = unanswerable(each.conversation, others, elsewhere)
                for name, questions in asked.items():
                    silent[name] += [self._says_nothing(each, text) for text in questions]
                done(1)
        return {
            "shares": shares(silent),
            "without_relevance": self._without(loaded, "relevance"),
        }

    def candidates(
        self, conversations: Sequence[Conversation], elsewhere: Sequence[str]
    ) -> tuple[str, list[Candidates]]:
        """Load conversations and return the embedder's name and what questions found in them.

        Each question is asked of the whole conversation and of one session alone: the session that
        answers it, or for a question that nothing answers any.
        """
        refuse_one(conversations)
        loaded, _ = self._load(conversations)
        found: list[Candidates] = []
        name = ""
        with self.progress("ask", len(loaded)) as done:
            for each in loaded:
                others = [other for other in conversations if other is not each.conversation]
                kinds = unanswerable(each.conversation, others, elsewhere)
                strange = [*kinds["another_domain"], *kinds["other_conversations"]]
                asked = [(one.text, one.evidence) for one in each.conversation.questions]
                for text, evidence in [*asked, *((text, frozenset[str]()) for text in strange)]:
                    for session in (None, _session_of(each.conversation, evidence, len(found))):
                        name, one = _candidates(each, text, evidence, session)
                        found.append(one)
                done(1)
        return name, found

    def _says_nothing(self, loaded: Loaded, question: str) -> bool:
        body = {"query": question, "limit": LIMIT, "stages": {"cache": False}}
        answer, _ = loaded.api.post("/v1/search", body)
        _refuse_degraded(answer)
        return not answer["results"]

    def _routed(self, loaded: Sequence[Loaded]) -> dict[str, Any]:
        """Ask every question again without and with its route; return the quality by class."""
        found: dict[str, dict[str, list[Any]]] = defaultdict(lambda: {"off": [], "on": []})
        total = sum(len(each.conversation.questions) for each in loaded)
        with self.progress("route", total) as done:
            for each in loaded:
                for question in each.conversation.questions:
                    for name in ("off", "on"):
                        body = _search(question, switched={"route": name == "on"})
                        answer, _ = each.api.post("/v1/search", body)
                        ranked = _turns_found(each, answer)
                        by_class = found[answer["meta"]["retrieval_class"]]
                        by_class[name].append((ranked, question.evidence))
                    done(1)
        return {
            kind: {name: quality(asked) for name, asked in found[kind].items()}
            for kind in sorted(found)
        }

    def _left_out(self, loaded: Sequence[Loaded], *, fit: bool) -> dict[str, Any]:
        """Ask every question again for many results, explained; return what was chosen on them."""
        weights: dict[str, float] = {}
        folds: list[Fold] = []
        with self.progress(
            "explain", sum(len(item.conversation.questions) for item in loaded)
        ) as done:
            for each in loaded:
                found: list[Answered] = []
                for question in each.conversation.questions:
                    explained = _explained(each, question)
                    weights = weights_of(explained["recipe_used"])
                    found.append(answered(explained, question.evidence, each.turns))
                    done(1)
                folds.append(Fold(name=each.conversation.name, answered=tuple(found)))
        with self.progress("choose weights", len(folds)) as done:
            if not fit:
                return {"leave_one_out": leave_one_out(folds, weights, done)}
            every = fitted([one for fold in folds for one in fold.answered])
            return {
                "leave_one_out": leave_one_out(folds, weights, done, fitted),
                "fitted": {
                    name: round(weights.get(name, 1.0) * value, 3) for name, value in every.items()
                },
            }

    def _ask_one(self, loaded: Loaded, question: Question) -> Asked:
        """Search over HTTP, then time the floor for the same question."""
        answer, search_ms = loaded.api.post("/v1/search", _search(question))
        _refuse_degraded(answer)
        return Asked(
            question=question,
            ranked=_turns_found(loaded, answer),
            search_ms=search_ms,
            floor_ms=self._floor_ms(loaded, question),
        )

    def _floor_ms(self, loaded: Loaded, question: Question) -> float:
        return self.floor.ms(loaded.workspace_id, question.text, self.clock())


def _session_of(
    conversation: Conversation, evidence: frozenset[str], number: int
) -> tuple[datetime, datetime]:
    """Return when the session of a piece of evidence began, and when its last turn was."""
    turns = conversation.turns
    sessions = [turn.session_id for turn in turns if turn.id in evidence]
    session = sessions[0] if sessions else turns[number % len(turns)].session_id
    times = [turn.occurred_at for turn in turns if turn.session_id == session]
    return min(times), max(times) + timedelta(seconds=1)


def _candidates(
    loaded: Loaded,
    text: str,
    evidence: frozenset[str],
    session: tuple[datetime, datetime] | None,
) -> tuple[str, Candidates]:
    """Ask one question with nothing left out; return the embedder's name and what was found."""
    body: dict[str, Any] = {
        "query": text,
        "limit": LIMIT,
        "format": "compact",
        "stages": {"cache": False, "relevance": False},
    }
    if session is not None:
        begin, end = session
        body |= {"occurred_from": format_timestamp(begin), "occurred_to": format_timestamp(end)}
    answer, _ = loaded.api.post("/v1/search", body)
    meta, results = answer["meta"], answer["results"]
    full = any(leg["found"] >= meta["capacity"]["max_nodes"] for leg in meta["legs"].values())
    size = math.log(MOST_CANDIDATES if full else max(1, meta["stages"]["fused"]))
    lowest = min((item["scores"].get("vector", 1.0) for item in results), default=0.0)
    rows = [(*_signs(item["scores"], lowest), size) for item in results]
    turns = [loaded.turns.get(item["node_id"], frozenset[str]()) for item in results]
    return meta["embedder"], Candidates(
        conversation=loaded.conversation.name,
        features=np.array(rows, dtype=np.float64).reshape(-1, 4),
        relevant=np.array([float(not evidence.isdisjoint(each)) for each in turns]),
        evidence=len(evidence),
        whole=session is None,
    )


def _signs(scores: Mapping[str, float], lowest: float) -> tuple[float, float, float]:
    """Return the cosine, the share of words and the late interaction of a result.

    An embedder without token states has no late interaction: 0 for all.
    """
    happened = scores.get("time", 0.0) / SECOND_PASS.time
    share = scores.get("keyword", 0.0) + scores.get("time_share", 0.0) * happened
    return scores.get("vector", lowest), min(1.0, share), scores.get("late_interaction", 0.0)


def _explained(loaded: Loaded, question: Question) -> Mapping[str, Any]:
    """Search for as many results as there can be, and return why each is where it is."""
    body = {**_search(question), "limit": RANKED_AGAIN, "format": "compact"}
    answer, _ = loaded.api.post("/v1/search", body)
    _refuse_degraded(answer)
    explained: Mapping[str, Any] = loaded.api.get(f"/v1/searches/{answer['meta']['search_id']}")
    return explained


def _refuse_degraded(answer: Mapping[str, Any]) -> None:
    if degraded := answer["meta"]["degraded"]:
        raise Failure(f"A search was degraded, so it says nothing: {', '.join(degraded)}.")


def _turns_found(loaded: Loaded, answer: Mapping[str, Any]) -> tuple[frozenset[str], ...]:
    return tuple(_turns_of(loaded, result) for result in answer["results"])


def _turns_of(loaded: Loaded, result: Mapping[str, Any]) -> frozenset[str]:
    """Return the turns of a result, or of the message it was drawn from."""
    nodes = (result["node_id"], result.get("attributes", {}).get("parent_id"))
    nothing: frozenset[str] = frozenset()
    return next((loaded.turns[node] for node in nodes if node in loaded.turns), nothing)


def report(asked: Sequence[Asked]) -> dict[str, Any]:
    """Return quality over all questions and by category, and the percentiles of the times."""
    categories: dict[str, list[Asked]] = defaultdict(list)
    for each in asked:
        categories[each.question.category].append(each)
    search = [each.search_ms for each in asked]
    return {
        **_quality(asked),
        "by_category": {name: _quality(categories[name]) for name in sorted(categories)},
        "search_ms_p50": round(percentile(search, 0.5), 2),
        "search_ms_p95": round(percentile(search, 0.95), 2),
        "floor_ms_p50": round(percentile([each.floor_ms for each in asked], 0.5), 2),
    }


def _quality(asked: Sequence[Asked]) -> dict[str, Any]:
    return quality([(each.ranked, each.question.evidence) for each in asked])


def _store(
    api: TimedApi, turns: Sequence[Turn], done: Callable[[int], None]
) -> dict[str, frozenset[str]]:
    """Post the turns in batches and return the turns of each node; equal turns share one."""
    stored: dict[str, set[str]] = defaultdict(set)
    for part in _parts(turns, BATCH):
        answer, _ = api.post("/v1/memories", {"items": [_memory(turn) for turn in part]})
        for turn, result in zip(part, answer["results"], strict=True):
            if "id" not in result:
                raise Failure(f"The turn {turn.id} was rejected: {result.get('error')}.")
            stored[result["id"]].add(turn.id)
        done(len(part))
    return {node_id: frozenset(names) for node_id, names in stored.items()}


def _say(
    api: TimedApi, turns: Sequence[Turn], done: Callable[[int], None]
) -> dict[str, frozenset[str]]:
    """Post the turns one by one, as they were said, and return the turn of each message."""
    stored: dict[str, frozenset[str]] = {}
    for turn in turns:
        answer, _ = api.post("/v1/conversations/messages", _message(turn))
        stored[answer["message_id"]] = frozenset({turn.id})
        done(1)
    return stored


_STORES = {Via.MEMORIES: _store, Via.CONVERSATIONS: _say}


def _message(turn: Turn) -> dict[str, Any]:
    return {
        "channel": "api",
        "role": "user",
        "text": turn.text,
        "sender": turn.text.partition(": ")[0],
        "session_id": turn.session_id,
        "occurred_at": format_timestamp(turn.occurred_at),
    }


def _search(question: Question, *, switched: Mapping[str, bool] | None = None) -> dict[str, Any]:
    """Return a search that is never answered from memory, with some stages switched."""
    stages = {"cache": False, **(switched or {})}
    return {"query": question.text, "limit": LIMIT, "stages": stages}


def _memory(turn: Turn) -> dict[str, Any]:
    return {
        "type": "event",
        "text": turn.text,
        "session_id": turn.session_id,
        "sequence": turn.sequence,
        "occurred_at": format_timestamp(turn.occurred_at),
    }


def _pending(api: TimedApi) -> int:
    status = api.get("/v1/status")
    if failed := status.get("failed_embeddings"):
        raise Failure(f"{failed} memories could not be embedded.", advice="cairn redrive")
    return int(status["pending_embeddings"])


def _parts(items: Sequence[T], size: int) -> Iterable[Sequence[T]]:
    return (items[at : at + size] for at in range(0, len(items), size))
