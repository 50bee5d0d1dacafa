"""Explaining and replaying on the command line."""

import json
from typing import Any

import httpx
import pytest
from tests.unit.cli.fakes import Shell

EXPLAINED: dict[str, Any] = {
    "search_id": "019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e",
    "recipe": "default",
    "retrieval_class": "entity",
    "intents": {"what": 0.7},
    "degraded": ["graph: late"],
    "candidates": {"keyword": 2, "vector": 1},
    "replayed": True,
    "results": [
        {
            "node_id": "00000000-0000-0000-0000-000000000005",
            "rank": 1,
            "score": 0.75,
            "legs": {"keyword": {"rank": 1, "score": 0.2}},
            "contributions": {"keyword": 0.5, "speaker": 0.25},
            "rerank": None,
            "merged": [],
            "text": "Ana: the key is [under] the mat.",
        }
    ],
    "others": [],
}
FOUND: dict[str, Any] = {
    "results": [],
    "meta": {
        "search_id": EXPLAINED["search_id"],
        "legs": {"keyword": {"found": 2, "ms": 1.25}},
        "stages_ms": {"legs": 2.5},
    },
}


def shell(explained: dict[str, Any], asked: list[Any] | None = None) -> Shell:
    def answer(request: httpx.Request) -> httpx.Response:
        if request.method == "POST":
            (asked if asked is not None else []).append(json.loads(request.content))
            return httpx.Response(200, json=FOUND)
        return httpx.Response(200, json=explained)

    return Shell(transport=httpx.MockTransport(answer))


def test_a_search_is_shown_signal_by_signal() -> None:
    shown = shell(EXPLAINED).run("searches", "show", EXPLAINED["search_id"])
    assert shown.exit_code == 0
    for part in ("keyword 1", "+0.500", "+0.250", "0.750", "[under]", "graph: late", "what 0.70"):
        assert part in shown.stdout


def test_a_narrow_terminal_gets_a_few_short_lines_for_each_result() -> None:
    for columns, lines in ((60, ["1.", "found by keyword 1"]), (200, ["legs", "total"])):
        made = shell(EXPLAINED)
        made.columns = columns
        shown = made.run("searches", "show", EXPLAINED["search_id"])
        assert all(part in shown.stdout for part in (*lines, "+0.500", "0.750"))
        assert max(map(len, shown.stdout.splitlines())) <= columns


@pytest.mark.parametrize(("replayed", "exit_code"), [(True, 0), (False, 1)])
def test_a_replay_that_differs_is_a_failure(replayed: bool, exit_code: int) -> None:
    shown = shell(EXPLAINED | {"replayed": replayed}).run("searches", "replay", "x")
    assert shown.exit_code == exit_code
    assert EXPLAINED["results"][0]["node_id"] in shown.stdout


def test_recall_explains_what_it_found_and_where_the_time_went() -> None:
    asked: list[Any] = []
    shown = shell(EXPLAINED, asked).run(
        "recall", "Where is the key?", "--explain", "--on", "graph", "--off", "dedup"
    )
    assert shown.exit_code == 0
    assert "+0.250" in shown.stdout
    assert "keyword 1.2" in shown.stdout
    assert asked[0]["stages"] == {"graph": True, "dedup": False}


def test_a_context_is_printed_as_it_is() -> None:
    made = {
        "context": "<context>\n[x]\n</context>",
        "tokens": 9,
        "max_tokens": 64,
        "left_out": 2,
        "citations": [{}],
    }
    transport = httpx.MockTransport(lambda _: httpx.Response(200, json=made))
    shown = Shell(transport=transport).run("context", "Where is the key?", "--max-tokens", "64")
    assert made["context"] in shown.stdout
    assert "2 did not fit" in shown.output
