"""Remembering, on the in-memory stores: outcomes, chains, neighbours, repeats."""

from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.remembering import NOON, Remembering, fact, in_memory

from cairn.graph.node import Node
from cairn.kernel.access import Role, Scope
from cairn.kernel.errors import Denied, ValidationFailed
from cairn.ledger.verify import verify
from cairn.memories.kinds import MemoryKind
from cairn.writing.items import IdempotencyKey, Outcome


@pytest.fixture
def system() -> Remembering:
    return in_memory()


def nodes(system: Remembering) -> list[Node]:
    tables = system.transactions.workspaces[system.principal.workspace_id]
    return list(tables.nodes.values())


def texts(system: Remembering, state: str = "active") -> set[str]:
    return {node.text for node in nodes(system) if node.state == state}


def test_a_new_memory_is_created_at_a_position_and_wakes_the_embed_stage(
    system: Remembering,
) -> None:
    made = system.tell_one(fact("the harbour opens at six", key="harbour"))
    assert (made.outcome, made.position, made.observation_count) == (Outcome.CREATED, 1, 1)
    assert [row.node_ids for row in system.sent.rows] == [(made.id,)]
    assert system.sent.rows[0].position == 1


def test_the_chain_of_what_was_told_verifies_and_shows_no_text(system: Remembering) -> None:
    system.tell(fact("secret plan", key="k"), fact("x", client_id="acme"))
    entries = system.transactions.workspaces[system.principal.workspace_id].entries
    assert verify(entries, workspace_id=system.principal.workspace_id).ok
    assert all(b"secret plan" not in entry.body for entry in entries)
    assert all("acme" not in entry.meta_text for entry in entries)


def test_the_same_agent_saying_it_again_is_a_duplicate_and_writes_nothing(
    system: Remembering,
) -> None:
    first = system.tell_one(fact("a"))
    again = system.tell_one(fact("a"))
    assert (again.outcome, again.id, again.position) == (Outcome.DUPLICATE, first.id, 1)
    assert len(system.sent.rows) == 1


def test_secrets_are_gone_before_anything_is_stored(system: Remembering) -> None:
    system.tell(fact("the key is AKIAIOSFODNN7EXAMPLE"))
    assert "AKIAIOSFODNN7EXAMPLE" not in nodes(system)[0].text
    assert "[REDACTED:" in nodes(system)[0].text


def test_observers_stop_at_twenty(system: Remembering) -> None:
    system.tell(fact("a", source_agent="agent-0"))
    counts = [
        system.tell_one(fact("a", source_agent=f"agent-{n}")).observation_count
        for n in range(1, 25)
    ]
    assert counts == [*range(2, 21), 20, 20, 20, 20, 20]
    assert len(nodes(system)[0].observed_by) == 20


@pytest.mark.parametrize(
    "changes",
    [
        {"type": MemoryKind.DECISION},
        {"client_id": "acme"},
        {"scope": Scope.PUBLIC},
        {"agents": ("bot",)},
        {"data_subjects": ("ada",)},
        {"key": "k"},
    ],
    ids=str,
)
def test_another_kind_client_or_audience_is_another_memory(
    system: Remembering, changes: dict[str, Any]
) -> None:
    system.tell(fact("a"))
    assert system.tell_one(fact("a", **changes)).outcome is Outcome.CREATED


def test_events_are_the_same_only_when_they_happened_at_once(system: Remembering) -> None:
    event = fact("a", type=MemoryKind.EVENT, occurred_at=NOON)
    system.tell(event)
    assert system.tell_one(event).outcome is Outcome.DUPLICATE
    later = replace(event, occurred_at=NOON + timedelta(minutes=1))
    assert system.tell_one(later).outcome is Outcome.CREATED


def test_a_newer_fact_supersedes_and_closes_the_older(system: Remembering) -> None:
    old = system.tell_one(fact("six", key="k", valid_from=NOON))
    new = system.tell_one(fact("seven", key="k", valid_from=NOON + timedelta(1)))
    assert (new.outcome, new.superseded) == (Outcome.SUPERSEDED, (old.id,))
    by_text = {node.text: node for node in nodes(system)}
    assert by_text["six"].state == "superseded"
    assert by_text["six"].valid_to == NOON + timedelta(1)
    assert by_text["six"].superseded_by == new.id
    assert by_text["six"].superseded_at == by_text["seven"].recorded_at


def test_a_late_fact_takes_its_place_and_replaces_nothing_newer(system: Remembering) -> None:
    system.tell(fact("now", key="k", valid_from=NOON))
    late = system.tell_one(fact("then", key="k", valid_from=NOON - timedelta(1)))
    assert (late.outcome, late.superseded) == (Outcome.CREATED, ())
    by_text = {node.text: node for node in nodes(system)}
    assert (by_text["then"].state, by_text["then"].valid_to) == ("superseded", NOON)
    assert by_text["now"].state == "active"
    assert by_text["now"].supersedes == late.id


def test_a_status_is_superseded_by_subject(system: Remembering) -> None:
    for text in ("busy", "free"):
        system.tell(fact(text, type=MemoryKind.STATUS, subject="crane"))
    assert texts(system) == {"free"}


@pytest.mark.parametrize("kind", [MemoryKind.EVENT, MemoryKind.DECISION])
def test_events_and_decisions_are_never_superseded(system: Remembering, kind: MemoryKind) -> None:
    system.tell(fact("a", type=kind, key="k", subject="s"), fact("b", type=kind, key="k"))
    assert texts(system) == {"a", "b"}


