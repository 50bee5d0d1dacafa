"""A question understood by a chat model over HTTP, through either client, and what it costs."""

# pyright: basic

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

import pytest
from pydantic import SecretStr
from tests.fakes.model_calls import InMemoryCallLog
from tests.plugins.waiting import eventually
from tests.support.chat_wire import ChatServer, Say, chat_server
from tests.support.thinking import model_calls

from benchmarks.locomo.judged import ModelJudge
from cairn.bootstrap.models import chat_models, silent
from cairn.bootstrap.recall import AskingParts, asking_parts
from cairn.graph.intent_weights import Intent
from cairn.kernel.clock import monotonic, utc_now
from cairn.kernel.errors import Unavailable
from cairn.kernel.ids import new_id
from cairn.llm.budget import Terms
from cairn.llm.gateway import Gateway, Surroundings
from cairn.llm.port import Role
from cairn.recall.questions.gate import Turn
from cairn.recall.questions.model_calls import Source
from cairn.recall.questions.understanding import RetrievalClass

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from cairn.llm.wire import WireChat
    from cairn.recall.questions.model_calls import ModelCalls
    from cairn.recall.questions.read import ParsedQuestion

ASKED_AT = datetime(2026, 3, 10, tzinfo=UTC)
KEY = SecretStr("sk-test-0123456789abcdef")
HISTORY = [
    Turn(role=Role.USER, text="Which pump failed in March?"),
    Turn(role=Role.ASSISTANT, text="The one in hall 2."),
]
VERDICT = {
    "search": True,
    "query": "who repaired the pump in hall 2",
    "reason": "follow-up",
    "language": "en",
    "complexity": "simple",
    "retrieval_class": "entity",
    "intents": ["what"],
    "topic_change": False,
    "topic_change_confidence": 0.9,
}


@dataclass(kw_only=True)
class Settings:
    """As the functions read them."""

    stage: Literal["local", "prod"] = "local"
    anthropic_api_key: SecretStr | None = None
    anthropic_base_url: str | None = None
    openai_api_key: SecretStr | None = None
    openai_base_url: str | None = None
    embedder: str = "onnx"
    chat_model: str = ""
    model_budgets: str = ""
    reranker_dir: Path | None = None


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as running:
        yield running


@pytest.fixture(params=["anthropic", "openai"])
def parts(request: pytest.FixtureRequest, server: ChatServer) -> Iterator[AskingParts]:
    if request.param == "anthropic":
        settings = Settings(anthropic_api_key=KEY, anthropic_base_url=server.url)
    else:
        settings = Settings(openai_api_key=KEY, openai_base_url=f"{server.url}/v1")
    with built(settings, server) as made:
        yield made


def gateway(models: Sequence[WireChat[Any]]) -> Gateway:
    return Gateway(
        models,
        Surroundings(
            terms=lambda workspace_id: Terms(),
            calls=InMemoryCallLog(),
            clock=utc_now,
            stopwatch=monotonic,
            pause=time.sleep,
            new_id=new_id,
            report=silent,
        ),
    )


@contextmanager
def built(settings: Settings, server: ChatServer) -> Iterator[AskingParts]:
    """Yield the parts when they answer; whatever hangs is let go before they are closed."""
    made = asking_parts(settings, gateway)  # pyright: ignore
    try:
        warm(made, server)
        yield made
    finally:
        server.released.set()
        made.close()


def warm(parts: AskingParts, server: ChatServer) -> None:
    """Wait until the client's package is imported, which may take longer than an answer."""
    server.answers = lambda asked: json.dumps(VERDICT)
    eventually(lambda: ask(parts, model_calls()).verdict.source is Source.LLM, seconds=60)
    server.requests.clear()
    server.says.clear()


def ask(
    parts: AskingParts, calls: ModelCalls, *, message: str = "who repaired it?"
) -> ParsedQuestion:
    return parts.asking(message, HISTORY, admin=True, asked_at=ASKED_AT, calls=calls)


def test_one_request_makes_the_query_the_class_and_the_intents(
    parts: AskingParts, server: ChatServer
) -> None:
    calls = model_calls()
    asked = ask(parts, calls)
    assert asked.question == "who repaired the pump in hall 2"
    assert asked.retrieval_class is RetrievalClass.ENTITY
    assert asked.intents.confidence == {Intent.WHAT: 0.8}
    assert len(server.requests) == 1
    [use] = calls.uses
    assert use.model in {"claude-haiku-4-5", "gpt-4.1-mini"}
    assert (use.provider, use.failure) == (asked.verdict.provider, None)
    assert use.cost_usd == calls.cost_usd > Decimal(0)


