"""The only reader of the environment: one settings model a function here, the command's in `cli`.

Functions read through pydantic alone: pydantic-settings would be a sixth of their cold start.
"""

import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, model_validator

if TYPE_CHECKING:
    from cairn.kernel.access.allowances import Allowances


MIN_SECRET_CHARS = 32
"""Of a secret that stands for the front of a deployment; shorter could be guessed."""


class _FromEnvironment(BaseModel):
    """A model whose field `name` is the variable CAIRN_NAME; an error names the variable."""

    model_config = ConfigDict(
        alias_generator=lambda name: f"CAIRN_{name.upper()}",
        extra="ignore",
        frozen=True,
        defer_build=True,  # a function builds its own model only
        hide_input_in_errors=True,  # the input is the whole environment
    )

    @classmethod
    def read(cls) -> Self:
        """Return what the environment says; an empty variable is one that is not set."""
        return cls.model_validate({name: value for name, value in os.environ.items() if value})


class _FunctionSettings(_FromEnvironment):
    """What every function reads. A database that sleeps takes about 15 seconds to wake."""

    stage: Literal["local", "prod"]
    app_database_url: SecretStr
    database_auth: Literal["password", "iam"] = "password"
    database_wait_seconds: float = Field(5, ge=1, le=300)
    log_level: str = "INFO"
    otlp_endpoint: str | None = Field(None, pattern=r"^https?://[^/?#\s]+(/[^?#\s]*)?$")


class _KeyStoreSettings(_FromEnvironment):
    """`key_store` is file:/absolute/path or dynamodb:TABLE; the KMS key goes with the latter."""

    key_store: str
    kms_key_arn: str | None = None


class _AnchorSettings(_FromEnvironment):
    """Signed heads outside the database. `signing_key` is file:/absolute/path or kms:ARN."""

    anchor_bucket: str
    signing_key: str


class _OpenAISettings(_FromEnvironment):
    """An OpenAI-compatible server, and whether it is there to embed."""

    embedder: Literal["onnx", "openai"] = "onnx"
    openai_base_url: str | None = None
    openai_api_key: SecretStr | None = None


class EmbedderSettings(_OpenAISettings):
    """The local model in `model_dir`, or that server; each model by name, or described."""

    model_dir: Path
    onnx_embedding_model: str | None = None
    openai_embedding_model: str = "text-embedding-3-small"


class _SearchIndexSettings(_FromEnvironment):
    """Where OpenSearch answers; without it PostgreSQL alone finds words."""

    opensearch_url: SecretStr | None = None
    opensearch_auth: Literal["none", "iam"] = "none"


class _ChatModelSettings(_FromEnvironment):
    """Chat models and their budgets; without any, rules answer. See `bootstrap.models`."""

    anthropic_api_key: SecretStr | None = None
    anthropic_base_url: str | None = None
    bedrock_api_key: SecretStr | None = None
    bedrock_base_url: str | None = None
    chat_model: str = ""
    model_budgets: str = ""


class ModelSettings(_ChatModelSettings, _OpenAISettings):
    """The chat models alone, for commands that ask them beside a database."""

    stage: Literal["local", "prod"] = "local"


class _ChatSettings(_ChatModelSettings):
    """And the local model that may order what a search found."""

    reranker_dir: Path | None = None


class _RecallConstants(_FromEnvironment):
    """Constants of searches, where a workspace does not set its own; bounds as there."""

    decay_factor: float | None = None
    rrf_k: int | None = None
    graph_search_decay: float | None = None
    causal_boost: float | None = None
    max_depth: int | None = None

    @model_validator(mode="after")
    def _within_bounds(self) -> Self:
        constants = self.constants()
        if constants:
            from cairn.workspace.settings import WorkspaceSettings  # not for every function

            WorkspaceSettings.model_validate({"recall": constants})
        return self

    def constants(self) -> dict[str, float]:
        """Return those that are set, by name."""
        values = {name: getattr(self, name) for name in _RecallConstants.model_fields}
        return {name: value for name, value in values.items() if value is not None}


