"""Variables are named for what they hold (docs/glossary.md), not for how it was come by."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDERS = ("shared/cairn", "functions", "infra")
NO_NOUNS = frozenset(
    {"asked", "found", "given", "kept", "known", "made", "named", "one", "said", "told", "wanted"}
)

SCHEMAS = frozenset({"Told"})  # the names of schemas in the OpenAPI, which clients have


def test_no_variable_or_parameter_has_a_name_that_fits_any_value() -> None:
    found = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, name in _bound(ast.parse(path.read_text(encoding="utf-8")))
        if name in NO_NOUNS
    ]
    assert found == []


def test_no_class_or_private_function_has_a_name_that_fits_any_value() -> None:
    offenders = [
        f"{path.relative_to(ROOT)}:{line} {name}"
        for folder in FOLDERS
        for path in sorted((ROOT / folder).rglob("*.py"))
        for line, name in _defined(ast.parse(path.read_text(encoding="utf-8")))
        if name.lstrip("_").lower() in NO_NOUNS and name not in SCHEMAS
    ]
    assert offenders == []


def _defined(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Return classes and private functions; the name of an answer's shape is sent to models."""
    for node in ast.walk(module):
        match node:
            case ast.ClassDef(name=name, bases=bases):
                if "AnswerShape" not in {ast.unparse(base) for base in bases}:
                    yield node.lineno, name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                if name.startswith("_"):
                    yield node.lineno, name
            case _:
                pass


@pytest.mark.parametrize("code", ["class Known: ...", "class _Known: ...", "def _known(): ..."])
def test_classes_and_private_functions_are_seen(code: str) -> None:
    names = {name.lstrip("_").lower() for _, name in _defined(ast.parse(code))}
    assert names == {"known"}


def test_the_shape_of_a_models_answer_is_not_renamed() -> None:
    assert list(_defined(ast.parse("class Found(AnswerShape): ..."))) == []


def _bound(module: ast.Module) -> Iterator[tuple[int, str]]:
    """Return where variables and parameters are bound; the fields of classes are none."""
    fields = {
        id(statement.target)
        for node in ast.walk(module)
        if isinstance(node, ast.ClassDef)
        for statement in node.body
        if isinstance(statement, ast.AnnAssign)
    }
    for node in ast.walk(module):
        match node:
            case ast.Name(id=name, ctx=ast.Store()) if id(node) not in fields:
                yield node.lineno, name
            case ast.arg(arg=name):
                yield node.lineno, name
            case ast.MatchAs(name=str(name)) | ast.ExceptHandler(name=str(name)):
                yield node.lineno, name
            case _:
                pass


@pytest.mark.parametrize(
    "code",
    [
        "one = 1",
        "def f(one): ...",
        "[one for one in ()]",
        "lambda one: 1",
        "if one := 1: ...",
        "with open('f') as one: ...",
        "match 1:\n    case one: ...",
    ],
)
def test_every_way_to_bind_a_name_is_seen(code: str) -> None:
    assert "one" in {name for _, name in _bound(ast.parse(code))}


def test_a_field_of_a_class_is_no_variable() -> None:
    assert list(_bound(ast.parse("class C:\n    one: int"))) == []
