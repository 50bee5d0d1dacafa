"""One place makes entries, appends, announces and dispatches them, so that nothing is forgotten."""

import re
from pathlib import Path

import pytest

import cairn

ROOT = Path(cairn.__file__).parent

ONLY: dict[str, set[str]] = {
    r"\bNewEntry\(": {"writing/entries.py"},
    r"\bEntries\(": {"writing/writer.py"},
    r"ledger\.append\(": {"adapters/postgres/ledger/whole.py", "writing/append.py"},
    # the batches of an ingestion are embedded by its machine, which no message wakes
    r"writing\.append import (\w+, )*append\b": {"documents/plan.py", "writing/writer.py"},
    r"\bannounce\(": {"writing/append.py", "writing/webhook_events.py"},
    r"webhooks\.(deliver|subscribed)\(": {"writing/webhook_events.py"},
}
"""Which modules may do what; a restore writes entries as they were."""


@pytest.mark.parametrize("does", ONLY)
def test_nothing_but_the_unit_of_work_does_a_part_of_its_work(does: str) -> None:
    found = {
        path.relative_to(ROOT).as_posix()
        for path in ROOT.rglob("*.py")
        if re.search(does, path.read_text(encoding="utf-8"))
    }
    assert found == ONLY[does]
