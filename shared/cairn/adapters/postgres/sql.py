"""Named queries: every statement the adapters run stands in `queries/<noun>.sql`, not in code."""

import re
from functools import cache
from pathlib import Path

QUERIES = Path(__file__).parent / "queries"
_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)


@cache
def query(name: str) -> bytes:
    """Return the query `noun.verb`; KeyError when there is none."""
    noun, _, verb = name.partition(".")
    return named_queries(noun)[verb]


@cache
def named_queries(noun: str) -> dict[str, bytes]:
    """Return the queries of `queries/<noun>.sql` by name, each without its heading."""
    return queries_in(QUERIES / f"{noun}.sql")


def queries_in(path: Path) -> dict[str, bytes]:
    """Return the queries of a file by name, each without its heading."""
    parts = _NAME.split(path.read_text(encoding="utf-8"))
    return {name: _body(text) for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def _body(text: str) -> bytes:
    lines = [line for line in text.strip().splitlines() if not line.startswith("--")]
    return "\n".join(lines).encode()
