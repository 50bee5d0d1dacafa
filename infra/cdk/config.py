"""What the context (`-c name=value`) chooses. Not settings of the functions: those are wiring.

Every refusal is made here or in the construct that knows the reason, at synth, in one sentence.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cairn.embedding.models import chosen_model, is_known
from cairn.kernel.errors import ValidationFailed
from cairn.llm.configuration import configured

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from constructs import Node

ROOT = Path(__file__).resolve().parents[2]
STAGES = ("local", "prod")
EDITIONS = ("full", "team", "memory")
EGRESS = ("bedrock", "nat")
SIGN_IN = ("oidc_issuer", "oidc_audience", "oidc_scopes", "cognito_callbacks")
PEOPLE = (
    "console_url",
    "sign_in_issuer",
    "sign_in_client_id",
    "sign_in_client_secret",
    "sign_in_secret_arn",
    "sign_in_domains",
    "sign_in_claim",
    "sign_in_roles",
    "sign_in_workspace",
    "sign_in_saml",
    "sign_in_saml_unasked",
)
EMBEDDERS = ("onnx", "openai")
WEBHOOKS = ("off", "public", "private")
PRICE_CLASSES = ("100", "200", "all")
LOCAL = ROOT / ".local"
MODEL = ROOT / "build" / "model" / "bge-small-en-v1.5"
OPENAI = ("openai_base_url", "openai_api_key", "openai_embedding_model")
CHAT = (
    "anthropic_api_key",
    "anthropic_base_url",
    "bedrock_api_key",
    "bedrock_base_url",
    "chat_model",
    "model_budgets",
    "reranker_dir",
)
SOURCES = ("source_folders", "source_private_hosts")
CONSTANTS = {
    "decay_factor": (0.01, 1.0),
    "rrf_k": (1, 10_000),
    "graph_search_decay": (0.01, 1.0),
    "causal_boost": (1.0, 10.0),
    "max_depth": (1, 10),
}
"""Constants of searches that a deployment may set, and what each may be."""


class SynthRefused(Exception):
    """The chosen options cannot work together; the message says why and what would."""


ALLOWANCES = {
    "queries_per_minute": 6_000,
    "items_per_minute": 60_000,
    "bytes_per_minute": 268_435_456,
}
AGEING_DAYS = {"event_ttl_days": 30, "fact_archive_days": 90, "knowledge_archive_days": 180}


@dataclass(frozen=True, kw_only=True)
class FrontOptions:
    """CloudFront and its rules in front of the API."""

    price_class: str  # where in the world it answers
    only: bool  # what does not come through it is refused
    secret: int  # which one it sends, counted from 1; a higher number makes a new one
    waf: str  # what the rules do: block, count or off
    web_acl_arn: str  # of the rules; of one's own, or of the stack of them
    requests_an_address: int  # in five minutes
    console_certificate_arn: str  # without one the console's name is CloudFront's own
    sites_certificate_arn: str  # without one CloudFront serves no sites


@dataclass(frozen=True, kw_only=True)
class Config:
    """The options of one synthesis, already checked for values that exist."""

    stage: str
    account: str | None
    region: str | None
    egress: str
    embedder: str
    onnx_embedding_model: str
    openai: Mapping[str, str]
    openai_secret_arn: str
    chat: Mapping[str, str]
    anthropic_secret_arn: str
    jwt_issuer: str
    jwt_audience: tuple[str, ...]
    sign_in: Mapping[str, str]  # by option, those that are set: whose tokens open /mcp
    people: Mapping[str, str]  # by option, those that are set: where people sign in, and by whom
    alarm_email: str
    zones: int
    endpoint_zones: int
    min_acu: float
    dashboards: bool
    xray: bool
    max_acu: float
    backup_days: int
    anchor_retention_days: int
    embed_concurrency: int
    reserved_concurrency: int | None
    log_level: str
    otlp_endpoint: str  # of a collector of spans; empty: none are made
    cors_origins: str
    sites_url: str  # where published sites are served; empty: nowhere
    front: FrontOptions | None  # None: the API is asked at its own address
    edition: str
    requests_a_second: int  # of everybody together, at the front of the API
    request_burst: int
    allowances: Mapping[str, int]  # of a workspace, by setting
    similar_edges: str
    webhooks: str  # where they may lead: off, public or private
    search_run_days: int
    investigations: int  # how many of a workspace run at once
    degraded_above: int  # queued tickets
    ageing: Mapping[str, int]  # days, by setting
    constants: Mapping[str, str]  # of searches, those that are set
    layers: Path | None  # None: built from the lock when the layers are needed
    build: Path
    app_database_url: str
    key_store: str
    connector_commands: str
    sources: Mapping[str, str]  # what of a laptop they may read, by setting
    source_buckets: tuple[str, ...]  # that they may read
    signing_key: str
    model_dir: str
    opensearch: bool
    opensearch_instance: str
    opensearch_url: str

    @property
    def bedrock_models(self) -> tuple[str, ...]:
        """The models of Bedrock that `chat_model` names, which functions may ask."""
        choices = configured(self.chat.get("chat_model", "")).values()
        routes = {route for choice in choices for route in choice.routes}
        return tuple(sorted(route.model for route in routes if route.provider == "bedrock"))

    @property
    def has_issuer(self) -> bool:
        """Whether somebody outside signs clients of MCP in."""
        return not self.sign_in.keys().isdisjoint(("oidc_issuer", "cognito_callbacks"))

    @property
    def described_model(self) -> str:
        """The embedding model, as it is described; empty when every database knows it."""
        embeds = self.openai.get("openai_embedding_model", "text-embedding-3-small")
        model = chosen_model(
            embedder=self.embedder,
            model_dir=Path(self.model_dir),
            onnx_model=self.onnx_embedding_model,
            openai_model=embeds,
        )
        described = embeds if self.embedder == "openai" else self.onnx_embedding_model
        return "" if is_known(model) else described

    @property
    def is_local(self) -> bool:
        """Whether this is the laptop: no network, database, layers or alarms are synthesised."""
        return self.stage == "local"

    @property
    def saml_metadata(self) -> Path | None:
        """The file that goes into the API's asset, where the provider's metadata are one."""
        source = self.people.get("sign_in_saml", "")
        if self.is_local or not source or source.startswith("https://"):
            return None
        return _folder(source)

    def stack(self, name: str) -> str:
        """The CloudFormation name of the stack called `name`."""
        return f"cairn-{self.stage}-{name}"


def read_config(node: Node) -> Config:
    """The options in `node`'s context; raises SynthRefused on a value that does not exist."""
    stage = _one_of("stage", _context(node, "stage") or "local", STAGES)
    text = partial(_text, node, stage)
    whole = partial(_whole_of, text)
    config = Config(
        stage=stage,
        account=text("account") or None,
        region=text("region") or None,
        egress=_one_of("egress", text("egress", "bedrock"), EGRESS),
        embedder=_one_of("embedder", text("embedder", "onnx"), EMBEDDERS),
        onnx_embedding_model=text("onnx_embedding_model"),
        openai={name: text(name) for name in OPENAI if text(name)},
        openai_secret_arn=text("openai_secret_arn"),
        chat={name: text(name) for name in CHAT if text(name)},
        anthropic_secret_arn=text("anthropic_secret_arn"),
        jwt_issuer=text("jwt_issuer"),
        jwt_audience=tuple(filter(None, text("jwt_audience").split(","))),
        sign_in={name: text(name) for name in SIGN_IN if text(name)},
        people={name: text(name) for name in PEOPLE if text(name)},
        alarm_email=text("alarm_email"),
        zones=(zones := whole("zones", 2, 2, 3)),
        endpoint_zones=whole("endpoint_zones", zones, 1, zones),
        dashboards=_one_of("dashboards", text("dashboards", "on"), ("on", "off")) == "on",
        xray=_one_of("xray", text("xray", "off"), ("on", "off")) == "on",
        min_acu=_halves("min_acu", text("min_acu", "0.5")),
        max_acu=_halves("max_acu", text("max_acu", "4")),
        backup_days=whole("backup_days", 14, 1, 35),
        anchor_retention_days=whole("anchor_retention_days", 365, 1, 36_500),
        embed_concurrency=whole("embed_concurrency", 2 if stage == "local" else 4, 2, 1000),
        reserved_concurrency=whole("reserved_concurrency", 0, 0, 1000) or None,
        log_level=text("log_level", "INFO"),
        otlp_endpoint=text("otlp_endpoint"),
        cors_origins=text("cors_origins"),
        sites_url=_sites(text("sites_url"), stage),
        front=_front(text) if stage == "prod" and text("edge", "on") != "off" else None,
        edition=_one_of("edition", text("edition", "full"), EDITIONS),
        requests_a_second=whole("requests_a_second", 50, 1, 10_000),
        request_burst=whole("request_burst", 100, 1, 5_000),
        allowances={name: whole(name, size, 1, 10**12) for name, size in ALLOWANCES.items()},
        similar_edges=_one_of("similar_edges", text("similar_edges", "on"), ("on", "off")),
        webhooks=_one_of("webhooks", text("webhooks", _webhooks(stage, text)), WEBHOOKS),
        search_run_days=whole("search_run_days", 30, 1, 36_500),
        investigations=whole("investigations", 8, 1, 1000),
        degraded_above=whole("degraded_above", 50, 0, 1_000_000),
        ageing={name: whole(name, days, 1, 36_500) for name, days in AGEING_DAYS.items()},
        constants={name: _constant(name, text(name)) for name in CONSTANTS if text(name)},
        layers=_folder(text("layers")) if text("layers") else None,
        build=_folder(text("build", "build/functions")),
        app_database_url=text("app_database_url", f"postgresql://cairn_app@/cairn?host={LOCAL}"),
        sources={name: text(name) for name in SOURCES if text(name)},
        source_buckets=_buckets(text("source_buckets")),
        connector_commands=text("connector_commands", str(LOCAL / "connector-commands.json")),
        key_store=text("key_store", f"file:{LOCAL / 'keys.sqlite'}"),
        signing_key=text("signing_key", f"file:{LOCAL / 'keys' / 'signing.pem'}"),
        model_dir=text("model_dir", str(MODEL)),
        opensearch=_one_of("opensearch", text("opensearch", "false"), ("false", "true")) == "true",
        opensearch_instance=text("opensearch_instance", "t3.small.search"),
        opensearch_url=text("opensearch_url"),
    )
    return _possible(config)


