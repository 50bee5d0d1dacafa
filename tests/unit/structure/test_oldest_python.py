"""What the oldest supported Python gets wrong, and its own run of the unit tests might not meet."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[3]
POSSESSIVE_GROUP = re.compile(r"(?<!\()\)(?:\*\+|\+\+|\?\+|\{[0-9,]+\}+\+)")


def test_no_pattern_repeats_a_group_possessively() -> None:
    # Python before 3.11.5 gives back nothing of a look-ahead inside it; `(?>(?:...)*)` is right.
    found = [
        f"{path.relative_to(ROOT)}:{number}"
        for folder in ("shared", "functions", "infra", "benchmarks")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
        if POSSESSIVE_GROUP.search(line)
    ]
    assert found == []
