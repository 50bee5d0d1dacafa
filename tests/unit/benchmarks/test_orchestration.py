"""`cairn bench orchestration`: loops of a timeline, and what of them was neither model nor tool."""

from datetime import timedelta
from typing import Any

from tests.support.remembering import NOON

from benchmarks.orchestration import measured, overheads


def line(position: int, state: str, at_ms: int, ms: int = 0) -> dict[str, Any]:
    at = NOON + timedelta(milliseconds=at_ms)
    return {"position": position, "state": state, "at": at.isoformat(), "ms": ms}


LOOP = [
    line(1, "CREATED", 0, 40),
    line(2, "PLANNING", 100, 30),
    line(3, "SAFETY_CHECK", 130, 9),
    line(4, "ACTING", 200, 50),
    line(5, "OBSERVING", 220),
    line(6, "PLANNING", 300, 60),
]


def test_a_loop_costs_what_neither_the_model_nor_the_tool_took() -> None:
    assert overheads(LOOP) == [200 - 50 - 60]


def test_a_loop_in_which_a_person_was_waited_for_is_left_out() -> None:
    waited = [line(7, "WAITING_APPROVAL", 900_000), line(8, "PLANNING", 900_100)]
    assert overheads([*LOOP, *waited]) == overheads(LOOP)


def test_lines_of_one_transition_count_once() -> None:
    twice = [*LOOP[:3], line(4, "ACTING", 200, 20), line(4, "ACTING", 200, 30), *LOOP[4:]]
    assert overheads(twice) == overheads(LOOP)


def test_what_has_no_loop_has_no_overhead() -> None:
    assert overheads([]) == []
    assert overheads(LOOP[:3]) == []


class Api:
    """Two investigations, one of which still runs."""

    def get(self, path: str, **params: Any) -> Any:
        if path == "/v1/investigations":
            ended = [{"id": "a", "ended_at": NOON.isoformat()}, {"id": "b", "ended_at": None}]
            return {"items": ended[: params["limit"]]}
        assert path == "/v1/investigations/a/steps"
        return {"items": LOOP}


def test_the_newest_that_ended_are_summed_up() -> None:
    api: Any = Api()
    assert measured(api, 10) == {
        "investigations": 1,
        "loops": 1,
        "p50_ms": 90.0,
        "p95_ms": 90.0,
    }


def test_without_any_loop_nothing_is_claimed() -> None:
    api: Any = Api()
    assert measured(api, 0) == {"investigations": 0, "loops": 0, "p50_ms": None, "p95_ms": None}
