"""The gateway over real connections: what it sends, and what becomes of it when servers fail."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
from tests.fakes.model_calls import InMemoryCallLog
from tests.support.chat_wire import IN, OUT, ChatServer, Say, chat_server
from tests.support.katan import echoing
from tests.support.thinking import CALL, Watch, gateway

from cairn.kernel.errors import BudgetExceeded, Unavailable
from cairn.llm.anthropic_chat import AnthropicChat
from cairn.llm.budget import Terms, allowance_of
from cairn.llm.configuration import configured
from cairn.llm.openai_chat import OpenAIChat
from cairn.llm.port import ChatRequest, Effort, Finish, Message, Purpose, Role, Tool, ToolCall
from cairn.llm.structured import AnswerShape

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cairn.llm.gateway import Gateway

KEY = "sk-test-0123456789abcdef"
PROVIDERS = ("anthropic", "openai")
BREAKPOINT = {"type": "ephemeral"}
SEARCH = Tool(
    name="search",
    description="Searches the tickets.",
    schema={"type": "object", "properties": {"query": {"type": "string"}}},
)
CLOSE = Tool(name="close", description="Closes a ticket.", schema={"type": "object"})
TURNS = (
    Message(role=Role.USER, text="Who repaired it?"),
    Message(role=Role.ASSISTANT, text="Ines."),
    Message(role=Role.USER, text="When?"),
)


class Answer(AnswerShape):
    good: bool


GOOD = Say(text='{"good": true}')


def ask(**changes: Any) -> ChatRequest:
    values: dict[str, Any] = {
        "purpose": Purpose.CONSOLIDATION,
        "system": "Answer briefly.",
        "messages": TURNS,
        "max_tokens": 120,
        "timeout_s": 5.0,
    }
    return ChatRequest(**{**values, **changes})


@dataclass(kw_only=True)
class World:
    """A gateway to two servers, and what they were asked."""

    gateway: Gateway
    first: ChatServer
    second: ChatServer
    calls: InMemoryCallLog
    watch: Watch

    def outcomes(self) -> list[tuple[str, str]]:
        return [(record.provider, record.outcome) for record in self.calls.records]


def made(provider: str, url: str, key: str = KEY) -> AnthropicChat | OpenAIChat:
    if provider == "anthropic":
        return AnthropicChat(api_key=key, base_url=url, timeout_s=5)
    return OpenAIChat(api_key=key, base_url=f"{url}/v1", timeout_s=5)


@pytest.fixture(params=PROVIDERS)
def order(request: pytest.FixtureRequest) -> Sequence[str]:
    """Both orders of the providers."""
    return (request.param, *(provider for provider in PROVIDERS if provider != request.param))


@pytest.fixture
def world(order: Sequence[str]) -> Iterator[World]:
    with chat_server() as first, chat_server() as second:
        models = [made(order[0], first.url), made(order[1], second.url)]
        calls, watch = InMemoryCallLog(), Watch()
        rows = dict(configured(""))
        row = rows[Purpose.CONSOLIDATION]
        by_provider = {route.provider: route for route in row.routes}
        rows[Purpose.CONSOLIDATION] = replace(
            row, routes=tuple(by_provider[name] for name in order)
        )
        built = gateway(*models, terms=Terms(configuration=rows), calls=calls, watch=watch)
        yield World(gateway=built, first=first, second=second, calls=calls, watch=watch)
        first.released.set()
        for model in models:
            model.close()


# Failures


@pytest.mark.parametrize(
    ("say", "reason"),
    [
        (Say(status=429, headers={"retry-after": "3"}), "chat-busy"),
        (Say(status=500), "chat-failed"),
        (Say(status=502), "chat-failed"),
        (Say(status=503, headers={"retry-after": "2"}), "chat-failed"),
        (Say(status=529), "chat-failed"),
        (Say(text="cut", cut=True), "chat-unreachable"),
    ],
    ids=["429", "500", "502", "503", "529", "cut"],
)
def test_what_passes_is_asked_again_and_answered_by_the_same_server(
    world: World, order: Sequence[str], say: Say, reason: str
) -> None:
    world.first.says.extend([say, say, GOOD])
    said = world.gateway.structured(ask(), Answer, CALL)
    assert said.answer.provider == order[0]
    assert world.outcomes() == [(order[0], reason)] * 2 + [(order[0], "answered")]
    asked_for = float(say.headers.get("retry-after", 1))
    assert all(asked_for <= pause <= asked_for + 1 for pause in world.watch.pauses)
    assert world.second.requests == []


@pytest.mark.parametrize(
    ("say", "times", "reason"),
    [
        (Say(status=500), 3, "chat-failed"),
        (Say(status=401), 1, "chat-credentials"),
        (Say(body=b"<html>", content_type="text/html"), 1, "chat-malformed"),
        (Say(body=b"{"), 1, "chat-malformed"),
        (Say(text="x", cut=True), 3, "chat-unreachable"),
    ],
    ids=["500", "401", "html", "half a body", "cut"],
)
def test_what_does_not_pass_is_answered_by_the_other_provider(
    world: World, order: Sequence[str], say: Say, times: int, reason: str
) -> None:
    world.first.says.extend([say] * 3)
    assert world.gateway.chat(ask(), CALL).provider == order[1]
    assert world.outcomes() == [(order[0], reason)] * times + [(order[1], "answered")]


def test_a_server_that_hangs_is_left_for_the_other_after_the_requests_own_wait(
    world: World, order: Sequence[str]
) -> None:
    world.first.says.append(Say(hang=True))
    once = replace(CALL, attempts=1)
    assert world.gateway.chat(ask(timeout_s=0.2), once).provider == order[1]
    assert world.outcomes()[0] == (order[0], "chat-timeout")


def test_the_circuit_of_a_server_that_keeps_failing_opens_and_closes_again(
    world: World, order: Sequence[str]
) -> None:
    world.first.says.extend([Say(status=503)] * 5)
    for _ in range(3):
        world.gateway.chat(ask(), CALL)
    assert len(world.first.requests) == 5
    assert world.gateway.circuits() == {order[0]: "open", order[1]: "closed"}
    world.watch.now += 60
    assert world.gateway.chat(ask(), CALL).provider == order[0]
    assert set(world.gateway.circuits().values()) == {"closed"}


def test_when_both_are_down_the_error_names_neither_key_nor_prompt(world: World) -> None:
    for server in (world.first, world.second):
        server.says.extend([Say(status=500, text=f"{KEY} Who repaired it?")] * 3)
    with pytest.raises(Unavailable) as failure:
        world.gateway.chat(ask(), CALL)
    shown = str(failure.value) + repr(failure.value.fields)
    assert failure.value.reason == "chat-failed"
    assert KEY not in shown
    assert "repaired" not in shown


@pytest.mark.parametrize(
    "wrong",
    [
        Say(text="I would rather not."),
        Say(text='{"good": '),
        Say(text='{"good": "maybe"}'),
        Say(text='{"good": true, "more": [1]}'),
        Say(text="[]"),
    ],
    ids=["prose", "half", "value", "more", "list"],
)
def test_an_answer_of_another_shape_is_clarified_once_and_both_are_paid_for(
    world: World, order: Sequence[str], wrong: Say
) -> None:
    world.first.says.extend([wrong, GOOD])
    said = world.gateway.structured(ask(), Answer, CALL)
    assert (said.value.good, said.asked, said.usage.total) == (True, 2, 2 * (IN + OUT))
    assert world.outcomes() == [(order[0], "chat-wrong-shape"), (order[0], "answered")]
    roles = [message["role"] for message in world.first.requests[1]["messages"][-2:]]
    assert roles == ["assistant", "user"]


@pytest.mark.parametrize("again", [Say(text="no"), Say(text='{"good": 1}')])
def test_a_second_answer_of_another_shape_is_the_end(world: World, again: Say) -> None:
    world.first.says.extend([Say(text="no"), again, GOOD])
    with pytest.raises(Unavailable) as wrong:
        world.gateway.structured(ask(), Answer, CALL)
    assert wrong.value.reason == "chat-wrong-shape"
    assert len(world.first.requests) == 2


def test_an_answer_that_was_cut_at_its_tokens_is_asked_for_shorter(
    world: World, order: Sequence[str]
) -> None:
    stop = "max_tokens" if order[0] == "anthropic" else "length"
    world.first.says.extend([Say(text='{"good": tr', stop=stop), GOOD])
    assert world.gateway.structured(ask(), Answer, CALL).asked == 2
    assert "answer shorter" in said_of(world.first.requests[1]["messages"][-1])
    assert [outcome for _, outcome in world.outcomes()] == ["chat-cut", "answered"]


def test_an_answer_that_is_cut_twice_is_the_end(world: World, order: Sequence[str]) -> None:
    stop = "max_tokens" if order[0] == "anthropic" else "length"
    world.first.says.extend([Say(text='{"good": tr', stop=stop)] * 2)
    with pytest.raises(Unavailable) as cut:
        world.gateway.structured(ask(), Answer, CALL)
    assert cut.value.reason == "chat-wrong-shape"


def test_a_model_that_will_not_answer_is_not_asked_again(
    world: World, order: Sequence[str]
) -> None:
    stop = "refusal" if order[0] == "anthropic" else "content_filter"
    world.first.says.append(Say(stop=stop))
    with pytest.raises(Unavailable) as refused:
        world.gateway.structured(ask(), Answer, CALL)
    assert refused.value.reason == "chat-refused-to-answer"
    assert world.outcomes() == [(order[0], "chat-refused-to-answer")]


def said_of(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(item["text"] for item in content)


def test_a_spent_budget_sends_nothing(world: World) -> None:
    with chat_server() as server:
        model = made("anthropic", server.url)
        asked = gateway(model, terms=Terms(allowance=allowance_of("day_tokens=100")))
        with pytest.raises(BudgetExceeded):
            asked.chat(ask(), CALL)
        model.close()
        assert server.requests == []


# What is sent


@pytest.fixture
def anthropic() -> Iterator[tuple[Gateway, ChatServer]]:
    with chat_server() as server:
        model = made("anthropic", server.url)
        yield gateway(model), server
        model.close()


@pytest.fixture
def openai() -> Iterator[tuple[Gateway, ChatServer]]:
    with chat_server() as server:
        model = made("openai", server.url)
        yield gateway(model), server
        model.close()


def test_cached_beginnings_end_after_tools_system_context_and_messages(
    anthropic: tuple[Gateway, ChatServer],
) -> None:
    asked, server = anthropic
    asked.chat(ask(tools=(SEARCH, CLOSE), context="six documents", goes_on=True), CALL)
    [sent] = server.requests
    assert [tool.get("cache_control") for tool in sent["tools"]] == [None, BREAKPOINT]
    assert [block["cache_control"] for block in sent["system"]] == [BREAKPOINT]
    first, *_, last = sent["messages"]
    assert first["role"] == "user"
    assert first["content"] == [
        {"type": "text", "text": "six documents", "cache_control": BREAKPOINT},
        {"type": "text", "text": "Who repaired it?"},
    ]
    assert last["content"] == [{"type": "text", "text": "When?", "cache_control": BREAKPOINT}]
    assert json.dumps(sent).count("cache_control") == 4


def test_a_request_that_stands_alone_does_not_pay_for_caching_its_messages(
    anthropic: tuple[Gateway, ChatServer],
) -> None:
    asked, server = anthropic
    asked.chat(ask(), CALL)
    assert json.dumps(server.requests[0]).count("cache_control") == 1
    assert server.requests[0]["messages"][-1] == {"role": "user", "content": "When?"}


@pytest.mark.parametrize("goes_on", [True, False])
@pytest.mark.parametrize("first", [Role.USER, Role.ASSISTANT])
def test_there_are_four_breakpoints_at_most_and_the_context_is_said_by_the_user(
    anthropic: tuple[Gateway, ChatServer], first: Role, goes_on: bool
) -> None:
    asked, server = anthropic
    only = (Message(role=first, text="hello"),)
    asked.chat(ask(tools=(SEARCH,), context="c", messages=only, goes_on=goes_on), CALL)
    [sent] = server.requests
    assert json.dumps(sent).count("cache_control") == 3 + goes_on
    opening = sent["messages"][0]
    assert (opening["role"], opening["content"][0]["text"]) == ("user", "c")
    assert len(sent["messages"]) == (1 if first is Role.USER else 2)


def test_nothing_about_caches_is_sent_to_openai_and_what_stays_the_same_comes_first(
    openai: tuple[Gateway, ChatServer],
) -> None:
    asked, server = openai
    asked.chat(ask(tools=(SEARCH,), context="six documents", goes_on=True), CALL)
    [sent] = server.requests
    assert "cache_control" not in json.dumps(sent)
    assert [message["content"] for message in sent["messages"]] == [
        "Answer briefly.",
        "six documents\n\nWho repaired it?",
        "Ines.",
        "When?",
    ]
    assert sent["tools"][0]["function"]["name"] == "search"


def test_tokens_of_the_cache_are_kept_with_the_call_and_cost_their_own_rate(world: World) -> None:
    world.first.says.append(Say(text="yes", read=1_000_000, written=1_000_000))
    world.gateway.chat(ask(), CALL)
    [kept] = world.calls.records
    assert (kept.usage.cache_read_tokens, kept.usage.cache_write_tokens) == (1_000_000, 1_000_000)
    assert kept.cost_usd is not None
    assert 2 < kept.cost_usd < 5  # sonnet-4-6: 0.3 + 3.75 dollars; gpt-4.1: 0.5 + 2


@pytest.mark.parametrize(
    ("effort", "anthropics", "openais"),
    [(Effort.MINIMAL, "low", "minimal"), (Effort.HIGH, "high", "high"), (None, None, None)],
)
def test_effort_and_temperature_are_sent_where_they_are_configured(
    anthropic: tuple[Gateway, ChatServer],
    openai: tuple[Gateway, ChatServer],
    effort: Effort | None,
    anthropics: str | None,
    openais: str | None,
) -> None:
    temperature = 0.4 if effort else None
    for asked, server in (anthropic, openai):
        asked.chat(ask(effort=effort, temperature=temperature), CALL)
        assert server.requests[0].get("temperature") == temperature
    assert anthropic[1].requests[0].get("output_config", {}).get("effort") == anthropics
    assert openai[1].requests[0].get("reasoning_effort") == openais


@pytest.mark.parametrize("provider", PROVIDERS)
def test_calls_of_tools_are_read_and_nonsense_among_them_is_left_out(provider: str) -> None:
    use = {"type": "tool_use", "id": "t1", "name": "search", "input": {"query": "pump"}}
    call = {"name": "search", "arguments": '{"query": "pump"}'}
    broken = {"name": "search", "arguments": "{"}
    message = {
        "content": None,
        "tool_calls": [
            {"id": "t1", "type": "function", "function": call},
            {"id": "t2", "type": "function", "function": broken},
        ],
    }
    body = {
        "content": [use, {"type": "tool_use", "id": 5, "name": "search", "input": []}],
        "stop_reason": "tool_use",
        "choices": [{"message": message, "finish_reason": "tool_calls"}],
    }
    with chat_server() as server:
        server.says.append(Say(body=json.dumps(body).encode()))
        model = made(provider, server.url)
        answer = gateway(model).chat(ask(tools=(SEARCH,)), CALL)
        model.close()
    assert answer.finish is Finish.TOOLS
    assert answer.tool_calls == (ToolCall(id="t1", name="search", arguments={"query": "pump"}),)


# A server written by others


@pytest.mark.parametrize("provider", PROVIDERS)
def test_another_server_takes_all_of_it_and_its_rate_limit_passes_to_the_next(
    provider: str,
) -> None:
    other = next(item for item in PROVIDERS if item != provider)
    calls = InMemoryCallLog()
    keys = dict.fromkeys(PROVIDERS, KEY)
    with echoing(keys, rate_limit_after=1) as limited, echoing(keys) as free:
        models = [made(provider, limited), made(other, free)]
        rows = configured(f"{provider}:m")
        row = rows[Purpose.CONSOLIDATION]
        both = (*row.routes, *configured(f"{other}:n")[Purpose.CONSOLIDATION].routes)
        terms = Terms(configuration={**rows, Purpose.CONSOLIDATION: replace(row, routes=both)})
        asked = gateway(*models, terms=terms, calls=calls)
        request = ask(context="six documents", goes_on=True)
        once = replace(CALL, attempts=1)
        assert asked.chat(request, once).provider == provider
        assert asked.chat(request, once).provider == other
        for model in models:
            model.close()
    assert [record.outcome for record in calls.records] == ["answered", "chat-busy", "answered"]
    assert all(record.cost_usd is None for record in calls.records)
