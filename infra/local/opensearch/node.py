"""One OpenSearch node on 127.0.0.1: its libraries, its process, its health. No index of ours.

It answers those who have its password; every user of the machine can reach its port.
It needs Java 17 or newer and Maven, which this project does not bring.
"""

import base64
import hashlib
import json
import os
import re
import shutil
import subprocess
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from pathlib import Path

from infra.local.processes import Daemon, StartFailed
from infra.local.state import locked

HERE = Path(__file__).parent
POM = HERE / "pom.xml"
PROGRAM = HERE / "LocalNode.java"
OLDEST_JAVA = 17
HEAP = "512m"
START_SECONDS = 90.0
FETCH_SECONDS = 600
FIRST_PORT = 9200
UNAUTHORIZED = 401
USER = "cairn"
PASSWORD = "CAIRN_OPENSEARCH_PASSWORD"


@dataclass(frozen=True, kw_only=True)
class Tools:
    """Where Java and Maven are, or why OpenSearch cannot run here."""

    java: str = ""
    maven: str = ""
    missing: str = ""


def find_tools() -> Tools:
    """Look for Java (JAVA_HOME first) and Maven on this machine."""
    home = os.environ.get("JAVA_HOME", "")
    own = Path(home) / "bin" / "java"
    java = str(own) if home and own.is_file() else shutil.which("java")
    maven = shutil.which("mvn")
    missing = [name for name, path in (("java", java), ("mvn", maven)) if not path]
    if not java or not maven:
        return Tools(
            missing=f"OpenSearch needs Java {OLDEST_JAVA} or newer and Maven: "
            f"{' and '.join(missing)} not found on the PATH"
        )
    version = _java_version(java)
    if version < OLDEST_JAVA:
        return Tools(missing=f"OpenSearch needs Java {OLDEST_JAVA} or newer: {java} is {version}")
    return Tools(java=java, maven=maven)


def _java_version(java: str) -> int:
    done = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    match = re.search(r'version "(\d+)', done.stderr)
    return int(match.group(1)) if match else 0


@dataclass(frozen=True, kw_only=True)
class SearchNode:
    """One node: `libraries` may be shared by several, `data` is its own."""

    libraries: Path
    data: Path
    port: int
    password: str = field(repr=False)
    daemon: Daemon

    @property
    def address(self) -> str:
        """Where it answers."""
        return f"http://127.0.0.1:{self.port}"

    @property
    def url(self) -> str:
        """Where it answers, with what it asks for: a secret."""
        return f"http://{USER}:{self.password}@127.0.0.1:{self.port}"

    def start(self) -> bool:
        """Start it if it is not up; StartFailed with the reason when it cannot be."""
        if self.is_running():
            return False
        tools = find_tools()
        if tools.missing:
            raise StartFailed(tools.missing)
        fetch(self.libraries, tools.maven)
        self.daemon.stop()
        self.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.daemon.start(
            [
                tools.java,
                f"-Xms{HEAP}",
                f"-Xmx{HEAP}",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                f"{self.libraries}/*",
                str(PROGRAM),
                str(self.data),
                str(self.port),
            ],
            env={PASSWORD: self.password}
            | {name: os.environ[name] for name in ("HOME", "LANG", "PATH") if name in os.environ},
            cwd=self.data,
        )
        self.daemon.wait_until(self.is_healthy, seconds=START_SECONDS)
        return True

    def stop(self) -> bool:
        """Let it close its indexes, then end it."""
        return self.daemon.stop(seconds=15.0)

    def is_running(self) -> bool:
        """True when our process lives and answers us, well or not, and nobody else."""
        return self.daemon.process() is not None and self._health() is not None and self._asks()

    def is_healthy(self) -> bool:
        """True when the node has a cluster and no index is red."""
        return self._health() in {"green", "yellow"}

    def _health(self) -> str | None:
        credentials = base64.b64encode(f"{USER}:{self.password}".encode()).decode()
        headers = {"Authorization": f"Basic {credentials}"}
        request = urllib.request.Request(f"{self.address}/_cluster/health", headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=2) as answer:
                return str(json.load(answer)["status"])
        except (OSError, ValueError, KeyError):
            return None

    def _asks(self) -> bool:
        """Return whether who has no password is refused; a node of before lets everybody in."""
        try:
            urllib.request.urlopen(self.address, timeout=2).close()
        except urllib.error.HTTPError as refused:
            return refused.code == UNAUTHORIZED
        except OSError:
            return False
        return False


def fetch(libraries: Path, maven: str) -> None:
    """Have Maven copy the node's libraries; at once when they are those of the pom.

    Of two that ask at once the second waits: it must not replace what the first runs from.
    """
    digest = hashlib.sha256(POM.read_bytes()).hexdigest()
    stamp = libraries.with_suffix(".stamp")
    with locked(libraries.with_suffix(".lock")):
        if libraries.is_dir() and stamp.is_file() and stamp.read_text(encoding="utf-8") == digest:
            return
        _copy_libraries(libraries, maven)
        stamp.write_text(digest, encoding="utf-8")


def _copy_libraries(libraries: Path, maven: str) -> None:
    draft = libraries.with_name(f"{libraries.name}.{os.getpid()}")
    command = [maven, "--batch-mode", "--quiet", "--file", str(POM)]
    command += ["dependency:copy-dependencies", f"-DoutputDirectory={draft}"]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=FETCH_SECONDS, check=False
    )
    if done.returncode:
        tail = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise StartFailed(f"Maven could not fetch OpenSearch\n{tail}")
    shutil.rmtree(libraries, ignore_errors=True)
    draft.rename(libraries)
