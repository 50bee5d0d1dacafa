"""Starts and stops the AWS emulator (ministack). What is deployed into it is `cloud`'s business."""

import http.client
import os
import shutil
import signal
import sys
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from infra.local.layout import PROJECT, node_folder
from infra.local.processes import Daemon

ACCOUNT = "000000000000"
REGION = "us-east-1"
SECRET = "laptop"  # of nobody: the emulator checks presigned URLs against it
START_SECONDS = 60.0
PROBE_SECONDS = 3.0
WORKER_SCRIPT = "_worker.py"


@dataclass(frozen=True, kw_only=True)
class Emulator:
    """One ministack. `enforce_roles` makes it check every Lambda's execution role (AUTH=true)."""

    base: Path
    port: int
    daemon: Daemon
    enforce_roles: bool = False
    env: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> bool:
        """Start it if it is not up; False when it was. Scratch files of a former run are wiped."""
        if self.is_running():
            return False
        self.daemon.stop()
        shutil.rmtree(self.scratch, ignore_errors=True)
        for folder in (self.scratch, self.base / "state", self.base / "s3"):
            folder.mkdir(parents=True, exist_ok=True)
        self.daemon.start(
            [sys.executable, "-m", "infra.local.emulator_main"], env=self._env(), cwd=PROJECT
        )
        self.daemon.wait_until(self.is_ready, seconds=START_SECONDS)
        return True

    def stop(self) -> bool:
        """Stop it and its Lambda workers; it saves its state when it ends within 5 s."""
        return self.daemon.stop()

    def save(self) -> None:
        """Ask it to write its state now, so that what is deployed outlives a kill."""
        server = self.daemon.process()
        if server is not None:
            server.send_signal(signal.SIGUSR1)

    def is_running(self) -> bool:
        """True when our process lives and answers on our port."""
        return self.daemon.process() is not None and self.is_ready()

    def is_ready(self) -> bool:
        """True when it says that its start is complete."""
        return answers(f"{self.url}/_ministack/ready")

    def worker_pids(self, function: str = "") -> list[int]:
        """Pids of the Lambda worker processes, of one function when part of its name is given."""
        server = self.daemon.process()
        if server is None:
            return []
        return [child.pid for child in server.children() if _is_worker(child, function)]

    @property
    def scratch(self) -> Path:
        return self.base / "tmp"

    def _env(self) -> dict[str, str]:
        base = {name: os.environ[name] for name in ("HOME", "LANG") if name in os.environ}
        path = os.pathsep.join([str(node_folder()), os.environ.get("PATH", "/usr/bin:/bin")])
        return {
            **base,
            "PATH": path,
            "GATEWAY_PORT": str(self.port),
            "BIND_HOST": "127.0.0.1",
            "IOT_MTLS_ENABLED": "0",
            "SFTP_ENABLED": "0",
            "PERSIST_STATE": "1",
            "STATE_DIR": str(self.base / "state"),
            "S3_PERSIST": "1",
            "S3_DATA_DIR": str(self.base / "s3"),
            "TMPDIR": str(self.scratch),
            "AWS_SECRET_ACCESS_KEY": SECRET,
            "AUTH": "true" if self.enforce_roles else "false",
            "PYTHONUNBUFFERED": "1",
            **self.env,
        }


def aws_env(url: str) -> dict[str, str]:
    """What any AWS client needs to reach the emulator; these are no credentials of anybody."""
    return {
        "AWS_ENDPOINT_URL": url,
        "AWS_REGION": REGION,
        "AWS_DEFAULT_REGION": REGION,
        "AWS_ACCESS_KEY_ID": ACCOUNT,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_EC2_METADATA_DISABLED": "true",
    }


def answers(url: str) -> bool:
    """True when a GET of `url` is answered with 2xx within a few seconds."""
    try:
        with urllib.request.urlopen(url, timeout=PROBE_SECONDS) as response:
            return 200 <= response.status < 300
    except (OSError, urllib.error.URLError, http.client.HTTPException):
        return False


def _is_worker(process: psutil.Process, function: str) -> bool:
    try:
        command = process.cmdline()
    except psutil.Error:
        return False
    return any(part.endswith(WORKER_SCRIPT) and function in part for part in command)
