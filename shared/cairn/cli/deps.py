"""What commands work with: settings, clients, the owner's tools, the consoles. Tests give fakes."""

import importlib
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast
from uuid import UUID

import cairn
from cairn.cli.client import Client, Failure

if TYPE_CHECKING:
    import httpx
    from rich.console import Console

    from cairn.embedding.port import EmbeddingModel
    from cairn.forgetting.workspaces import DeleteWorkspace
    from cairn.llm.costs import CostRow
    from cairn.reading.views import LedgerVerification
    from cairn.search_index.check import KeepSearchIndex
    from cairn.settings import ApiSettings
    from cairn.settings.cli import CliSettings

PROJECT = Path(cairn.__file__).resolve().parents[2]
PIPED_WIDTH = 120
NO_ENVIRONMENT = "run `make run` first, or set CAIRN_URL and CAIRN_API_KEY"


class Reembedding(Protocol):
    """A change of a deployment's embedding model; `bootstrap.owner` has it."""

    def workspaces(self) -> Iterable[UUID]: ...
    def fill(
        self, workspace_id: UUID, report: Callable[[int, int], None] | None = None
    ) -> dict[str, Any]: ...
    def compare(self, workspace_id: UUID, *, sample: int) -> dict[str, Any] | None: ...
    def drop_others(self, workspace_id: UUID) -> int: ...


class Operator(Protocol):
    """What the owner of the database may do beside the API; `cairn.bootstrap.owner` has it."""

    def create_workspace(self, owner_url: str, name: str) -> tuple[UUID, str]:
        """Return the workspace's id, made if it is missing, and a new admin key for it."""
        ...

    def list_workspaces(self, owner_url: str) -> list[dict[str, Any]]:
        """Return every workspace, the oldest first."""
        ...

    def verify_ledgers(
        self,
        owner_url: str,
        workspace_id: UUID | None = None,
        settings: "ApiSettings | None" = None,
    ) -> "Iterable[LedgerVerification]":
        """Verify one workspace's chain or all of them, one result each; with settings, its keys."""
        ...

    def delete_workspace(self, settings: "ApiSettings", owner_url: str) -> "DeleteWorkspace":
        """Return what deletes a workspace from every store."""
        ...

    def export_ledger(self, owner_url: str, workspace_id: UUID) -> Iterable[str]:
        """Yield the lines of an export that the offline verifier reads."""
        ...

    def costs(self, owner_url: str, since: date, until: date) -> "Iterable[CostRow]":
        """Return what the models of each workspace have cost in a period."""
        ...

    def rebuild(
        self, settings: "ApiSettings", workspace_id: UUID, *, only_check: bool
    ) -> dict[str, Any]:
        """Rebuild or check a workspace in this process."""
        ...

    def check_vectors(
        self, settings: "ApiSettings", workspace_id: UUID, *, deep: bool
    ) -> dict[str, Any]:
        """Compute vectors again and compare: of a sample, or of all nodes."""
        ...

    def reembedding(
        self,
        settings: "ApiSettings",
        to: str,
        *,
        model_dir: Path | None,
        base_url: str | None,
        register: "Callable[[EmbeddingModel], None] | None",
    ) -> Reembedding:
        """Return the change to the model `to` names or describes; registered as the owner."""
        ...

    def restore(
        self, settings: "ApiSettings", owner_url: str, lines: Iterable[str], *, name: str
    ) -> dict[str, Any]:
        """Import an export of a ledger into an empty workspace and make its rows."""
        ...

    def search_index(
        self, app_database_url: str, url: str, auth: str = "none"
    ) -> "KeepSearchIndex":
        """Return what checks, repairs and rebuilds the search index."""
        ...


