"""Benchmarks and the demo come with a clone; the command says so where there is none."""

import re
from pathlib import Path

import pytest
from tests.unit.cli.fakes import Shell

from benchmarks.sql import QUERIES
from cairn.adapters.postgres.sql import queries_in
from cairn.cli import deps

FOLDER = QUERIES.parent


@pytest.mark.parametrize(
    "command", [["bench", "locomo", "a.json"], ["bench", "--help"], ["demo"], ["demo", "--json"]]
)
def test_an_installation_without_a_clone_says_that_it_takes_one(
    command: list[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(deps, "PROJECT", tmp_path)
    shown = Shell().run(*command)
    assert shown.exit_code == 1
    assert shown.stdout == ""
    assert "not part of this installation. — clone the project" in shown.stderr


def test_every_query_is_used_and_every_used_query_exists() -> None:
    defined = {f"{path.stem}.{verb}" for path in QUERIES.glob("*.sql") for verb in queries_in(path)}
    nouns = "|".join(path.stem for path in QUERIES.glob("*.sql"))
    code = "".join(path.read_text(encoding="utf-8") for path in FOLDER.rglob("*.py"))
    assert set(re.findall(rf'"((?:{nouns})\.[a-z_]+)"', code)) == defined
