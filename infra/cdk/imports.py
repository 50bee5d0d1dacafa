"""Which modules of the `cairn` package a function can import, and the files they read.

Found in the sources, without running them: every import of a module, at its top or in a function,
but not those for type checkers. Names that stand in tables are read from these tables.
"""

from __future__ import annotations

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from cairn.adapters.postgres.sql import RECORD
from cairn.adapters.postgres.store_transactions import PARTS
from cairn.api.nouns import NOUNS
from cairn.connectors.launching import BUNDLED
from cairn.writing.projectors import WITH_TEXTS, WITHOUT_TEXTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

SHARED = Path(__file__).resolve().parents[2] / "shared"
PACKAGE = "cairn"
NAMED = {
    "cairn.api.nouns": {module for modules in NOUNS.values() for module in modules},
    "cairn.writing.projectors": {
        f"cairn.{name.rpartition('.')[0]}"
        for name in (*WITH_TEXTS.values(), *WITHOUT_TEXTS.values())
    },
    "cairn.connectors.launching": set(BUNDLED.values()),
}
"""What a module imports, or starts as a process, by the names in its tables."""

STORES = "cairn.adapters.postgres.store_transactions"
STORES_PARTS = {
    name: f"cairn.adapters.postgres.{place.rpartition('.')[0]}" for name, place in PARTS.items()
}
"""What that module imports by name, for whoever asks for an attribute of this name."""

SQL = "cairn.adapters.postgres.sql"
QUERIES = "queries"
"""Folders of these hold named queries: `<noun>.sql` goes with a module that names `noun.verb`."""

OTHERWISE = ("orelse",)
BLOCKS = ("body", "handlers", "orelse", "finalbody", "cases")
"""Where a statement holds statements of its own."""


@dataclass(frozen=True, kw_only=True)
class Source:
    """What one file mentions: modules it may import, words that may name files beside it, nouns.

    A noun is what a string has before its first point, as the name of a query does. `attributes`
    are the names that stand after a point.
    """

    imports: frozenset[str]
    words: frozenset[str]
    nouns: frozenset[str]
    attributes: frozenset[str]


def files_of(sources: Iterable[Path]) -> set[Path]:
    """Every file of the package that `sources` need, directly or not."""
    names, files, nouns, attributes = set[str](), set[Path](), set[str](), set[str]()
    for path in sources:
        names |= _parsed(path).imports
        nouns |= _parsed(path).nouns
        attributes |= _parsed(path).attributes
    seen = set[str]()
    while names:
        name = names.pop()
        if name in seen:
            continue
        seen.add(name)
        path = _file(name)
        if path is None:
            continue  # another package, or a name within a module
        source = _parsed(path)
        files.add(path)
        files.update(_data(path.parent, source.words))
        nouns |= source.nouns
        names |= source.imports | NAMED.get(name, set()) | {name.rpartition(".")[0]}
        attributes |= source.attributes
        if STORES in seen:
            names |= {STORES_PARTS[part] for part in attributes & STORES_PARTS.keys()} - seen
        if SQL in seen:
            of_records = nouns & _records().keys()
            names |= set().union(*(_records()[noun] for noun in of_records)) - seen
    return {path for path in files if path.parent.name != QUERIES or path.stem in nouns}


@cache
def _records() -> dict[str, frozenset[str]]:
    """By noun, the modules of the records that its queries take their columns from."""
    queries = SHARED / "cairn" / "adapters" / "postgres" / QUERIES
    return {
        path.stem: frozenset(
            module for module, _, _ in RECORD.findall(path.read_text(encoding="utf-8"))
        )
        for path in queries.glob("*.sql")
    }


@cache
def _file(name: str) -> Path | None:
    if name.partition(".")[0] != PACKAGE:
        return None
    place = SHARED.joinpath(*name.split("."))
    for path in (place.with_suffix(".py"), place / "__init__.py"):
        if path.is_file():
            return path
    return None


def _data(folder: Path, words: frozenset[str]) -> Iterator[Path]:
    """The files beside a module, or in a folder beside it without modules, that it names."""
    for path in folder.iterdir() if words else ():
        if path.name not in words or path.suffix == ".py":
            continue
        if path.is_file():
            yield path
        elif not (path / "__init__.py").exists():
            yield from (file for file in path.rglob("*") if file.is_file())


@cache
def _parsed(path: Path) -> Source:
    text = path.read_text(encoding="utf-8")
    tree = ast.parse(text)
    constants = (node.value for node in ast.walk(tree) if isinstance(node, ast.Constant))
    strings = frozenset(value for value in constants if isinstance(value, str))
    return Source(
        imports=frozenset(_imports(tree.body)),
        words=strings if "__file__" in text else frozenset(),
        nouns=frozenset(string.partition(".")[0] for string in strings if "." in string),
        attributes=frozenset(
            node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)
        ),
    )


def _imports(statements: Iterable[ast.stmt | ast.excepthandler | ast.match_case]) -> Iterator[str]:
    """The modules that statements import; a name imported from one may be a module, too."""
    for node in statements:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        for block in OTHERWISE if _is_for_type_checkers(node) else BLOCKS:
            yield from _imports(getattr(node, block, ()))


def _is_for_type_checkers(node: ast.AST) -> bool:
    test = getattr(node, "test", None)
    return isinstance(test, ast.Name) and test.id == "TYPE_CHECKING"
