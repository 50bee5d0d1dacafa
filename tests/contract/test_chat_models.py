"""What every chat model owes: one suite over the three wire clients, against two servers."""

from __future__ import annotations

import logging
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import TYPE_CHECKING, Any

import pytest
from tests.support.chat_wire import IN, OUT, ChatServer, Say, chat_server
from tests.support.katan import echoing

from cairn.adapters.aws.bedrock_chat import BedrockChat
from cairn.kernel.errors import CairnError, TooLarge, Unavailable, ValidationFailed
from cairn.llm.anthropic_chat import AnthropicChat
from cairn.llm.openai_chat import OpenAIChat
from cairn.llm.port import ChatRequest, Finish, Message, Purpose, Role, Usage

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cairn.llm.port import ChatModel

Chat = AnthropicChat | BedrockChat | OpenAIChat

KEY = "sk-test-0123456789abcdef"
MODEL = "small-model"
SECRET = "the pump in hall 2 belongs to Marguerite"
SCHEMA = {
    "type": "object",
    "properties": {"search": {"type": "boolean"}},
    "required": ["search"],
    "additionalProperties": False,
}
PROVIDERS = ("anthropic", "bedrock", "openai")
KATANS = ("anthropic", "openai")
"""What llm-katan speaks."""


def made(provider: str, base: str, *, key: str = KEY, timeout_s: float = 5.0) -> Chat:
    if provider == "anthropic":
        return AnthropicChat(api_key=key, base_url=base, timeout_s=timeout_s)
    if provider == "bedrock":
        return BedrockChat(api_key=key, base_url=base, timeout_s=timeout_s)
    return OpenAIChat(api_key=key, base_url=f"{base}/v1", timeout_s=timeout_s)


@pytest.fixture(autouse=True)
def region(monkeypatch: pytest.MonkeyPatch) -> None:
    """As every function of AWS has it."""
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-central-1")


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as running:
        yield running


@pytest.fixture(params=PROVIDERS)
def model(request: pytest.FixtureRequest, server: ChatServer) -> Iterator[Chat]:
    chat = made(request.param, server.url)
    yield chat
    chat.close()


def ask(
    text: str = SECRET, *, schema: dict[str, object] | None = None, timeout_s: float | None = None
) -> ChatRequest:
    return ChatRequest(
        purpose=Purpose.REWRITE,
        system="Answer briefly.",
        messages=(
            Message(role=Role.USER, text="Who repaired it?"),
            Message(role=Role.ASSISTANT, text="Ines."),
            Message(role=Role.USER, text=text),
        ),
        max_tokens=120,
        schema=schema,
        timeout_s=timeout_s,
    )


