"""docs/operate/safety.md says what the code does: its tables are read and tried."""

import inspect
import re
from pathlib import Path

import pytest

from cairn.safety import rules
from cairn.safety.action import Outcome
from cairn.safety.profiles import PROFILES, Kind, kinds_of
from cairn.safety.redaction import EMPTY, redact
from cairn.safety.rules import Reason, decide
from cairn.safety.scope import ScopeAnswer, parse_pattern, parse_scopes
from cairn.safety.tools import Autonomy, Lane, ToolSpec

GUIDE = (Path(__file__).parents[3] / "docs" / "operate" / "safety.md").read_text(encoding="utf-8")
WORDS = {
    "allowed": Outcome.ALLOWED,
    "denied": Outcome.DENIED,
    "a person": Outcome.NEEDS_APPROVAL,
}


def table(first: str) -> list[list[str]]:
    """Return the rows of the table whose header begins with these words."""
    lines = GUIDE.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith(f"| {first}"))
    rows: list[list[str]] = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            return rows
        rows.append([cell.strip() for cell in line.strip("|").split(" | ")])
    return rows


def code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def test_the_rules_are_those_of_the_module() -> None:
    said = [f"| {' | '.join(row)} |" for row in table("# | when")]
    assert "\n".join(said) in (inspect.getdoc(rules) or "")


def test_every_reason_is_named() -> None:
    assert {item.value for item in Reason} <= set(re.findall(r"`([a-z-]+)`", GUIDE))


def test_the_autonomy_table_is_what_the_rules_decide() -> None:
    tools = [
        ToolSpec(connector="c", name="t", description="", lane=lane, dangerous=dangerous)
        for lane, dangerous in ((Lane.READ, False), (Lane.WRITE, False), (Lane.WRITE, True))
    ]
    rows = table("autonomy")
    assert [code(row[0])[0] for row in rows] == [item.value for item in Autonomy]
    for row in rows:
        autonomy = Autonomy(code(row[0])[0])
        decided = [decide(tool, autonomy, ScopeAnswer.ALLOWED).outcome for tool in tools]
        assert decided == [WORDS[cell] for cell in row[1:]]


def test_the_patterns_match_what_the_guide_says() -> None:
    rows = table("pattern")
    assert len(rows) == 8
    for pattern, matches, misses in rows:
        read = parse_pattern(code(pattern)[0], "p")
        for path in code(matches):
            assert read.matches(tuple(path.split("/"))), (pattern, path)
        for path in code(misses):
            assert not read.matches(tuple(path.split("/"))), (pattern, path)


def test_the_example_of_scopes_is_in_the_language() -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", GUIDE, re.DOTALL)
    assert len(parse_scopes(example, connector="m365").write.deny) == 2


def test_the_profiles_take_out_what_the_guide_says() -> None:
    said = {code(name)[0]: kinds for name, kinds in table("profile")}
    assert set(said) == set(PROFILES)
    for name, kinds in said.items():
        named = {Kind(item) for item in re.findall(r"[A-Z]{2,}", kinds)}
        assert named == PROFILES[name]


@pytest.mark.parametrize("row", table("kind"), ids=lambda row: row[0])
def test_a_kind_is_seen_and_not_seen_as_the_guide_says(row: list[str]) -> None:
    kind, seen, unseen = row
    for text in code(seen):
        assert f"<{kind}_1>" in str(redact(text, EMPTY, kinds_of("hipaa")).value), text
    for text in code(unseen):
        assert f"<{kind}_" not in str(redact(text, EMPTY, kinds_of("hipaa")).value), text


def test_every_kind_that_is_recognised_has_its_row() -> None:
    assert {row[0] for row in table("kind")} == set(Kind) - {Kind.LITERAL, Kind.NUMBER}
