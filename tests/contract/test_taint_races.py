"""A taint between the planning of a consolidation and its applying: nothing tainted gets out."""

from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from tests.support.consolidating import Consolidating, consolidating_in_postgres
from tests.support.remembering import fact
from tests.support.tainting import Tainting

from cairn.graph.edge import Relation

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

ONE = "The harbour of Genua closes at 22:00 on Sundays in winter."
TWO = "The harbour of Genua closes at 22:00 on Sundays in winter!"


@pytest.fixture
def machine(database: "Database") -> Iterator[Consolidating]:
    yield from consolidating_in_postgres(database)


def planned(machine: Consolidating) -> tuple[Tainting, list[UUID]]:
    work = Tainting(machine.system)
    ids = machine.tell(fact(ONE, source_agent="scout"), fact(TWO, source_agent="keeper"))
    return work, ids


def test_without_a_taint_the_two_are_merged(
    machine: Consolidating,
) -> None:
    work, ids = planned(machine)
    machine.run()
    assert work.states(*ids) == ["superseded", "superseded"]


def test_a_source_tainted_after_the_plan_takes_its_merge_away(
    machine: Consolidating,
) -> None:
    work, ids = planned(machine)
    apply = machine.apply.__call__
    tainted: list[object] = []

    def taint_first(*given: object) -> object:
        if not tainted:
            tainted.append(work.taint("agent", "scout"))
        return apply(*given)

    object.__setattr__(machine.consolidate, "apply", taint_first)
    machine.run()
    assert tainted
    assert work.states(*ids) == ["quarantined", "active"]
    with machine.system.transactions.reading(machine.system.principal) as stores:
        made = stores.connection.execute(
            "SELECT count(*) FROM edge WHERE relation = %s", [Relation.DERIVED_FROM]
        )
        assert made.fetchone() == (0,)


def test_what_was_merged_before_is_held_back_and_its_good_source_stands_again(
    machine: Consolidating,
) -> None:
    work, ids = planned(machine)
    machine.run()
    [merged] = {work.node(id_)["superseded_by"] for id_ in ids}
    assert merged is not None
    taint_id = work.taint_id("agent", "scout")
    assert work.states(*ids, merged) == ["quarantined", "active", "quarantined"]
    work.lift(taint_id)
    assert work.states(*ids, merged) == ["superseded", "superseded", "active"]


def test_what_is_derived_of_a_held_node_after_all_goes_into_quarantine_itself(
    machine: Consolidating,
) -> None:
    work, ids = planned(machine)
    work.taint("agent", "scout")
    late = work.tell("Late.", "keeper")
    work.link(Relation.DERIVED_FROM, late, ids[0])
    with machine.system.transactions.writing(work.admin) as stores:
        assert list(stores.taints.arrived([late]).values()) == [{late: "active"}]
