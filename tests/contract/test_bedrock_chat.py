"""What is Bedrock's own: who signs, cache points, answers by a tool, names of errors, prices."""

from __future__ import annotations

import gzip
import json
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import botocore
import pytest
from tests.support.chat_wire import IN, OUT, ChatServer, Say, chat_server
from tests.support.thinking import CALL, gateway

from cairn.adapters.aws.bedrock_chat import BedrockChat
from cairn.kernel.errors import CairnError, Unavailable, ValidationFailed
from cairn.llm.budget import Terms
from cairn.llm.configuration import configured
from cairn.llm.port import ChatRequest, Effort, Finish, Message, Purpose, Role, Tool
from cairn.llm.structured import AnswerShape

if TYPE_CHECKING:
    from collections.abc import Iterator

CLAUDE = "eu.anthropic.claude-haiku-4-5-20251001-v1:0"
NOVA = "amazon.nova-lite-v1:0"
LLAMA = "meta.llama3-3-70b-instruct-v1:0"
POINT = {"cachePoint": {"type": "default"}}
SEARCH = Tool(name="search", description="Searches.", schema={"type": "object"})
ASKED = ChatRequest(
    purpose=Purpose.PLANNER,
    system="Answer briefly.",
    messages=(Message(role=Role.USER, text="Who repaired it?"),),
    max_tokens=120,
    timeout_s=5.0,
)
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": "of-a-role",
    "AWS_SESSION_TOKEN": "of-a-session",
    "AWS_DEFAULT_REGION": "eu-central-1",
}


class Good(AnswerShape):
    good: bool


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatServer]:
    """Bedrock, for a process that has the credentials of a role and knows an emulator too."""
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://127.0.0.1:9")
    with chat_server() as running:
        yield running


@pytest.fixture
def model(server: ChatServer) -> Iterator[BedrockChat]:
    made = BedrockChat(api_key="", base_url=server.url)
    yield made
    made.close()


def sent(server: ChatServer, model: BedrockChat, request: ChatRequest, name: str) -> dict[str, Any]:
    model.chat(request, model=name)
    return server.requests[-1]


def test_requests_are_signed_by_the_role_of_the_function(
    server: ChatServer, model: BedrockChat
) -> None:
    sent(server, model, ASKED, CLAUDE)
    [headers] = server.headers
    assert headers["authorization"].startswith("AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/")
    assert "/eu-central-1/bedrock/aws4_request" in headers["authorization"]
    assert headers["x-amz-security-token"] == "of-a-session"
    assert server.requests[0]["path"] == f"/model/{CLAUDE}/converse"


