"""The benchmarks' own named queries, in `queries/<noun>.sql`: databases they make and drop."""

from functools import cache
from pathlib import Path

from cairn.adapters.postgres.sql import queries_in

QUERIES = Path(__file__).parent / "queries"


@cache
def query(name: str) -> bytes:
    """Return the query `noun.verb`; KeyError when there is none."""
    noun, _, verb = name.partition(".")
    return queries_in(QUERIES / f"{noun}.sql")[verb]
