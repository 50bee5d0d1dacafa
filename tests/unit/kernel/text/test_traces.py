"""Trace context: what is a traceparent, what is kept of it, and how far a trace reaches."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from cairn.kernel import traces
from cairn.kernel.ids import new_id

GOOD = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"


def test_a_good_one_is_kept_and_named() -> None:
    assert traces.parsed(f" {GOOD} ") == GOOD
    assert traces.trace_id_of(GOOD) == "4bf92f3577b34da6a3ce929d0e0e4736"


def test_of_a_later_version_the_known_part_is_kept() -> None:
    assert traces.parsed(f"42{GOOD[2:]}-what-comes-later") == GOOD


@pytest.mark.parametrize(
    "bad",
    [
        None,
        "",
        "00",
        GOOD.upper(),
        GOOD[:-1],
        f"{GOOD}-more",
        f"ff{GOOD[2:]}",
        f"00-{'0' * 32}-00f067aa0ba902b7-01",
        f"00-4bf92f3577b34da6a3ce929d0e0e4736-{'0' * 16}-01",
        GOOD.replace("4", "é"),
        f"{GOOD}\n{GOOD}",
        "x" * 1_000_000,
    ],
)
def test_what_is_none_is_no_trace(bad: str | None) -> None:
    assert traces.parsed(bad) is None
    assert traces.trace_id_of(bad) is None
    with traces.within(bad):
        assert traces.current() is None


def test_a_trace_reaches_as_far_as_its_block() -> None:
    assert traces.current() is None
    with traces.within(GOOD):
        assert traces.current() == GOOD
        assert traces.current_trace_id() == GOOD[3:35]
        with traces.within(None):
            assert traces.current() is None
        assert traces.current() == GOOD
    assert traces.current() is None


def test_another_thread_belongs_to_no_trace() -> None:
    with traces.within(GOOD), ThreadPoolExecutor(1) as pool:
        assert pool.submit(traces.current).result() is None


def test_a_part_of_work_joins_a_trace_or_begins_one() -> None:
    part = new_id()
    joined = traces.joined(GOOD[3:35], part)
    assert traces.trace_id_of(joined) == GOOD[3:35]
    assert joined != GOOD
    for bad in (None, "", "x", "0" * 32, GOOD):
        assert traces.joined(bad, part) == traces.begun(part)


def test_a_record_of_a_queue_carries_its_trace() -> None:
    record = {"messageAttributes": {"traceparent": {"stringValue": GOOD, "dataType": "String"}}}
    assert traces.carried(record) == GOOD
    assert traces.carried({"messageAttributes": {"traceparent": {"stringValue": "bad"}}}) is None
    assert traces.carried({"messageAttributes": {}}) is None
    assert traces.carried({}) is None


def test_a_trace_that_begins_here_is_a_good_one() -> None:
    made = traces.begun(new_id())
    assert traces.parsed(made) == made
