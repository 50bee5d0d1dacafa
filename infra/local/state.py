"""What the laptop cloud remembers between runs: ports and random secrets. Not what is running."""

import fcntl
import json
import secrets
import socket
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from infra.local.layout import Layout

FIRST_API_PORT = 8080
FIRST_EMULATOR_PORT = 4566
PORTS_TRIED = 200


def _secret() -> str:
    return secrets.token_hex(24)


@dataclass(frozen=True, kw_only=True)
class State:
    """Kept in `.local/state.json`, mode 600: nothing in it is a default or derived from a name."""

    root: str
    superuser_password: str = field(default_factory=_secret, repr=False)
    owner_password: str = field(default_factory=_secret, repr=False)
    app_password: str = field(default_factory=_secret, repr=False)
    emulator_secret: str = field(default_factory=_secret, repr=False)
    metrics_token: str = field(default_factory=_secret, repr=False)
    api_port: int = 0
    emulator_port: int = 0
    opensearch: bool = False
    opensearch_port: int = 0
    opensearch_password: str = field(default_factory=_secret, repr=False)
    embedder: dict[str, str] = field(default_factory=dict[str, str])
    """Settings of the embedder that `cairn reembed --switch` chose; empty for the default."""
    deployed: str = ""
    """Hash of what the last deployment was made of; empty when unknown."""


def load(layout: Layout) -> State:
    """The saved state, or a new one when there is none or it is not readable."""
    try:
        saved: dict[str, Any] = json.loads(_path(layout).read_text(encoding="utf-8"))
        names = {field.name for field in fields(State)}  # an earlier version may have kept more
        return State(**{name: value for name, value in saved.items() if name in names})
    except (FileNotFoundError, ValueError, TypeError, AttributeError):
        return State(root=str(layout.base))


def save(layout: Layout, state: State) -> State:
    """Write `state` so that only the user can read it, and return it."""
    write_private(_path(layout), json.dumps(asdict(state), indent=2) + "\n")
    return state


def write_private(path: Path, text: str) -> None:
    """Write a file of mode 600, whole or not at all."""
    draft = path.with_name(path.name + ".draft")
    draft.unlink(missing_ok=True)
    draft.touch(mode=0o600)
    draft.write_text(text, encoding="utf-8")
    draft.replace(path)


@contextmanager
def locked(path: Path) -> Generator[None]:
    """One process at a time; a second one waits until the first has left."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def free_port(preferred: int, first: int) -> int:
    """`preferred` when nobody listens on it, else the first free port from `first` on."""
    candidates = [preferred] if preferred else []
    for port in [*candidates, *range(first, first + PORTS_TRIED)]:
        if is_free(port):
            return port
    raise RuntimeError(f"no free port between {first} and {first + PORTS_TRIED}")


def is_free(port: int) -> bool:
    """Whether a server could listen on this port of 127.0.0.1 now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def _path(layout: Layout) -> Path:
    return layout.base / "state.json"
