"""Imports inside the package point down `LAYERS`; areas of one row are closed to each other."""

import ast
from pathlib import Path

import pytest

import cairn

ROOT = Path(cairn.__file__).parent
PROJECT = Path(__file__).parents[3]
LAYERS = [
    {"errors", "ids", "clock", "metrics", "traces"},
    {"text", "transaction", "access", "resilience"},
    {"ledger"},
    {"memory", "documents", "graph"},
    {"safety"},
    {"llm", "embedding"},
    {"workspace"},
    {"retrieval"},
    {"ingestion"},
    {"consolidation", "lifecycle", "discovery", "helpdesk", "mcp_host"},
    {"agent"},
    {"storage", "api"},
    {"connectors"},
    {"settings"},
    {"bootstrap"},
    {"cli"},
]
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")
SIBLINGS = {("transaction", "access")}
"""The port of transactions speaks of principals: the one import within a row."""


def area(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


def imported_areas(path: Path) -> set[str]:
    modules: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, f"{path}: use absolute imports"
            modules |= {f"{node.module}.{alias.name}" for alias in node.names}
    inside = {name.split(".")[1] for name in modules if name.startswith(f"{ROOT.name}.")}
    return inside - {area(path)}


def names_of(node: ast.AST) -> list[str]:
    """Return the modules that a statement imports."""
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module or ""] if isinstance(node, ast.ImportFrom) else []


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_imports_point_down(path: Path) -> None:
    here = area(path)
    upward = {
        name
        for name in imported_areas(path)
        if RANK[name] >= RANK[here] and (here, name) not in SIBLINGS
    }
    assert not upward, f"{here} must not import {sorted(upward)}"


def test_the_domain_knows_no_driver_and_no_framework() -> None:
    outside = {"psycopg", "boto3", "botocore", "fastapi", "starlette", "mangum", "httpx"}
    adapters = {"storage", "api", "connectors", "settings", "bootstrap", "cli"}
    found: set[str] = set()
    for path in FILES:
        if area(path) in adapters:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            found |= {
                f"{path.relative_to(ROOT)}: {name}"
                for name in names_of(node)
                if name.split(".")[0] in outside
            }
    assert not found


@pytest.mark.parametrize(
    ("folder", "known"),
    [
        ("shared", {"benchmarks", "infra", "tests"}),
        ("functions", {"benchmarks", "infra", "tests"}),
        ("benchmarks", {"infra", "tests"}),
        ("infra", {"benchmarks", "tests"}),
    ],
)
def test_what_ships_does_not_import_what_stands_beside_it(folder: str, known: set[str]) -> None:
    found = {
        f"{path.relative_to(PROJECT)}: {name}"
        for path in (PROJECT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in names_of(node)
        if name.split(".")[0] in known
    }
    assert not found


def test_every_area_has_its_place() -> None:
    assert {area(path) for path in FILES} <= set(RANK)
