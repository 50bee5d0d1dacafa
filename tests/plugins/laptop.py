"""The whole laptop cloud, deployed below a temporary folder: for end-to-end and kill tests.

It never touches the user's own `.local` stack. The emulator checks every Lambda's execution role,
so that a missing grant fails here and not first on AWS (CAIRN_TEST_ENFORCE_ROLES=0: it does not).
"""

import os
import shutil
import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import pytest
from tests.plugins.cloud import first_port
from tests.plugins.waiting import eventually

if TYPE_CHECKING:
    from infra.local.stack import Stack


@dataclass(frozen=True, kw_only=True)
class Laptop:
    """A running stack; `env` holds what `cairn.env` holds."""

    stack: "Stack"
    env: Mapping[str, str]

    @property
    def url(self) -> str:
        """The API on uvicorn."""
        return self.env["CAIRN_URL"]

    @property
    def gateway_url(self) -> str:
        """The API through API Gateway and Lambda."""
        return self.env["CAIRN_GATEWAY_URL"]

    @property
    def key(self) -> str:
        """The first admin key."""
        return self.env["CAIRN_API_KEY"]

    @property
    def sources(self) -> Path:
        """A folder of this machine that sources may be read of."""
        return self.stack.layout.base / "sources"

    @property
    def headers(self) -> dict[str, str]:
        """Request headers of the admin."""
        return {"Authorization": f"Bearer {self.key}"}

    def client(self, service: str) -> Any:
        """A boto3 client of the emulator."""
        from infra.local.cloud import aws_client

        return aws_client(self.stack.emulator(self.stack.saved()).endpoint, service)

    def worker_pids(self, function: str = "") -> list[int]:
        """Pids of the Lambda workers whose function's name contains `function`."""
        return self.stack.worker_pids(function)

    def kill_workers(self, function: str = "") -> list[int]:
        """Kill these workers with -9 and return their pids."""
        pids = self.worker_pids(function)
        for pid in pids:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        return pids

    def kill_orchestrator(self) -> None:
        """Kill the emulator with -9: its executions are gone, its workers end when they notice."""
        emulator = self.stack.emulator(self.stack.saved())
        saved = emulator.base / "state" / "stepfunctions.json"
        before = saved.stat().st_mtime_ns if saved.exists() else 0
        emulator.save()
        eventually(lambda: saved.exists() and saved.stat().st_mtime_ns > before, what="the save")
        server = emulator.daemon.process()
        assert server is not None
        server.kill()
        server.wait(timeout=10)

    def start_orchestrator(self) -> None:
        """Start the emulator again, with what was deployed into it."""
        self.stack.emulator(self.stack.saved()).start()

    def allow(self, command: Sequence[str], *variables: str) -> None:
        """Let a command run as a connector, as the machine's owner does."""
        from cairn.adapters.files.commands import AllowedCommand, CommandFile

        file = CommandFile(self.stack.layout.connector_commands)
        entry = AllowedCommand(command=tuple(command), program=command[0], variables=variables)
        file.write([*file.read(), entry])

    def kill_api(self) -> None:
        """Kill the API with -9 and start it again."""
        self.stack.kill_api()
        self.stack.start_api()

    def stop_postgres(self) -> None:
        """Shut the database down."""
        self.stack.stop_postgres()

    def kill_postgres(self) -> None:
        """Kill the database with -9."""
        self.stack.kill_postgres()

    def start_postgres(self) -> None:
        """Start the database again; it recovers what was committed."""
        self.stack.start_postgres()


@pytest.fixture(scope="session")
def laptop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laptop]:
    """Everything up, deployed and migrated, with a workspace; started on first use."""
    from infra.local.layout import PROJECT, Layout
    from infra.local.progress import Progress
    from infra.local.stack import Stack

    stack = Stack(
        layout=Layout(project=PROJECT, base=tmp_path_factory.mktemp("laptop")),
        progress=Progress(quiet=True),
        enforce_roles=os.environ.get("CAIRN_TEST_ENFORCE_ROLES", "1") == "1",
        first_api_port=first_port() + 500,
        first_emulator_port=first_port() + 250,
    )
    try:
        allowed = {
            "CAIRN_FETCH_PRIVATE_HOSTS": "127.0.0.1",
            "CAIRN_SOURCE_PRIVATE_HOSTS": "127.0.0.1",
            "CAIRN_SOURCE_FOLDERS": str(stack.layout.base / "sources"),
        }
        with patch.dict(os.environ, allowed):
            yield Laptop(stack=stack, env=stack.up())  # a later `up` in a test has it too
    finally:
        stack.down()
        shutil.rmtree(stack.layout.base, ignore_errors=True)
        shutil.rmtree(stack.layout.socket_folder, ignore_errors=True)