class _QueueSettings(_FromEnvironment):
    """The queues that writes wake."""

    embed_queue_url: str
    webhook_queue_url: str


class _WebhookSettings(_FromEnvironment):
    """Where webhooks may lead: nowhere, to public addresses over https, or anywhere (a laptop).

    `connector_commands` is the file of commands that the machine's owner allows.
    """

    webhooks: Literal["off", "public", "private"] = "public"
    connector_commands: Path | None = None


class _InvestigationSettings(_QueueSettings):
    """What investigations wake; `investigations` is how many run at once in a workspace.

    `degraded_above` is the length of the queue above which low-priority tickets skip retrieval.
    """

    ticket_queue_url: str
    escalation_queue_url: str
    channel_queue_url: str
    investigation_machine_arn: str
    investigations: int = Field(8, ge=1, le=1000)
    degraded_above: int = Field(50, ge=0, le=1_000_000)


class ActSettings(_WebhookSettings, _InvestigationSettings, _KeyStoreSettings, _FunctionSettings):
    """The act stage. What is attached to tickets that it polls becomes documents."""

    uploads_bucket: str
    ingestion_machine_arn: str


class PlanSettings(
    _ChatModelSettings,
    _OpenAISettings,
    _InvestigationSettings,
    _KeyStoreSettings,
    _FunctionSettings,
):
    """The plan stage."""


class AgeingSettings(_FromEnvironment):
    """After how many days events nobody used expire, and facts and documents are archived."""

    event_ttl_days: int = Field(30, ge=1)
    fact_archive_days: int = Field(90, ge=1)
    knowledge_archive_days: int = Field(180, ge=1)


class _SourceSettings(_FromEnvironment):
    """What sources wake. `source_folders` are a laptop's that may be read, separated by commas."""

    source_queue_url: str
    source_buckets: str = ""
    source_folders: str = ""
    source_private_hosts: str = ""

    def folders(self) -> tuple[Path, ...]:
        """Return the folders below which folders and repositories may be read."""
        return tuple(Path(part.strip()) for part in self.source_folders.split(",") if part.strip())

    def buckets(self) -> frozenset[str]:
        """Return the S3 buckets that sources may be in."""
        return frozenset(filter(None, map(str.strip, self.source_buckets.split(","))))

    def hosts_inside(self) -> frozenset[str]:
        """Return the hosts that sources may be on although they are inside this network."""
        return frozenset(filter(None, map(str.strip, self.source_private_hosts.split(","))))


class SyncSettings(_SourceSettings, _QueueSettings, _KeyStoreSettings, _FunctionSettings):
    """The sync stage."""

    uploads_bucket: str
    ingestion_machine_arn: str


class IngestSettings(_KeyStoreSettings, _FunctionSettings):
    """The ingest stage. It reads the model folder for its tokenizer only."""

    uploads_bucket: str
    embed_queue_url: str
    model_dir: Path


class EmbedSettings(_SearchIndexSettings, _KeyStoreSettings, EmbedderSettings, _FunctionSettings):
    """The embed stage. `similar_edges` off saves a search a new node, and SIMILAR_TO edges."""

    embed_queue_url: str
    similar_edges: Literal["on", "off"] = "on"


class ConsolidateSettings(
    AgeingSettings,
    _ChatModelSettings,
    _QueueSettings,
    _KeyStoreSettings,
    EmbedderSettings,
    _FunctionSettings,
):
    """The consolidate stage."""


class RetrieveSettings(
    _RecallConstants,
    _SearchIndexSettings,
    _ChatSettings,
    _InvestigationSettings,
    _KeyStoreSettings,
    EmbedderSettings,
    _FunctionSettings,
):
    """The retrieve stage."""


