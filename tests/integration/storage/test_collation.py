"""Order and equality of texts are the code's own, whatever collation the database has.

Aurora sorts by en_US.UTF-8, where "B" stands between "a" and "c" and punctuation hardly counts;
the laptop by code points, as Python does. `make test-aurora` runs this module and others there.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import psycopg

if TYPE_CHECKING:
    import pytest
    from tests.plugins.postgres import Database

MIXED = ["a", "B", "_c", "Z-1", "é", "z", "a b", "ab"]


def test_the_lane_is_what_it_says(database: Database, pytestconfig: pytest.Config) -> None:
    aurora = pytestconfig.getoption("--aurora")
    with psycopg.connect(database.app_url) as connection:
        row = connection.execute(
            "SELECT datcollate, array(SELECT x FROM unnest(%s::text[]) x ORDER BY x)"
            " FROM pg_database WHERE datname = current_database()",
            (MIXED,),
        ).fetchone()
        version = connection.info.server_version // 10_000
    assert row is not None
    assert (version, row[0]) == ((17, "en_US.UTF-8") if aurora else (18, "C.UTF-8"))
    assert (row[1] == sorted(MIXED)) is not aurora
