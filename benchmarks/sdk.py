# pyright: basic, reportMissingImports=false
"""What the Python client costs over raw HTTP, as ratios within one run. Not recall's own speed.

Each question is asked in turn by every way there is, so that what slows the machine slows all.
LangGraph's store is one where langgraph is installed. `python -m benchmarks.sdk` runs it, by
the Python of an example and on the stack of CAIRN_URL and CAIRN_API_KEY.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from functools import partial
from importlib.util import find_spec
from statistics import median
from time import perf_counter
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import httpx

from cairn_memory import Memory

if TYPE_CHECKING:
    from collections.abc import Callable

WARM_UP = 20
ITEMS = 60
NAMESPACE = "bench/sdk"


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Milliseconds at the median by way, and each way's ratio to the one without a client."""

    rounds: int
    p50_ms: dict[str, float]
    ratio: dict[str, float]


def measure(*, rounds: int) -> Cost:
    """Ask `rounds` questions by every way; the items and their client are this run's own."""
    client_id = f"bench-{uuid4()}"
    with (
        Memory(client_id=client_id) as memory,
        httpx.Client(base_url=memory.url, headers=memory._http.headers, timeout=60) as http,
    ):
        for number in range(ITEMS):
            memory.remember(
                f"Berth {number} is kept free for ship number {number * 7}.",
                namespace=NAMESPACE,
                key=str(number),
                metadata={"value": {"berth": number}},
            )
        ways = _ways(memory, http, client_id)
        taken: dict[str, list[float]] = {name: [] for name in ways}
        for number in range(WARM_UP + rounds):
            for name, ask in ways.items():
                began = perf_counter()
                ask(
                    f"Which ship is berth {number % ITEMS} kept free for, asked as {name} {number}?"
                )
                if number >= WARM_UP:
                    taken[name].append((perf_counter() - began) * 1000)
    p50 = {name: median(each) for name, each in taken.items()}
    ratio = {name: each / p50["http"] for name, each in p50.items() if name != "http"}
    return Cost(rounds=rounds, p50_ms=p50, ratio=ratio)


def _ways(memory: Memory, http: httpx.Client, client_id: str) -> dict[str, Callable[[str], Any]]:
    def raw(query: str) -> Any:
        body = {"query": query, "limit": 10, "client_id": client_id, "namespace_prefix": NAMESPACE}
        return http.post("/v1/search", json=body).raise_for_status().json()

    ways: dict[str, Callable[[str], Any]] = {
        "http": raw,
        "client": partial(memory.recall, limit=10, namespace_prefix=NAMESPACE),
    }
    if find_spec("langgraph") is not None:
        from cairn_memory.langgraph import CairnStore

        store = CairnStore(client_id=client_id)
        place = tuple(NAMESPACE.split("/"))
        search: Any = store.search
        ways["langgraph store"] = lambda query: search(place, query=query, limit=10)
    return ways


def main(rounds: int = 200) -> None:
    """Measure and print."""
    found = measure(rounds=rounds)
    for name, p50 in found.p50_ms.items():
        ratio = f", {found.ratio[name]:.3f} of http" if name in found.ratio else ""
        sys.stdout.write(f"{name}: {p50:.2f} ms at the median of {found.rounds}{ratio}\n")


if __name__ == "__main__":
    main()
