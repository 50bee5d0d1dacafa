"""Every command has `--json`, and those that end or decide something print the API's answer."""

import json
from collections.abc import Iterator

import pytest
import typer
from tests.unit.cli.fakes import Shell
from typer.core import TyperCommand, TyperGroup

from cairn.cli.main import app

WITHOUT = {"mcp", "bench", "channels manifest"}  # the last writes a package of files
"""One speaks MCP on standard output, the other is an application of its own."""


def commands(group: TyperGroup, *path: str) -> Iterator[tuple[str, TyperCommand]]:
    for name, one in group.commands.items():
        if isinstance(one, TyperGroup):
            yield from commands(one, *path, name)
        else:
            assert isinstance(one, TyperCommand)
            yield " ".join((*path, name)), one


def test_every_command_takes_json() -> None:
    root = typer.main.get_command(app)
    assert isinstance(root, TyperGroup)
    lacking = {
        name
        for name, one in commands(root)
        if not any("--json" in option.opts for option in one.params)
    }
    assert lacking == WITHOUT


@pytest.mark.parametrize(
    ("made", "ended"),
    [
        (("grants", "make", "a.b", "-r", "Harmless."), ("grants", "revoke")),
        (("tickets", "add", "Cannot sign in"), ("tickets", "requeue")),
    ],
)
def test_what_ends_something_answers_in_json(made: tuple[str, ...], ended: tuple[str, ...]) -> None:
    shell = Shell()
    one = json.loads(shell.run(*made, "--json").stdout)["id"]
    done = shell.run(*ended, one, "--json")
    assert json.loads(done.stdout)["id"] == one, done.stderr


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (("approvals", "list"), "nothing waits for a person"),
        (("approvals", "list", "--state", "edited"), "no question is in this state"),
        (("investigations", "list"), "cairn tickets add TITLE"),
        (("tool-calls",), "no tool was called"),
        (("grants", "list"), "agents ask each time"),
    ],
)
def test_where_nothing_is_a_list_says_so_and_its_json_is_empty(
    asked: tuple[str, ...], said: str
) -> None:
    shell = Shell()
    assert said in shell.run(*asked).stdout
    assert json.loads(shell.run(*asked, "--json").stdout) == []
