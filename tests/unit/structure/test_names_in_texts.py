"""Docstrings, comments and guides name classes and files that are there."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
CODE = [
    path
    for folder in ("shared", "functions", "infra", "layers", "benchmarks", "scripts", "tests")
    for path in sorted((ROOT / folder).rglob("*.py"))
]
TEXTS = {path: path.read_text(encoding="utf-8") for path in CODE if "unit" not in path.parts}
GUIDES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
CLASS = re.compile(r"`((?:[a-z_]+\.)*)([A-Z][a-z]+[A-Z]\w*)`")
"""A name of two words at least: one may be a header, a label, a word of somebody else's."""
DEFINED = re.compile(r"^\s*(?:class |from .* import )?(\w+)\b ?[:(=]", re.MULTILINE)
FILE = re.compile(r"`([\w/]+\.py)`")


def test_classes_named_in_docstrings_are_in_the_module_that_is_named() -> None:
    modules: dict[str, list[tuple[str, ...]]] = {}
    for path, text in TEXTS.items():
        for name in DEFINED.findall(text):
            modules.setdefault(name, []).append(path.with_suffix("").parts)
    gone = [
        f"{path.relative_to(ROOT)}: {before}{name}"
        for path, text in TEXTS.items()
        for before, name in CLASS.findall(text)
        if not any(_ends(parts, before) for parts in modules.get(name, ()))
    ]
    assert not gone


def _ends(module: tuple[str, ...], named: str) -> bool:
    """Whether a module's path ends with the dotted name before a class, its folder's included."""
    parts = tuple(named.split(".")[:-1])
    return not parts or parts in (module[-len(parts) :], module[-len(parts) - 1 : -1])


def test_files_named_in_guides_and_docstrings_are_there() -> None:
    paths = [f"/{path.relative_to(ROOT)}" for path in CODE]
    texts = TEXTS | {path: path.read_text(encoding="utf-8") for path in GUIDES}
    gone = [
        f"{path.relative_to(ROOT)}: {name}"
        for path, text in texts.items()
        for name in FILE.findall(text)
        if not any(each.endswith(f"/{name}") for each in paths)
    ]
    assert not gone
