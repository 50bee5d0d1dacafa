"""`cairn bench consolidation-scale`: the same facts each time, and what is said of a run."""

from io import StringIO

from rich.console import Console
from tests.unit.cli.fakes import Shell

from benchmarks.consolidation.scale import facts, resident_mb, show


def test_the_facts_are_the_same_each_time_and_most_are_new() -> None:
    told = list(facts(1_000))
    assert told == list(facts(1_000))
    orders = {text.rsplit("order ", 1)[1].split()[0].rstrip(".") for text in told}
    assert 600 < len(orders) < 800  # seven of ten are about an order of their own


def test_memory_is_that_of_this_process() -> None:
    assert 10 < resident_mb() < 10_000


def test_a_report_says_seconds_memory_and_counts() -> None:
    out = StringIO()
    measured = {
        "rows": 1_000,
        "seconds": 12.5,
        "memories_per_s": 80.0,
        "loaded_s": 9.0,
        "rss_mb": [200.0, 210.0, 205.0],
        "counts": {"merged": 7},
    }
    show(Console(file=out, width=100), measured)
    for expected in ("1,000 memories", "12.5 s", "210.0 MB at most", "merged", "7"):
        assert expected in out.getvalue()


def test_it_needs_a_server_to_make_a_database_on() -> None:
    shown = Shell().run("bench", "consolidation-scale", "--rows", "1000")
    assert shown.exit_code != 0
