"""`cairn graph` against the API in process: trees, drawings, JSON and PROV."""

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.unit.api.fakes import World
from tests.unit.cli.fakes import Shell


@pytest.fixture
def shell() -> Shell:
    world = World()
    graph = world.graphs.planted
    graph.plant(
        [
            graph.node("STRIPE"),
            graph.node("failed", label="Event", kind="tool.error", text="The [payout] failed."),
            graph.node("cause", text="The account was not verified."),
        ],
        [graph.edge("failed", "REFERENCES", "STRIPE"), graph.edge("failed", "CAUSED_BY", "cause")],
    )
    return Shell(world=world)


def id_of(shell: Shell, name: str) -> str:
    return str(shell.world.graphs.planted.id(name))


def test_a_question_is_answered_with_a_tree(shell: Shell) -> None:
    shown = shell.run("graph", "query", "Why did Stripe fail?")
    assert shown.exit_code == 0, shown.output
    lines = shown.stdout.splitlines()
    assert "Why did Stripe fail?" in lines[0]
    assert "STRIPE" in lines[1]
    assert "REFERENCES" in lines[2]
    assert "The [payout] failed." in lines[2]
    assert "CAUSED_BY" in lines[3]
    assert lines[3].index("CAUSED_BY") > lines[2].index("REFERENCES") > 0
    assert "intent_weighted; why 0.70; 3 of at most 100 nodes" in shown.stdout


def test_what_is_unknown_is_said_and_no_failure(shell: Shell) -> None:
    shown = shell.run("graph", "query", "--node", "00000000-0000-0000-0000-000000000009")
    assert shown.exit_code == 0
    assert "nothing was found" in shown.stdout
    assert "1 of node_ids are unknown" in shown.stdout


def test_a_drawing_goes_into_a_file(shell: Shell, tmp_path: Path) -> None:
    file = tmp_path / "graph.svg"
    shown = shell.run("graph", "query", "Why did Stripe fail?", "--svg", str(file), "--json")
    assert shown.exit_code == 0
    assert len(json.loads(shown.stdout)["nodes"]) == 3
    assert ElementTree.fromstring(file.read_text(encoding="utf-8")).tag.endswith("svg")


def test_a_lineage_is_a_tree_from_the_node(shell: Shell) -> None:
    shown = shell.run("graph", "lineage", id_of(shell, "failed"))
    assert shown.exit_code == 0, shown.output
    assert "CAUSED_BY" in shown.stdout
    assert "The account was not verified." in shown.stdout
    back = shell.run("graph", "lineage", id_of(shell, "cause"), "--direction", "descendants")
    assert "The [payout] failed." in back.stdout


def test_a_lineage_is_printed_as_prov(shell: Shell) -> None:
    shown = shell.run("graph", "lineage", id_of(shell, "failed"), "--prov")
    document = json.loads(shown.stdout)
    assert set(document) == {"prefix", "activity", "entity", "used"}


@pytest.mark.parametrize(
    "command",
    [
        ("graph", "query"),
        ("graph", "query", "x", "--depth", "11"),
        ("graph", "query", "x", "--intent", "wherefore"),
        ("graph", "lineage", "00000000-0000-0000-0000-000000000009"),
        ("graph", "lineage", "00000000-0000-0000-0000-000000000009", "--direction", "up"),
    ],
)
def test_what_the_api_refuses_is_an_error_in_one_line(
    shell: Shell, command: tuple[str, ...]
) -> None:
    shown = shell.run(*command)
    assert shown.exit_code == 1
    assert "error: " in shown.stderr
