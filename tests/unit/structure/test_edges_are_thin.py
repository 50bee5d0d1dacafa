"""Handlers parse and call one use case; statements stand in `queries/` and `migrations/`."""

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
HANDLERS = sorted((ROOT / "functions").glob("*/handler.py"))
MODULES = sorted(
    [*(ROOT / "shared").rglob("*.py"), *(ROOT / "benchmarks").rglob("*.py"), *HANDLERS]
)
STATEMENT = re.compile(
    r"\s*(SELECT\s|INSERT\s+INTO\s|UPDATE\s+\w+\s+SET\s|DELETE\s+FROM\s|WITH\s+\w+\s+AS\s|(CREATE|ALTER|GRANT)\s+\w)"
)
VERB = re.compile("SELECT|INSERT|UPDATE|DELETE|WITH|CREATE|ALTER|GRANT")
HOLD_STATEMENTS = {
    "shared/cairn/investigations/planning/looking.py",  # asked of a customer's tool
    "shared/cairn/adapters/files/keys.py",  # SQLite: a file of keys beside the database
    "shared/cairn/adapters/postgres/migrate.py",  # the migrations' own roles
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
    text = path.read_text(encoding="utf-8")
    if not VERB.search(text):
        return []
    return [
        node.value
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and STATEMENT.match(node.value)
    ]


def test_handlers_know_the_package_and_how_to_parse() -> None:
    known = {"cairn", "mangum", "pydantic", "typing", "uuid"}
    strangers = {path.parent.name: imported(path) - known for path in HANDLERS}
    assert HANDLERS
    assert not {name: others for name, others in strangers.items() if others}


def test_handlers_are_short() -> None:
    lines = {path.parent.name: len(path.read_text("utf-8").splitlines()) for path in HANDLERS}
    assert not {name: count for name, count in lines.items() if count > LONGEST_HANDLER}


def test_statements_stand_in_files_of_their_own() -> None:
    holding = {str(path.relative_to(ROOT)) for path in MODULES if statements(path)}
    assert holding == HOLD_STATEMENTS
