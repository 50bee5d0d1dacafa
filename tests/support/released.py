"""The statements of the last release, kept so that its code is tried on today's schema.

While a deployment goes on, and after one that was rolled back, the functions of the release before
run on the new schema. `python -m tests.support.released` keeps the present ones: at a release.
"""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

from cairn.adapters.postgres.sql import QUERIES, named_queries

FILE = Path(__file__).parent.parent / "released" / "queries.json.gz"
LAST_MIGRATION = "0034.ticket-messages"
"""The newest migration of that release: what comes after it may be changed until the next one."""

PLACEHOLDER = re.compile(r"%\((\w+)\)s")


def released() -> dict[str, str]:
    """Return every statement of the last release by name, with numbered parameters."""
    kept: dict[str, str] = json.loads(gzip.decompress(FILE.read_bytes()))
    return {name: numbered(text) for name, text in kept.items()}


def numbered(text: str) -> str:
    """Return a statement as PREPARE takes it: $1, $2 ... for the named parameters."""
    names: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        return f"${names.setdefault(found[1], len(names) + 1)}"

    return PLACEHOLDER.sub(number, text).replace("%%", "%")


def keep() -> None:
    """Write the statements of the working tree."""
    texts = {
        f"{path.stem}.{name}": text.decode()
        for path in sorted(QUERIES.glob("*.sql"))
        for name, text in named_queries(path.stem).items()
    }
    body = json.dumps(texts, indent=0, sort_keys=True).encode()
    FILE.write_bytes(gzip.compress(body, mtime=0))


if __name__ == "__main__":
    keep()