def _front(text: Callable[..., str]) -> FrontOptions:
    """Return what is in front of the API on AWS; raises SynthRefused on a value that is not."""
    whole = partial(_whole_of, text)
    _one_of("edge", text("edge", "on"), ("on", "off"))
    return FrontOptions(
        price_class=_one_of("price_class", text("price_class", "100"), PRICE_CLASSES),
        only=_one_of("edge_only", text("edge_only", "off"), ("off", "on")) == "on",
        secret=whole("edge_secret", 1, 1, 1_000_000),
        waf=_one_of("waf", text("waf", "block"), ("block", "count", "off")),
        web_acl_arn=_global_arn("web_acl_arn", text("web_acl_arn"), "wafv2"),
        requests_an_address=whole("requests_an_address", 6_000, 10, 2_000_000_000),
        console_certificate_arn=_global_arn(
            "console_certificate_arn", text("console_certificate_arn"), "acm"
        ),
        sites_certificate_arn=_global_arn(
            "sites_certificate_arn", text("sites_certificate_arn"), "acm"
        ),
    )


def _global_arn(name: str, value: str, service: str) -> str:
    """Return an ARN that CloudFront takes: of us-east-1, wherever the rest is."""
    if value and not re.fullmatch(rf"arn:aws:{service}:us-east-1:[0-9]{{12}}:\S+", value):
        raise SynthRefused(
            f"context {name}={value}: CloudFront takes arn:aws:{service}:us-east-1:... alone"
        )
    return value


