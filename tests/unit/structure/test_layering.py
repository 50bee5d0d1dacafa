"""Imports inside the package point down `LAYERS`; areas of one row are closed to each other."""

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import pytest

import cairn

ROOT = Path(cairn.__file__).parent
PROJECT = Path(__file__).parents[3]
LAYERS = [
    {"kernel"},
    {"ledger"},
    {"embedding", "extraction", "graph", "llm", "safety"},
    {"search_index", "writing"},
    {"oauth_client"},
    {"ageing", "connectors", "nodes", "workspace"},
    {"tasks"},
    {"documents"},
    {"forgetting", "memories"},
    {"reading", "recall"},
    {"checkpoints", "inbound"},
    {
        "accounts",
        "anchors",
        "conversations",
        "events",
        "operations",
        "publishing",
        "reports",
        "taint",
        "tickets",
    },
    {"enrichment", "memory_graph", "webhooks"},
    {"consolidation", "investigations", "rebuild", "reembedding", "sources"},
    {"chat", "profiles", "summaries"},
    {"channels", "compaction"},
    {"sessions"},
    {"workflows"},
    {"discovery"},
    {"adapters"},
    {"bundled", "settings"},
    {"bootstrap"},
    {"api", "cli"},
]
TYPES_OF_ADAPTERS = {"kernel/stores.py"}
"""`Stores` names what PostgreSQL implements, so that a use case is read down to its queries. It
imports it for the type checker alone (docs/decisions/0038)."""
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
FILES = sorted(path for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py")


def area(path: Path) -> str:
    return path.relative_to(ROOT).parts[0].removesuffix(".py")


@cache
def imports(path: Path) -> frozenset[tuple[str, str]]:
    """Return what a module imports: (module, name), the name empty where it is the module."""
    found: set[tuple[str, str]] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {(alias.name, "") for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.module and not node.level, f"{path}: use absolute imports"
            found |= {(node.module, alias.name) for alias in node.names}
    return frozenset(found)


def imported_areas(path: Path) -> set[str]:
    names = {f"{module}.{name}".rstrip(".") for module, name in imports(path)}
    inside = {name.split(".")[1] for name in names if name.startswith(f"{ROOT.name}.")}
    return inside - {area(path)}


def importing(paths: Iterable[Path], outside: set[str]) -> set[str]:
    """Return which modules import one of the packages `outside`."""
    return {
        f"{path.relative_to(PROJECT)}: {module}"
        for path in paths
        for module, _ in imports(path)
        if module.split(".")[0] in outside
    }


def test_imports_point_down() -> None:
    upward = {
        f"{path.relative_to(ROOT)} imports {name}"
        for path in FILES
        for name in imported_areas(path)
        if RANK[name] >= RANK[area(path)]
        and not (name == "adapters" and str(path.relative_to(ROOT)) in TYPES_OF_ADAPTERS)
    }
    assert not upward


@pytest.mark.parametrize("name", sorted(TYPES_OF_ADAPTERS))
def test_who_names_adapters_imports_nothing_when_it_runs(name: str) -> None:
    body = ast.parse((ROOT / name).read_text(encoding="utf-8")).body
    modules = {each.module for each in body if isinstance(each, ast.ImportFrom)}
    assert modules <= {"__future__", "typing"}
    assert not any(isinstance(each, ast.Import) for each in body)


def test_the_domain_knows_no_driver_and_no_framework() -> None:
    outside = {"psycopg", "boto3", "botocore", "fastapi", "starlette", "mangum", "httpx"}
    adapters = {"adapters", "api", "bundled", "settings", "bootstrap", "cli"}
    assert not importing((path for path in FILES if area(path) not in adapters), outside)


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
    assert not importing((PROJECT / folder).rglob("*.py"), known)


def test_every_area_has_its_place() -> None:
    assert {area(path) for path in FILES} <= set(RANK)
