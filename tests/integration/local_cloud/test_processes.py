"""Background processes of the laptop cloud, found again by their pid files."""

import os
import socket
import sys
from pathlib import Path

from infra.local.layout import PROJECT
from infra.local.processes import Daemon
from infra.local.state import is_free
from tests.plugins.waiting import eventually

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
