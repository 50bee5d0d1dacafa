"""Connectors' SQL lives in named queries: each is used, each used one exists, each is explained."""

import re
from pathlib import Path

import pytest

import cairn
from cairn.bundled.database import QUERIES, named_queries, query

CODE = sorted((Path(cairn.__file__).parent / "bundled").glob("*.py"))
NOUNS = sorted(path.stem for path in QUERIES.glob("*.sql"))
USE = re.compile(rf'"((?:{"|".join(NOUNS)})\.[a-z_]+)"')


def test_every_query_is_used_and_every_used_query_exists() -> None:
    used = {name for path in CODE for name in USE.findall(path.read_text(encoding="utf-8"))}
    assert used == {f"{noun}.{verb}" for noun in NOUNS for verb in named_queries(noun)}


@pytest.mark.parametrize("noun", NOUNS)
def test_every_query_says_what_it_is_for(noun: str) -> None:
    text = (QUERIES / f"{noun}.sql").read_text(encoding="utf-8")
    told = re.findall(r"^-- name: \w+\n-- [A-Z]", text, re.MULTILINE)
    assert len(told) == len(named_queries(noun))


def test_an_unknown_query_is_a_mistake_of_the_code() -> None:
    with pytest.raises(KeyError):
        query("account.forget")
