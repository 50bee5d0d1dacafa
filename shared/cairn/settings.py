"""The only reader of the environment: one settings model per function, and one for the CLI."""

from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

LAPTOP_ENV = Path(".local") / "cairn.env"


class _FunctionSettings(BaseSettings):
    """What every function reads. A field missing in the environment names itself in the error."""

    model_config = SettingsConfigDict(
        env_prefix="CAIRN_",
        extra="ignore",
        frozen=True,
        env_ignore_empty=True,
        defer_build=True,  # a function builds its own model only
    )

    stage: Literal["local", "prod"]
    app_database_url: SecretStr
    database_auth: Literal["password", "iam"] = "password"
    log_level: str = "INFO"


class _KeyStoreSettings(BaseSettings):
    """`key_store` is file:/absolute/path or dynamodb:TABLE; the KMS key goes with the latter."""

    key_store: str
    kms_key_arn: str | None = None


class _EmbedderSettings(BaseSettings):
    """The local model in `model_dir`, or any OpenAI-compatible server."""

    model_dir: Path
    embedder: Literal["onnx", "openai"] = "onnx"
    openai_base_url: str | None = None
    openai_api_key: SecretStr | None = None
    openai_embedding_model: str = "text-embedding-3-small"


class IngestSettings(_KeyStoreSettings, _FunctionSettings):
    """The ingest stage. It reads the model folder for its tokenizer only."""

    uploads_bucket: str
    embed_queue_url: str
    model_dir: Path


class EmbedSettings(_KeyStoreSettings, _EmbedderSettings, _FunctionSettings):
    """The embed stage."""

    embed_queue_url: str


class RetrieveSettings(_EmbedderSettings, _FunctionSettings):
    """The retrieve stage."""


class AuditSettings(_KeyStoreSettings, _FunctionSettings):
    """The audit stage, which also sweeps the outbox."""

    anchor_bucket: str
    embed_queue_url: str
    ingestion_machine_arn: str


class ApiSettings(_KeyStoreSettings, _EmbedderSettings, _FunctionSettings):
    """The API, as a function and behind uvicorn."""

    uploads_bucket: str
    embed_queue_url: str
    ingestion_machine_arn: str


SETTINGS: dict[str, type[_FunctionSettings]] = {
    "api": ApiSettings,
    "audit": AuditSettings,
    "embed": EmbedSettings,
    "ingest": IngestSettings,
    "retrieve": RetrieveSettings,
}
"""The settings of each function: the infrastructure sets exactly these."""


class CliSettings(BaseSettings):
    """What the `cairn` command needs; every value may be missing, commands say what they miss.

    `database_url` is the owner's, `app_database_url` the functions' role's. The AWS values point at
    the laptop's emulator, or are absent and left to the AWS SDK's own search.
    """

    model_config = SettingsConfigDict(
        env_prefix="CAIRN_", extra="ignore", frozen=True, defer_build=True
    )

    url: str | None = None
    api_key: SecretStr | None = None
    gateway_url: str | None = None
    database_url: SecretStr | None = None
    app_database_url: SecretStr | None = None
    embed_queue_url: str | None = None
    ingestion_machine_arn: str | None = None
    model_dir: Path | None = None
    aws_endpoint_url: str | None = Field(default=None, validation_alias="AWS_ENDPOINT_URL")
    aws_region: str | None = Field(default=None, validation_alias="AWS_REGION")
    aws_access_key_id: str | None = Field(default=None, validation_alias="AWS_ACCESS_KEY_ID")
    aws_secret_access_key: SecretStr | None = Field(
        default=None, validation_alias="AWS_SECRET_ACCESS_KEY"
    )


def find_laptop_env(start: Path) -> Path | None:
    """Return the `.local/cairn.env` in `start` or the nearest folder above it."""
    for folder in (start, *start.parents):
        if (folder / LAPTOP_ENV).is_file():
            return folder / LAPTOP_ENV
    return None


def cli_settings(start: Path) -> CliSettings:
    """Read the CLI's settings: the environment first, then the laptop's file above `start`."""
    return CliSettings(_env_file=find_laptop_env(start))  # pyright: ignore[reportCallIssue]
