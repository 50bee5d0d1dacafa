"""Connectors that are processes, and what the worst of them can do."""

import json
import os
import signal
import sys
import time
import tracemalloc
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.support.hosting import Hosting
from tests.support.processes import lives

from cairn.connectors.connector import Launch, Transport
from cairn.connectors.launching import command_of, environment_of
from cairn.connectors.lifecycle import FIRST_BACKOFF, MAX_RESTARTS
from cairn.connectors.port import (
    MAX_RESULT_BYTES,
    ConnectorState,
    ConnectorUnavailable,
    OutcomeUnknown,
)
from cairn.connectors.stdio import StdioWire
from cairn.kernel.ids import new_id

MISBEHAVING = Path(__file__).parents[2] / "support" / "misbehaving.py"
OURS = {
    "PATH": os.environ["PATH"],
    "HOME": "/home/somebody",
    "LANG": "C.UTF-8",
    "AWS_SECRET_ACCESS_KEY": "ours",
    "CAIRN_APP_DATABASE_URL": "ours",
}


@dataclass
class Processes:
    """A host whose connectors are processes; `notes` are the lines they leave."""

    folder: Path
    grace: float = 0.3
    wires: list[StdioWire] = field(default_factory=list[StdioWire])

    def __post_init__(self) -> None:
        self.hosting = Hosting(wires=self._wire)

    def add(self, name: str = "bad", start: str = "", **changes: Any) -> Path:
        notes = self.folder / f"{name}-{new_id()}.txt"
        self.hosting.register(
            name,
            transport=Transport.STDIO,
            builtin=None,
            command=(sys.executable, str(MISBEHAVING), str(notes), start),
            **changes,
        )
        return notes

    def _wire(self, launch: Launch) -> StdioWire:
        wire = StdioWire(
            command_of(launch),
            environment_of(launch, OURS),
            grace=self.grace,
        )
        self.wires.append(wire)
        return wire


@pytest.fixture
def processes(tmp_path: Path) -> Iterator[Processes]:
    processes = Processes(tmp_path)
    yield processes
    processes.hosting.host.close()


def gone(pid: int) -> bool:
    """Whether a process is gone within two seconds."""
    until = time.monotonic() + 2
    while lives(pid) and time.monotonic() < until:
        os.sched_yield()
    return not lives(pid)


def noted(notes: Path) -> list[int]:
    """The process ids a connector left."""
    lines = notes.read_text("utf-8").splitlines()
    return [int(line.removeprefix("pid ")) for line in lines if line.startswith("pid ")]


def test_a_process_answers(processes: Processes) -> None:
    processes.add()

    assert processes.hosting.call("bad.echo").text == "echo of echo"


def test_a_read_that_crashes_its_process_is_repeated_once(processes: Processes) -> None:
    notes = processes.add()

    assert processes.hosting.call("bad.crash_once").text == "echo of crash_once"
    assert notes.read_text().split("\n")[:4] == [
        "start",
        "call crash_once",
        "start",
        "call crash_once",
    ]
    assert processes.hosting.pauses == [FIRST_BACKOFF.total_seconds()]


def test_a_read_that_crashes_twice_says_that_nothing_happened(processes: Processes) -> None:
    notes = processes.add()

    with pytest.raises(ConnectorUnavailable) as refused:
        processes.hosting.call("bad.crash")

    assert refused.value.reason == "connector-crashed"
    assert notes.read_text().count("call") == 2


def test_a_write_that_crashes_is_never_repeated_and_its_outcome_is_unknown(
    processes: Processes,
) -> None:
    notes = processes.add()

    with pytest.raises(OutcomeUnknown) as unknown:
        processes.hosting.call("bad.write_crash")

    assert unknown.value.reason == "connector-crashed"
    assert notes.read_text().count("call") == 1


def test_a_write_that_happens_once_a_key_is_repeated_with_the_same_key(
    processes: Processes,
) -> None:
    notes, key = processes.add(), new_id()

    assert processes.hosting.call("bad.once_crash_once", key=key).text == "echo of once_crash_once"

    calls = [part for part in notes.read_text().split("\n") if part.startswith("call")]
    assert calls == [f"call once_crash_once {key}"] * 2


def test_a_repeatable_write_that_crashes_twice_is_unknown(processes: Processes) -> None:
    notes = processes.add()

    with pytest.raises(OutcomeUnknown):
        processes.hosting.call("bad.once_crash")

    assert notes.read_text().count("call") == 2


def test_a_process_killed_between_calls_is_started_again(processes: Processes) -> None:
    notes = processes.add()
    pid = int(processes.hosting.call("bad.pid", seconds=5).text)
    os.kill(pid, signal.SIGKILL)
    assert gone(pid)

    assert processes.hosting.call("bad.echo").text == "echo of echo"
    assert notes.read_text().count("start") == 2