def _text(node: Node, stage: str, name: str, default: str = "") -> str:
    """From the context; on the laptop also from CAIRN_*: no command line has secrets."""
    from_shell = os.environ.get(f"CAIRN_{name.upper()}") if stage == "local" else None
    return _context(node, name) or from_shell or default


def _possible(config: Config) -> Config:
    """Return `config` when its options can work together."""
    _refuse_unreadable(config)
    _refuse_issuers(config)
    _refuse_sign_in(config)
    _refuse_saml(config)
    _refuse_unreachable(config)
    _refuse_starving(config)
    _refuse_fronts(config)
    return config


def _buckets(text: str) -> tuple[str, ...]:
    """Return the buckets that are named, in order; whole names, so that no pattern is one."""
    names = sorted({name.strip() for name in text.split(",") if name.strip()})
    for name in names:
        if not re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", name):
            raise SynthRefused(f"source_buckets={name}: names of S3 buckets, separated by commas")
    return tuple(names)


def _webhooks(stage: str, text: Callable[..., str]) -> str:
    """Return where webhooks may lead unless it is said: nowhere without a way out."""
    if stage == "local":
        return "private"
    return "off" if text("egress", "bedrock") == "bedrock" else "public"


def _refuse_unreadable(config: Config) -> None:
    try:
        _ = config.described_model
    except ValidationFailed as refused:
        option = "openai" if config.embedder == "openai" else "onnx"
        raise SynthRefused(f"{option}_embedding_model: {refused.detail}") from refused
    try:
        models = config.bedrock_models
    except ValidationFailed as refused:
        raise SynthRefused(f"chat_model: {refused.detail}") from refused
    if config.is_local:
        return
    for model in models:
        if "/" in model or model.startswith("arn:"):
            raise SynthRefused(
                f"chat_model={model}: name a model's id or an inference profile of AWS, such as "
                "eu.anthropic.claude-haiku-4-5-20251001-v1:0; what an ARN stands for is not known "
                "here, so no function could be let to it"
            )