class AuditSettings(
    _SearchIndexSettings,
    _InvestigationSettings,
    _AnchorSettings,
    _KeyStoreSettings,
    _FunctionSettings,
):
    """The audit stage, which also sweeps the outbox and forgets searches after some days."""

    uploads_bucket: str
    source_queue_url: str
    ingestion_machine_arn: str
    consolidation_machine_arn: str
    rebuild_machine_arn: str
    workflow_machine_arn: str
    search_run_days: int = Field(30, ge=1)


_GROUP = "[^=,]+=(owner|admin|operator|reviewer|reader)"


class _PeopleSettings(_FromEnvironment):
    """Who outside signs people in to the console. `sign_in_roles` is `group=role`, by commas.

    `sign_in_workspace` is where who is not known is added; empty: nobody is. `sign_in_saml` is an
    address or a file with the metadata of an identity provider of SAML.
    """

    sign_in_issuer: str = ""
    sign_in_client_id: str = ""
    sign_in_client_secret: SecretStr | None = None
    sign_in_domains: str = ""
    sign_in_claim: str = "groups"
    sign_in_roles: str = Field("", pattern=f"^{_GROUP}(,{_GROUP})*$")
    sign_in_workspace: str = Field("", pattern=r"^([0-9a-f-]{36})?$")
    sign_in_saml: str = ""
    sign_in_saml_unasked: Literal["off", "on"] = "off"

    def issuer_of_people(self) -> str:
        """Return the issuer's address; refused without the client's id."""
        if self.sign_in_issuer and not self.sign_in_client_id:
            raise ValueError("CAIRN_SIGN_IN_ISSUER needs CAIRN_SIGN_IN_CLIENT_ID")
        return self.sign_in_issuer

    def roles_by_group(self) -> dict[str, str]:
        """Return the roles that groups of the issuer have here."""
        pairs = [pair.split("=") for pair in self.sign_in_roles.split(",") if pair]
        return {group.strip(): role for group, role in pairs}

    def domains(self) -> frozenset[str]:
        """Return whose addresses may sign in; any when there is none."""
        return frozenset(self.sign_in_domains.lower().replace(",", " ").split())


class _EdgeSettings(_FromEnvironment):
    """The front of a deployment. `edge_secrets`, separated by commas: the one it sends, the next.

    `edge_only` refuses requests that come without one of them.
    """

    edge_secrets: SecretStr | None = None
    edge_only: Literal["off", "on"] = "off"

    @model_validator(mode="after")
    def _shut_only_behind_a_front(self) -> Self:
        secrets = self.secrets_of_edge()
        if any(len(secret) < MIN_SECRET_CHARS for secret in secrets):
            raise ValueError(f"CAIRN_EDGE_SECRETS: {MIN_SECRET_CHARS} characters or more each")
        if self.edge_only == "on" and not secrets:
            raise ValueError("CAIRN_EDGE_ONLY needs CAIRN_EDGE_SECRETS: nobody could ask anything")
        return self

    def secrets_of_edge(self) -> tuple[str, ...]:
        """Return the secrets that count."""
        secrets = self.edge_secrets.get_secret_value() if self.edge_secrets else ""
        return tuple(filter(None, (part.strip() for part in secrets.split(","))))


