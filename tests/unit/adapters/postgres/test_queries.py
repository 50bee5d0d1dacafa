"""SQL lives in named queries: each is used, each used name exists, each says what it is for."""

import re
from pathlib import Path

import pytest

import cairn
from cairn.adapters.postgres.sql import QUERIES, named_queries, query

PACKAGE = Path(cairn.__file__).parent
NOUNS = sorted(path.stem for path in QUERIES.glob("*.sql"))
USE = re.compile(rf'"((?:{"|".join(NOUNS)})\.[a-z_]+)"')

FAMILY = re.compile(rf'f"((?:{"|".join(NOUNS)})\.[a-z_]*\{{\w+\}}[a-z_]*)"')
"""Queries one of which is chosen by a name, such as f"checksum.{name}"."""


def defined() -> set[str]:
    return {f"{noun}.{name}" for noun in NOUNS for name in named_queries(noun)}


def used() -> set[str]:
    adapters = (PACKAGE / "adapters" / "postgres").rglob("*.py")
    return {name for path in adapters for name in USE.findall(path.read_text(encoding="utf-8"))}


def families() -> re.Pattern[str]:
    adapters = (PACKAGE / "adapters" / "postgres").rglob("*.py")
    found = {item for path in adapters for item in FAMILY.findall(path.read_text(encoding="utf-8"))}
    return re.compile("|".join(re.sub(r"\{\w+\}", "[a-z_]+", item) for item in found))


def test_every_used_query_exists() -> None:
    assert used() <= defined()


def test_every_query_is_used() -> None:
    chosen = families()
    assert {name for name in defined() if not chosen.fullmatch(name)} <= used()


def test_every_query_says_what_it_is_for() -> None:
    purpose = re.compile(r"^-- name: \w+\n-- [A-Z]", re.MULTILINE)
    texts = {noun: (QUERIES / f"{noun}.sql").read_text(encoding="utf-8") for noun in NOUNS}
    explained = {noun: len(purpose.findall(text)) for noun, text in texts.items()}
    assert explained == {noun: len(named_queries(noun)) for noun in NOUNS}


def test_an_unknown_query_is_a_mistake_of_the_code() -> None:
    with pytest.raises(KeyError):
        query("ledger.forget")


def test_code_holds_no_statements() -> None:
    statement = re.compile(r'"(?:SELECT|INSERT|UPDATE|DELETE|WITH) ')
    allowed = {"migrate.py"}
    adapters = (PACKAGE / "adapters" / "postgres").rglob("*.py")
    holding = {path.name for path in adapters if statement.search(path.read_text(encoding="utf-8"))}
    assert not holding - allowed