def _refuse_starving(config: Config) -> None:
    """A queue that starts more functions than there may be loses tries of its messages."""
    most = config.reserved_concurrency
    if most is not None and config.embed_concurrency > most:
        raise SynthRefused(
            f"embed_concurrency={config.embed_concurrency}, but "
            f"reserved_concurrency={most}: batches that cannot start use up the tries of their "
            "messages; choose no more embed functions than may run"
        )


def _refuse_fronts(config: Config) -> None:
    front, console = config.front, config.people.get("console_url", "")
    if front is None:
        return
    for option, arn, url in (
        ("console", front.console_certificate_arn, console),
        ("sites", front.sites_certificate_arn, config.sites_url),
    ):
        if arn and not url.startswith("https://"):
            raise SynthRefused(f"{option}_certificate_arn needs {option}_url, the name it is for")
        if front.only and url and not arn:
            raise SynthRefused(
                f"edge_only=on refuses what does not come through CloudFront, which has no "
                f"certificate for {option}_url={url}: set {option}_certificate_arn"
            )
        if arn and ":" in url.removeprefix("https://"):
            raise SynthRefused(f"{option}_url={url}: CloudFront answers at port 443 alone")


def _refuse_issuers(config: Config) -> None:
    chosen = config.sign_in.keys()
    if "cognito_callbacks" in chosen and ("oidc_issuer" in chosen or config.is_local):
        raise SynthRefused(
            "cognito_callbacks makes a user pool on AWS, an issuer of its own: leave it out, or "
            "leave oidc_issuer out"
        )
    if "oidc_issuer" in chosen and config.is_local and "oidc_audience" not in chosen:
        raise SynthRefused("oidc_issuer needs oidc_audience: a token for anyone proves nothing")
    if config.has_issuer and not config.is_local and config.egress == "bedrock":
        raise SynthRefused(
            "api reads the keys of the issuer of tokens, but egress=bedrock reaches no such "
            "address; choose -c egress=nat, or leave oidc_issuer and cognito_callbacks out"
        )


def _refuse_sign_in(config: Config) -> None:
    url = config.people.get("console_url", "")
    if url and not re.fullmatch(r"(https://[a-z0-9.-]+|http://localhost)(:[0-9]{1,5})?", url):
        raise SynthRefused(f"context console_url={url}: https:// and a name, without a path")
    if "sign_in_issuer" not in config.people:
        return
    if "sign_in_client_id" not in config.people:
        raise SynthRefused("sign_in_issuer needs sign_in_client_id, what the issuer calls Cairn")
    if not config.is_local and config.egress == "bedrock":
        raise SynthRefused(
            "api asks the issuer that signs people in, but egress=bedrock reaches no such address; "
            "choose -c egress=nat, or leave sign_in_issuer out"
        )


