"""What rules make of the written samples, measured as the benchmark does, at the API's door."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from tests.integration.discovery import test_intents

from benchmarks.discovery.indexer import IndexerBench
from benchmarks.discovery.statements import StatementsBench, read_cases
from benchmarks.samples import SAMPLES

if TYPE_CHECKING:
    from collections.abc import Callable, Generator

    from tests.support.front import Front

front, world = test_intents.front, test_intents.world


class Api:
    """The API in this process, as the benchmark calls it."""

    def __init__(self, front: Front) -> None:
        self.front = front

    def get(self, path: str) -> Any:
        return self.front.call("GET", path)

    def post(self, path: str, body: dict[str, Any]) -> tuple[Any, float]:
        return self.front.call("POST", path, json=body), 0.0

    def patch(self, path: str, body: dict[str, Any]) -> Any:
        return self.front.call("PATCH", path, json=body)


def opening(api: Any) -> Any:
    def opened(_: str) -> tuple[None, Any]:
        return None, api

    return opened


@contextmanager
def quietly(stage: str, total: int) -> Generator[Callable[[int], None]]:
    def done(count: int) -> None:
        assert (stage, count) != ("", total)

    yield done


def test_rules_alone_read_the_written_samples_as_well_as_is_asked(front: Front) -> None:
    api: Any = Api(front)
    bench = StatementsBench(open_workspace=opening(api), progress=quietly)
    intents = bench.intents(read_cases(SAMPLES / "discovery" / "intents.json"))
    changes = bench.reconcile(read_cases(SAMPLES / "discovery" / "reconcile.json"))
    assert min(intents["sides"], intents["kept_or_dropped"]) >= 0.85, intents
    assert min(changes["changes"], changes["payloads"]) >= 0.8, changes


def test_an_intent_is_held_against_its_members_network_and_a_miss_is_named(front: Front) -> None:
    api: Any = Api(front)
    bench = IndexerBench(open_workspace=opening(api), progress=quietly)
    case = {"index_prompt": "", "member_prompt": None, "intent": "A lost cat", "margin": "clear"}
    right = {**case, "id": "right", "belongs": True}
    wrong = {**case, "id": "wrong", "belongs": False, "margin": "borderline"}
    measured = bench.run([right, wrong])
    assert (measured["clear"], measured["borderline"]) == (1.0, 0.0)
    assert measured["wrong"] == [{"case": "wrong", "measure": "borderline"}]
