"""What the `cairn` command reads: the environment, then the laptop's `.local/cairn.env`."""

import os
from pathlib import Path

from dotenv import dotenv_values
from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from cairn.settings import ApiSettings, ModelSettings

_FOR_CLIENTS = frozenset(
    {"AWS_ENDPOINT_URL", "AWS_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"}
)

LAPTOP_ENV = Path(".local") / "cairn.env"


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
    session_id: str | None = None
    gateway_url: str | None = None
    database_url: SecretStr | None = None
    app_database_url: SecretStr | None = None
    embed_queue_url: str | None = None
    webhook_queue_url: str | None = None
    ticket_queue_url: str | None = None
    escalation_queue_url: str | None = None
    channel_queue_url: str | None = None
    source_queue_url: str | None = None
    ingestion_machine_arn: str | None = None
    consolidation_machine_arn: str | None = None
    rebuild_machine_arn: str | None = None
    investigation_machine_arn: str | None = None
    model_dir: Path | None = None
    connector_commands: Path | None = None
    opensearch_url: SecretStr | None = None
    opensearch_auth: str | None = None
    aws_endpoint_url: str | None = Field(default=None, validation_alias="AWS_ENDPOINT_URL")
    aws_region: str | None = Field(default=None, validation_alias="AWS_REGION")
    aws_access_key_id: str | None = Field(default=None, validation_alias="AWS_ACCESS_KEY_ID")
    aws_secret_access_key: SecretStr | None = Field(
        default=None, validation_alias="AWS_SECRET_ACCESS_KEY"
    )


def deployment_settings(start: Path) -> ApiSettings:
    """Return the api function's settings, for an operator beside the database.

    From the environment first, then from the laptop's file above `start`; ValidationError names
    what is missing.
    """
    laptop_env = find_laptop_env(start)
    values = dotenv_values(laptop_env) if laptop_env else {}
    present = {name: value for name, value in {**values, **os.environ}.items() if value}
    for name in _FOR_CLIENTS & present.keys():
        os.environ.setdefault(name, present[name])  # where the AWS SDK looks
    return ApiSettings.model_validate(present)


def model_settings(start: Path) -> ModelSettings:
    """Return which chat models may be asked: the environment first, then the laptop's file."""
    laptop_env = find_laptop_env(start)
    values = {**(dotenv_values(laptop_env) if laptop_env else {}), **os.environ}
    return ModelSettings.model_validate({name: value for name, value in values.items() if value})


def find_laptop_env(start: Path) -> Path | None:
    """Return the `.local/cairn.env` in `start` or the nearest folder above it."""
    for folder in (start, *start.parents):
        if (folder / LAPTOP_ENV).is_file():
            return folder / LAPTOP_ENV
    return None


def cli_settings(start: Path) -> CliSettings:
    """Read the CLI's settings: the environment first, then the laptop's file above `start`."""
    return CliSettings(_env_file=find_laptop_env(start))  # pyright: ignore[reportCallIssue]
