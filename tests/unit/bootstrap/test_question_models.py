"""Which chat models are used is what the settings say; without any, rules answer."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import pytest
from pydantic import SecretStr

from cairn.bootstrap.models import chat_models
from cairn.bootstrap.recall import asking_parts
from cairn.kernel.errors import ValidationFailed
from cairn.llm.configuration import CONFIGURATION, HEURISTIC, PRICES, Route, configured
from cairn.llm.port import Purpose
from cairn.recall.questions import gate, intents
from cairn.recall.questions.read import no_expansion
from cairn.recall.rerank import CrossEncoder

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from cairn.llm.gateway import Gateway
    from cairn.llm.wire import WireChat

KEY = SecretStr("sk-test")
URL = "http://127.0.0.1:9/v1"


@dataclass(kw_only=True)
class Settings:
    """As the functions read them; nothing set."""

    stage: Literal["local", "prod"] = "local"
    anthropic_api_key: SecretStr | None = None
    anthropic_base_url: str | None = None
    bedrock_api_key: SecretStr | None = None
    bedrock_base_url: str | None = None
    openai_api_key: SecretStr | None = None
    openai_base_url: str | None = None
    embedder: str = "onnx"
    chat_model: str = ""
    model_budgets: str = ""
    reranker_dir: Path | None = None


@pytest.mark.parametrize(
    ("settings", "providers"),
    [
        (Settings(), []),
        (Settings(anthropic_api_key=KEY), ["anthropic"]),
        (Settings(anthropic_base_url=URL), ["anthropic"]),
        (Settings(openai_api_key=KEY), ["openai"]),
        (Settings(anthropic_api_key=KEY, openai_api_key=KEY), ["anthropic", "openai"]),
        (Settings(openai_base_url=URL), []),
        (Settings(openai_api_key=KEY, embedder="openai"), []),
        (Settings(openai_api_key=KEY, embedder="openai", chat_model="openai:m"), ["openai"]),
        (Settings(openai_base_url=URL, chat_model="rewrite=openai:m"), ["openai"]),
        (Settings(chat_model="openai:m"), []),
        (Settings(chat_model="planner=bedrock:amazon.nova-lite-v1:0"), ["bedrock"]),
        (Settings(bedrock_api_key=KEY, bedrock_base_url=URL), []),
    ],
)
def test_a_provider_takes_part_when_it_is_configured(
    settings: Settings, providers: list[str]
) -> None:
    assert [model.provider for model in chat_models(settings)] == providers


def no_gateway(models: Sequence[WireChat[Any]]) -> Gateway:
    raise AssertionError("a gateway to no model")


def test_without_a_model_the_rules_answer_and_nothing_is_reranked() -> None:
    parts = asking_parts(Settings(), no_gateway)
    assert (parts.asking.gate, parts.asking.intents) == (gate.by_rules, intents.by_rules)
    assert (parts.expander, parts.reranker) == (no_expansion, None)


def test_a_local_reranker_needs_no_chat_model(tmp_path: Path) -> None:
    reranker = asking_parts(Settings(reranker_dir=tmp_path), no_gateway).reranker
    assert isinstance(reranker, CrossEncoder)
    assert reranker.name == tmp_path.name


def test_without_a_model_no_client_is_imported() -> None:
    code = (
        "import sys; from cairn.bootstrap.recall import asking_parts\n"
        "from types import SimpleNamespace as S\n"
        "asking_parts(S(anthropic_api_key=None, anthropic_base_url=None, openai_api_key=None,"
        " openai_base_url=None, embedder='onnx', chat_model='', model_budgets='',"
        " reranker_dir=None), None)\n"
        "print(sorted({'anthropic', 'openai', 'onnxruntime'} & set(sys.modules)))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


# The models of each purpose


def test_a_chosen_model_is_for_every_purpose_and_the_heuristic_stays_last() -> None:
    rows = configured("openai:qwen2.5:7b")
    assert set(rows) == set(Purpose)
    for purpose in Purpose:
        assert rows[purpose].routes == (Route(provider="openai", model="qwen2.5:7b"), HEURISTIC)


def test_one_purpose_may_have_its_own() -> None:
    rows = configured("anthropic:house, rewrite=openai:small ,")
    assert rows[Purpose.REWRITE].routes[0] == Route(provider="openai", model="small")
    assert rows[Purpose.PLANNER].routes[0] == Route(provider="anthropic", model="house")


def test_nothing_chosen_changes_nothing() -> None:
    assert dict(configured("")) == dict(CONFIGURATION)


@pytest.mark.parametrize(
    "choice",
    ["gpt-4.1", "ollama:x", "rewrites=openai:x", "openai:", "rewrite=openai", "=openai:x"],
)
def test_a_choice_that_names_no_model_is_refused_with_what_there_is(choice: str) -> None:
    with pytest.raises(ValidationFailed, match="anthropic, bedrock, openai") as refused:
        configured(choice)
    assert refused.value.reason == "unknown-chat-model"


def test_every_model_of_the_table_has_a_price() -> None:
    assert {route.model for row in CONFIGURATION.values() for route in row.routes} <= set(PRICES)
