"""Throughput and times under many clients at once: searches, writes, both. Not their quality."""

from __future__ import annotations

import os
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from benchmarks.clients import Clients, Key, Request, summary
from cairn.cli.client import Failure

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from rich.console import Console

    from benchmarks.api import TimedApi

MODES = ("reads", "writes", "mixed")
CLIENTS = (1, 4, 16, 64)
MEMORIES = 500
WRITES_OF_FIVE = 1
SETTLE_SECONDS = 600.0
SLOWEST = 2.0
"""What p95 may be, in units of clients / cores times the median of a single client."""

WORDS = (
    *("backup", "bicycle", "budget", "customer", "database", "deploy", "export", "garden"),
    *("index", "invoice", "kernel", "Kyoto", "latency", "Lisbon", "migrate", "network"),
    *("Oslo", "password", "printer", "queue", "refund", "river", "rotate", "schema"),
    *("server", "ticket", "vector", "worker", "Zurich"),
)


def memory(chance: random.Random) -> dict[str, Any]:
    """Return a memory that nobody wrote before."""
    words = " ".join(chance.choices(WORDS, k=12))
    return {"type": "fact", "text": f"Note {chance.getrandbits(60)}: {words}."}


def search(chance: random.Random) -> Request:
    """Return a search that no cache knows."""
    words = " ".join(chance.choices(WORDS, k=5))
    return Request("read", "/v1/search", {"query": f"What of {words} {chance.getrandbits(20)}?"})


def write(chance: random.Random) -> Request:
    """Return the writing of one memory."""
    return Request("write", "/v1/memories", memory(chance))


def mixed(chance: random.Random) -> Request:
    """Return a write in one case of five."""
    return write(chance) if chance.randrange(5) < WRITES_OF_FIVE else search(chance)


SENT: Mapping[str, Callable[[random.Random], Request]] = {
    "reads": search,
    "writes": write,
    "mixed": mixed,
}


def endless(make: Callable[[random.Random], Request], seed: str) -> Callable[[int], Iterator[Any]]:
    """Return what each client sends: its own requests, other ones in every run."""

    def requests(number: int) -> Iterator[Request]:
        chance = random.Random(f"{seed}/{number}")
        while True:
            yield make(chance)

    return requests


@dataclass(frozen=True, kw_only=True)
class LoadBench:
    """Measures one workspace of its own. `settled` waits until everything is embedded."""

    key: Key
    api: TimedApi
    stopwatch: Callable[[], float]
    sleep: Callable[[float], None]
    progress: Callable[[str], None]
    run_id: str

    def run(
        self, modes: Sequence[str], clients: Sequence[int], seconds: float
    ) -> dict[str, dict[str, Any]]:
        """Return the summary of each mode and number of clients."""
        fill(self.api, self.run_id)
        return {
            mode: {str(number): self._measured(mode, number, seconds) for number in clients}
            for mode in modes
        }

    def _measured(self, mode: str, number: int, seconds: float) -> dict[str, Any]:
        self.progress(f"{mode}: waiting for what is still embedded …")
        settled(self.api, self.sleep)
        self.progress(f"{mode}: {number} clients …")
        sent = endless(SENT[mode], f"{self.run_id}/{mode}/{number}")
        some = Clients(key=self.key, number=number, requests=sent, stopwatch=self.stopwatch)
        start = self.stopwatch()
        samples = some.run(seconds)
        return summary(samples, self.stopwatch() - start)


def fill(api: TimedApi, seed: str) -> None:
    """Remember what searches find."""
    chance = random.Random(seed)
    api.post("/v1/memories", {"items": [memory(chance) for _ in range(MEMORIES)]})


def settled(api: TimedApi, sleep: Callable[[float], None]) -> None:
    """Wait until nothing of the workspace waits for its vector."""
    for _ in range(int(SETTLE_SECONDS)):
        if api.get("/v1/status")["pending_embeddings"] == 0:
            return
        sleep(1.0)
    raise Failure(f"Memories are still not embedded after {SETTLE_SECONDS:.0f} s.")


def slow(found: Mapping[str, Mapping[str, Any]], cores: int) -> list[str]:
    """Return the numbers of clients whose p95 is above what waiting in line explains."""
    single = found.get("1")
    if single is None or not single["p50_ms"]:
        return []
    return [
        number
        for number, one in found.items()
        if (one["p95_ms"] or 0.0) > SLOWEST * max(1.0, int(number) / cores) * single["p50_ms"]
    ]


def show(out: Console, measured: Mapping[str, Mapping[str, Mapping[str, Any]]]) -> None:
    """Print a table."""
    from rich.table import Table

    table = Table("requests", "clients", "a second", "p50 ms", "p95 ms", "failures")
    for mode, found in measured.items():
        late = slow(found, os.cpu_count() or 1)
        for number, one in found.items():
            p95 = f"{one['p95_ms']}{' slow' if number in late else ''}"
            failures = ", ".join(f"{count} x {what}" for what, count in one["failures"].items())
            cells = number, f"{one['per_second']}", f"{one['p50_ms']}", p95, failures or "0"
            table.add_row(mode, *cells)
    out.print(table)
