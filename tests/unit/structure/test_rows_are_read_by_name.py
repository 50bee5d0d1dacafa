"""Rows of PostgreSQL become records by the names of their columns."""

import ast
from collections.abc import Iterator
from pathlib import Path

import cairn

ADAPTERS = Path(cairn.__file__).parent / "adapters" / "postgres"
READS = {"run", "run_binary", "execute", "fetchone", "fetchall", "_rows", "rows"}


def test_no_row_is_unpacked_by_position() -> None:
    """A pair is a key and its value; a single column has `Store.value` and `Store.values`."""
    found = [
        f"{path.relative_to(ADAPTERS)}:{line}"
        for path in sorted(ADAPTERS.rglob("*.py"))
        for line in _unpacked(ast.parse(path.read_text(encoding="utf-8")))
    ]
    assert found == []


def _unpacked(module: ast.Module) -> Iterator[int]:
    for node in ast.walk(module):
        match node:
            case ast.Subscript(value=ast.Name(id="row"), slice=ast.Constant(value=int())):
                yield node.lineno
            case (
                ast.comprehension(target=ast.Tuple(elts=names), iter=source)
                | ast.For(target=ast.Tuple(elts=names), iter=source)
                | ast.Assign(targets=[ast.Tuple(elts=names)], value=source)
            ) if len(names) != 2:
                if _is_read(source):
                    yield source.lineno
            case _:
                pass


def _is_read(source: ast.expr) -> bool:
    """Return whether an expression is what a query gave, as far as its names tell."""
    match source:
        case ast.Name(id=name):
            return name in {"row", "rows"}
        case ast.Call(func=ast.Attribute(attr=name)):
            return name in READS
        case ast.BoolOp(values=[first, *_]):
            return _is_read(first)
        case _:
            return False
