"""Starts and stops the AWS emulator (ministack). What is deployed into it is `cloud`'s business."""

import hashlib
import http.client
import os
import re
import shutil
import signal
import sys
import urllib.error
import urllib.request
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

import psutil
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from infra.local.layout import PROJECT, node_folder
from infra.local.processes import Daemon
from infra.local.state import write_private

ACCOUNT = "000000000000"
REGION = "us-east-1"
START_SECONDS = 60.0
PROBE_SECONDS = 3.0
WORKER_SCRIPT = "_worker.py"
QUEUE_PORT = re.compile(rf"http://localhost:(\d+)/{ACCOUNT}/")


@dataclass(frozen=True, kw_only=True)
class Endpoint:
    """Where an emulator answers, and the secret that requests to it are signed with."""

    url: str
    secret: str = field(repr=False)

    def env(self) -> dict[str, str]:
        """What any AWS client needs to reach it; the access key names the account."""
        return {
            "AWS_ENDPOINT_URL": self.url,
            "AWS_REGION": REGION,
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ACCESS_KEY_ID": ACCOUNT,
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "AWS_EC2_METADATA_DISABLED": "true",
        }


@dataclass(frozen=True, kw_only=True)
class Emulator:
    """One ministack behind its guard.

    `upload_origin` is the one web page origin that may use presigned uploads. `enforce_roles` makes
    it check every Lambda's execution role (AUTH=true).
    """

    base: Path
    port: int
    secret: str = field(repr=False)
    upload_origin: str
    daemon: Daemon
    enforce_roles: bool = False
    env: dict[str, str] = field(default_factory=dict[str, str])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def endpoint(self) -> Endpoint:
        """Where it answers, and to which secret."""
        return Endpoint(url=self.url, secret=self.secret)

    def start(self) -> bool:
        """Start it if it is not up as it should be; False when it was.

        Scratch files of a former run are wiped, and what it kept gets the address of this one.
        """
        fingerprint = self._fingerprint()
        if self.is_running() and self._served() == fingerprint:
            return False
        self.daemon.stop()
        shutil.rmtree(self.scratch, ignore_errors=True)
        for folder in (self.scratch, self.base / "state", self.base / "s3"):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        move_addresses(self.base / "state", self.port)
        self.daemon.start(
            [sys.executable, "-m", "infra.local.emulator_main"], env=self._env(), cwd=PROJECT
        )
        self.daemon.wait_until(self.is_ready, seconds=START_SECONDS)
        self._marker().write_text(fingerprint, encoding="utf-8")
        return True

    def stop(self) -> bool:
        """Stop it and its Lambda workers; it saves its state when it ends within 5 s."""
        return self.daemon.stop()

    def save(self) -> None:
        """Ask it to write its state now, so that what is deployed outlives a kill."""
        server = self.daemon.process()
        if server is not None:
            with suppress(psutil.NoSuchProcess):  # it ended just now
                server.send_signal(signal.SIGUSR1)

    def is_running(self) -> bool:
        """True when our process lives and answers on our port."""
        return self.daemon.process() is not None and self.is_ready()

    def is_ready(self) -> bool:
        """True when it says that its start is complete, to a request with our signature."""
        url = f"{self.url}/_ministack/ready"
        request = AWSRequest(method="GET", url=url)
        SigV4Auth(Credentials(ACCOUNT, self.secret), "ministack", REGION).add_auth(request)
        return answers(url, dict(request.headers.items()))

    def worker_pids(self, function: str = "") -> list[int]:
        """Pids of the Lambda worker processes, of one function when part of its name is given."""
        server = self.daemon.process()
        try:
            children = server.children() if server else []
        except psutil.NoSuchProcess:
            return []
        return [child.pid for child in children if _is_worker(child, function)]

    @property
    def scratch(self) -> Path:
        return self.base / "tmp"

    def _fingerprint(self) -> str:
        """Changes with the guard's code and with whom it lets in."""
        settings = [self.port, self.secret, self.upload_origin, self.enforce_roles, self.env]
        digest = hashlib.sha256(repr(settings).encode())
        for name in ("emulator_main.py", "guard.py", "signatures.py"):
            digest.update(Path(__file__).with_name(name).read_bytes())
        return digest.hexdigest()

    def _served(self) -> str:
        marker = self._marker()
        return marker.read_text(encoding="utf-8") if marker.exists() else ""

    def _marker(self) -> Path:
        return self.daemon.pid_file.with_suffix(".served")

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
            "AWS_SECRET_ACCESS_KEY": self.secret,
            "UPLOAD_ORIGIN": self.upload_origin,
            "AUTH": "true" if self.enforce_roles else "false",
            "PYTHONUNBUFFERED": "1",
            **self.env,
        }


def move_addresses(state: Path, port: int) -> None:
    """Give what an emulator kept on another port this one's: URLs of queues, environments, outputs.

    The queues say which port that was.
    """
    queues = state / "sqs.json"
    saved_text = queues.read_text(encoding="utf-8") if queues.is_file() else ""
    former = set(QUEUE_PORT.findall(saved_text)) - {str(port)}
    if not former:
        return
    address = re.compile(rf"\b(localhost|127\.0\.0\.1):(?:{'|'.join(sorted(former))})(?!\d)")
    for path in sorted(state.glob("*.json"), key=lambda path: path == queues):
        text = path.read_text(encoding="utf-8")
        write_private(path, address.sub(rf"\g<1>:{port}", text))


def answers(url: str, headers: Mapping[str, str] = MappingProxyType({})) -> bool:
    """True when a GET of `url` is answered with 2xx within a few seconds."""
    try:
        request = urllib.request.Request(url, headers=dict(headers))
        with urllib.request.urlopen(request, timeout=PROBE_SECONDS) as response:
            return 200 <= response.status < 300
    except (OSError, urllib.error.URLError, http.client.HTTPException):
        return False


def _is_worker(process: psutil.Process, function: str) -> bool:
    try:
        command = process.cmdline()
    except psutil.Error:
        return False
    return any(part.endswith(WORKER_SCRIPT) and function in part for part in command)