def test_a_process_without_credentials_is_told_so(
    server: ChatServer, model: BedrockChat, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/nowhere")
    with pytest.raises(Unavailable) as failure:
        model.chat(ASKED, model=CLAUDE)
    assert failure.value.reason == "chat-credentials"
    assert server.requests == []


# Answers by a schema


def test_an_answer_of_a_shape_is_the_call_of_a_tool_that_has_the_shape(
    server: ChatServer, model: BedrockChat
) -> None:
    server.says.append(Say(text="Let me see.", called={"good": True}))
    said = model.chat(replace(ASKED, schema=Good.model_json_schema()), model=CLAUDE)
    assert (json.loads(said.text), said.finish, said.tool_calls) == (
        {"good": True},
        Finish.COMPLETE,
        (),
    )


def test_beside_other_tools_the_model_may_call_any_but_has_to_call_one(
    server: ChatServer, model: BedrockChat
) -> None:
    asked = replace(ASKED, schema=Good.model_json_schema(), tools=(SEARCH,))
    body = sent(server, model, asked, CLAUDE)["toolConfig"]
    names = [tool["toolSpec"]["name"] for tool in body["tools"] if "toolSpec" in tool]
    assert names == ["search", "answer"]
    assert body["toolChoice"] == {"any": {}}


def test_calls_of_tools_come_back_with_their_arguments(
    server: ChatServer, model: BedrockChat
) -> None:
    call = {"toolUse": {"toolUseId": "t1", "name": "search", "input": {"query": "pump"}}}
    message = {"role": "assistant", "content": [{"text": "One moment."}, call]}
    body = {"output": {"message": message}, "stopReason": "tool_use"}
    server.says.append(Say(body=json.dumps(body).encode()))
    said = model.chat(replace(ASKED, tools=(SEARCH,)), model=CLAUDE)
    [asked] = said.tool_calls
    assert (said.finish, said.text) == (Finish.TOOLS, "One moment.")
    assert (asked.id, asked.name, asked.arguments) == ("t1", "search", {"query": "pump"})


# Prompt caches

LONG = replace(ASKED, tools=(SEARCH,), context="six documents", goes_on=True)


@pytest.mark.parametrize(
    ("name", "in_tools", "in_all"),
    [
        (CLAUDE, True, 4),
        ("anthropic.claude-3-7-sonnet-20250219-v1:0", True, 4),
        ("anthropic.claude-3-haiku-20240307-v1:0", False, 0),
        (NOVA, False, 3),
        (LLAMA, False, 0),
    ],
)
def test_cached_beginnings_end_where_the_model_lets_them(
    server: ChatServer, model: BedrockChat, name: str, in_tools: bool, in_all: int
) -> None:
    body = sent(server, model, LONG, name)
    assert (POINT in body["toolConfig"]["tools"]) is in_tools
    assert json.dumps(body).count("cachePoint") == in_all
    [turn] = body["messages"]
    texts = [block["text"] for block in turn["content"] if "text" in block]
    assert texts == ["six documents", "Who repaired it?"]


def test_an_sdk_that_knows_no_cache_points_is_not_given_any(
    server: ChatServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The runtime's boto3 may be older than the model: the service as it was in May 2024."""
    folder = Path("bedrock-runtime") / "2023-09-30"
    packed = Path(botocore.__file__).parent / "data" / folder / "service-2.json.gz"
    service = json.loads(gzip.decompress(packed.read_bytes()))
    for shape in ("SystemContentBlock", "ContentBlock", "Tool"):
        del service["shapes"][shape]["members"]["cachePoint"]
    del service["shapes"]["ConverseRequest"]["members"]["outputConfig"]
    (tmp_path / folder).mkdir(parents=True)
    (tmp_path / folder / "service-2.json").write_text(json.dumps(service), encoding="utf-8")
    monkeypatch.setenv("AWS_DATA_PATH", str(tmp_path))
    old = BedrockChat(api_key="", base_url=server.url)
    asked = replace(LONG, schema=Good.model_json_schema())
    assert "cachePoint" not in json.dumps(sent(server, old, asked, CLAUDE))
    old.close()


# What else is sent, and what can go wrong


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        (CLAUDE, {"output_config": {"effort": "low"}}),
        ("openai.gpt-oss-20b-1:0", {"reasoning_effort": "low"}),
        (LLAMA, None),
    ],
)
def test_effort_is_said_in_the_words_of_the_models_maker(
    server: ChatServer, model: BedrockChat, name: str, fields: object
) -> None:
    body = sent(server, model, replace(ASKED, effort=Effort.MINIMAL, temperature=0.5), name)
    assert body.get("additionalModelRequestFields") == fields
    assert body["inferenceConfig"] == {"maxTokens": 120, "temperature": 0.5}


@pytest.mark.parametrize(
    ("status", "code", "error", "reason"),
    [
        (429, "ThrottlingException", Unavailable, "chat-busy"),
        (429, "ModelNotReadyException", Unavailable, "chat-busy"),
        (400, "ServiceQuotaExceededException", Unavailable, "chat-busy"),
        (403, "AccessDeniedException", Unavailable, "chat-credentials"),
        (403, "ExpiredTokenException", Unavailable, "chat-credentials"),
        (404, "ResourceNotFoundException", ValidationFailed, "chat-no-such-model"),
        (400, "ValidationException", ValidationFailed, "chat-refused"),
        (408, "ModelTimeoutException", Unavailable, "chat-failed"),
        (424, "ModelErrorException", Unavailable, "chat-failed"),
        (500, "InternalServerException", Unavailable, "chat-failed"),
        (503, "ServiceUnavailableException", Unavailable, "chat-failed"),
    ],
)
def test_every_error_of_converse_is_one_of_ours(
    server: ChatServer,
    model: BedrockChat,
    status: int,
    code: str,
    error: type[CairnError],
    reason: str,
) -> None:
    server.says.append(Say(status=status, text="no", headers={"x-amzn-errortype": code}))
    with pytest.raises(CairnError) as failure:
        model.chat(ASKED, model=CLAUDE)
    assert (type(failure.value), failure.value.reason) == (error, reason)
    assert len(server.requests) == 1


def test_through_the_gateway_a_model_that_failed_is_asked_again_and_its_price_is_known(
    server: ChatServer, model: BedrockChat
) -> None:
    failed = Say(status=424, headers={"x-amzn-errortype": "ModelErrorException"})
    server.says.extend([failed, Say(called={"good": True}, read=1000, written=100)])
    terms = Terms(configuration=configured(f"planner=bedrock:{CLAUDE}?effort=low"))
    said = gateway(model, terms=terms).structured(ASKED, Good, CALL)
    assert (said.value.good, said.asked, said.answer.provider) == (True, 1, "bedrock")
    # claude-haiku-4-5: 1 and 5 USD a million, 10 % more within a continent
    usd = Decimal("1.1") * (IN + 5 * OUT + Decimal("0.1") * 1000 + Decimal("1.25") * 100)
    assert said.cost_usd == usd / 1_000_000
