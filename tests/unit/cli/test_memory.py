"""`cairn memory import` and `cairn audit-memory`: over the API, and without it."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.unit.api.fakes import World, memory
from tests.unit.api.numbers_fakes import NumbersWorld
from tests.unit.cli.fakes import AppTransport, Shell
from tests.unit.memories.foreign.test_graphiti import GRAPH
from tests.unit.memories.foreign.test_mem0 import MEMORY

from cairn.rebuild.missing_keys import Orphan

SECRET = "ghp_" + "a1B2" * 9


def export(folder: Path, *memories: dict[str, Any]) -> str:
    path = folder / "export.json"
    path.write_text(json.dumps({"results": memories}), encoding="utf-8")
    return str(path)


def test_memories_go_through_the_api_as_any_write(tmp_path: Path) -> None:
    shell = Shell()
    shown = shell.run(
        "memory", "import", "--from", "mem0", export(tmp_path, MEMORY), "--client", "acme", "--json"
    )
    assert shown.exit_code == 0
    told = json.loads(shown.stdout)
    assert told["read"] == 1
    assert sum(told["outcomes"].values()) == 1
    [sent] = shell.world.written
    assert sent.text == MEMORY["memory"]
    assert sent.client_id == "acme"
    assert sent.data_subjects == ("alice",)
    assert sent.valid_from is not None


def test_a_dry_run_sends_nothing_and_says_what_would_be_refused(tmp_path: Path) -> None:
    shell = Shell()
    bad = [
        MEMORY | {"id": "nul", "memory": "a\u0000b"},
        MEMORY | {"id": "half", "memory": "a\ud800b"},
        MEMORY | {"id": "long", "memory": "a" * 40_000},
        MEMORY | {"id": "wrong", "memory": 7},
    ]
    path = export(tmp_path, MEMORY, MEMORY, MEMORY | {"memory": f"token {SECRET}"}, *bad)
    shown = shell.run("memory", "import", "--from", "mem0", path, "--dry-run", "--json")
    assert shown.exit_code == 1
    told = json.loads(shown.stdout)
    assert told["outcomes"] == {"duplicate in the file": 1, "would be written": 2}
    assert (told["refused"], told["unreadable"]) == (3, 1)
    assert {example["record"] for example in told["examples"]} == {
        "results[3] (nul)", "results[4] (half)", "results[5] (long)", "results[6]",
    }  # fmt: skip
    assert sum(told["scrubbed"].values()) == 1
    assert not shell.world.written
    assert SECRET not in shown.output


def test_what_cannot_be_sent_is_named_and_the_others_are_sent(tmp_path: Path) -> None:
    shell = Shell()
    bad = [MEMORY | {"id": "half", "memory": "a\ud800b"}, MEMORY | {"memory": "a\u0000b"}]
    path = export(tmp_path, *bad, MEMORY)
    shown = shell.run("memory", "import", "--from", "mem0", path, "--json")
    assert shown.exit_code == 1
    told = json.loads(shown.stdout)
    assert told["refused"] == 2
    assert told["examples"][0]["record"] == "results[0] (half)"
    assert [item.text for item in shell.world.written] == [MEMORY["memory"]]


def test_many_and_long_memories_go_in_requests_of_a_bounded_size(tmp_path: Path) -> None:
    shell = Shell()
    transport = AppTransport(shell.world)
    shell.transport = transport
    many = [MEMORY | {"id": str(n), "memory": f"{n} " + "word " * 6_000} for n in range(40)]
    shown = shell.run("memory", "import", "--from", "mem0", export(tmp_path, *many), "--json")
    assert shown.exit_code == 0
    assert len(shell.world.written) == 40
    assert transport.seen.count("POST /v1/memories") == 3


def test_people_read_a_table_and_the_bad_records(tmp_path: Path) -> None:
    path = export(tmp_path, MEMORY, MEMORY | {"memory": None})
    shown = Shell().run("memory", "import", "--from", "mem0", path, "--dry-run")
    assert "would be written" in shown.stdout
    assert "results[1]: memory is missing" in shown.stderr


@pytest.mark.parametrize(
    ("content", "message"),
    [('{"results": [', "is not whole JSON"), ("", "is empty")],
)
def test_a_file_that_is_no_json_is_one_line_and_exit_status_1(
    tmp_path: Path, content: str, message: str
) -> None:
    path = tmp_path / "half.json"
    path.write_text(content, encoding="utf-8")
    shown = Shell().run("memory", "import", "--from", "graphiti", str(path))
    assert shown.exit_code == 1
    assert message in shown.stderr


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    shown = Shell().run("memory", "import", "--from", "mem0", str(tmp_path / "none.json"))
    assert shown.exit_code == 1
    assert "is not there" in shown.stderr


def test_an_export_is_audited_without_an_api(tmp_path: Path) -> None:
    path = export(
        tmp_path,
        MEMORY | {"id": "a", "memory": "The harbour crane opens every day at nine"},
        MEMORY | {"id": "b", "memory": "Every day the harbour crane opens at nine"},
        MEMORY | {"id": "c", "memory": f"The token is {SECRET}"},
        MEMORY | {"id": "d", "memory": 7},
    )
    shell = Shell(settings={"url": None, "api_key": None})
    shown = shell.run("audit-memory", path, "--from", "mem0", "--json", "--fail-above", "20")
    told = json.loads(shown.stdout)
    assert shown.exit_code == 1
    assert told["records"] == 4
    assert told["problems"]["near_duplicate"]["examples"][0]["records"] == ["a", "b"]
    assert told["problems"]["secret"]["count"] == 1
    assert told["problems"]["unreadable"]["count"] == 1
    assert SECRET not in shown.output


def test_a_graph_that_lost_an_end_has_an_orphan(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    path.write_text(json.dumps({**GRAPH, "nodes": GRAPH["nodes"][:2]}), encoding="utf-8")
    shown = Shell().run("audit-memory", str(path), "--from", "graphiti", "--json")
    assert json.loads(shown.stdout)["problems"]["orphan"]["count"] == 1


def test_the_workspace_is_read_over_the_api_with_its_orphans() -> None:
    numbers = NumbersWorld(orphaned={Orphan.EDGE_WITHOUT_END: (UUID(int=7),)})
    memories = [memory(2, "ok thanks"), memory(1, "The harbour opens at nine")]
    shown = Shell(world=World(numbers=numbers, memories=memories)).run("audit-memory", "--json")
    assert shown.exit_code == 0
    told = json.loads(shown.stdout)
    assert told["records"] == 2
    assert told["problems"]["boilerplate"]["examples"][0]["records"] == [str(UUID(int=2))]
    assert told["compared_by"] == "words"
    assert told["problems"]["orphan"]["examples"][0]["why"] == "edge without end"


def test_people_read_the_problems_with_examples(tmp_path: Path) -> None:
    path = export(tmp_path, MEMORY | {"memory": "ok thanks"})
    shown = Shell().run("audit-memory", path, "--from", "mem0")
    assert shown.exit_code == 0
    assert "boilerplate: junk: talk" in shown.stdout


def test_a_file_without_its_store_is_a_usage_error(tmp_path: Path) -> None:
    assert Shell().run("audit-memory", export(tmp_path, MEMORY)).exit_code == 2