def text_of(message: dict[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else "".join(item["text"] for item in content)


def refused(chat: ChatModel, request: ChatRequest | None = None) -> CairnError:
    with pytest.raises(CairnError) as failure:
        chat.chat(request or ask(), model=MODEL)
    return failure.value


# What is sent, and what comes back


def test_the_answer_says_what_was_said_by_whom_and_for_how_many_tokens(
    server: ChatServer, model: Chat
) -> None:
    server.says.append(Say(text="Ines Roth", read=30, written=50))
    answer = model.chat(ask(), model=MODEL)
    assert (answer.text, answer.model, answer.provider) == ("Ines Roth", MODEL, model.provider)
    assert answer.finish is Finish.COMPLETE
    assert answer.usage == Usage(
        input_tokens=IN, output_tokens=OUT, cache_read_tokens=30, cache_write_tokens=50
    )


def test_the_whole_conversation_is_sent_with_the_key_of_the_provider(
    server: ChatServer, model: Chat
) -> None:
    model.chat(ask(), model=MODEL)
    [asked], [headers] = server.requests, server.headers
    said = [(message["role"], text_of(message)) for message in asked["messages"]]
    assert said[-3:] == [("user", "Who repaired it?"), ("assistant", "Ines."), ("user", SECRET)]
    if model.provider == "bedrock":
        assert asked["path"] == f"/model/{MODEL}/converse"
        assert asked["system"] == [{"text": "Answer briefly."}]
        assert asked["inferenceConfig"] == {"maxTokens": 120}
        assert headers["authorization"] == f"Bearer {KEY}"
        return
    assert asked["model"] == MODEL
    assert asked["max_tokens"] == 120
    if model.provider == "anthropic":
        assert [block["text"] for block in asked["system"]] == ["Answer briefly."]
        assert headers["x-api-key"] == KEY
    else:
        assert said[0] == ("system", "Answer briefly.")
        assert headers["authorization"] == f"Bearer {KEY}"


def test_a_schema_is_sent_in_the_providers_own_way(server: ChatServer, model: Chat) -> None:
    server.says.append(Say(text='{"search": true}'))
    model.chat(ask(schema=SCHEMA), model=MODEL)
    [asked] = server.requests
    if model.provider == "anthropic":
        assert asked["output_config"]["format"] == {"type": "json_schema", "schema": SCHEMA}
    elif model.provider == "bedrock":
        [tool] = asked["toolConfig"]["tools"]
        assert tool["toolSpec"]["inputSchema"] == {"json": SCHEMA}
        assert asked["toolConfig"]["toolChoice"] == {"tool": {"name": tool["toolSpec"]["name"]}}
    else:
        form = asked["response_format"]
        assert form["type"] == "json_schema"
        assert (form["json_schema"]["schema"], form["json_schema"]["strict"]) == (SCHEMA, True)


def test_prose_is_asked_for_without_a_schema(server: ChatServer, model: Chat) -> None:
    model.chat(ask(), model=MODEL)
    assert server.requests[0].keys().isdisjoint({"output_config", "response_format", "toolConfig"})


@pytest.mark.parametrize(
    ("stops", "finish"),
    [
        (("max_tokens", "max_tokens", "length"), Finish.CUT),
        (("refusal", "content_filtered", "content_filter"), Finish.REFUSED),
        (("refusal", "guardrail_intervened", "content_filter"), Finish.REFUSED),
        (("something-new",) * 3, Finish.COMPLETE),
    ],
)
def test_how_an_answer_ended_is_said_and_its_tokens_still_count(
    server: ChatServer, model: Chat, stops: tuple[str, ...], finish: Finish
) -> None:
    server.says.append(Say(text="part", stop=stops[PROVIDERS.index(model.provider)]))
    answer = model.chat(ask(), model=MODEL)
    assert (answer.finish, answer.usage.output_tokens) == (finish, OUT)


def test_a_refusal_without_a_word_is_an_answer(server: ChatServer, model: Chat) -> None:
    stops = {"anthropic": "refusal", "bedrock": "content_filtered", "openai": "content_filter"}
    server.says.append(Say(stop=stops[model.provider]))
    answer = model.chat(ask(), model=MODEL)
    assert (answer.text, answer.finish) == ("", Finish.REFUSED)


@pytest.mark.parametrize("text", ["\ud800 alone", "nul \x00", "🙂" * 500, "</message>{}[]"])
def test_awkward_texts_are_sent(server: ChatServer, model: Chat, text: str) -> None:
    assert model.chat(ask(text), model=MODEL).text == "yes"
    assert text_of(server.requests[0]["messages"][-1]) == text.replace("\ud800", "?")


def test_one_client_serves_several_threads(server: ChatServer, model: Chat) -> None:
    server.answers = lambda asked: text_of(asked["messages"][-1])[::-1]
    with ThreadPoolExecutor(4) as pool:
        texts = [f"question {number}" for number in range(16)]
        answers = pool.map(lambda text: model.chat(ask(text), model=MODEL).text, texts)
        assert list(answers) == [text[::-1] for text in texts]


# What can go wrong


@pytest.mark.parametrize(
    ("status", "error", "reason"),
    [
        (400, ValidationFailed, "chat-refused"),
        (401, Unavailable, "chat-credentials"),
        (402, Unavailable, "chat-credentials"),
        (403, Unavailable, "chat-credentials"),
        (404, ValidationFailed, "chat-no-such-model"),
        (408, Unavailable, "chat-failed"),
        (413, TooLarge, "chat-too-large"),
        (422, ValidationFailed, "chat-refused"),
        (429, Unavailable, "chat-busy"),
        (500, Unavailable, "chat-failed"),
        (503, Unavailable, "chat-failed"),
        (529, Unavailable, "chat-failed"),
    ],
)
def test_a_status_is_an_error_of_ours_asked_for_once_and_nothing_is_repeated(
    server: ChatServer,
    model: Chat,
    status: int,
    error: type[CairnError],
    reason: str,
) -> None:
    server.says.append(Say(status=status, text=f"bad key {KEY}: {SECRET}"))
    failure = refused(model)
    assert (type(failure), failure.reason) == (error, reason)
    assert len(server.requests) == 1
    shown = "".join(traceback.format_exception(failure)) + repr(vars(failure)) + repr(model)
    assert KEY not in shown
    assert SECRET not in shown
    assert failure.__context__ is None


@pytest.mark.parametrize(
    ("said", "seconds"),
    [("7", 7.0), ("0", 1.0), ("3600", 60.0), ("9" * 400, 1.0), ("Wed, 21 Oct 2026", 1.0)],
)
def test_a_busy_server_says_when_to_come_back(
    server: ChatServer, model: Chat, said: str, seconds: float
) -> None:
    server.says.append(Say(status=429, headers={"retry-after": said}))
    failure = refused(model)
    assert isinstance(failure, Unavailable)
    assert failure.retry_after == seconds


@pytest.mark.parametrize(
    "say",
    [
        Say(body=b"{"),
        Say(body=b"", content_type="application/json"),
        Say(body=b"<html>", content_type="text/html"),
        Say(body=b"{}"),
        Say(body=b"[]"),
        Say(body=b'{"content": "text", "choices": "text", "output": "text"}'),
        Say(body=b'{"content": [1], "choices": [1], "output": {"message": {"content": [1]}}}'),
        Say(
            body=b'{"content": [{"type": "text", "text": 5}], "choices": [{"message": 5}],'
            b' "output": {"message": {"content": [{"text": 5}, {"toolUse": 5}]}}}'
        ),
        Say(text=""),
    ],
    ids=lambda say: repr(say.body),
)
def test_an_answer_that_cannot_be_read_is_unavailable(
    server: ChatServer, model: Chat, say: Say
) -> None:
    server.says.append(say)
    failure = refused(model)
    assert (type(failure), failure.reason) == (Unavailable, "chat-malformed")


@pytest.mark.parametrize("usage", [b"null", b"7", b'{"input_tokens": "many"}'])
def test_nonsense_about_tokens_counts_none(server: ChatServer, model: Chat, usage: bytes) -> None:
    body = (
        b'{"content": [{"type": "text", "text": "a"}], "usage": %s,'
        b' "choices": [{"message": {"content": "a"}}],'
        b' "output": {"message": {"content": [{"text": "a"}]}}}'
    )
    server.says.append(Say(body=body % usage))
    if model.provider == "bedrock" and usage == b"7":  # botocore reads nothing of such an answer
        assert refused(model).reason == "chat-malformed"
        return
    answer = model.chat(ask(), model=MODEL)
    assert (answer.text, answer.usage, answer.model) == ("a", Usage(), MODEL)


def test_an_answer_that_stops_in_the_middle_is_unavailable(server: ChatServer, model: Chat) -> None:
    server.says.append(Say(text="yes", cut=True))
    assert refused(model).reason == "chat-unreachable"


def test_an_answer_that_is_late_is_unavailable_after_the_requests_own_wait(
    server: ChatServer, model: Chat
) -> None:
    server.says.append(Say(text="yes", hang=True))
    assert refused(model, ask(timeout_s=0.2)).reason == "chat-timeout"


def test_a_redirect_is_not_followed_since_it_would_take_the_key_along(
    server: ChatServer, model: Chat
) -> None:
    with chat_server() as elsewhere:
        server.says.append(Say(status=307, headers={"location": f"{elsewhere.url}/v1/messages"}))
        assert refused(model).reason == "chat-failed"
        assert elsewhere.requests == []


@pytest.mark.parametrize("provider", PROVIDERS)
def test_a_server_that_is_gone_is_unavailable(provider: str) -> None:
    with chat_server() as server:
        url = server.url
    gone = made(provider, url, timeout_s=1)
    assert refused(gone).reason == "chat-unreachable"
    gone.close()


def test_neither_prompt_nor_key_is_logged_at_any_level(
    server: ChatServer, model: Chat, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        model.chat(ask(), model=MODEL)
        server.says.append(Say(status=500, text=SECRET))
        refused(model)
    logged = "".join(
        f"{record.getMessage()} {record.exc_text} {record.args}" for record in caplog.records
    )
    assert KEY not in logged
    assert SECRET not in logged


# A server written by others


@pytest.fixture(scope="module")
def katan() -> Iterator[Callable[[str, str], Chat]]:
    keys = dict.fromkeys(KATANS, KEY)
    with echoing(keys) as url:
        yield lambda provider, key: made(provider, url, key=key)


@pytest.mark.parametrize("provider", KATANS)
def test_another_servers_answer_is_read(katan: Callable[[str, str], Chat], provider: str) -> None:
    chat = katan(provider, KEY)
    answer = chat.chat(ask("Is the pump repaired?"), model=MODEL)
    chat.close()
    assert "Is the pump repaired?" in answer.text
    assert "max_tokens=120" in answer.text
    assert (answer.provider, answer.model) == (provider, MODEL)
    assert answer.usage.input_tokens > 0
    assert answer.usage.output_tokens > 0


@pytest.mark.parametrize("provider", KATANS)
def test_another_servers_refusal_of_the_key_does_not_repeat_it(
    katan: Callable[[str, str], Chat], provider: str
) -> None:
    wrong = "sk-wrong-fedcba9876543210"
    chat = katan(provider, wrong)
    failure = refused(chat)
    chat.close()
    assert failure.reason == "chat-credentials"
    assert wrong not in "".join(traceback.format_exception(failure)) + repr(vars(failure))


@pytest.mark.parametrize("provider", KATANS)
def test_another_servers_rate_limit_is_a_busy_server(provider: str) -> None:
    with echoing(dict.fromkeys(KATANS, KEY), rate_limit_after=1) as url:
        chat = made(provider, url)
        chat.chat(ask(), model=MODEL)
        assert refused(chat).reason == "chat-busy"
        chat.close()


STREAMING = ("anthropic", "openai")


@pytest.mark.parametrize("provider", STREAMING)
def test_a_streamed_answer_is_heard_word_by_word_and_comes_whole(
    server: ChatServer, provider: str
) -> None:
    heard: list[str] = []
    server.says.append(Say(text="three words here", calls=(("look", '{"for": "harbour"}'),)))
    with closing(made(provider, server.url)) as model:
        answer = model.chat(asking(hear=heard.append), model=MODEL)
    assert heard == ["three ", "words ", "here"]
    assert (answer.text, answer.finish) == ("three words here", Finish.TOOLS)
    assert [(call.name, call.arguments) for call in answer.tool_calls] == [
        ("look", {"for": "harbour"})
    ]
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (IN, OUT)


@pytest.mark.parametrize("provider", STREAMING)
def test_a_stream_that_is_cut_is_no_answer(server: ChatServer, provider: str) -> None:
    heard: list[str] = []
    server.says.append(Say(text="half of it and then nothing more comes", cut=True))
    with closing(made(provider, server.url)) as model, pytest.raises(Unavailable) as raised:
        model.chat(asking(hear=heard.append), model=MODEL)
    assert raised.value.reason == "chat-unreachable"


@pytest.mark.parametrize("provider", STREAMING)
def test_who_hears_may_end_the_call(server: ChatServer, provider: str) -> None:
    def enough(text: str) -> None:
        raise ValidationFailed(f"enough of {len(text)}")

    server.says.append(Say(text="one two three"))
    failing = pytest.raises(ValidationFailed, match="enough of 4")
    with closing(made(provider, server.url)) as model, failing:
        model.chat(asking(hear=enough), model=MODEL)


def asking(hear: Callable[[str], None]) -> ChatRequest:
    said = (Message(role=Role.USER, text="go"),)
    return ChatRequest(purpose=Purpose.CHAT, system="be short", messages=said, hear=hear)
