"""The page about the ledger lists every type of entry that the code appends, and no other."""

import ast
import re
from pathlib import Path

from cairn.agent.people.ports import EscalationState
from cairn.agent.ports import ActionState, ApprovalState
from cairn.ledger.entry import ENTRY_TYPE

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "shared" / "cairn"
EDGES = {"api", "bootstrap", "cli", "connectors", "embedding", "settings"}
"""Areas that append nothing; in `storage` only accounts do, beside names of queries."""

LOGGED = {
    "connector.not_checked",
    "connector.not_well",
    "investigation.not_remembered",
    "investigation.not_taken_up",
    "ticket.not_remembered",
    "ticket.not_written_back",
    "ticket_source.not_polled",
    "ticket_source.polled",
}
"""Names of lines of the log."""

BY_STATE = {
    "action": {ActionState.APPLIED, ActionState.FAILED, ActionState.UNKNOWN},
    "approval": {ApprovalState.REJECTED, ApprovalState.EDITED, ApprovalState.EXPIRED},
    "escalation": {EscalationState.DELIVERED, EscalationState.FAILED},
}
"""Types that are put together from a state; `test_types_made_of_states_are_known` finds others."""


def strings(node: ast.AST) -> set[str]:
    found = (one.value for one in ast.walk(node) if isinstance(one, ast.Constant))
    return {one for one in found if isinstance(one, str)}


def trees() -> list[ast.Module]:
    areas = [
        path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in EDGES
    ]
    domain = [path for path in areas if path.relative_to(PACKAGE).parts[0] != "storage"]
    return [
        ast.parse(path.read_text(encoding="utf-8"))
        for path in [*domain, PACKAGE / "storage" / "postgres" / "accounts.py"]
    ]


def listed() -> set[str]:
    page = (ROOT / "docs" / "ledger.md").read_text(encoding="utf-8")
    rows = page.partition("## Types")[2].partition("\n## ")[0].splitlines()
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row.split(" | ")[0])}


def test_the_page_lists_every_type_the_code_has_and_no_other() -> None:
    made = {f"{noun}.{state.value}" for noun, states in BY_STATE.items() for state in states}
    named = {one for tree in trees() for one in strings(tree) if ENTRY_TYPE.fullmatch(one)}
    types = {one for one in listed() if ENTRY_TYPE.fullmatch(one)}
    nouns = {one.partition(".")[0] for one in types}
    appended = {one for one in named - LOGGED if one.partition(".")[0] in nouns}
    assert types == appended | made


def test_types_made_of_states_are_known() -> None:
    begun = {
        one.values[0].value.rstrip(".")
        for tree in trees()
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        for given in [*call.args[:1], *(each.value for each in call.keywords if each.arg == "type")]
        for one in ast.walk(given)
        if isinstance(one, ast.JoinedStr)
        and isinstance(one.values[0], ast.Constant)
        and isinstance(one.values[0].value, str)
        and re.fullmatch(r"[a-z_]+\.", one.values[0].value)
    }
    assert begun >= set(BY_STATE)
    assert begun & {one.partition(".")[0] for one in listed()} == set(BY_STATE)
