"""`cairn events`: one event, a list, and a file whose lines name each other as parents."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from tests.unit.api.fakes import World
from tests.unit.cli.fakes import Shell

from cairn.cli import events
from cairn.cli.client import Failure


def written(tmp_path: Path, *lines: dict[str, Any]) -> str:
    file = tmp_path / "events.ndjson"
    file.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    return str(file)


def test_an_event_is_observed_with_what_was_given() -> None:
    world = World()
    shown = Shell(world=world).run(
        "events", "add", "tool.execute", "--tool", "sh", "--payload", '{"a": 1}', "--session", "s"
    )
    assert shown.exit_code == 0, shown.stderr
    (sent,) = world.observed
    assert (sent.type, sent.tool_name, sent.payload, sent.session_id) == (
        "tool.execute",
        "sh",
        {"a": 1},
        "s",
    )
    assert "created" in shown.stdout


@pytest.mark.parametrize("payload", ["[1]", "{", "3"])
def test_a_payload_that_is_no_object_is_a_usage_error(payload: str) -> None:
    shown = Shell(world=World()).run("events", "add", "a.b", "--payload", payload)
    assert shown.exit_code == 2


def test_a_list_shows_types_and_texts() -> None:
    world = World()
    shown = Shell(world=world).run("events", "list", "--type", "tool")
    assert world.event_filters[0].type == "tool"
    assert "tool.execute" in shown.stdout


def test_a_file_is_imported_and_its_parents_are_found(tmp_path: Path) -> None:
    world = World()
    file = written(
        tmp_path,
        {"id": "a", "type": "tool.execute"},
        {"id": "b", "type": "tool.error", "parent_id": "a"},
        {"type": "agent.think", "parent_id": "no such line"},
        {"type": "agent.think", "parent_id": str(UUID(int=9))},
    )
    shown = Shell(world=world).run("events", "import", file, "--json")
    told = json.loads(shown.stdout)
    assert (told["counts"], told["parents_not_found"]) == ({"created": 4}, 1)
    assert [(item.parent_item, item.parent_id) for item in world.observed] == [
        (None, None),
        (0, None),
        (None, None),
        (None, UUID(int=9)),
    ]


def test_a_refused_line_is_named_and_the_exit_status_is_1(tmp_path: Path) -> None:
    file = written(tmp_path, {"type": "a.b"}, {"type": "not dotted"})
    shown = Shell(world=World()).run("events", "import", file)
    assert (shown.exit_code, "line 2" in shown.stderr) == (1, True)


def test_a_parent_of_an_earlier_batch_is_named_by_its_id() -> None:
    items, lost = events.with_parents([{"type": "a.b", "parent_id": "a"}], {"a": "stored"})
    assert (items, lost) == ([{"type": "a.b", "parent_id": "stored"}], 0)


def test_batches_fit_a_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(events, "BATCH", 3)
    monkeypatch.setattr(events, "BATCH_BYTES", 100)
    small, large = {"t": "x"}, {"t": "y" * 80}  # 10 and 89 bytes
    found = list(events.batches([small, small, small, small, large, small, large]))
    assert found == [[small, small, small], [small, large], [small, large]]
    with pytest.raises(Failure):
        list(events.batches([{"t": "z" * 200}]))
