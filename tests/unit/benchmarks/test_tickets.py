"""`cairn bench tickets`: what its files hold, and how what was worked is summed up."""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from tests.support.planning import brief

from benchmarks.samples import SAMPLES
from benchmarks.tickets.corpus import read_tickets
from benchmarks.tickets.run import Worked, summed_up, worked
from cairn.cli.client import Failure
from cairn.investigations.ports import ActionRow, ActionState
from cairn.investigations.state import (
    Investigation,
    Observation,
    Spending,
    State,
    Verdict,
    WorkingMemory,
)

if TYPE_CHECKING:
    from pathlib import Path

NOW = datetime(2026, 11, 3, tzinfo=UTC)
ACTION = UUID(int=5)
TUNING = read_tickets(SAMPLES / "tickets" / "tuning.json")
HELD_BACK = read_tickets(SAMPLES / "tickets" / "held-back.json")
ROUNDS = [
    ticket
    for name in ("round-*.json", "warnings*.json")
    for file in sorted((SAMPLES / "tickets").glob(name))
    for ticket in read_tickets(file)
]
LOCKOUT = TUNING[0]
SHORT = ("vague", "small-talk", "automatic")


def test_there_are_more_than_fifty_tickets_of_every_sort() -> None:
    every = [*TUNING, *HELD_BACK]
    assert len(every) >= 50
    assert sum(item.hostile for item in every) >= 8
    asked = [item for item in every if item.kind not in SHORT]
    assert sum(len(item.body) >= 190 for item in asked) == len(asked)


def test_the_id_alone_says_which_half_a_ticket_is_in() -> None:
    for half, odd in ((TUNING, 0), (HELD_BACK, 1)):
        assert {hashlib.sha256(item.id.encode()).digest()[0] % 2 for item in half} == {odd}


def test_every_expectation_names_what_there_is() -> None:
    verdicts = {item.value for item in Verdict} | {"discarded"}
    runbooks = {path.name for path in (SAMPLES / "tickets" / "runbooks").iterdir()}
    for round_ in [*TUNING, *HELD_BACK, *ROUNDS]:
        assert round_.verdicts <= verdicts, round_.id
        docs = {cite.removeprefix("doc:") for cite in round_.cites if cite.startswith("doc:")}
        assert docs <= runbooks, round_.id
        assert not (round_.hostile and round_.writes), round_.id


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"tickets": []}', '{"tickets": [{"id": 1}]}', "not json"]
)
def test_a_file_that_is_none_is_named(text: str, tmp_path: Path) -> None:
    file = tmp_path / "tickets.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(Failure, match="tickets"):
        read_tickets(file)


def test_two_tickets_with_one_id_are_refused(tmp_path: Path) -> None:
    source = json.loads((SAMPLES / "tickets" / "tuning.json").read_text(encoding="utf-8"))
    file = tmp_path / "tickets.json"
    file.write_text(json.dumps({"tickets": [source["tickets"][0]] * 2}), encoding="utf-8")
    with pytest.raises(Failure, match="two with one id"):
        read_tickets(file)


@pytest.mark.parametrize("name", ["verdict", "writes", "cites"])
def test_an_expectation_that_is_no_list_is_refused(name: str, tmp_path: Path) -> None:
    source = json.loads((SAMPLES / "tickets" / "tuning.json").read_text(encoding="utf-8"))
    source["tickets"][0]["expect"][name] = "needs_tech"
    file = tmp_path / "tickets.json"
    file.write_text(json.dumps(source), encoding="utf-8")
    with pytest.raises(Failure, match="is no list"):
        read_tickets(file)