@pytest.mark.parametrize("tool", ["write_echo", "once_echo"])
def test_a_write_after_a_kill_between_calls_is_sent_once(processes: Processes, tool: str) -> None:
    notes = processes.add()
    pid = int(processes.hosting.call("bad.pid").text)
    os.kill(pid, signal.SIGKILL)

    assert processes.hosting.call(f"bad.{tool}").text == f"echo of {tool}"
    assert notes.read_text().count(f"call {tool}") == 1


def test_a_hanging_read_is_given_up_and_the_next_one_gets_a_new_process(
    processes: Processes,
) -> None:
    notes = processes.add()

    with pytest.raises(ConnectorUnavailable) as refused:
        processes.hosting.call("bad.hang", seconds=0.2)

    assert refused.value.reason == "tool-timeout"
    assert processes.hosting.health("bad").state is ConnectorState.TIMEOUT
    assert processes.hosting.call("bad.echo").text == "echo of echo"
    assert notes.read_text().count("start") == 2


def test_a_hanging_write_is_unknown(processes: Processes) -> None:
    processes.add()

    with pytest.raises(OutcomeUnknown) as unknown:
        processes.hosting.call("bad.write_hang", seconds=0.2)

    assert unknown.value.reason == "tool-timeout"


@pytest.mark.parametrize("tool", ["huge", "huge_line"])
def test_ten_megabytes_are_cut_in_little_memory(processes: Processes, tool: str) -> None:
    processes.add()
    processes.hosting.call("bad.echo")

    tracemalloc.start()
    result = processes.hosting.call(f"bad.{tool}")
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert result.truncated
    assert result.is_error == (tool == "huge_line")
    assert len(result.text.encode()) <= MAX_RESULT_BYTES
    assert "[truncated by cairn: the result was 100" in result.text
    assert result.text.startswith("xxx" if tool == "huge" else "begin yyy")
    assert peak < 6_000_000
    assert processes.hosting.call("bad.echo").text == "echo of echo"


def test_lines_that_are_no_messages_are_passed_over(processes: Processes) -> None:
    processes.add(start="babbles")

    assert processes.hosting.call("bad.garbage").text == "after the garbage"


def test_endless_noise_counts_as_a_crash(processes: Processes) -> None:
    processes.add()

    with pytest.raises(ConnectorUnavailable) as refused:
        processes.hosting.call("bad.noisy_forever", seconds=20)

    assert refused.value.reason == "connector-crashed"


def test_a_line_without_an_end_counts_as_a_crash_and_ends_the_process(
    processes: Processes,
) -> None:
    notes = processes.add()

    with pytest.raises(ConnectorUnavailable) as refused:
        processes.hosting.call("bad.endless", seconds=20)

    assert refused.value.reason == "connector-crashed"
    assert [gone(pid) for pid in noted(notes)] == [True, True]


def test_what_a_crashed_process_started_ends_at_once(processes: Processes) -> None:
    notes = processes.add()

    with pytest.raises(ConnectorUnavailable):
        processes.hosting.call("bad.orphans")

    assert [gone(pid) for pid in noted(notes)] == [True, True]


def test_control_characters_and_escapes_do_not_come_through(processes: Processes) -> None:
    processes.add()

    assert processes.hosting.call("bad.control").text == "abredc\nd\te"


def test_a_text_cut_in_the_middle_of_a_character_is_still_an_answer(processes: Processes) -> None:
    processes.add()

    assert processes.hosting.call("bad.half", seconds=5).text == "cut in an emoji \ufffd"


def test_an_answer_that_is_none_counts_as_a_crash(processes: Processes) -> None:
    processes.add()

    with pytest.raises(ConnectorUnavailable):
        processes.hosting.call("bad.wrong_shape")


def test_a_second_answer_to_one_call_is_nobodys(processes: Processes) -> None:
    processes.add()

    assert processes.hosting.call("bad.two_answers").text == "first"
    assert processes.hosting.call("bad.echo").text == "echo of echo"


def test_a_child_gets_the_environment_that_is_listed_and_nothing_of_ours(
    processes: Processes,
) -> None:
    processes.add(config={"env": {"REGION": "north"}}, secrets={"TOKEN": "s3cret"})

    environment = json.loads(processes.hosting.call("bad.environment").text)

    environment.pop("LC_CTYPE", None)  # Python sets it for itself
    assert environment == {
        "PATH": OURS["PATH"],
        "LANG": "C.UTF-8",
        "REGION": "north",
        "TOKEN": "s3cret",
    }


def test_secrets_stand_in_no_process_listing(processes: Processes) -> None:
    processes.add(secrets={"TOKEN": "s3cret"})
    pid = int(processes.hosting.call("bad.pid").text)

    assert b"s3cret" not in Path(f"/proc/{pid}/cmdline").read_bytes()