class LocalStack(Protocol):
    """The laptop cloud; `infra.local.stack` in a clone of the project."""

    def up(self, *, opensearch: bool = False) -> dict[str, str]: ...
    def down(self) -> list[str]: ...
    def status(self) -> dict[str, Any]: ...
    def logs(self, service: str = "", *, follow: bool = False) -> Iterator[str]: ...
    def reset(self) -> None: ...
    def use_embedder(self, values: Mapping[str, str]) -> dict[str, str]: ...
    def opensearch_needs(self) -> str: ...


def _settings() -> "CliSettings":
    from cairn.settings.cli import cli_settings

    return cli_settings(Path.cwd())


def _operator() -> Operator:
    from cairn.bootstrap import owner

    return owner


def _stack() -> LocalStack:
    missing = "The laptop stack is not part of this installation."
    return cast("LocalStack", from_clone("infra.local.stack", missing))


def from_clone(module: str, missing: str) -> Any:
    """Import a module that stands beside the package in a clone; without one `missing` is shown.

    Raises Failure when this installation is not a clone's own.
    """
    if not (PROJECT / f"{module.replace('.', '/')}.py").is_file():
        raise Failure(missing, advice="clone the project and run it there")
    if str(PROJECT) not in sys.path:
        sys.path.insert(0, str(PROJECT))
    return importlib.import_module(module)


@dataclass(frozen=True)
class Deps:
    """Everything a command may touch. Nothing is imported or connected before it is used."""

    read_settings: "Callable[[], CliSettings]" = _settings
    load_operator: Callable[[], Operator] = _operator
    load_stack: Callable[[], LocalStack] = _stack
    aws_client: Callable[[str], Any] | None = None
    transport: "httpx.BaseTransport | None" = None
    sleep: Callable[[float], None] = time.sleep
    stopwatch: Callable[[], float] = time.perf_counter
    width: int | None = None

    @cached_property
    def settings(self) -> "CliSettings":
        """The environment and `.local/cairn.env`."""
        return self.read_settings()

    @cached_property
    def out(self) -> "Console":
        """Where answers go."""
        from rich.console import Console

        piped = None if sys.stdout.isatty() else PIPED_WIDTH
        return Console(highlight=False, width=self.width or piped)

    @cached_property
    def err(self) -> "Console":
        """Where progress goes, so that answers can be piped."""
        from rich.console import Console

        return Console(stderr=True, highlight=False, width=self.width)

    @cached_property
    def client(self) -> Client:
        """The API with the configured key."""
        url, key = self.settings.url, self.settings.api_key
        if not url or not key:
            raise Failure("There is no API to talk to.", advice=NO_ENVIRONMENT)
        return Client(url, key.get_secret_value(), sleep=self.sleep, transport=self.transport)

    def deployment(self) -> "ApiSettings":
        """The settings of the deployment's own functions, for what runs beside its database."""
        from pydantic import ValidationError

        from cairn.settings.cli import deployment_settings

        try:
            return deployment_settings(Path.cwd())
        except ValidationError as error:
            raise Failure(
                "This needs the settings of the deployment's functions.",
                advice="run it where .local/cairn.env is, or set what the api function has",
            ) from error

    def deployment_if_known(self) -> "ApiSettings | None":
        """The same settings, None where they are not all set."""
        try:
            return self.deployment()
        except Failure:
            return None

    @property
    def owner_url(self) -> str | None:
        """The owner's database URL, where there is one."""
        url = self.settings.database_url
        return url.get_secret_value() if url else None

    def aws(self, service: str) -> Any:
        """Return a boto3 client for the configured endpoint, or the account the SDK finds."""
        if self.aws_client is not None:
            return self.aws_client(service)
        import boto3

        secret = self.settings.aws_secret_access_key
        make = cast("Callable[..., Any]", boto3.client)  # pyright: ignore[reportUnknownMemberType]
        return make(
            service,
            endpoint_url=self.settings.aws_endpoint_url,
            region_name=self.settings.aws_region,
            aws_access_key_id=self.settings.aws_access_key_id,
            aws_secret_access_key=secret.get_secret_value() if secret else None,
        )