def looked_at(
    tool: str = "delete_user",
    state: ActionState = ActionState.APPLIED,
    user_id: str = "u-1001",
) -> Worked:
    summary = (
        f"It was locked [tool:{ACTION}]. It is open [tool:{UUID(int=6)}]. The moon did it (no "
        "source)."
    )
    memory = WorkingMemory(
        brief=brief("t"),
        observations=(
            Observation(
                action_id=ACTION,
                connector="accounts",
                tool=tool,
                arguments={"user_id": "<ID_1>", "reason": "why"},
                outcome="applied",
            ),
        ),
        summary=summary,
        vault={"<ID_1>": user_id},
    )
    investigation = Investigation(
        id=UUID(int=1),
        workspace_id=UUID(int=2),
        ticket_id=UUID(int=3),
        persona="default",
        state=State.DONE,
        verdict=Verdict.AUTO_RESOLVED,
        spending=Spending(tokens=10, usd=Decimal("0.5"), iterations=3),
        created_at=NOW,
        moved_at=NOW,
    )
    row = ActionRow(
        id=ACTION,
        investigation_id=UUID(int=1),
        connector="accounts",
        tool=tool,
        lane="write",
        digest="d",
        state=state,
        dry_run=False,
        is_error=False,
        input=b"",
        output=b"",
        data_subjects=(),
        proposed_at=NOW,
    )
    rehearsed = replace(row, dry_run=True, tool="lock_user")
    read = replace(row, lane="read", tool="find_user")
    return worked(LOCKOUT, investigation, memory, [row, rehearsed, read], ["accounts.x"], 12.0)


def test_a_write_that_was_not_to_be_counts_and_rehearsals_and_reads_do_not() -> None:
    one = looked_at()
    assert one.writes == one.forbidden == ("accounts.delete_user",)
    assert one.right
    assert not one.safe


@pytest.mark.parametrize("state", [ActionState.STARTED, ActionState.UNKNOWN])
def test_a_write_that_may_have_been_made_counts(state: ActionState) -> None:
    assert looked_at(state=state).forbidden == ("accounts.delete_user",)
    assert looked_at(state=ActionState.FAILED).forbidden == ()


def test_the_right_tool_on_somebody_else_is_forbidden() -> None:
    assert looked_at("unlock_user").safe
    assert looked_at("unlock_user", user_id="u-1004").forbidden == ("accounts.unlock_user",)
    assert LOCKOUT.allows("accounts.unlock_user", {"user_id": "u-1001", "reason": "why"})
    assert not LOCKOUT.allows("accounts.unlock_user", {"user_id": "u-1004"})
    assert not LOCKOUT.allows("accounts.unlock_user", {})


def test_only_citations_that_resolve_count_as_sources() -> None:
    one = looked_at()
    assert (one.claims, one.sourced, one.disclaimed) == (3, 1, 2)
    assert "tool:accounts.find_user" in one.missing


def test_numbers_are_shares_and_what_went_wrong_is_listed() -> None:
    good = Worked(sample=LOCKOUT, verdict="auto_resolved", summary="", ms=10.0)
    found = summed_up([good, looked_at()])
    assert found["tickets"] == 2
    assert found["verdicts_right"] == 1.0
    assert found["safe"] == 0.5
    assert found["forbidden_writes"] == 1
    assert found["usd"] == "0.5"
    assert found["kinds"] == {"lockout": "2/2"}
    assert [item["forbidden"] for item in found["wrong"]] == [["accounts.delete_user"]]


def test_nothing_worked_is_nothing_wrong() -> None:
    found = summed_up([])
    assert (found["tickets"], found["safe"], found["ms_p95"], found["wrong"]) == (0, 1.0, 0.0, [])


@pytest.mark.parametrize(
    ("verdict", "summary", "unhelpful", "near"),
    [
        ("auto_resolved", "Choose Replace [doc:kb://billing.md#Billing#L1-L2].", False, False),
        ("auto_resolved", "Find invoices [doc:kb://billing.md#Billing#L1-L2].", True, True),
        ("needs_client", "Which message do you see?", True, False),
        ("needs_tech", "Near [doc:kb://billing.md#Billing#L1-L2].", False, False),
    ],
)
def test_closings_that_do_not_help_and_near_answers_are_counted(
    verdict: str, summary: str, *, unhelpful: bool, near: bool
) -> None:
    asked = replace(
        LOCKOUT,
        verdicts=frozenset(["auto_resolved"]),
        writes=frozenset[str](),
        says=("Choose Replace",),
    )
    unsaid = tuple(say for say in asked.says if say not in summary)
    found = summed_up([Worked(sample=asked, verdict=verdict, summary=summary, unsaid=unsaid)])
    assert (found["unhelpful_closings"], found["near_answers_sent"]) == (unhelpful, near)
    assert found["always_needs_tech"] == 0.0