@pytest.mark.parametrize(
    ("say", "reason"),
    [
        (Say(status=429, headers={"retry-after": "9"}), "chat-busy"),
        (Say(status=500), "chat-failed"),
        (Say(status=529), "chat-failed"),
        (Say(status=401), "chat-credentials"),
        (Say(status=400), "chat-refused"),
        (Say(body=b"<html>", content_type="text/html"), "chat-malformed"),
        (Say(text=json.dumps(VERDICT), cut=True), "chat-unreachable"),
        (Say(text="PWNED"), "chat-wrong-shape"),
        (Say(text=json.dumps(VERDICT)[:-5]), "chat-wrong-shape"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_whatever_goes_wrong_the_message_is_searched_for_as_it_is(
    parts: AskingParts, server: ChatServer, say: Say, reason: str
) -> None:
    calls = model_calls()
    server.says.append(say)
    asked = ask(parts, calls)
    assert asked.question == asked.message == "who repaired it?"
    assert asked.verdict.source is asked.intents.source is Source.RULES
    assert asked.verdict.search
    assert [use.failure for use in calls.uses] == [reason]


@pytest.mark.parametrize("say", [Say(hang=True), Say(text=json.dumps(VERDICT), drip=True)])
def test_a_server_that_hangs_or_drips_costs_its_deadline_and_no_more(
    server: ChatServer, say: Say
) -> None:
    settings = Settings(openai_api_key=KEY, openai_base_url=f"{server.url}/v1")
    with built(settings, server) as parts:
        model_gate: Any = parts.asking.gate
        model_gate._answers._seconds = 0.3
        calls = model_calls()
        server.says.append(say)
        asked = ask(parts, calls)
        assert asked.verdict.source is asked.intents.source is Source.RULES
        assert {use.failure for use in calls.uses} <= {"chat-late", "chat-timeout"}
        assert not server.released.is_set()


def test_paraphrases_and_scores_come_over_the_same_wire(
    parts: AskingParts, server: ChatServer
) -> None:
    calls = model_calls()
    three = ["cause of the failure", "what broke the pump", "reason it stopped"]
    server.says.append(Say(text=json.dumps({"paraphrases": three})))
    found = parts.expander(UUID(int=1), "why it failed", RetrievalClass.EVENT, calls=calls)
    assert list(found) == three
    ids = [{"id": 2, "score": 0.9}, {"id": 1, "score": 0.2}]
    server.says.append(Say(text=json.dumps({"scores": ids})))
    assert parts.reranker is not None
    assert list(parts.reranker("pump", ["lunch", "pump"], calls=calls)) == [0.2, 0.9]
    server.says.append(Say(status=503))
    with pytest.raises(Unavailable):
        parts.reranker("pump", ["lunch", "pump"], calls=calls)
    assert [use.failure for use in calls.uses] == [None, None, "chat-failed"]


def test_the_second_provider_answers_when_the_first_is_down(server: ChatServer) -> None:
    settings = Settings(
        anthropic_api_key=KEY,
        anthropic_base_url=server.url,
        openai_api_key=KEY,
        openai_base_url=f"{server.url}/v1",
    )
    with built(settings, server) as parts:
        server.says.append(Say(status=529))
        asked = ask(parts, model_calls())
    assert asked.verdict.provider == "openai"
    assert [request["path"] for request in server.requests] == [
        "/v1/messages",
        "/v1/chat/completions",
    ]


@pytest.mark.parametrize("right", [True, False])
def test_a_judge_is_shown_the_answer_of_a_model_that_saw_the_memories_only(
    server: ChatServer, right: bool
) -> None:
    settings = Settings(anthropic_api_key=KEY, anthropic_base_url=server.url)
    models = chat_models(settings)  # pyright: ignore
    server.says.extend([Say(text="In hall 2."), Say(text=json.dumps({"right": right}))])
    judge = ModelJudge(gateway(models))
    assert judge(new_id(), "Where was it?", "The pump failed in hall 2.", "hall 2") is right
    asked, judged = (json.dumps(request["messages"]) for request in server.requests)
    assert "failed in hall 2" in asked
    assert "<right>" not in asked
    assert "In hall 2." in judged
    for model in models:
        model.close()
