"""Every row of the rules by example; their documentation says the same."""

import inspect
import re
from pathlib import Path
from typing import Any

import pytest

from cairn.safety import rules
from cairn.safety.action import Outcome
from cairn.safety.pipeline import is_rehearsed, may_rehearse
from cairn.safety.rules import SENTENCES, Reason, decide
from cairn.safety.scope import ScopeAnswer
from cairn.safety.tools import Autonomy, Lane, ToolSpec

OFF, INVESTIGATE, PROPOSE, ACT = Autonomy
READ, WRITE = Lane.READ, Lane.WRITE
YES, NO, ASK = Outcome.ALLOWED, Outcome.DENIED, Outcome.NEEDS_APPROVAL
GUIDE = Path(__file__).parents[3] / "docs" / "operate" / "safety.md"


def tool(lane: Lane | None, **changes: Any) -> ToolSpec:
    return ToolSpec(connector="desk", name="t", description="", lane=lane, **changes)


ROWS: list[tuple[ToolSpec | None, Autonomy, Outcome, str]] = [
    (None, ACT, NO, "unknown-tool"),
    (tool(READ), OFF, NO, "autonomy-off"),
    (tool(WRITE), OFF, NO, "autonomy-off"),
    (tool(None), ACT, NO, "unsafe-tool"),
    (tool(None), INVESTIGATE, NO, "unsafe-tool"),
    (tool(READ), INVESTIGATE, YES, "allowed"),
    (tool(READ), PROPOSE, YES, "allowed"),
    (tool(READ), ACT, YES, "allowed"),
    (tool(WRITE), INVESTIGATE, NO, "only-reads"),
    (tool(WRITE), PROPOSE, ASK, "writes-need-approval"),
    (tool(WRITE), ACT, YES, "allowed"),
    (tool(WRITE, dangerous=True), PROPOSE, ASK, "writes-need-approval"),
    (tool(WRITE, dangerous=True), ACT, ASK, "dangerous"),
    (tool(READ, dangerous=True), INVESTIGATE, ASK, "dangerous"),
    # requires_approval_above_autonomy: at it or below a person, above it not
    (tool(WRITE, dangerous=True, requires_approval_above_autonomy=PROPOSE), ACT, YES, "allowed"),
    (
        tool(WRITE, requires_approval_above_autonomy=INVESTIGATE),
        PROPOSE,
        ASK,
        "writes-need-approval",
    ),
    (tool(WRITE, requires_approval_above_autonomy=ACT), ACT, ASK, "tool-needs-approval"),
    (
        tool(READ, requires_approval_above_autonomy=INVESTIGATE),
        INVESTIGATE,
        ASK,
        "tool-needs-approval",
    ),
    (tool(READ, requires_approval_above_autonomy=INVESTIGATE), PROPOSE, YES, "allowed"),
    (tool(READ, requires_approval_above_autonomy=OFF), INVESTIGATE, YES, "allowed"),
    # forbidden_in_autonomy always wins
    (
        tool(WRITE, forbidden_in_autonomy=frozenset({INVESTIGATE, PROPOSE})),
        PROPOSE,
        NO,
        "forbidden-in-autonomy",
    ),
    (tool(READ, forbidden_in_autonomy=frozenset({ACT})), ACT, NO, "forbidden-in-autonomy"),
    (
        tool(WRITE, dangerous=True, forbidden_in_autonomy=frozenset({INVESTIGATE, PROPOSE})),
        ACT,
        ASK,
        "dangerous",
    ),
]


@pytest.mark.parametrize(("spec", "autonomy", "outcome", "reason"), ROWS)
def test_the_rules_by_example(
    spec: ToolSpec | None, autonomy: Autonomy, outcome: Outcome, reason: str
) -> None:
    ruling = decide(spec, autonomy, ScopeAnswer.ALLOWED)
    assert (ruling.outcome, ruling.reason) == (outcome, reason)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (ScopeAnswer.DENIED, "scope-denied"),
        (ScopeAnswer.UNLISTED, "not-in-scope"),
        (ScopeAnswer.UNSAFE, "unsafe-resource"),
    ],
)
def test_what_the_scopes_do_not_allow_is_denied_at_any_autonomy(
    answer: ScopeAnswer, reason: str
) -> None:
    for lane in Lane:
        for autonomy in (INVESTIGATE, PROPOSE, ACT):
            ruling = decide(tool(lane), autonomy, answer)
            assert (ruling.outcome, ruling.reason) == (NO, reason)
        assert decide(tool(lane), OFF, answer).reason == "autonomy-off"


def test_every_row_of_the_table_in_the_module_has_its_reason_and_is_reached() -> None:
    documented = re.findall(r"\| `([a-z-]+)` \|$", inspect.getdoc(rules) or "", re.MULTILINE)
    reached = {reason for *_, reason in ROWS} | {"scope-denied", "not-in-scope", "unsafe-resource"}
    assert len(documented) == 12
    assert set(documented) == reached


def test_every_reason_has_its_sentence() -> None:
    assert set(SENTENCES) == set(Reason)


REHEARSED = [
    (tool(WRITE), PROPOSE, ASK, False, True),
    (tool(WRITE), PROPOSE, ASK, True, False),
    (tool(WRITE, dangerous=True), ACT, ASK, False, True),
    (tool(WRITE, dangerous=True), ACT, ASK, True, False),
    (tool(WRITE), ACT, YES, False, False),
    (tool(WRITE, dangerous=True, requires_approval_above_autonomy=PROPOSE), ACT, YES, False, False),
    (tool(READ), INVESTIGATE, YES, False, False),
    (tool(READ, dangerous=True), ACT, ASK, False, True),
]


@pytest.mark.parametrize(("spec", "autonomy", "outcome", "approved", "rehearsed"), REHEARSED)
def test_an_approved_write_runs_for_real_and_one_that_waits_does_not(
    spec: ToolSpec, autonomy: Autonomy, outcome: Outcome, *, approved: bool, rehearsed: bool
) -> None:
    assert is_rehearsed(spec, autonomy, outcome, approved=approved) is rehearsed


def test_only_a_write_that_waits_is_shown_beforehand() -> None:
    assert may_rehearse(tool(WRITE), ASK)
    assert not may_rehearse(tool(READ), ASK)
    assert not may_rehearse(tool(WRITE), YES)
    assert not may_rehearse(tool(WRITE), NO)
    assert not may_rehearse(tool(WRITE), None)
