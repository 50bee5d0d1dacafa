"""How long functions are, counted without their docstrings."""

import ast
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[3]
FOLDERS = ("shared", "functions", "infra", "benchmarks")
LONGEST = 60
P95 = 40


@cache
def lengths() -> dict[str, int]:
    found: dict[str, int] = {}
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                    name = f"{path.relative_to(ROOT)}:{node.lineno} {node.name}"
                    found[name] = length(node)
    return found


def length(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    lines = (node.end_lineno or node.lineno) - node.lineno + 1
    first = node.body[0]
    if ast.get_docstring(node) is not None:
        lines -= (first.end_lineno or first.lineno) - first.lineno + 1
    return lines


def test_no_function_is_longer_than_a_screen() -> None:
    assert not {name: lines for name, lines in lengths().items() if lines > LONGEST}


def test_almost_all_are_much_shorter() -> None:
    ordered = sorted(lengths().values())
    assert ordered[int(len(ordered) * 0.95)] <= P95


def test_the_count_leaves_docstrings_out() -> None:
    code = 'def f():\n    """One.\n\n    Two.\n    """\n    return 1\n'
    (node,) = ast.parse(code).body
    assert isinstance(node, ast.FunctionDef)
    assert length(node) == 2
