"""Working memory comes back as it was; the ledger hears what changed, never what is hidden."""

import json
from dataclasses import replace
from decimal import Decimal
from typing import Any

import pytest
from tests.support.agent_rows import investigation

from cairn.investigations.snapshot import Snapshots, delta, dump, load, unread
from cairn.investigations.state import (
    Brief,
    Evidence,
    NextKind,
    Note,
    Observation,
    Plan,
    Spending,
    Verdict,
    WorkingMemory,
)
from cairn.kernel.ids import new_id
from cairn.ledger.keys import BodyCipher, BodyUnreadable
from cairn.safety.action import Action

ARGUMENTS = {"user": "<EMAIL_1>", "amount": 12.5, "tags": ["a", None, True], "deep": {"x": 1}}
FULL = WorkingMemory(
    brief=Brief(
        ticket_id=new_id(),
        source="api",
        external_id="T-1",
        title="Locked",
        body="<EMAIL_1> is locked out \u2603",
        suspicious=True,
    ),
    notes=(Note(role="user", text="please"),),
    evidence=(Evidence(citation="[doc:a]", text="how", node_id=new_id()),),
    facts=(Evidence(citation="[memory:b]", text="fact"),),
    similar=(Evidence(citation="[ticket:c]", text="like it"),),
    recent=(Evidence(citation="[tool:d]", text="it said"),),
    hints=("a burst",),
    observations=(
        Observation(
            action_id=new_id(),
            connector="crm",
            tool="find",
            arguments=ARGUMENTS,
            outcome="applied",
            text="found",
            dry_run=True,
            evidence=("[doc:a]",),
        ),
    ),
    plan=Plan(kind=NextKind.ACT, reason="why", connector="crm", tool="x", arguments=ARGUMENTS),
    pending=Action(id=new_id(), connector="crm", tool="x", arguments=ARGUMENTS, evidence=("e",)),
    approval_id=new_id(),
    denials=2,
    queries=("locked",),
    skip_retrieval=True,
    verdict=Verdict.NEEDS_L2,
    verdict_reason="hard",
    summary="done",
    spending=Spending(tokens=5, usd=Decimal("0.0123"), ms=7, iterations=2, unpriced_calls=1),
    vault={"<EMAIL_1>": "ada@acme.test"},
)


def has_float(value: Any) -> bool:
    if isinstance(value, dict):
        return any(has_float(item) for item in value.values())
    if isinstance(value, list):
        return any(has_float(item) for item in value)
    return isinstance(value, float)


@pytest.mark.parametrize("memory", [FULL, unread(new_id())], ids=["full", "empty"])
def test_memory_comes_back_as_it_was(memory: WorkingMemory) -> None:
    assert load(json.loads(json.dumps(dump(memory)))) == memory


def test_the_json_has_no_floats() -> None:
    assert not has_float(dump(FULL))


def test_what_a_newer_version_added_is_ignored_and_what_it_left_out_has_its_default() -> None:
    value: dict[str, Any] = dump(FULL)
    value["mood"] = "good"
    value["brief"] = {**value["brief"], "colour": "red"}
    value["plan"] = {**value["plan"], "depth": 3}
    value["spending"] = {"tokens": 5, "joules": 9}
    del value["hints"], value["skip_retrieval"]
    found = load(value)
    assert found == replace(FULL, hints=(), skip_retrieval=False, spending=Spending(tokens=5))


def test_a_delta_names_what_was_added_and_leaves_out_the_vault() -> None:
    after = replace(
        FULL,
        queries=("locked", "unlock"),
        notes=(),
        vault={"<EMAIL_1>": "ada@acme.test", "<EMAIL_2>": "bob@acme.test"},
        denials=3,
    )
    assert delta(FULL, after) == {"queries": {"added": ["unlock"]}, "notes": [], "denials": 3}
    assert delta(FULL, FULL) == {}


def test_only_its_own_investigation_with_all_keys_opens_a_snapshot() -> None:
    subject = new_id()
    one = investigation(new_id(), data_subjects=(subject,))
    snapshots, keys = Snapshots(cipher=BodyCipher()), {subject: bytes(32)}
    sealed = snapshots.seal(one, FULL, keys)
    assert b"EMAIL" not in sealed
    assert snapshots.open(one, sealed, keys) == FULL
    with pytest.raises(BodyUnreadable, match="not-authentic"):
        snapshots.open(replace(one, id=new_id()), sealed, keys)
    with pytest.raises(BodyUnreadable, match="key-destroyed"):
        snapshots.open(one, sealed, {})


def test_before_the_first_transition_memory_knows_its_ticket_only() -> None:
    one = investigation(new_id())
    assert Snapshots(cipher=BodyCipher()).open(one, b"", {}) == unread(one.ticket_id)
