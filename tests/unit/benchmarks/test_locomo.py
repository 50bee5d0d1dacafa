"""Reading conversation files, and asking about one over a stand-in for the API."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from typing import TYPE_CHECKING, Any
from uuid import UUID

import httpx
import numpy as np
import pytest

from benchmarks.api import TimedApi
from benchmarks.locomo.adversarial import another_domain, unanswerable
from benchmarks.locomo.corpus import Conversation, read_conversation, repaired
from benchmarks.locomo.run import ABLATED, Bench
from cairn.cli.client import Failure
from cairn.recall.switches import SIGNALS, STAGES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence
    from pathlib import Path

FILE: dict[str, Any] = {
    "speaker_a": "Ana",
    "session_1_date_time": "1:56 pm on 8 May, 2023",
    "session_1": [
        {"speaker": "Ana", "dia_id": "D1:1", "text": "I bought a blue boat."},
        {"speaker": "Ben", "dia_id": "D1:2", "text": "Nice."},
    ],
    "session_2_date_time": "12:09 am on 13 September, 2023",
    "session_2": [{"speaker": "Ana", "dia_id": "D2:1", "text": "The boat sank."}],
    "session_3_date_time": "1:00 pm on 14 September, 2023",
    "session_1_summary": "Ana has a boat.",
    "qa": [
        {"question": "What did Ana buy?", "evidence": ["D1:1"], "category": 4},
        {"question": "When did the boat sink?", "evidence": ["D2:1; D:1:02"], "category": 2},
        {"question": "Who has a car?", "evidence": ["D1:1"], "category": 5},
        {"question": "Where is the plane?", "evidence": ["D9:9"], "category": 1},
    ],
}


@pytest.fixture
def conversation(tmp_path: Path) -> Conversation:
    path = tmp_path / "7.json"
    path.write_text(json.dumps(FILE), encoding="utf-8")
    return read_conversation(path)


def test_turns_keep_their_order_speaker_and_time(conversation: Conversation) -> None:
    first, second, third = conversation.turns

    assert first.text == "Ana: I bought a blue boat."
    assert (first.session_id, first.sequence) == ("session_1", 0)
    assert first.occurred_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert second.occurred_at == datetime(2023, 5, 8, 13, 56, 1, tzinfo=UTC)
    assert third.occurred_at == datetime(2023, 9, 13, 0, 9, tzinfo=UTC)


def test_questions_without_evidence_or_of_category_five_are_left_out(
    conversation: Conversation,
) -> None:
    assert [(each.category, each.evidence) for each in conversation.questions] == [
        ("single_hop", {"D1:1"}),
        ("temporal", {"D2:1", "D1:2"}),
    ]


@pytest.mark.parametrize(
    ("evidence", "expected"),
    [
        (["D8:6; D9:17"], {"D8:6", "D9:17"}),
        (["D:11:26"], {"D11:26"}),
        (["D30:05"], {"D30:5"}),
        (["D8:6", "D8:6"], {"D8:6"}),
        (["D", "D1", "", "D99:1"], set()),
    ],
)
def test_malformed_evidence_is_repaired_where_it_names_a_turn(
    evidence: list[str], expected: set[str]
) -> None:
    assert repaired(evidence, {"D8:6", "D9:17", "D11:26", "D30:5"}) == expected


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"qa": []}', '{"session_1": []}', "\x00"])
def test_another_file_is_refused_by_name(tmp_path: Path, content: str) -> None:
    path = tmp_path / "other.json"
    path.write_text(content, encoding="utf-8")

    with pytest.raises(Failure, match=r"other\.json"):
        read_conversation(path)


def test_a_missing_file_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(Failure, match=r"none\.json"):
        read_conversation(tmp_path / "none.json")


class FakeApi:
    """Stores what is posted; answers each search with all of it, newest first."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self.pending = [2, 1, 0]
        self.limited = 1
        self.failed = 0
        self.degraded: list[str] = []
        self.searches = 0
        self.off: list[str] = []
        self.cold_searches = 0
        self.cached = 0
        self.limits: list[int] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        if request.url.path == "/v1/status":
            status = {
                "pending_embeddings": self.pending.pop(0),
                "failed_embeddings": self.failed,
            }
            return httpx.Response(200, json=status)
        if request.url.path == "/v1/searches/s1":
            return httpx.Response(200, json=self._explained())
        body = json.loads(request.content)
        if request.url.path == "/v1/memories":
            return httpx.Response(200, json={"results": self._store(body["items"])})
        if request.url.path == "/v1/context":
            return httpx.Response(200, json={"context": self.texts[0]})
        if self.limited:
            self.limited -= 1
            return httpx.Response(429, headers={"retry-after": "3"})
        self.searches += 1
        self.limits.append(body["limit"])
        off = [stage for stage, on in body.get("stages", {}).items() if not on]
        self.cached += "cache" not in off
        self.off += [stage for stage in off if stage != "cache"]
        if "keyword" in off:
            return httpx.Response(200, json={"results": [], "meta": {"degraded": []}})
        degraded = ["vector: late"] if self.searches <= self.cold_searches else self.degraded
        results = [{"node_id": f"n{place}"} for place in reversed(range(len(self.texts)))]
        meta = {"degraded": degraded, "search_id": "s1"}
        return httpx.Response(200, json={"results": results, "meta": meta})

    def _explained(self) -> dict[str, Any]:
        """The texts in the order they were stored."""
        results = [
            {"node_id": f"n{place}", "contributions": {"keyword": 1.0 - place / 10, "length": 0.2}}
            for place in range(len(self.texts))
        ]
        recipe = {"weights": {"keyword": 0.5}, "signals": {"length": 0.2, "speaker": 0.0}}
        return {"recipe_used": recipe, "results": results}

    def _store(self, items: list[dict[str, Any]]) -> list[dict[str, str]]:
        first = len(self.texts)
        self.texts += [item["text"] for item in items]
        return [{"id": f"n{first + place}", "outcome": "created"} for place in range(len(items))]


