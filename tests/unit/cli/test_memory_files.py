"""`cairn memory export|import|migrate`: the memory graph over the API."""

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.memory_graphs import help_desk
from tests.unit.api.fakes import ADMIN_KEY, AGENT_KEY, WORKSPACE, World, memory
from tests.unit.cli.fakes import AppTransport, Shell

from cairn.graph.memory_dump import dump_lines
from cairn.memories.files import sorted_lines
from cairn.reading.views import MemoryView

WHOLE = b"".join(dump_lines(help_desk()))
OTHER = "http://other"


class TwoDeployments(httpx.BaseTransport):
    """This deployment and another one, each with a world of its own."""

    def __init__(self, here: World, there: World, *, same: bool = False) -> None:
        self._here, self._there = AppTransport(here), AppTransport(there)
        self._same = same

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        if request.url.host != "other":
            return self._here.handle_request(request)
        answer = self._there.handle_request(request)
        if request.url.path != "/v1/whoami" or self._same:
            return answer
        told = {**answer.json(), "workspace_id": "00000000-0000-0000-0000-000000000002"}
        return httpx.Response(200, json=told)


def filled() -> World:
    world = World()
    world.memory_graph.graph.import_all(WORKSPACE, help_desk())
    return world


def file_of(folder: Path, content: bytes = WHOLE) -> Path:
    path = folder / "graph.ndjson"
    path.write_bytes(content)
    return path


def test_an_export_goes_to_a_file_or_to_standard_output(tmp_path: Path) -> None:
    shell, path = Shell(world=filled()), tmp_path / "graph.ndjson"
    shown = shell.run("memory", "export", "--out", str(path), "--json")
    assert shown.exit_code == 0, shown.output
    assert path.read_bytes() == WHOLE
    assert json.loads(shown.stdout) == {
        "nodes": 9,
        "edges": 10,
        "memories": 0,
        "file": str(path),
        "sha256": hashlib.sha256(WHOLE).hexdigest(),
    }
    assert [path.name for path in tmp_path.iterdir()] == ["graph.ndjson"]
    assert shell.run("memory", "export").stdout_bytes == WHOLE


def test_an_import_is_whole_and_again_changes_nothing(tmp_path: Path) -> None:
    shell, path = Shell(), str(file_of(tmp_path))
    tried = json.loads(shell.run("memory", "import", path, "--dry-run", "--json").stdout)
    counts: dict[str, Any] = {"nodes": 9, "edges": 10, "memories": 0, "refused": []}
    assert tried == {**counts, "dry_run": True, "changed": 0}
    assert shell.world.memory_graph.batches == []

    first = json.loads(shell.run("memory", "import", path, "--json").stdout)
    again = shell.run("memory", "import", path)
    assert first == {**counts, "dry_run": False, "changed": 19}
    assert "9 nodes, 10 edges and 0 memories read, 0 changed" in again.stdout
    assert shell.run("memory", "export").stdout_bytes == WHOLE


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"", "Line 1 is missing"),
        (WHOLE[:-30], "Line 21 is refused: it is cut off"),
        (WHOLE.replace(b"gold", b"bald").replace(b"POP3", b"POP4"), "Line 21"),
        (b'{"results": []}\n', "a file begins with"),
    ],
)
def test_a_bad_file_is_named_and_nothing_of_it_is_written(
    tmp_path: Path, content: bytes, says: str
) -> None:
    shell = Shell()
    shown = shell.run("memory", "import", str(file_of(tmp_path, content)))
    assert shown.exit_code == 1
    assert says in " ".join(shown.stderr.split())
    assert shell.world.memory_graph.batches == []
    assert shell.run("memory", "import", str(tmp_path / "none")).exit_code == 1


def test_many_records_are_sent_in_bounded_batches(tmp_path: Path) -> None:
    shell = Shell()
    many: list[Any] = [
        {"kind": "node", "label": "fact", "natural_key": f"{n:04}", "properties": {"t": "x" * size},
         "provenance": "imported", "status": "active"}
        for size, n in [(10, n) for n in range(150)] + [(16_000, n) for n in range(150, 300)]
    ]  # fmt: skip
    from cairn.graph.memory_dump import from_record

    path = file_of(tmp_path, b"".join(dump_lines(from_record(item) for item in many)))
    assert shell.run("memory", "import", str(path)).exit_code == 0
    batches = shell.world.memory_graph.batches
    assert sum(batches) == 300
    assert max(batches) == 100
    assert batches[1] == 100 or batches[2] <= 70


def test_a_rehearsal_writes_nothing_and_comes_out_the_same() -> None:
    shell = Shell(world=filled())
    told = json.loads(shell.run("memory", "migrate", "--to", "memory", "--json").stdout)
    assert told["equal"]
    assert told["source_sha256"] == hashlib.sha256(WHOLE).hexdigest()
    assert shell.world.memory_graph.batches == []


