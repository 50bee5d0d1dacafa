"""What is deployed into the emulator outlives its stop, and its kill once it was saved."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from infra.local.cloud import aws_client
from tests.plugins.cloud import new_emulator
from tests.plugins.waiting import eventually

if TYPE_CHECKING:
    from infra.local.emulator import Emulator


@pytest.fixture
def emulator(tmp_path: Path) -> Iterator["Emulator"]:
    emulator = new_emulator(tmp_path)
    emulator.start()
    yield emulator
    emulator.stop()


def queues(emulator: "Emulator") -> list[str]:
    return aws_client(emulator.endpoint, "sqs").list_queues().get("QueueUrls", [])


def test_a_stop_keeps_what_was_made(emulator: "Emulator") -> None:
    aws_client(emulator.endpoint, "sqs").create_queue(QueueName="kept")
    assert emulator.stop()
    assert emulator.start()
    assert [url.rsplit("/", 1)[1] for url in queues(emulator)] == ["kept"]


def test_a_kill_keeps_what_was_saved(emulator: "Emulator") -> None:
    aws_client(emulator.endpoint, "sqs").create_queue(QueueName="saved")
    emulator.save()
    state = emulator.base / "state"
    eventually(lambda: list(state.glob("sqs*")), what="the saved state")
    server = emulator.daemon.process()
    assert server is not None
    os.kill(server.pid, signal.SIGKILL)
    assert emulator.start()
    assert [url.rsplit("/", 1)[1] for url in queues(emulator)] == ["saved"]


def test_a_second_start_finds_it_running(emulator: "Emulator") -> None:
    assert not emulator.start()
