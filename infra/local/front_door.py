"""The API on 127.0.0.1: uvicorn serving the ASGI app that the api function serves on AWS."""

import hashlib
import http.client
import json
import os
import sys
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from infra.local.cloud import source_files
from infra.local.emulator import answers
from infra.local.processes import Daemon, StartFailed
from infra.local.state import is_free

ASGI_APP = "cairn.api.asgi:app"
START_SECONDS = 60.0
READY_SECONDS = 10.0


@dataclass(frozen=True, kw_only=True)
class FrontDoor:
    """One uvicorn. It is started anew when its code or environment changed."""

    project: Path
    port: int
    daemon: Daemon
    env: Mapping[str, str]
    app: str = ASGI_APP

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> bool:
        """Start it if it is not up with this very code and environment."""
        fingerprint = self.fingerprint()
        if self.is_running() and self._served() == fingerprint:
            return False
        self.daemon.stop()
        if not is_free(self.port):  # its answers would pass for ours
            raise StartFailed(f"port {self.port} is in use by another program; start again")
        self.daemon.start(
            [
                sys.executable,
                "-m",
                "infra.local.server",
                self.app,
                f"--port={self.port}",
            ],
            env=self._env(),
            cwd=self.project,
        )
        self.daemon.wait_until(self.is_ready, seconds=START_SECONDS)
        self._marker().write_text(fingerprint, encoding="utf-8")
        return True

    def stop(self) -> bool:
        """Let it finish what it serves, 3 s at most, then end it."""
        return self.daemon.stop()

    def is_running(self) -> bool:
        """True when our process lives and answers."""
        return self.daemon.process() is not None and self.is_ready()

    def is_ready(self) -> bool:
        """True when the health route answers."""
        return answers(f"{self.url}/healthz")

    def oldest_waiting(self) -> int | None:
        """How many seconds the oldest work of any workspace has waited; None when it is down."""
        try:
            with urllib.request.urlopen(f"{self.url}/readyz", timeout=READY_SECONDS) as response:
                return int(json.load(response)["oldest_waiting_seconds"])
        except (OSError, ValueError, KeyError, http.client.HTTPException):
            return None

    def fingerprint(self) -> str:
        """Changes with the code served and with the environment."""
        digest = hashlib.sha256(f"{self.app} {self.port} {sorted(self.env.items())}".encode())
        for path in source_files(self.project):
            digest.update(path.read_bytes())
        return digest.hexdigest()

    def _served(self) -> str:
        marker = self._marker()
        return marker.read_text(encoding="utf-8") if marker.exists() else ""

    def _marker(self) -> Path:
        return self.daemon.pid_file.with_suffix(".served")

    def _env(self) -> dict[str, str]:
        inherited = {
            name: os.environ[name] for name in ("HOME", "LANG", "PATH") if name in os.environ
        }
        return {**inherited, "PYTHONUNBUFFERED": "1", **self.env}
