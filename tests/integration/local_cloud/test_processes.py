"""Background processes of the laptop cloud, found again by their pid files."""

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import psutil
from infra.local.layout import PROJECT
from infra.local.processes import Daemon
from infra.local.state import is_free
from tests.plugins.cloud import new_emulator
from tests.plugins.waiting import eventually
from tests.support.processes import lives

LISTENING = """
import socket, sys, threading
server = socket.create_server(("127.0.0.1", int(sys.argv[1])))
memory = bytearray(b"x") * 300_000_000
for _ in range(200):
    threading.Thread(target=threading.Event().wait).start()
"""


def test_who_was_killed_is_gone_with_its_port(tmp_path: Path) -> None:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    daemon = Daemon(name="x", pid_file=tmp_path / "x.json", log_file=tmp_path / "x.log")
    command = [sys.executable, "-c", LISTENING, str(port)]
    started = daemon.start(command, env=dict(os.environ), cwd=PROJECT)
    eventually(lambda: started.num_threads() > 200, what="the start")
    started.kill()
    while daemon.process() is not None:
        pass
    assert is_free(port)


def test_looking_at_a_process_while_it_ends_says_that_it_is_gone(tmp_path: Path) -> None:
    """Between finding a process and reading of it, it may go: nothing raises then."""
    emulator = new_emulator(tmp_path)
    for _ in range(100):
        short = subprocess.Popen(["true"])
        record = {"pid": short.pid, "started": psutil.Process(short.pid).create_time()}
        emulator.daemon.pid_file.write_text(json.dumps(record), encoding="utf-8")
        bury = threading.Thread(target=short.wait)
        bury.start()
        while lives(short.pid) or emulator.daemon.process():
            assert emulator.worker_pids() == []
        bury.join()
        emulator.save()
