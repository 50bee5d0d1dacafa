"""Named queries over a customer's database, in `queries/<noun>.sql`. None runs on Cairn's own."""

from functools import cache
from pathlib import Path

from cairn.adapters.postgres.sql import queries_in

QUERIES = Path(__file__).parent / "queries"


@cache
def query(name: str) -> bytes:
    """Return the query `noun.verb`; KeyError when there is none."""
    noun, _, verb = name.partition(".")
    return named_queries(noun)[verb]


@cache
def named_queries(noun: str) -> dict[str, bytes]:
    """Return the queries of a noun by name."""
    return queries_in(QUERIES / f"{noun}.sql")