def test_a_graph_moves_to_another_deployment_and_both_are_compared() -> None:
    there = World()
    shell = Shell(world=filled())
    shell.transport = TwoDeployments(shell.world, there)
    arguments = ("memory", "migrate", "--to", "postgres", "--url", OTHER, "--key", ADMIN_KEY)
    shown = shell.run(*arguments, "--json")
    assert shown.exit_code == 0, shown.output
    told = json.loads(shown.stdout)
    assert (told["nodes"], told["edges"], told["changed"], told["equal"]) == (9, 10, 19, True)
    assert b"".join(dump_lines(there.memory_graph.graph.export_all(WORKSPACE))) == WHOLE

    there.memory_graph.graph.upsert_node(WORKSPACE, "fact", "theirs", {}, "operator")
    shown = shell.run(*arguments)
    assert shown.exit_code == 1
    assert "not the same" in shown.stdout


def test_a_migration_needs_another_workspace_and_its_key() -> None:
    shell = Shell(world=filled())
    assert shell.run("memory", "migrate", "--to", "postgres").exit_code == 1
    shell.transport = TwoDeployments(shell.world, World(), same=True)
    same = shell.run("memory", "migrate", "--to", "postgres", "--url", OTHER, "--key", ADMIN_KEY)
    assert same.exit_code == 1
    assert "same workspace" in same.stderr
    agent = shell.run("memory", "migrate", "--to", "postgres", "--url", OTHER, "--key", AGENT_KEY)
    assert agent.exit_code == 1


def told(position: int, **changes: Any) -> MemoryView:
    when = datetime(2026, 3, 15, 10, position, tzinfo=UTC)
    given = {"text": f"Told as number {position}.", "occurred_at": when, "valid_from": when}
    return replace(memory(position), **(given | changes))


def both() -> World:
    world = filled()
    world.memories = [told(1), told(2, state="archived"), told(3, state="superseded"), told(4)]
    return world


def test_a_part_of_a_file_is_chosen_going_out_and_coming_in(tmp_path: Path) -> None:
    shell, path = Shell(world=both()), tmp_path / "both.ndjson"
    counts: dict[str, Any] = {}
    for name, only in (("graph", ["--only", "graph"]), ("memories", ["--only", "memories"])):
        shown = shell.run("memory", "export", *only, "-o", str(tmp_path / name), "--json")
        counts[name] = json.loads(shown.stdout)
    assert (counts["graph"]["nodes"], counts["graph"]["memories"]) == (9, 0)
    assert (counts["memories"]["nodes"], counts["memories"]["memories"]) == (0, 3)
    assert (tmp_path / "graph").read_bytes() == WHOLE

    shown = shell.run("memory", "export", "-o", str(path))
    assert "9 nodes, 10 edges and 3 memories" in shown.stderr
    there = Shell()
    done = there.run("memory", "import", str(path), "--only", "memories", "--json")
    assert json.loads(done.stdout)["changed"] == 3
    assert there.world.memory_graph.batches == []
    assert [item.text[-2:] for item in there.world.written] == ["1.", "3.", "4."]
    there = Shell()
    done = there.run("memory", "import", str(path), "--only", "graph", "--json")
    assert json.loads(done.stdout)["changed"] == 19
    assert there.world.written == []


def test_a_memory_that_the_deployment_refuses_is_named_by_its_line(tmp_path: Path) -> None:
    world = both()
    world.memories.append(told(5, text="refused by the domain"))
    path = tmp_path / "both.ndjson"
    Shell(world=world).run("memory", "export", "-o", str(path))
    there = Shell()
    done = there.run("memory", "import", str(path))
    assert done.exit_code == 1
    assert "line 24: text has too many characters" in done.stderr
    assert "3 memories" not in done.stdout
    assert len(there.world.written) == 3


def test_a_memory_changed_by_hand_is_named_and_nothing_is_written(tmp_path: Path) -> None:
    path = tmp_path / "both.ndjson"
    Shell(world=both()).run("memory", "export", "-o", str(path))
    path.write_bytes(path.read_bytes().replace(b'"state":"superseded"', b'"state":"forgotten"'))
    there = Shell()
    done = there.run("memory", "import", str(path))
    assert done.exit_code == 1
    assert "Line 22 is refused: state is one of" in " ".join(done.stderr.split())
    assert (there.world.written, there.world.memory_graph.batches) == ([], [])


def test_a_part_of_another_stores_file_is_no_choice(tmp_path: Path) -> None:
    path = str(file_of(tmp_path))
    done = Shell().run("memory", "import", path, "--from", "mem0", "--only", "graph")
    assert done.exit_code == 2


@given(
    st.lists(st.binary(max_size=5).map(lambda item: item.replace(b"\n", b"") + b"\n")),
    st.integers(1, 40),
)
def test_lines_come_out_sorted_however_few_are_held(lines: list[bytes], at_once: int) -> None:
    assert list(sorted_lines(lines, at_once=at_once)) == sorted(lines)
