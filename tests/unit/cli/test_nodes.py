"""`cairn nodes` and `cairn entities`, over the real API in process."""

import json
from typing import Any

import pytest
from tests.unit.api.fakes import World
from tests.unit.cli.fakes import Shell


def made(shell: Shell, *arguments: str) -> dict[str, Any]:
    done = shell.run(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def entity(shell: Shell, name: str) -> str:
    return made(shell, "nodes", "add", "Entity", "--kind", "person", "--name", name)["id"]


def test_a_node_is_added_listed_and_shown() -> None:
    world = World()
    shell = Shell(world=world)
    problem = made(shell, "nodes", "add", "Problem", "Logins [fail].")["id"]
    more = ["--properties", '{"owner": "platform"}', "--edge", f"solves:{problem}"]
    done = made(shell, "nodes", "add", "Runbook", "Clear sessions.", *more)
    assert (done["outcome"], done["edges"]) == ("created", 1)
    listed = shell.run("nodes", "list", "Problem", "--where", "owner.team!=a,b", "--where", "!due")
    conditions = [(each.path, each.op, each.value) for each in world.known.conditions]
    assert conditions == [(("owner", "team"), "ne", "a,b"), (("due",), "exists", False)]
    assert "Logins [fail]." in listed.stdout
    shown = shell.run("nodes", "show", done["id"]).stdout
    assert "SOLVES" in shown
    assert "1 edges" in shown
    assert made(shell, "nodes", "show", problem)["text"] == "Logins [fail]."


def test_an_edge_may_lead_from_a_node() -> None:
    shell = Shell(world=World())
    task = made(shell, "nodes", "add", "Step", "Look.")["id"]
    done = made(shell, "nodes", "add", "Finding", "Seen.", "--edge", f"{task}:PRODUCED")
    assert done["edges"] == 1


@pytest.mark.parametrize(
    "wrong",
    [
        ["--properties", "{"],
        ["--properties", "[1]"],
        ["--edge", "SOLVES"],
        ["--edge", "SOLVE:019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e"],
    ],
)
def test_what_is_wrong_is_said_in_a_line(wrong: list[str]) -> None:
    done = Shell(world=World()).run("nodes", "add", "Runbook", "x", *wrong)
    assert done.exit_code == 1
    assert "Traceback" not in done.output


def test_entities_are_listed_shown_and_corrected() -> None:
    shell = Shell(world=World())
    one, two = entity(shell, "Acme"), entity(shell, "Acme Corp")
    assert "Acme Corp" in shell.run("entities", "list").stdout
    assert "person" in shell.run("entities", "show", one).stdout
    assert "added" in shell.run("entities", "alias", one, "ACME Ltd").stdout
    assert "removed" in shell.run("entities", "alias", one, "ACME Ltd", "--remove").stdout
    assert made(shell, "entities", "merge", one, two)["id"] == two
    assert made(shell, "entities", "split", two, "--undo", one)["id"] == one
    refused = shell.run("entities", "split", two)
    assert refused.exit_code == 1
    assert "--undo" in refused.output
