"""What a quiet tenant notices of a greedy one: its searches and writes beside floods of batches."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any

from benchmarks.clients import Clients, Key, Request, Sample, summary
from benchmarks.load import endless, fill, memory, mixed, settled
from cairn.kernel.clock import monotonic

if TYPE_CHECKING:
    import random
    from collections.abc import Callable, Mapping, Sequence

    from rich.console import Console

    from benchmarks.api import TimedApi

GREEDY = (0, 4, 40)
BATCH = 500


def flood(chance: random.Random) -> Request:
    """Return the largest batch there is."""
    return Request("greedy", "/v1/memories", {"items": [memory(chance) for _ in range(BATCH)]})


def flooded(key: Key, number: int, seed: str, seconds: float) -> list[Sample]:
    """Flood from a process of its own, so that its work is no part of what the quiet one waits."""
    sent = endless(flood, seed)
    return Clients(key=key, number=number, requests=sent, stopwatch=monotonic).run(seconds)


@dataclass(frozen=True, kw_only=True)
class FairnessBench:
    """Measures two workspaces of its own: `quiet` has one client, `greedy` as many as asked."""

    quiet: Key
    greedy: Key
    api: TimedApi
    stopwatch: Callable[[], float]
    sleep: Callable[[float], None]
    progress: Callable[[str], None]
    run_id: str

    def run(self, greedy: Sequence[int], seconds: float) -> dict[str, Any]:
        """Return what the quiet tenant saw, and what became of the greedy one's requests."""
        fill(self.api, self.run_id)
        settled(self.api, self.sleep)
        return {str(number): self._measured(number, seconds) for number in greedy}

    def _measured(self, number: int, seconds: float) -> dict[str, Any]:
        self.progress(f"{number} greedy connections …")
        sent = endless(mixed, f"{self.run_id}/quiet/{number}")
        quiet = Clients(key=self.quiet, number=1, requests=sent, stopwatch=self.stopwatch)
        seed = f"{self.run_id}/greedy/{number}"
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as aside:
            aside.submit(int).result()  # the process is there
            flooding = aside.submit(flooded, self.greedy, number, seed, seconds)
            samples = quiet.run(seconds)
            floods = flooding.result()
        kinds = {
            kind: summary([sample for sample in samples if sample.kind == kind], seconds)
            for kind in ("read", "write")
        }
        return {"quiet": summary(samples, seconds) | kinds, "greedy": summary(floods, seconds)}


def show(out: Console, measured: Mapping[str, Mapping[str, Any]]) -> None:
    """Print a table."""
    from rich.table import Table

    table = Table("greedy connections", "quiet p50 ms", "p95 ms", "failures", "batches taken")
    for number, found in measured.items():
        quiet, greedy = found["quiet"], found["greedy"]
        taken = greedy["requests"] - sum(greedy["failures"].values())
        refused = ", ".join(f"{count} x {what}" for what, count in greedy["failures"].items())
        told = f"{taken}{f' ({refused})' if refused else ''}"
        failures = sum(quiet["failures"].values())
        table.add_row(number, f"{quiet['p50_ms']}", f"{quiet['p95_ms']}", f"{failures}", told)
    out.print(table)
