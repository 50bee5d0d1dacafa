"""An AWS emulator with nothing deployed: for adapters, and for the facts that Cairn relies on."""

import io
import os
import secrets
import shutil
import socket
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from infra.local.emulator import Emulator

BLOCKS = range(10_000, 32_000, 1_000)
"""Below the ports that systems give to outgoing connections, 32768 and up on Linux."""
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

        return aws_client(self.emulator.endpoint, service)

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
        port=free_port(0, first_port()),
        secret=secrets.token_hex(24),
        upload_origin="http://127.0.0.1:8080",
        enforce_roles=enforce_roles,
        daemon=Daemon(name="aws", pid_file=folder / "aws.json", log_file=folder / "aws.log"),
    )


@cache
def first_port() -> int:
    """The first of a thousand ports for this run alone; runs side by side take others.

    The run binds that port and keeps it until it ends: this is how others know.
    """
    for place in range(len(BLOCKS)):
        first = BLOCKS[(os.getpid() + place) % len(BLOCKS)]
        held = socket.socket()
        try:
            held.bind(("127.0.0.1", first))
        except OSError:
            held.close()
            continue
        held.detach()
        return first
    raise RuntimeError(f"every thousand ports of {BLOCKS} is taken by another run")
