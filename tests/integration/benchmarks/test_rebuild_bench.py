"""`cairn bench rebuild` over the embedded PostgreSQL: small, and equal."""

from time import perf_counter
from typing import TYPE_CHECKING

from benchmarks.rebuild import RebuildBench

if TYPE_CHECKING:
    from tests.plugins.postgres import Database


def test_it_fills_a_workspace_replays_it_and_finds_it_equal(database: "Database") -> None:
    told: list[str] = []
    found = RebuildBench(
        owner_url=database.owner_url,
        app_url=database.app_url,
        stopwatch=perf_counter,
        progress=told.append,
    )(600)
    assert found["equal"] is True
    assert found["entries"] >= 606
    assert found["rows"] > 1800
    assert found["entries_per_s"] > 50
