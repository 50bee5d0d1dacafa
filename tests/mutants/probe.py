"""Notes which tests call the functions of MUTANT_TARGETS; a plugin for scripts/mutants.py."""

import json
import os
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from types import CodeType

import pytest

TOOL = sys.monitoring.PROFILER_ID
targets: frozenset[str] = frozenset(json.loads(os.environ["MUTANT_TARGETS"]))
called: dict[str, dict[str, None]] = defaultdict(dict)
running = [""]


def note(code: CodeType, _offset: int) -> object:
    """Count a start of a function; any other is never asked for again."""
    name = f"{code.co_filename}:{code.co_qualname}"
    if name not in targets:
        return sys.monitoring.DISABLE
    if running[0]:
        called[name][running[0]] = None
    return None


def pytest_configure() -> None:
    sys.monitoring.use_tool_id(TOOL, "mutants")
    sys.monitoring.register_callback(TOOL, sys.monitoring.events.PY_START, note)
    sys.monitoring.set_events(TOOL, sys.monitoring.events.PY_START)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    running[0] = item.nodeid.partition("[")[0].partition("@")[0]
    result = yield
    running[0] = ""
    return result


def pytest_sessionfinish() -> None:
    tests = {name: list(each) for name, each in called.items()}
    worker = os.environ.get("PYTEST_XDIST_WORKER", "all")
    file = Path(os.environ["MUTANT_CALLS"]) / f"{worker}.json"
    file.write_text(json.dumps(tests), encoding="utf-8")
