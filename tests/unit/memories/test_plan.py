"""One batch, planned in order: the second item sees what the first did."""

from datetime import timedelta

import pytest
from tests.support.remembering import NOON, Remembering, fact, in_memory

from cairn.memories.items import MemoryOutcome
from cairn.memories.kinds import MemoryKind
from cairn.writing.items import Outcome


@pytest.fixture
def system() -> Remembering:
    return in_memory()


def outcomes(given: tuple[MemoryOutcome, ...]) -> list[Outcome]:
    return [outcome.outcome for outcome in given]


def states(system: Remembering) -> dict[str, str]:
    tables = system.transactions.workspaces[system.principal.workspace_id]
    return {node.text: node.state.value for node in tables.nodes.values()}


def test_equal_items_are_one_memory_and_its_repeats(system: Remembering) -> None:
    made = system.tell(
        fact("a", source_agent="one"),
        fact("a", source_agent="one"),
        fact("a", source_agent="two"),
        fact("a", source_agent="two"),
    )
    assert outcomes(made) == [
        Outcome.CREATED,
        Outcome.DUPLICATE,
        Outcome.CORROBORATED,
        Outcome.DUPLICATE,
    ]
    assert len({item.id for item in made}) == 1
    assert [item.observation_count for item in made] == [1, 1, 2, 2]


def test_items_of_one_key_supersede_each_other_in_the_order_of_the_world(
    system: Remembering,
) -> None:
    made = system.tell(
        *(
            fact(text, key="k", valid_from=NOON + timedelta(days=day))
            for text, day in (("first", 1), ("third", 3), ("second", 2))
        )
    )
    assert outcomes(made) == [Outcome.CREATED, Outcome.SUPERSEDED, Outcome.CREATED]
    assert states(system) == {"first": "superseded", "second": "superseded", "third": "active"}


def test_what_was_replaced_in_the_batch_and_holds_again_is_a_new_memory(
    system: Remembering,
) -> None:
    made = system.tell(
        *(
            fact(text, key="k", valid_from=NOON + timedelta(days=day))
            for day, text in enumerate(("open", "closed", "open"))
        )
    )
    assert outcomes(made) == [Outcome.CREATED, Outcome.SUPERSEDED, Outcome.SUPERSEDED]
    assert len({item.id for item in made}) == 3


def test_a_late_repeat_of_what_was_replaced_is_a_duplicate(system: Remembering) -> None:
    first = fact("open", key="k", valid_from=NOON)
    system.tell(first, fact("closed", key="k", valid_from=NOON + timedelta(days=1)))
    assert outcomes(system.tell(first)) == [Outcome.DUPLICATE]


def test_positions_are_those_of_the_ledger(system: Remembering) -> None:
    made = system.tell(fact("a", client_id="acme"), fact("b"), fact("b"), fact("c"))
    entries = system.transactions.workspaces[system.principal.workspace_id].entries
    assert [entry.type for entry in entries] == ["data_subject.registered"] + [
        "memory.remembered"
    ] * 3
    assert [item.position for item in made] == [2, 3, 3, 4]


def test_messages_of_one_batch_are_each_others_context_in_any_order(
    system: Remembering,
) -> None:
    system.tell(
        *(fact(f"m{n}", type=MemoryKind.EVENT, session_id="s", sequence=n) for n in (3, 1, 2))
    )
    tables = system.transactions.workspaces[system.principal.workspace_id]
    assert {node.text: node.context_text for node in tables.nodes.values()} == {
        "m1": None,
        "m2": "m1",
        "m3": "m1\nm2",
    }


def test_a_client_is_registered_once_in_a_batch(system: Remembering) -> None:
    system.tell(fact("a", client_id="acme"), fact("b", client_id="acme"))
    system.tell(fact("c", client_id="acme"))
    entries = system.transactions.workspaces[system.principal.workspace_id].entries
    registered = [entry for entry in entries if entry.type == "data_subject.registered"]
    assert len(registered) == 1
    assert {entry.data_subjects for entry in entries} == {registered[0].data_subjects}
