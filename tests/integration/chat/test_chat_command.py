"""`cairn chat` as a process, against the API on a socket and a model on the wire."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

import pytest
import uvicorn
from tests.integration.chat.test_chat_front import HI, asked_of_chat, front, led, model
from tests.plugins.waiting import eventually
from tests.support.chat_wire import Say

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.plugins.postgres import Database
    from tests.support.chat_wire import ChatServer
    from tests.support.front import Front

__all__ = ["front", "led", "model"]

COMMAND = str(Path(sys.executable).with_name("cairn"))


@pytest.fixture
def address(led: Front) -> Iterator[str]:
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(led.app, log_level="error", lifespan="off"))
    thread = Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    eventually(lambda: server.started, what="the server")
    yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    server.should_exit = True
    thread.join(10)
    listening.close()


def test_ctrl_c_in_a_chat_stops_the_turn_on_the_server(
    model: ChatServer, led: Front, address: str, database: Database
) -> None:
    model.says.append(Say(text="late", hang=True))
    given = {"CAIRN_URL": address, "CAIRN_API_KEY": led.key, "PATH": os.environ["PATH"]}
    with subprocess.Popen(
        [COMMAND, "chat", HI],
        env=given,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as chatting:
        eventually(lambda: bool(asked_of_chat(model)), seconds=60, what="the model's turn")
        chatting.send_signal(signal.SIGINT)
        told, problem = chatting.communicate(timeout=60)
    assert chatting.returncode not in (0, None)
    assert "aborted" in problem and not re.search("Traceback|late", told + problem)
    with database.connect_as_superuser() as root:
        ((state,),) = root.execute("SELECT state FROM chat_turn").fetchall()
    assert state == "aborted"