def test_one_that_dies_at_once_is_not_started_and_says_why_without_its_secrets(
    processes: Processes,
) -> None:
    processes.add(start="dies", secrets={"PASSWORD": "hunter2"})

    with pytest.raises(ConnectorUnavailable) as refused:
        processes.hosting.call("bad.echo")

    health = processes.hosting.health("bad")
    assert refused.value.reason == "connector-not-started"
    assert health.error == "connector-not-started"
    assert health.detail == "cannot reach [secret] today"
    assert "hunter2" not in str(refused.value)


def test_one_that_cannot_be_found_is_not_started(processes: Processes) -> None:
    processes.hosting.register(
        "none", transport=Transport.STDIO, builtin=None, command=("/nowhere/at-all",)
    )

    with pytest.raises(ConnectorUnavailable) as refused:
        processes.hosting.call("none.echo")

    assert refused.value.reason == "connector-not-started"


def test_one_that_never_answers_the_handshake_is_given_up_and_killed(
    processes: Processes,
) -> None:
    processes.hosting.host._keeper.handshake_seconds = 0.5  # pyright: ignore
    processes.add(start="mute")

    with pytest.raises(ConnectorUnavailable) as refused:
        processes.hosting.call("bad.echo")

    assert refused.value.reason == "connector-not-started"
    assert gone(processes.wires[0].pid or 0)


def test_six_crashes_within_five_minutes_degrade_it(processes: Processes) -> None:
    notes, hosting = processes.add(), processes.hosting
    hosting.call("bad.echo")
    for _ in range(MAX_RESTARTS + 1):
        with pytest.raises(OutcomeUnknown):
            hosting.call("bad.write_crash")
        hosting.later(40)

    with pytest.raises(ConnectorUnavailable) as refused:
        hosting.call("bad.echo")

    assert refused.value.reason == "connector-degraded"
    assert hosting.health("bad").state is ConnectorState.DEGRADED
    assert notes.read_text().count("start") == MAX_RESTARTS + 1


def test_a_good_health_check_ends_a_degradation(processes: Processes) -> None:
    processes.add()
    hosting = processes.hosting
    hosting.call("bad.echo")
    for _ in range(MAX_RESTARTS + 1):
        with pytest.raises(OutcomeUnknown):
            hosting.call("bad.write_crash")
        hosting.later(40)

    health = hosting.host.check(hosting.workspace_id, "bad")

    assert health.state is ConnectorState.READY
    assert hosting.call("bad.echo").text == "echo of echo"


def test_a_failed_health_check_leaves_it_degraded(processes: Processes) -> None:
    processes.add(start="dies")
    hosting = processes.hosting
    for _ in range(MAX_RESTARTS + 1):
        hosting.host.check(hosting.workspace_id, "bad")

    assert hosting.host.check(hosting.workspace_id, "bad").state is ConnectorState.DEGRADED
    assert {label["connector"] for metric, label in hosting.told} == {"bad"}


def test_a_listing_changed_under_its_version_degrades_it(processes: Processes) -> None:
    notes, hosting = processes.add(start="changed"), processes.hosting
    hosting.call("bad.echo")
    hash_ = hosting.found("bad").listing.hash  # pyright: ignore

    with pytest.raises(OutcomeUnknown):
        hosting.call("bad.write_crash")
    with pytest.raises(ConnectorUnavailable) as refused:
        hosting.call("bad.echo", at=1)

    assert refused.value.reason == "connector-degraded"
    assert hosting.health("bad").error == "manifest-changed"
    assert hosting.found("bad").listing.hash == hash_  # pyright: ignore
    assert notes.read_text().count("call") == 2
    assert hosting.host.check(hosting.workspace_id, "bad").state is ConnectorState.DEGRADED


def test_one_that_lists_a_tool_of_another_is_refused(processes: Processes) -> None:
    processes.add(start="shadow")

    with pytest.raises(ConnectorUnavailable) as refused:
        processes.hosting.call("bad.echo")

    assert refused.value.reason == "connector-degraded"
    assert processes.hosting.health("bad").error == "manifest-tool-name"
    assert gone(processes.wires[0].pid or 0)


def test_closing_ends_every_process_even_one_that_ignores_sigterm(processes: Processes) -> None:
    processes.add("kind")
    processes.add("rude", start="stubborn")
    pids = [int(processes.hosting.call(f"{item}.pid").text) for item in ("kind", "rude")]

    processes.hosting.host.close()

    assert [lives(pid) for pid in pids] == [False, False]


def test_what_a_process_started_ends_with_it(processes: Processes) -> None:
    processes.add()
    grandchild = int(processes.hosting.call("bad.grandchild").text)

    processes.hosting.host.close()

    assert gone(grandchild)
