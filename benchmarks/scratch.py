"""A migrated database for one run of a benchmark, made and dropped by the owner."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

import psycopg

from benchmarks.sql import query
from cairn.adapters.postgres.migrate import migrate

if TYPE_CHECKING:
    from collections.abc import Generator

NAME = "cairn_bench_scale"  # as in queries/scratch.sql


@contextmanager
def scratch_database(owner_url: str, app_url: str) -> Generator[tuple[str, str]]:
    """Make and migrate the database, yield the URLs of its owner and functions, drop it."""
    _as_owner(owner_url, "scratch.disconnect", "scratch.drop", "scratch.create")
    try:
        migrate(_at(owner_url))
        yield _at(owner_url), _at(app_url)
    finally:
        _as_owner(owner_url, "scratch.disconnect", "scratch.drop")


def analyse(owner_url: str) -> None:
    """Gather the planner's statistics."""
    _as_owner(owner_url, "scratch.analyse")


def _as_owner(owner_url: str, *names: str) -> None:
    with psycopg.connect(owner_url, autocommit=True) as owner:
        for name in names:
            owner.execute(query(name))


def _at(url: str) -> str:
    return urlunsplit(urlsplit(url)._replace(path=f"/{NAME}"))
