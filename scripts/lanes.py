"""Run the parts of `make test` until one fails, some beside another; print how long each took.

What checks the code's shape (tests/unit/structure) is of `make check`.
"""

import subprocess
import sys
import tempfile
import time
from concurrent.futures import Future, ThreadPoolExecutor
from typing import IO

PYTEST = [sys.executable, "-m", "pytest"]
STACK = ["tests/e2e", "tests/fault"]
ALONE = ["tests/benchmarks"]
"""Who measures wants no neighbour."""
ELSEWHERE = [*STACK, *ALONE, "tests/unit/structure"]
MAKE = ["make", "--no-print-directory"]

TOGETHER = {
    "two at a time": [*PYTEST, *sys.argv[1:], *(f"--ignore={folder}" for folder in ELSEWHERE)]
}
BESIDE = {
    "unit tests on the oldest Python": [*MAKE, "test-oldest", "PARALLEL="],
    "collation as on Aurora": [*MAKE, "test-aurora", "PARALLEL="],
}
"""One at a time in one process, as a stack leaves a core to others; neither uses anything of it."""

Took = dict[str, float]


def main() -> int:
    """Return the status of the part that failed, 0 when none did."""
    took: Took = {}
    status = run(TOGETHER, took) or with_the_stack(took) or run({"alone": [*PYTEST, *ALONE]}, took)
    for name, seconds in took.items():
        print(f"{seconds:7.0f} s  {name}")
    return status


def with_the_stack(took: Took) -> int:
    """Run what needs a whole stack, and the rest beside it; its output comes afterwards."""
    with tempfile.TemporaryFile("w+", encoding="utf-8") as output, ThreadPoolExecutor() as pool:
        beside: Future[int] = pool.submit(run, BESIDE, took, output)
        status = run({"the whole stack": [*PYTEST, *STACK]}, took)
        status = status or beside.result()
        output.seek(0)
        print(output.read())
    return status


def run(commands: dict[str, list[str]], took: Took, output: IO[str] | None = None) -> int:
    """Run commands one after the other; return the status of the first that fails."""
    for name, command in commands.items():
        began = time.monotonic()
        status = subprocess.run(command, stdout=output, stderr=output).returncode
        took[name] = time.monotonic() - began
        if status:
            return status
    return 0


if __name__ == "__main__":
    sys.exit(main())