class Embedder:
    """Counts what it is given."""

    def __init__(self) -> None:
        self.seen = 0

    def embed(self, texts: Sequence[str]) -> Any:
        self.seen += len(texts)
        return np.zeros((len(texts), 2), dtype=np.float32)


class FixedFloor:
    def ms(self, workspace_id: UUID, question: str, asked_at: datetime) -> float:
        return 3.0


@contextmanager
def quiet(stage: str, total: int) -> Iterator[Callable[[int], None]]:
    def done(steps: int) -> None:
        assert 0 <= steps <= total

    yield done


class World:
    def __init__(self) -> None:
        self.api = FakeApi()
        self.slept: list[float] = []
        ticks = count()
        self.stopwatch = lambda: next(ticks) / 1000

    def bench(self) -> Bench:
        http = httpx.Client(base_url="http://api", transport=httpx.MockTransport(self.api))
        api = TimedApi(http, sleep=self.slept.append, stopwatch=self.stopwatch)
        return Bench(
            open_workspace=lambda name: (UUID(int=1), api),
            embedder=Embedder(),  # type: ignore[arg-type]
            floor=FixedFloor(),
            progress=quiet,
            clock=lambda: datetime(2026, 1, 1, tzinfo=UTC),
            stopwatch=self.stopwatch,
            sleep=self.slept.append,
        )


def test_a_run_reports_every_published_value(conversation: Conversation) -> None:
    measured = World().bench().run([conversation])

    assert set(measured) == {
        *("questions", "recall_at_5", "recall_at_10", "recall_at_20", "mrr", "ndcg_at_10"),
        *("by_category", "ingest_per_s", "embedder_per_s"),
        *("search_ms_p50", "search_ms_p95", "floor_ms_p50"),
    }
    assert measured["questions"] == 2
    assert measured["recall_at_5"] == 1.0
    assert measured["mrr"] == pytest.approx((1 / 3 + 1) / 2, abs=1e-4)
    assert set(measured["by_category"]) == {"single_hop", "temporal"}
    assert (measured["search_ms_p50"], measured["floor_ms_p50"]) == (1.0, 3.0)
    assert measured["ingest_per_s"] > 0 < measured["embedder_per_s"]


def test_an_ablation_asks_everything_again_without_each_stage(conversation: Conversation) -> None:
    world = World()

    measured = world.bench().run([conversation], ablate=True)

    ablation = measured["ablation"]
    assert tuple(ablation) == ABLATED
    assert world.api.off == [name for name in ABLATED for _ in conversation.questions]
    assert ablation["keyword"]["recall_at_20"] == 0.0
    assert ablation["speaker"]["recall_at_20"] == measured["recall_at_20"] == 1.0


