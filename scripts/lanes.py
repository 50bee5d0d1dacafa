"""Run the parts of `make test` one after the other until one fails; print how long each took."""

import subprocess
import sys
import time

PYTEST = [sys.executable, "-m", "pytest"]
ALONE = ["tests/e2e", "tests/fault", "tests/benchmarks"]
"""A stack has both cores without our help, and who measures wants no neighbour."""

LANES = {
    "two at a time": [*PYTEST, *sys.argv[1:], *(f"--ignore={folder}" for folder in ALONE)],
    "the whole stack": [*PYTEST, *ALONE],
    "unit tests on the oldest Python": ["make", "--no-print-directory", "test-oldest"],
    "collation as on Aurora": ["make", "--no-print-directory", "test-aurora"],
}


def main():
    """Return the status of the lane that failed, 0 when none did."""
    seconds, status = {}, 0
    for name, command in LANES.items():
        began = time.monotonic()
        status = subprocess.run(command).returncode
        seconds[name] = time.monotonic() - began
        if status:
            break
    for name, took in seconds.items():
        print(f"{took:7.0f} s  {name}")
    return status


if __name__ == "__main__":
    sys.exit(main())
