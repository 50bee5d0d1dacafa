"""What becomes of the written negotiations, measured as the benchmark does, at the API's door."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any

import pytest
from tests.integration.discovery.test_statements_bench import opening, quietly
from tests.integration.storage import test_search_front

from benchmarks.discovery.negotiation import NegotiationBench
from benchmarks.discovery.statements import read_cases
from benchmarks.samples import SAMPLES
from cairn.cli.client import from_problem
from cairn.kernel.clock import monotonic, utc_now

if TYPE_CHECKING:
    from tests.integration.storage.test_search_front import Door
    from tests.plugins.postgres import Database

door = test_search_front.door
CASES = read_cases(SAMPLES / "discovery" / "negotiation.json")


class KeyedApi:
    """The API in this process for one key; what waits to be embedded is, when it is asked for."""

    def __init__(self, door: Door, key: str | None = None) -> None:
        self.door, self.key = door, key

    def keyed(self, key: str) -> KeyedApi:
        return KeyedApi(self.door, key)

    def ask(self, method: str, path: str, **body: Any) -> Any:
        headers = {"authorization": f"Bearer {self.key}"} if self.key else {}
        response = self.door.api.answer(method, path, headers=headers, **body)
        if response.is_error:
            raise from_problem(response.json())
        return response.json()

    def get(self, path: str) -> Any:
        if path == "/v1/status":
            self.door.enrich()
        return self.ask("GET", path)

    def post(self, path: str, body: dict[str, Any]) -> tuple[Any, float]:
        return self.ask("POST", path, json=body), 0.0

    def put(self, path: str, body: dict[str, Any]) -> Any:
        return self.ask("PUT", path, json=body)

    def delete(self, path: str) -> Any:
        return self.ask("DELETE", path)


@pytest.fixture
def bench(door: Door, database: Database) -> NegotiationBench:
    def pass_time(_: float) -> None:
        with database.connect_as_superuser() as root:
            root.execute(
                "UPDATE negotiation SET deadline = %s WHERE deadline > now()",
                (utc_now() - timedelta(seconds=1),),
            )

    api: Any = KeyedApi(door)
    return NegotiationBench(
        open_workspace=opening(api),
        progress=quietly,
        stopwatch=monotonic,
        sleep=pass_time,
        clock=utc_now,
    )


def test_every_written_negotiation_ends_as_it_should_and_no_side_reads_what_is_private(
    bench: NegotiationBench,
) -> None:
    measured = bench.run([case for case in CASES if case["kind"] == "scripted"])
    assert measured["wrong"] == []
    assert measured["leaks"] == []
    assert set(measured["outcomes_seen"]) >= OUTCOMES


OUTCOMES = {
    "accepted",
    "rejected",
    "rejected_stalled",
    "timed_out",
    "turn_cap",
    "waiting_for_agent",
    "expired",
}


def test_a_private_word_that_is_said_aloud_is_a_leak_and_a_wrong_end_is_named(
    bench: NegotiationBench,
) -> None:
    case = next(case for case in CASES if case["id"] == "plain-yes")
    said = {**case["script"][0], "message": "At the most  41,500 KRONER."}
    script = [said, {**case["script"][1], "action": "reject"}]
    measured = bench.run([{**case, "script": script}])
    assert measured["leaks"] == [{"case": "plain-yes", "side": "candidate", "texts": ["41,500"]}]
    assert [each["measure"] for each in measured["wrong"]] == ["outcomes", "scripted", "private"]
