"""Start, find and stop background processes by pid file. Knows nothing of what they serve.

A pid alone proves nothing after a crash or a reboot, so the file also keeps the process's start
time, and a process with another one is not ours.
"""

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import psutil

TERM_SECONDS = 5.0
POLL_SECONDS = 0.05
DYING_SECONDS = 5.0
"""How long a killed process may keep its ports: until the last of its threads has ended."""


class StartFailed(RuntimeError):
    """A process ended or stayed silent while we waited for it; the message ends with its log."""


@dataclass(frozen=True, kw_only=True)
class Daemon:
    """One background process of the laptop cloud."""

    name: str
    pid_file: Path
    log_file: Path

    def process(self) -> psutil.Process | None:
        """The running process, or None; a recycled pid counts as None."""
        try:
            saved = json.loads(self.pid_file.read_text(encoding="utf-8"))
            process = psutil.Process(int(saved["pid"]))
            if abs(process.create_time() - float(saved["started"])) > 1.0:
                return None
            if process.status() != psutil.STATUS_ZOMBIE:
                return process
            if process.ppid() == os.getpid():  # collect it, or others think that it lives
                process.wait(timeout=DYING_SECONDS)
            return None
        except (FileNotFoundError, ValueError, KeyError, TypeError, psutil.Error):
            return None

    def died(self) -> bool:
        """True when it was started and never stopped by us, but is gone."""
        return self.pid_file.exists() and self.process() is None

    def start(
        self, command: Sequence[str], *, env: Mapping[str, str], cwd: Path, log_append: bool = True
    ) -> psutil.Process:
        """Start `command` in its own session with its output in the log file."""
        with self.log_file.open("ab" if log_append else "wb") as log:
            child = subprocess.Popen(
                command,
                env=dict(env),
                cwd=cwd,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        child.returncode = 0  # it outlives us: nobody is to warn that it still runs
        started = psutil.Process(child.pid)
        record = {"pid": child.pid, "started": started.create_time(), "command": list(command)}
        self.pid_file.write_text(json.dumps(record), encoding="utf-8")
        return started

    def wait_until(self, ready: Callable[[], bool], *, seconds: float) -> None:
        """Return when `ready()` is true; raise StartFailed when it ends or takes too long."""
        deadline = time.monotonic() + seconds
        while not ready():
            if self.process() is None:
                raise StartFailed(f"{self.name} ended at its start\n{self.tail()}")
            if time.monotonic() > deadline:
                raise StartFailed(f"{self.name} gave no answer in {seconds:.0f} s\n{self.tail()}")
            time.sleep(POLL_SECONDS)

    def stop(
        self, *, gently: signal.Signals = signal.SIGTERM, seconds: float = TERM_SECONDS
    ) -> bool:
        """Ask to end, wait, kill; its children too. True when there was something to stop."""
        process = self.process()
        if process is not None:
            terminate(process, gently=gently, seconds=seconds)
        self.pid_file.unlink(missing_ok=True)
        return process is not None

    def tail(self, lines: int = 15) -> str:
        """The last lines of the log."""
        try:
            text = self.log_file.read_text(encoding="utf-8", errors="replace")
        except FileNotFoundError:
            return "(no log)"
        return "\n".join(text.splitlines()[-lines:])


def terminate(
    process: psutil.Process,
    *,
    gently: signal.Signals = signal.SIGTERM,
    seconds: float = TERM_SECONDS,
) -> None:
    """Signal the process, wait, then kill it and what is left of its children."""
    try:
        family = [process, *process.children(recursive=True)]
        process.send_signal(gently)
    except psutil.NoSuchProcess:
        return
    _, alive = psutil.wait_procs(family, timeout=seconds)
    for survivor in alive:
        with suppress(psutil.NoSuchProcess):
            survivor.kill()
    psutil.wait_procs(alive, timeout=TERM_SECONDS)
