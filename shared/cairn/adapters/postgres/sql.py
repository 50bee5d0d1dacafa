"""Named queries: every statement the adapters run stands in `queries/<noun>.sql`, not in code.

`-- columns: module.Record` in a query lets `{columns}` (or `{n.columns}`) stand for the record's
fields, without those that the query names by AS itself, or leaves out: `... but name name`.
"""

import re
from dataclasses import fields
from functools import cache
from importlib import import_module
from pathlib import Path

QUERIES = Path(__file__).parent / "queries"
_NAME = re.compile(r"^-- name: (\w+)$", re.MULTILINE)
RECORD = re.compile(r"^-- columns: ([\w.]+)\.(\w+)(?: but ([\w ]+))?$", re.MULTILINE)
_COLUMNS = re.compile(r"\{(\w+\.)?columns\}")
_NAMED = re.compile(r"\bAS (\w+)")


@cache
def query(name: str) -> bytes:
    """Return the query `noun.verb`; KeyError when there is none."""
    noun, _, verb = name.partition(".")
    return _body(_texts(QUERIES / f"{noun}.sql")[verb])


def named_queries(noun: str) -> dict[str, bytes]:
    """Return the queries of `queries/<noun>.sql` by name, each without its heading."""
    return queries_in(QUERIES / f"{noun}.sql")


def queries_in(path: Path) -> dict[str, bytes]:
    """Return the queries of a file by name, each without its heading."""
    return {name: _body(text) for name, text in _texts(path).items()}


@cache
def _texts(path: Path) -> dict[str, str]:
    parts = _NAME.split(path.read_text(encoding="utf-8"))
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def _body(text: str) -> bytes:
    lines = [line for line in text.strip().splitlines() if not line.startswith("--")]
    statement = "\n".join(lines)
    if record := RECORD.search(text):
        module, name, without = record.groups()
        kind = getattr(import_module(module), name)
        own = {*_NAMED.findall(statement), *(without or "").split()}
        columns = [field.name for field in fields(kind) if field.name not in own]
        statement = _COLUMNS.sub(
            lambda match: ", ".join(f"{match[1] or ''}{column}" for column in columns), statement
        )
    return statement.encode()
