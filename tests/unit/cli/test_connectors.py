"""`cairn connectors` over the real API, registry and host."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.hosting import said
from tests.unit.api.connector_fakes import ConnectorWorld
from tests.unit.api.fakes import World
from tests.unit.cli.fakes import Shell


@pytest.fixture
def world() -> Iterator[ConnectorWorld]:
    world = ConnectorWorld()
    yield world
    world.hosting.host.close()


@pytest.fixture
def shell(world: ConnectorWorld) -> Shell:
    return Shell(world=World(connecting=world))


def added(shell: Shell, folder: Path, *more: str) -> str:
    dsn = folder / "dsn"
    dsn.write_text("postgresql://desk:hunter2@db/shop\n", encoding="utf-8")
    asked = ("connectors", "add", "accounts", "--builtin", "accounts", "--in-process")
    return shell.run(*asked, "--secret", f"dsn=@{dsn}", *more).stdout


def test_a_connector_is_added_listed_and_shown(
    shell: Shell, world: ConnectorWorld, tmp_path: Path
) -> None:
    made = added(shell, tmp_path, "--scopes", "read: {allow: ['*']}", "--autonomy", "propose")

    assert "accounts" in made and "ready" in made and "2 tools" in made
    listed = shell.run("connectors", "list").stdout
    assert "accounts" in listed and "propose" in listed and "1.0.0" in listed
    shown = shell.run("connectors", "show", "accounts").stdout
    assert "secrets: dsn" in shown and "read: {allow: ['*']}" in shown
    assert "hunter2" not in made + listed + shown
    secrets = world.hosting.directory.launch(
        world.workspace_id, world.hosting.found("accounts").connector
    ).secrets
    assert secrets == {"dsn": "postgresql://desk:hunter2@db/shop"}


def test_a_secret_on_the_command_line_is_refused(shell: Shell) -> None:
    asked = ("connectors", "add", "accounts", "--builtin", "accounts", "--secret", "dsn=x")
    refused = shell.run(*asked)

    assert "process listing" in refused.stderr


def test_a_secret_is_asked_for(shell: Shell, world: ConnectorWorld) -> None:
    asked = ("connectors", "add", "accounts", "--builtin", "accounts", "--in-process")
    shell.run(*asked, "--secret", "token", stdin="s3cret\n")

    assert world.hosting.found("accounts").connector.secret_names == ("token",)


def test_one_secret_is_renewed_or_removed_and_the_others_stay(
    shell: Shell, world: ConnectorWorld, tmp_path: Path
) -> None:
    added(shell, tmp_path, "--secret", "token=@" + str(tmp_path / "dsn"))

    shell.run("connectors", "set", "accounts", "--secret", "token", stdin="new\n")

    assert world.hosting.found("accounts").connector.secret_names == ("dsn", "token")
    shell.run("connectors", "set", "accounts", "--no-secret", "token")
    assert world.hosting.found("accounts").connector.secret_names == ("dsn",)


def test_its_tools_are_listed_as_the_rules_read_them(shell: Shell, tmp_path: Path) -> None:
    added(shell, tmp_path)

    listed = shell.run("connectors", "tools", "accounts").stdout

    assert "accounts.reset" in listed and "write" in listed and "yes" in listed


def test_it_is_changed_checked_restarted_and_removed(
    shell: Shell, world: ConnectorWorld, tmp_path: Path
) -> None:
    added(shell, tmp_path)

    assert "autonomy act" in shell.run("connectors", "set", "accounts", "--autonomy", "act").stdout
    assert "nothing to change" in shell.run("connectors", "set", "accounts").stderr
    world.script.tools = world.script.tools[:1]
    checked = shell.run("connectors", "check", "accounts").stdout
    assert "degraded (manifest-changed)" in checked
    assert "1 tools" in shell.run("connectors", "restart", "accounts").stdout
    assert "removed" in shell.run("connectors", "remove", "accounts").stdout
    assert json.loads(shell.run("connectors", "list", "--json").stdout) == []


def test_a_tool_is_tried_out(shell: Shell, world: ConnectorWorld, tmp_path: Path) -> None:
    added(shell, tmp_path)
    world.script.answers["find"] = [said("Ada"), said("nobody", failed=True)]
    arguments = '{"user": "ada"}'

    assert shell.run("connectors", "call", "accounts.find", arguments).stdout == "Ada\n"
    failed = shell.run("connectors", "call", "accounts.find", '{"user": "x"}')
    assert failed.stdout == "nobody\n"
    refused = shell.run("connectors", "call", "accounts.reset", arguments)
    assert "without a dry run" in refused.stderr
    dry = shell.run("connectors", "call", "accounts.reset", arguments, "--dry-run")
    assert dry.stdout == "done\n"
    assert "connector.tool" in shell.run("connectors", "call", "accounts").stderr