def _refuse_saml(config: Config) -> None:
    source, unasked = (config.people.get(f"sign_in_saml{name}", "") for name in ("", "_unasked"))
    _one_of("sign_in_saml_unasked", unasked or "off", ("off", "on"))
    if unasked and not source:
        raise SynthRefused("sign_in_saml_unasked needs sign_in_saml, whose answers it is about")
    if not source or config.is_local:
        return
    if config.saml_metadata is not None and not config.saml_metadata.is_file():
        raise SynthRefused(f"sign_in_saml={source}: https:// and an address, or a file that exists")
    if config.saml_metadata is None and config.egress == "bedrock":
        raise SynthRefused(
            "api reads the metadata of the identity provider, but egress=bedrock reaches no such "
            "address; choose -c egress=nat, or save them and name the file"
        )


def _refuse_unreachable(config: Config) -> None:
    if config.otlp_endpoint and not config.is_local and config.egress == "bedrock":
        raise SynthRefused(
            f"otlp_endpoint={config.otlp_endpoint}, but egress=bedrock reaches AWS services only; "
            "choose -c egress=nat, or leave otlp_endpoint out"
        )
    if config.webhooks != "off" and not config.is_local and config.egress == "bedrock":
        raise SynthRefused(
            f"webhooks={config.webhooks}, but egress=bedrock reaches AWS services only; "
            "choose -c egress=nat or -c webhooks=off"
        )
    chats = config.anthropic_secret_arn or "anthropic_base_url" in config.chat
    if chats and not config.is_local and config.egress == "bedrock":
        raise SynthRefused(
            "plan, retrieve and api would call a chat model, but egress=bedrock reaches AWS "
            "services only; choose -c egress=nat, a model of Bedrock "
            "(-c chat_model=bedrock:...), or leave anthropic_secret_arn and anthropic_base_url out"
        )
    if config.embedder != "openai":
        return
    if not config.openai.get("openai_base_url"):
        raise SynthRefused("embedder=openai needs openai_base_url, the server that embeds")
    if config.is_local:
        return
    if config.egress == "bedrock":
        raise SynthRefused(
            "embedder=openai: embed, retrieve and api would call "
            f"{config.openai['openai_base_url']}, but egress=bedrock reaches AWS services only; "
            "choose -c egress=nat or -c embedder=onnx"
        )
    if not config.openai_secret_arn:
        raise SynthRefused("embedder=openai needs openai_secret_arn, a secret holding the API key")


def _context(node: Node, name: str) -> str:
    value: Any = node.try_get_context(name)
    return "" if value is None else str(value)


def _halves(name: str, value: str) -> float:
    try:
        number = float(value)
    except ValueError:
        number = -1
    if not 0 <= number <= 256 or number * 2 != int(number * 2):
        raise SynthRefused(f"context {name}={value}: capacity units, 0 to 256 in halves")
    return number


def _constant(name: str, value: str) -> str:
    low, high = CONSTANTS[name]
    kind = type(low)
    try:
        number = kind(value)
    except ValueError:
        number = low - 1
    if not low <= number <= high:
        raise SynthRefused(f"context {name}={value}: a number from {low} to {high}")
    return value


def _origin(name: str, value: str) -> str:
    if value and not re.fullmatch(r"https://[a-z0-9.-]+(:[0-9]{1,5})?", value):
        raise SynthRefused(f"context {name}={value}: https:// and a name, without a path")
    return value


def _sites(value: str, stage: str) -> str:
    return value if stage == "local" else _origin("sites_url", value)


def _one_of(name: str, value: str, allowed: tuple[str, ...]) -> str:
    if value not in allowed:
        raise SynthRefused(f"context {name}={value}: it is one of {', '.join(allowed)}")
    return value


def _whole_of(text: Callable[[str, str], str], name: str, default: int, low: int, high: int) -> int:
    return _whole(name, text(name, str(default)), low, high)


def _whole(name: str, value: str, low: int, high: int) -> int:
    if not value.isdigit() or not low <= int(value) <= high:
        raise SynthRefused(f"context {name}={value}: it is a whole number from {low} to {high}")
    return int(value)


def _folder(value: str) -> Path:
    path = Path(value)
    return path if path.is_absolute() else ROOT / path
