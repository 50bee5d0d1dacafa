"""Which commands run as connectors: those that the machine's owner allowed, and no others."""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest
from tests.support.hosting import Hosting
from tests.support.platform import platform_of
from tests.unit.cli.fakes import Shell

from cairn.bootstrap.connectors import ConnectorWires, connector_registry
from cairn.connectors.connector import Transport
from cairn.connectors.port import ConnectorState
from cairn.connectors.registry import Connectors
from cairn.connectors.requests import ConnectorChange, NewConnector
from cairn.kernel.errors import ValidationFailed

MISBEHAVING = str(Path(__file__).parents[2] / "support" / "misbehaving.py")


@dataclass(frozen=True)
class Settings:
    connector_commands: Path | None
    stage: Literal["local", "prod"] = "local"
    webhooks: Literal["off", "public", "private"] = "public"


@dataclass
class Machine:
    """A machine with a list of commands, and a workspace whose admin registers connectors."""

    folder: Path

    def __post_init__(self) -> None:
        self.file = self.folder / "commands.json"
        self.shell = Shell(settings={"connector_commands": self.file})
        self.notes = self.folder / "notes.txt"
        self.command = (sys.executable, MISBEHAVING, str(self.notes), "ready")
        settings = Settings(self.file)
        self.hosting = Hosting(wires=ConnectorWires(settings))
        self.registry = self.registry_of(settings)

    def registry_of(self, settings: Settings) -> Connectors:
        keys = self.hosting.secrets.keys
        platform = platform_of(self.hosting.transactions, keys=keys)
        return connector_registry(settings, self.hosting.host, platform)

    def allow(self, *arguments: str) -> None:
        done = self.shell.run("connectors", "allow", *arguments)
        assert done.exit_code == 0, done.output

    def register(self, **changes: object) -> ConnectorState:
        fields = {"name": "tool", "command": self.command, **changes}
        new = NewConnector(**fields)  # type: ignore[arg-type]
        return self.registry.register(self.hosting.principal, new).health.state

    def refusal(self, **changes: object) -> tuple[str, str]:
        with pytest.raises(ValidationFailed) as refused:
            self.register(**changes)
        assert not self.notes.exists()  # nothing ran
        place = refused.value.errors[0].location if refused.value.errors else ""
        return place, refused.value.detail


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    machine = Machine(tmp_path)
    yield machine
    machine.hosting.host.close()


def test_a_command_runs_once_its_owner_allowed_it_and_no_other_does(machine: Machine) -> None:
    place, says = machine.refusal()
    assert (place, "cairn connectors allow" in says) == ("command", True)
    machine.allow("--", *machine.command)
    assert machine.register() is ConnectorState.READY
    for other in [
        (*machine.command, "more"),
        machine.command[:-1],
        ("python3", *machine.command[1:]),
        ("sh", "-c", "id"),
    ]:
        with pytest.raises(ValidationFailed):
            machine.register(name="other", command=other)


def test_a_variable_is_given_only_when_its_name_was_allowed(machine: Machine) -> None:
    """LD_PRELOAD, PATH or PYTHONPATH would make another program of an allowed one."""
    machine.allow("--env", "TOKEN", "--env", "NOTE", "--", *machine.command)
    for name in ("LD_PRELOAD", "LD_LIBRARY_PATH", "PATH", "PYTHONPATH", "PYTHONSTARTUP", "HOME"):
        assert machine.refusal(config={"env": {name: "/tmp/evil"}})[0] == "config.env"
        assert machine.refusal(secrets={name: "/tmp/evil"})[0] == "config.env"
    given = {"config": {"env": {"NOTE": "a"}}, "secrets": {"TOKEN": "correct-horse"}}
    assert machine.register(**given) is ConnectorState.READY
    evil = ConnectorChange(
        config={"env": {"LD_PRELOAD": "/tmp/evil"}}, secrets={"TOKEN": "new-one"}
    )
    with pytest.raises(ValidationFailed):
        machine.registry.change(machine.hosting.principal, "tool", evil)


def test_a_command_that_is_disallowed_is_refused_at_its_next_start(machine: Machine) -> None:
    machine.allow("--", *machine.command)
    assert machine.register() is ConnectorState.READY
    assert machine.shell.run("connectors", "disallow", "--", *machine.command).exit_code == 0
    shown = machine.registry.restart(machine.hosting.principal, "tool")
    assert shown.health.error == "connector-not-started"
    assert "cairn connectors allow" in (shown.health.detail or "")
    assert machine.shell.run("connectors", "disallow", "--", *machine.command).exit_code == 1


def test_a_connector_kept_from_before_is_looked_at_when_it_starts(machine: Machine) -> None:
    machine.hosting.register(
        "old", transport=Transport.STDIO, builtin=None, command=machine.command
    )
    health = machine.hosting.host.check(machine.hosting.workspace_id, "old")
    assert (health.error, machine.notes.exists()) == ("connector-not-started", False)


@pytest.mark.parametrize("made", ["file", "folder"])
@pytest.mark.parametrize("mode", [0o020, 0o002])
def test_a_list_that_others_could_write_allows_nothing(
    machine: Machine, made: str, mode: int
) -> None:
    machine.allow("--", *machine.command)
    path = machine.file if made == "file" else machine.folder
    path.chmod(path.stat().st_mode | mode)
    assert "can be written by others" in machine.refusal()[1]
    assert machine.shell.run("connectors", "allow", "--", "true").exit_code == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a file away")
def test_a_list_of_another_user_allows_nothing(machine: Machine) -> None:
    machine.allow("--", *machine.command)
    os.chown(machine.file, 65534, 65534)
    assert "can be written by others" in machine.refusal()[1]


@pytest.mark.parametrize("text", ["{half", "[]", '{"commands": [{"command": ["true"]}]}', "null"])
def test_a_damaged_list_allows_nothing(machine: Machine, text: str) -> None:
    machine.file.write_text(text, encoding="utf-8")
    machine.file.chmod(0o600)
    assert "damaged" in machine.refusal()[1]


def test_on_aws_no_list_is_read(machine: Machine) -> None:
    machine.allow("--", *machine.command)
    machine.registry = machine.registry_of(Settings(machine.file, stage="prod"))
    assert "only bundled connectors" in machine.refusal()[1]


def test_what_is_allowed_is_listed_in_a_file_of_its_owner(machine: Machine) -> None:
    machine.allow("--env", "B", "--env", "A", "--", "true", "--quiet")
    machine.allow("--", "true", "--quiet")
    listed = json.loads(machine.shell.run("connectors", "allowed", "--json").stdout)
    assert [(item["command"], item["variables"]) for item in listed] == [(["true", "--quiet"], [])]
    assert Path(listed[0]["program"]).is_absolute()
    assert machine.file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "arguments",
    [
        ("--", "no-such-program-anywhere"),
        ("--env", "CAIRN_API_KEY", "--", "true"),
        ("--env", "no name", "--", "true"),
        ("--", "true", "notes-of-here.txt"),
    ],
)
def test_what_could_not_run_as_it_reads_is_not_allowed(
    machine: Machine, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    monkeypatch.chdir(machine.folder)
    Path("notes-of-here.txt").touch()
    assert machine.shell.run("connectors", "allow", *arguments).exit_code == 1
    assert not machine.file.exists()
