"""The options of a synthesis: what does not exist or cannot work is refused, with the reason."""

import re
from typing import Any, cast

import pytest
from infra.cdk.config import (
    AGEING_DAYS,
    CHAT,
    OPENAI,
    PEOPLE,
    ROOT,
    SIGN_IN,
    Config,
    SynthRefused,
    read_config,
)

NOT_FOR_OPERATORS = {
    "sign_in_client_secret",  # on AWS in Secrets Manager
    "signing_key",  # on AWS it is in KMS
    "app_database_url",  # the launcher's, on the laptop
    "build",
    "connector_commands",  # the launcher's
    "key_store",
    "layers",
    "openai_api_key",
    "opensearch_url",  # the launcher's
    "anthropic_api_key",
    "bedrock_api_key",  # on AWS the functions' roles sign
    "bedrock_base_url",
    "reranker_dir",
    "stage",
}


class Node:
    """The one method of a CDK node that the configuration uses."""

    def __init__(self, context: dict[str, str]) -> None:
        self._context = context

    def try_get_context(self, name: str) -> str | None:
        return self._context.get(name)


def config(**context: str) -> Config:
    return read_config(cast("Any", Node(context)))


@pytest.mark.parametrize(
    ("context", "said"),
    [
        ({"stage": "staging"}, "one of local, prod"),
        ({"stage": "prod", "egress": "everything"}, "one of bedrock, nat"),
        ({"stage": "prod", "zones": "1"}, "from 2 to 3"),
        ({"stage": "prod", "embed_concurrency": "1"}, "from 2 to 1000"),
        ({"stage": "prod", "reserved_concurrency": "3"}, "embed_concurrency=4"),
        ({"stage": "prod", "min_acu": "0.3"}, "halves"),
        ({"stage": "prod", "min_acu": "much"}, "halves"),
        ({"stage": "prod", "endpoint_zones": "3"}, "from 1 to 2"),
        ({"stage": "prod", "chat_model": "bedrock"}, "provider:model"),
        ({"stage": "prod", "chat_model": "bedrock:arn:aws:bedrock:x::y/z"}, "no function"),
        ({"stage": "prod", "embedder": "openai"}, "openai_base_url"),
        ({"stage": "prod", "opensearch": "yes"}, "one of false, true"),
        ({"stage": "prod", "oidc_issuer": "https://issuer.example"}, "egress=nat"),
        ({"stage": "prod", "cognito_callbacks": "https://client.example"}, "egress=nat"),
        ({"oidc_issuer": "http://127.0.0.1:9"}, "needs oidc_audience"),
        ({"sign_in_issuer": "https://i.example"}, "needs sign_in_client_id"),
        (
            {"stage": "prod", "sign_in_issuer": "https://i.example", "sign_in_client_id": "c"},
            "egress=nat",
        ),
        ({"stage": "prod", "sign_in_saml": "https://idp.example/metadata"}, "egress=nat"),
        ({"stage": "prod", "sign_in_saml": "no/such/file.xml"}, "a file that exists"),
        ({"sign_in_saml_unasked": "on"}, "needs sign_in_saml"),
        ({"sign_in_saml": "m.xml", "sign_in_saml_unasked": "yes"}, "one of off, on"),
        ({"console_url": "http://cairn.example.org/console"}, "without a path"),
        ({"cognito_callbacks": "https://client.example"}, "on AWS"),
    ],
)
def test_an_option_that_does_not_exist_is_refused(context: dict[str, str], said: str) -> None:
    with pytest.raises(SynthRefused, match=said):
        config(**context)


def test_an_embedder_on_the_internet_is_refused_where_the_internet_is() -> None:
    chosen = {
        "stage": "prod",
        "embedder": "openai",
        "openai_base_url": "https://llm.example.org/v1",
    }
    with pytest.raises(SynthRefused, match=r"egress=bedrock reaches AWS services only"):
        config(**chosen)
    with pytest.raises(SynthRefused, match="openai_secret_arn"):
        config(**chosen, egress="nat")
    arn = "arn:aws:secretsmanager:eu-central-1:111122223333:secret:key"
    assert config(**chosen, egress="nat", openai_secret_arn=arn).embedder == "openai"


def test_the_laptop_reads_its_values_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_APP_DATABASE_URL", "postgresql://cairn_app:pw@/cairn?host=/tmp/pg")
    monkeypatch.setenv("CAIRN_EMBEDDER", "openai")
    monkeypatch.setenv("CAIRN_OPENAI_BASE_URL", "http://127.0.0.1:8000/v1")
    read = config(stage="local")
    assert read.app_database_url == "postgresql://cairn_app:pw@/cairn?host=/tmp/pg"
    assert read.openai == {"openai_base_url": "http://127.0.0.1:8000/v1"}


def test_a_deployment_does_not_read_the_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_EMBEDDER", "openai")
    monkeypatch.setenv("CAIRN_LOG_LEVEL", "DEBUG")
    read = config(stage="prod")
    assert (read.embedder, read.log_level) == ("onnx", "INFO")


def option_names() -> set[str]:
    """Every name that the context is asked for."""
    source = (ROOT / "infra" / "cdk" / "config.py").read_text(encoding="utf-8")
    found = set(re.findall(r'\b(?:text|whole)\("(\w+)"', source))
    return found | {*OPENAI, *CHAT, *AGEING_DAYS, *SIGN_IN, *PEOPLE}


def test_the_guide_names_every_option() -> None:
    options = option_names()
    guide = (ROOT / "docs" / "operate" / "deploy-aws.md").read_text(encoding="utf-8")
    assert len(options) > 15
    assert not [name for name in options - NOT_FOR_OPERATORS if f"`{name}`" not in guide]


def test_buckets_of_sources_are_whole_names() -> None:
    assert config(source_buckets="b-2, a-1").source_buckets == ("a-1", "b-2")
    for pattern in ("*", "manuals/*", "Manuals"):
        with pytest.raises(SynthRefused, match="source_buckets"):
            config(source_buckets=pattern)


def test_a_chat_model_needs_a_way_out_of_aws() -> None:
    arn = "arn:aws:secretsmanager:eu-central-1:111122223333:secret:chat"
    with pytest.raises(SynthRefused, match="egress=nat"):
        config(stage="prod", anthropic_secret_arn=arn)
    assert config(stage="prod", anthropic_secret_arn=arn, egress="nat").anthropic_secret_arn == arn


def test_on_the_laptop_chat_models_come_from_the_shell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CAIRN_ANTHROPIC_API_KEY", "sk-from-the-shell")
    monkeypatch.setenv("CAIRN_CHAT_MODEL", "anthropic:claude-haiku-4-5")
    assert config().chat == {
        "anthropic_api_key": "sk-from-the-shell",
        "chat_model": "anthropic:claude-haiku-4-5",
    }
    assert config(stage="prod").chat == {}
