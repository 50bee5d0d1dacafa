"""The page about the ledger lists every type of entry that the code appends, and no other."""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from cairn.investigations.ports import ActionState, ApprovalState, EscalationState
from cairn.ledger.entry import ENTRY_TYPE
from cairn.writing.projectors import WITH_TEXTS, WITHOUT_TEXTS

ROOT = Path(__file__).parents[3]
PACKAGE = ROOT / "shared" / "cairn"
EDGES = {"api", "bootstrap", "bundled", "cli", "embedding", "settings"}
"""Areas that append nothing; in `adapters` only accounts do, beside names of queries."""

LOGGED = {
    "channel.inbound_failed",
    "channel.not_told",
    "connector.not_checked",
    "connector.not_well",
    "investigation.not_remembered",
    "investigation.not_taken_up",
    "discovery.not_run",
    "opportunity.not_expired",
    "source.not_synced",
    "source.read",
    "ticket.not_remembered",
    "ticket.not_written_back",
    "ticket_source.not_polled",
    "ticket_source.polled",
    "workflow.not_started",
    "workflow.not_swept",
}
"""Names of lines of the log."""

BY_STATE = {
    "action": {ActionState.APPLIED, ActionState.FAILED, ActionState.UNKNOWN},
    "approval": {ApprovalState.REJECTED, ApprovalState.EDITED, ApprovalState.EXPIRED},
    "escalation": {EscalationState.DELIVERED, EscalationState.FAILED},
}
"""Types that are put together from a state; `test_types_made_of_states_are_known` finds others."""


def strings(node: ast.AST) -> set[str]:
    found = (item.value for item in ast.walk(node) if isinstance(item, ast.Constant))
    return {item for item in found if isinstance(item, str)}


def trees() -> Iterator[ast.Module]:
    areas = [
        path for path in PACKAGE.rglob("*.py") if path.relative_to(PACKAGE).parts[0] not in EDGES
    ]
    domain = [path for path in areas if path.relative_to(PACKAGE).parts[0] != "adapters"]
    for path in [*domain, PACKAGE / "adapters" / "postgres" / "accounts.py"]:
        yield ast.parse(path.read_text(encoding="utf-8"))


def begun_by(tree: ast.Module) -> set[str]:
    """Return the nouns of types that a module puts together: `f"noun.{state}"` in a call."""
    return {
        item.values[0].value.rstrip(".")
        for call in ast.walk(tree)
        if isinstance(call, ast.Call)
        for given in [*call.args[:1], *(each.value for each in call.keywords if each.arg == "type")]
        for item in ast.walk(given)
        if isinstance(item, ast.JoinedStr)
        and isinstance(item.values[0], ast.Constant)
        and isinstance(item.values[0].value, str)
        and re.fullmatch(r"[a-z_]+\.", item.values[0].value)
    }


@cache
def in_code() -> tuple[frozenset[str], frozenset[str]]:
    """Return what may be the name of a type, and the nouns of those put together."""
    named: set[str] = set()
    begun: set[str] = set()
    for tree in trees():
        named |= {string for string in strings(tree) if ENTRY_TYPE.fullmatch(string)}
        begun |= begun_by(tree)
    return frozenset(named), frozenset(begun)


def listed() -> set[str]:
    page = (ROOT / "docs" / "operate" / "ledger.md").read_text(encoding="utf-8")
    rows = page.partition("## Types")[2].partition("\n## ")[0].splitlines()
    return {name for row in rows for name in re.findall(r"`([^`]+)`", row.split(" | ")[0])}


def test_the_page_lists_every_type_the_code_has_and_no_other() -> None:
    made = {f"{noun}.{state.value}" for noun, states in BY_STATE.items() for state in states}
    named = in_code()[0] - {*WITH_TEXTS.values(), *WITHOUT_TEXTS.values()}  # names of functions
    types = {item for item in listed() if ENTRY_TYPE.fullmatch(item)}
    nouns = {type_.partition(".")[0] for type_ in types}
    appended = {item for item in named - LOGGED if item.partition(".")[0] in nouns}
    assert types == appended | made


def test_types_made_of_states_are_known() -> None:
    _, begun = in_code()
    assert begun >= set(BY_STATE)
    assert begun & {item.partition(".")[0] for item in listed()} == set(BY_STATE)
