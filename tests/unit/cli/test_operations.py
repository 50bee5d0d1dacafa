"""`cairn stats`: tables a person can read, one JSON value for programs."""

import json

from tests.unit.cli.fakes import Shell

from cairn.cli.operations import bar, readable


def test_the_tables_say_what_is_counted_and_of_how_many() -> None:
    shown = Shell().run("stats")
    assert shown.exit_code == 0
    assert "12 nodes, 8 active memories; ledger at position 40" in shown.stdout
    assert "100 at random" in shown.stdout
    assert "25.0 %" in shown.stdout
    assert "4.0 KiB" in shown.stdout


def test_json_is_the_answer_as_it_came() -> None:
    shown = json.loads(Shell().run("stats", "--json").stdout)
    assert shown["decayed_below_50pct"] == 3
    assert shown["outbox"] == {"embed": 1}


def test_a_bar_shows_what_is_more_than_nothing() -> None:
    assert (bar(0, 10), bar(0.001, 10), len(bar(5, 10)), bar(1, 0)) == ("", "█", 15, "")


def test_bytes_are_told_in_the_largest_unit_they_reach() -> None:
    assert [readable(size) for size in (0, 1023, 1024, 5 * 1024**3)] == [
        "0 B", "1023 B", "1.0 KiB", "5.0 GiB",
    ]  # fmt: skip
