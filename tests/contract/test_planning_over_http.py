"""Planning by models over real connections: what is sent, and that rules go on after nonsense."""

from __future__ import annotations

import json
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.chat_wire import chat_server
from tests.support.katan import echoing
from tests.support.planning import brief, question, spec
from tests.support.thinking import gateway

from cairn.investigations import citations
from cairn.investigations.planning.heuristic import FallbackPlanner, HeuristicPlanner
from cairn.investigations.planning.model_planner import ModelPlanner
from cairn.investigations.state import Evidence, Verdict, WorkingMemory
from cairn.llm.anthropic_chat import AnthropicChat
from cairn.llm.budget import Terms
from cairn.llm.configuration import configured
from cairn.llm.openai_chat import OpenAIChat

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from tests.support.chat_wire import ChatServer

    from cairn.investigations.ports import Question

KEY = "sk-test-0123456789abcdef"
PROVIDERS = ("anthropic", "openai")
DOC = "[doc:kb://lockout.md#L3-L9]"
ASKED = question(
    WorkingMemory(
        brief=brief("Printer jams", "The printer on floor 3 jams since Monday, all trays."),
        evidence=(Evidence(citation=DOC, text="Printers jam."),),
        queries=("printer",),
    ),
    [spec("accounts.find_user", email="string?"), spec("http.get", url="string")],
)


@contextmanager
def planner(provider: str, url: str) -> Generator[ModelPlanner]:
    model = (
        AnthropicChat(api_key=KEY, base_url=url, timeout_s=5)
        if provider == "anthropic"
        else OpenAIChat(api_key=KEY, base_url=f"{url}/v1", timeout_s=5)
    )
    terms = Terms(configuration=configured(f"{provider}:big-1"))
    yield ModelPlanner(gateway=gateway(model, terms=terms))
    model.close()


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as served:
        yield served


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_investigation_can_be_thought_through_on_either_wire(
    provider: str, server: ChatServer
) -> None:
    def answer(asked: dict[str, Any]) -> str:
        text = json.dumps(asked)
        if "Say what to do next" in text:
            return json.dumps(
                {"kind": "conclude", "reason": "a person", "query": "", "tool": "", "evidence": []}
            )
        if "Say how the investigation ended" in text:
            return json.dumps({"verdict": "needs_tech", "reason": "hardware"})
        said = [{"text": "Printers jam.", "citation": DOC}]
        return json.dumps({"sentences": said})

    server.answers = answer
    with planner(provider, server.url) as asking:
        plan = asking.plan(ASKED)
        ruling = asking.verdict(ASKED)
        text = asking.summary(ASKED, ruling)
    assert (plan.provider, ruling.verdict) == (provider, Verdict.NEEDS_TECH)
    assert text == f"Printers jam. {DOC}"


def test_anthropic_is_told_where_each_part_ends(server: ChatServer) -> None:
    server.answers = lambda asked: json.dumps(
        {"kind": "conclude", "reason": "r", "query": "", "tool": "", "evidence": []}
    )
    with planner("anthropic", server.url) as asking:
        asking.plan(ASKED)
    (sent,) = server.requests
    assert sent["system"][0]["cache_control"] == {"type": "ephemeral"}
    context, ticket = sent["messages"][0]["content"]
    assert context["cache_control"] == ticket["cache_control"] == {"type": "ephemeral"}
    assert context["text"].startswith("<knowledge")
    assert ticket["text"].startswith("<ticket")


@pytest.mark.parametrize("provider", PROVIDERS)
def test_an_echo_is_no_plan_and_the_rules_go_on(provider: str) -> None:
    with echoing(dict.fromkeys(PROVIDERS, KEY)) as url, planner(provider, url) as asking:
        both = FallbackPlanner(first=asking, rules=HeuristicPlanner())
        text, ruling = _ended(both, ASKED)
    assert ruling.provider == "heuristic"
    assert ruling.verdict is Verdict.NEEDS_TECH
    assert citations.unsourced(text, citations.sources(ASKED.memory)) == ()


def _ended(both: FallbackPlanner, asked: Question) -> tuple[str, Any]:
    assert both.triage(asked) is None
    assert both.plan(asked).provider == "heuristic"
    ruling = both.verdict(asked)
    return both.summary(asked, ruling), ruling
