"""An AWS emulator with nothing deployed: for adapters, and for the facts that Cairn relies on."""

import io
import os
import shutil
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from infra.local.emulator import Emulator

FIRST_PORT = 20_000 + os.getpid() * 37 % 25_000
"""Runs side by side on one machine look for free ports in different places."""
ROLE = "arn:aws:iam::000000000000:role/test"


@dataclass(frozen=True, kw_only=True)
class EmptyCloud:
    """A running emulator."""

    emulator: "Emulator"

    @property
    def url(self) -> str:
        return self.emulator.url

    def client(self, service: str) -> Any:
        """A boto3 client of the emulator."""
        from infra.local.cloud import aws_client

        return aws_client(self.url, service)

    def create_function(
        self, name: str, source: str, *, env: Mapping[str, str] | None = None, timeout: int = 10
    ) -> str:
        """Create a Lambda from the text of its `handler` module; its ARN."""
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w") as code:
            code.writestr("main.py", source)
        created = self.client("lambda").create_function(
            FunctionName=name,
            Runtime="python3.13",
            Role=ROLE,
            Handler="main.handler",
            Code={"ZipFile": archive.getvalue()},
            Environment={"Variables": dict(env or {})},
            Timeout=timeout,
        )
        return created["FunctionArn"]


@pytest.fixture(scope="session")
def cloud(tmp_path_factory: pytest.TempPathFactory) -> Iterator[EmptyCloud]:
    """The run's shared emulator, started on first use; give what you create unique names."""
    folder = tmp_path_factory.mktemp("cloud")
    emulator = new_emulator(folder)
    emulator.start()
    yield EmptyCloud(emulator=emulator)
    emulator.stop()
    shutil.rmtree(folder)


def new_emulator(folder: Path, *, enforce_roles: bool = False) -> "Emulator":
    """An emulator below `folder` on a free port, not started."""
    from infra.local.emulator import Emulator
    from infra.local.processes import Daemon
    from infra.local.state import free_port

    return Emulator(
        base=folder,
        port=free_port(0, FIRST_PORT),
        enforce_roles=enforce_roles,
        daemon=Daemon(name="aws", pid_file=folder / "aws.json", log_file=folder / "aws.log"),
    )