class ApiSettings(
    _EdgeSettings,
    _PeopleSettings,
    _RecallConstants,
    _SearchIndexSettings,
    _ChatSettings,
    _WebhookSettings,
    _SourceSettings,
    _InvestigationSettings,
    _AnchorSettings,
    _KeyStoreSettings,
    EmbedderSettings,
    _FunctionSettings,
):
    """The API, as a function and behind uvicorn. `cors_origins` are separated by commas.

    `sites_url` is where published sites are served, by a host of their own; empty: nowhere.

    What is per minute is a workspace's, in all processes together.
    """

    uploads_bucket: str
    ingestion_machine_arn: str
    consolidation_machine_arn: str
    rebuild_machine_arn: str
    workflow_machine_arn: str
    cors_origins: str = ""
    console_url: str = Field("", pattern=r"^(https://[a-z0-9.-]+|http://localhost)(:[0-9]{1,5})?$")
    sites_url: str = Field("", pattern=r"^(https?://[^/?#@\s]+)?$")
    edition: Literal["full", "team", "memory"] = "full"
    oidc_issuer: str = ""
    oidc_audience: str = ""
    oidc_scopes: str = ""
    queries_per_minute: int = Field(6_000, ge=1)
    items_per_minute: int = Field(60_000, ge=1)
    bytes_per_minute: int = Field(268_435_456, ge=1)

    @model_validator(mode="after")
    def _sites_apart(self) -> Self:
        sites, console = (urlsplit(url).hostname for url in (self.sites_url, self.console_url))
        if sites and sites == console:
            raise ValueError("CAIRN_SITES_URL needs a host other than that of CAIRN_CONSOLE_URL")
        return self

    def allowances(self) -> "Allowances":
        """Return what a workspace may ask for in a minute."""
        from cairn.kernel.access.allowances import Allowances  # not for every function

        return Allowances(
            queries=self.queries_per_minute,
            items=self.items_per_minute,
            bytes=self.bytes_per_minute,
        )

    def audiences(self) -> tuple[str, ...]:
        """Return the names of this server in tokens; refused without any: a token names one."""
        names = tuple(self.oidc_audience.replace(",", " ").split())
        if self.oidc_issuer and not names:
            raise ValueError("CAIRN_OIDC_ISSUER needs CAIRN_OIDC_AUDIENCE: whom tokens are for")
        return names

    def origins(self) -> tuple[str, ...]:
        """Return the origins browsers may call from; none means that CORS is off."""
        return tuple(filter(None, (part.strip() for part in self.cors_origins.split(","))))


class ServerSettings(_FromEnvironment):
    """How much the API does at once where one process serves many requests; a function serves one.

    A search uses up to four connections for its legs, every other request one at a time. Of what
    is let in at once, a workspace has half; see `api.fairness`. `fetch_private_hosts` are separated
    by commas.
    """

    database_connections: int = Field(16, ge=1, le=200)
    request_threads: int = Field(40, ge=1, le=400)
    fetch_private_hosts: str = ""
    reads_at_once: int = Field(16, ge=2, le=400)
    writes_at_once: int = Field(32, ge=2, le=400)
    longest_wait_seconds: float = Field(10, ge=0.1, le=60)
    metrics_token: SecretStr | None = None

    def private_hosts(self) -> frozenset[str]:
        """Return the hosts that pages may be fetched of although they are inside this network."""
        return frozenset(filter(None, map(str.strip, self.fetch_private_hosts.split(","))))


SETTINGS: dict[str, type[_FunctionSettings]] = {
    "act": ActSettings,
    "api": ApiSettings,
    "audit": AuditSettings,
    "consolidate": ConsolidateSettings,
    "embed": EmbedSettings,
    "ingest": IngestSettings,
    "plan": PlanSettings,
    "retrieve": RetrieveSettings,
    "sync": SyncSettings,
}
"""The settings of each function: the infrastructure sets exactly these."""


def metrics_folder() -> str | None:
    """Return where the processes of this machine count their metrics; None where none do.

    The name is prometheus-client's own: it reads the variable, too.
    """
    return os.environ.get("PROMETHEUS_MULTIPROC_DIR") or None


def collector_by_standard() -> bool:
    """Return whether OpenTelemetry's own variables name a collector; its SDK reads them."""
    return bool(
        os.environ.get("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")
        or os.environ.get("OTEL_EXPORTER_OTLP_ENDPOINT")
    )


def inherited(names: Collection[str]) -> dict[str, str]:
    """Return those of this process's variables that a child process is to have."""
    return {name: os.environ[name] for name in names if name in os.environ}
