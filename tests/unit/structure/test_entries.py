"""Entries of the ledger are made in one place, so that what each carries is decided there."""

from pathlib import Path

import cairn

ROOT = Path(cairn.__file__).parent


def test_only_the_module_of_entries_makes_one() -> None:
    makes = {
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.py")
        if "NewEntry(" in path.read_text(encoding="utf-8")
    }
    assert makes == {"writing/entries.py"}


def test_entries_are_appended_by_writes_and_by_a_restore_alone() -> None:
    appends = {
        str(path.relative_to(ROOT))
        for path in ROOT.rglob("*.py")
        if "ledger.append(" in path.read_text(encoding="utf-8")
    }
    assert appends == {"adapters/postgres/ledger/whole.py", "writing/append.py"}