class Judging:
    """Says that the first answer is right."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str, str]] = []

    def __call__(self, workspace_id: UUID, question: str, memories: str, right: str) -> bool:
        self.asked.append((question, memories, right))
        return len(self.asked) == 1


def test_a_judge_says_how_many_answers_are_right_by_category(tmp_path: Path) -> None:
    path = tmp_path / "8.json"
    answered = [{**asked, "answer": 2023} for asked in FILE["qa"][:2]]
    path.write_text(json.dumps({**FILE, "qa": [*answered, FILE["qa"][0]]}), encoding="utf-8")
    judge = Judging()
    bench = replace(World().bench(), judge=judge)
    found = bench.run([read_conversation(path)])["accuracy"]
    shares = {"single_hop": 1.0, "temporal": 0.0}
    assert found == {"questions": 2, "all": 0.5, "by_category": shares}
    assert judge.asked[0] == ("What did Ana buy?", "Ana: I bought a blue boat.", "2023")


def test_no_question_is_answered_from_memory(conversation: Conversation) -> None:
    world = World()

    world.bench().run([conversation], ablate=True)

    assert world.api.searches > 0 == world.api.cached


def test_leaving_one_out_asks_for_many_results_and_ranks_each_conversation_by_the_others(
    conversation: Conversation,
) -> None:
    world = World()
    world.api.pending = [2, 1, 0, 0]
    other = replace(conversation, name="8", turns=conversation.turns[:2])

    measured = world.bench().run([conversation, other], leave_out=True)["leave_one_out"]

    assert world.api.limits[-4:] == [100] * 4
    assert measured["default"]["questions"] == measured["chosen"]["questions"] == 4
    assert measured["default_weights"] == {"keyword": 0.5, "length": 0.2}
    assert [fold["held_out"] for fold in measured["folds"]] == ["7", "8"]
    assert measured["folds"][0]["weights"] == {"keyword": 0.5, "length": 0.2}


@pytest.mark.parametrize(("times", "said"), [(1, "at least two"), (2, "twice")])
def test_what_leaves_nothing_out_is_refused_before_anything_is_stored(
    conversation: Conversation, times: int, said: str
) -> None:
    world = World()

    with pytest.raises(Failure, match=said):
        world.bench().run([conversation] * times, leave_out=True)

    assert world.api.texts == []


def test_what_an_ablation_names_can_be_switched_off() -> None:
    assert set(ABLATED) <= set(STAGES)
    assert set(SIGNALS) <= set(ABLATED)


def test_waiting_for_a_rate_limit_is_not_search_time(conversation: Conversation) -> None:
    world = World()

    measured = world.bench().run([conversation])

    assert 3.0 in world.slept
    assert measured["search_ms_p95"] == 1.0


def test_a_server_that_still_reads_its_model_is_warmed_up_first(conversation: Conversation) -> None:
    world = World()
    world.api.cold_searches = 2

    measured = world.bench().run([conversation])

    assert measured["questions"] == 2
    assert world.api.searches == 4


def test_a_degraded_search_is_no_measurement(conversation: Conversation) -> None:
    world = World()
    world.api.degraded = ["vector: late"]

    with pytest.raises(Failure, match="vector: late"):
        world.bench().run([conversation])


def test_turns_that_cannot_be_embedded_stop_the_run(conversation: Conversation) -> None:
    world = World()
    world.api.failed = 1

    with pytest.raises(Failure, match="1 memories could not be embedded"):
        world.bench().run([conversation])


def test_what_nothing_answers_is_asked_of_each_conversation(conversation: Conversation) -> None:
    turns = tuple(
        replace(turn, text=turn.text.replace("Ana", "Eva").replace("Ben", "Leo"))
        for turn in conversation.turns
    )
    questions = tuple(
        replace(question, text=question.text.replace("Ana", "Eva"))
        for question in conversation.questions
    )
    other = replace(conversation, name="8", turns=turns, questions=questions)
    world = World()
    world.api.pending = [0, 0]

    measured = world.bench().run([conversation, other], adversarial=another_domain()[:3])

    asked = measured["adversarial"]["shares"]
    assert {name: each["questions"] for name, each in asked.items()} == {
        "category_5": 2,
        "another_domain": 6,
        "other_conversations": 4,
        "names_swapped": 4,
    }
    assert {each["answered_with_nothing"] for each in asked.values()} == {0.0}
    assert measured["adversarial"]["without_relevance"]["questions"] == 4
    assert world.api.off == ["relevance"] * 4
    of_other = unanswerable(conversation, [other], [])
    assert "What did Eva buy?" in of_other["other_conversations"]
    assert "What did Ana buy?" in of_other["names_swapped"]
    with pytest.raises(Failure, match="two conversations"):
        world.bench().run([conversation], adversarial=["Why?"])
