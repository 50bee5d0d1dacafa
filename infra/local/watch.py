"""Looking at the laptop cloud's processes: their state and their logs. Changes nothing."""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from infra.local.processes import Daemon

FOLLOW_SECONDS = 0.3


def service_state(daemon: Daemon, running: bool, where: str) -> dict[str, Any]:
    """One service: running, no answer, died or stopped; its pid, address and log."""
    process = daemon.process()
    silent = "no answer" if process else "died" if daemon.died() else "stopped"
    return {
        "state": "running" if running else silent,
        "pid": process.pid if process else None,
        "where": where,
        "log": str(daemon.log_file),
    }


def state_of_all(services: Mapping[str, Mapping[str, Any]]) -> str:
    """The state of the whole: running, incomplete or stopped."""
    running = [service["state"] == "running" for service in services.values()]
    return "running" if all(running) else "incomplete" if any(running) else "stopped"


def log_lines(files: Mapping[str, Path], *, follow: bool, lines: int) -> Iterator[str]:
    """The last lines of each file, then what is added; names in front when there are several."""
    prefix = {name: f"{name} | " if len(files) > 1 else "" for name in files}
    offsets: dict[str, int] = {}
    for name, path in files.items():
        text = path.read_bytes() if path.exists() else b""
        offsets[name] = len(text)
        for line in text.decode("utf-8", "replace").splitlines()[-lines:]:
            yield prefix[name] + line
    while follow:
        time.sleep(FOLLOW_SECONDS)
        for name, path in files.items():
            for line in _new_lines(path, offsets, name):
                yield prefix[name] + line


def _new_lines(path: Path, offsets: dict[str, int], name: str) -> list[str]:
    """Whole lines added since the offset; a file that became shorter is read from its start."""
    if not path.exists():
        return []
    with path.open("rb") as stream:
        if path.stat().st_size < offsets[name]:
            offsets[name] = 0
        stream.seek(offsets[name])
        added = stream.read()
    whole = added[: added.rfind(b"\n") + 1]
    offsets[name] += len(whole)
    return whole.decode("utf-8", "replace").splitlines()