def test_what_would_pile_up_for_ever_is_warned_of(system: Remembering) -> None:
    warned = system.tell(
        fact("a"), fact("b", key="k"), fact("c", type=MemoryKind.STATUS),
        fact("d", type=MemoryKind.EVENT),
    )  # fmt: skip
    assert [len(item.warnings) for item in warned] == [1, 0, 1, 0]


def turn(text: str, at: int, **changes: Any) -> Any:
    return fact(text, type=MemoryKind.EVENT, session_id="s", sequence=at, **changes)


def contexts(system: Remembering) -> dict[str, str | None]:
    return {node.text: node.context_text for node in nodes(system)}


def test_a_message_is_indexed_with_the_two_before_it(system: Remembering) -> None:
    system.tell(turn("a", 1), turn("b", 2), turn("c", 3), turn("d", 4))
    assert contexts(system) == {"a": None, "b": "a", "c": "a\nb", "d": "b\nc"}


def test_a_late_message_joins_the_context_of_the_next_two_and_wakes_them(
    system: Remembering,
) -> None:
    made = {item.id: item for item in system.tell(turn("a", 1), turn("c", 3), turn("d", 4))}
    system.tell(turn("b", 2))
    assert contexts(system) == {"a": None, "b": "a", "c": "a\nb", "d": "b\nc"}
    woken = set(system.sent.rows[-1].node_ids)
    assert len(woken) == 3
    assert len(woken & made.keys()) == 2


def test_messages_of_another_audience_are_no_neighbours(system: Remembering) -> None:
    system.tell(turn("for admins", 1), turn("for all", 2, scope=Scope.PUBLIC))
    assert contexts(system)["for all"] is None


def test_a_bad_item_is_rejected_and_the_others_stand(system: Remembering) -> None:
    good, bad, other = system.tell(fact("a"), fact("\x00"), fact("b"))
    assert [item.outcome for item in (good, bad, other)] == ["created", "rejected", "created"]
    assert isinstance(bad.error, ValidationFailed)
    assert texts(system) == {"a", "b"}


@pytest.mark.parametrize("size", [0, 501])
def test_a_batch_holds_one_to_five_hundred(system: Remembering, size: int) -> None:
    with pytest.raises(ValidationFailed):
        system.tell(*[fact("a")] * size)


def test_a_public_key_may_not_write(system: Remembering) -> None:
    reader = replace(system.principal, role=Role.PUBLIC, agent_slug="bot")
    with pytest.raises(Denied):
        system.remember(reader, [fact("a")])
    assert nodes(system) == []


def test_a_repeat_under_a_key_gets_the_first_answer(system: Remembering) -> None:
    once = IdempotencyKey(key="k", body_hash=b"1" * 32)
    first = system.remember(system.principal, [fact("a"), fact("\x00")], idempotency=once)
    again = system.remember(system.principal, [fact("a"), fact("\x00")], idempotency=once)
    assert (first.replayed, again.replayed) == (False, True)
    assert [outcome.id for outcome in again.outcomes] == [outcome.id for outcome in first.outcomes]
    assert again.outcomes[1].outcome is Outcome.REJECTED
    assert len(nodes(system)) == 1


def test_a_key_with_another_body_is_refused(system: Remembering) -> None:
    system.tell(fact("a"), idempotency=IdempotencyKey(key="k", body_hash=b"1" * 32))
    with pytest.raises(ValidationFailed) as refused:
        system.tell(fact("b"), idempotency=IdempotencyKey(key="k", body_hash=b"2" * 32))
    assert refused.value.reason == "idempotency-mismatch"
    assert texts(system) == {"a"}


def test_versions_say_what_held_at_each_position(system: Remembering) -> None:
    old = system.tell_one(fact("six", key="k"))
    new = system.tell_one(fact("seven", key="k"))
    versions = system.transactions.workspaces[system.principal.workspace_id].versions[old.id]
    assert [
        (version.from_position, version.to_position, version.node.state) for version in versions
    ] == [
        (old.position, new.position, "active"),
        (new.position, None, "superseded"),
    ]


@settings(max_examples=60)
@given(
    days=st.lists(st.integers(0, 30), min_size=1, max_size=7, unique=True),
    data=st.data(),
)
def test_any_order_of_arrival_gives_the_same_chain(days: list[int], data: st.DataObject) -> None:
    arrival = data.draw(st.permutations(days))
    cuts = data.draw(st.lists(st.integers(0, len(days)), max_size=2))
    system = in_memory()
    for batch in batches(arrival, cuts):
        system.tell(
            *(fact(f"day {day}", key="k", valid_from=NOON + timedelta(day)) for day in batch)
        )
    chain = sorted(nodes(system), key=lambda node: node.valid_from)
    assert [item.text for item in chain] == [f"day {day}" for day in sorted(days)]
    assert [item.state for item in chain] == ["superseded"] * (len(days) - 1) + ["active"]
    assert [item.valid_to for item in chain] == [*(item.valid_from for item in chain[1:]), None]
    assert [item.supersedes for item in chain] == [None, *(item.id for item in chain[:-1])]
    assert [item.superseded_by for item in chain] == [*(item.id for item in chain[1:]), None]


def batches(days: list[int], cuts: list[int]) -> list[list[int]]:
    edges = [0, *sorted(cuts), len(days)]
    return [days[one:other] for one, other in pairwise(edges) if one < other]
