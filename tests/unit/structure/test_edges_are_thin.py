"""Handlers parse and call one use case; statements stand in `queries/` and `migrations/`."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
HANDLERS = sorted((ROOT / "functions").glob("*/handler.py"))
MODULES = sorted(
    [*(ROOT / "shared").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py"), *HANDLERS]
)
STATEMENT = re.compile(
    r"\s*(SELECT\s|INSERT\s+INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|WITH\s+\w+\s+AS\s|(CREATE|ALTER|GRANT)\s+\w)"
)
HOLD_STATEMENTS = {
    "shared/cairn/agent/planning/tables.py",  # what a customer's tool is asked, not run by us
    "shared/cairn/storage/keys_file.py",  # SQLite: a file of keys beside the database
    "shared/cairn/storage/postgres/migrate.py",  # the migrations' own roles
}
LONGEST_HANDLER = 80


def imported(path: Path) -> set[str]:
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            found.add(node.module.split(".")[0])
    return found


def statements(path: Path) -> list[str]:
    """Return the strings of a module that begin as SQL does."""
    return [
        node.value
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and STATEMENT.match(node.value)
    ]


@pytest.mark.parametrize("path", HANDLERS, ids=lambda path: path.parent.name)
def test_a_handler_knows_the_package_and_how_to_parse(path: Path) -> None:
    assert imported(path) <= {"cairn", "mangum", "pydantic", "typing", "uuid"}


@pytest.mark.parametrize("path", HANDLERS, ids=lambda path: path.parent.name)
def test_a_handler_is_short(path: Path) -> None:
    assert len(path.read_text(encoding="utf-8").splitlines()) <= LONGEST_HANDLER


def test_statements_stand_in_files_of_their_own() -> None:
    holding = {str(path.relative_to(ROOT)) for path in MODULES if statements(path)}
    assert holding == HOLD_STATEMENTS
