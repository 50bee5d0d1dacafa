"""A taint between the planning of a consolidation and its applying: nothing tainted gets out."""

from tests.support.consolidating import Consolidating
from tests.support.remembering import fact, in_memory
from tests.support.tainting import Tainting

from cairn.graph.edge import Relation

ONE = "The harbour of Genua closes at 22:00 on Sundays in winter."
TWO = "The harbour of Genua closes at 22:00 on Sundays in winter!"


def planned() -> tuple[Consolidating, Tainting, list]:
    system = in_memory()
    machine, work = Consolidating(system), Tainting(system)
    ids = machine.tell(fact(ONE, source_agent="scout"), fact(TWO, source_agent="keeper"))
    return machine, work, ids


def test_without_a_taint_the_two_are_merged() -> None:
    machine, work, ids = planned()
    machine.run()
    assert work.states(*ids) == ["superseded", "superseded"]


def test_a_source_tainted_after_the_plan_takes_its_merge_away() -> None:
    machine, work, ids = planned()
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
        edges = stores._tables.edges.values()
    assert not [one for one in edges if one.relation == Relation.DERIVED_FROM]


def test_what_was_merged_before_is_held_back_and_its_good_source_stands_again() -> None:
    machine, work, ids = planned()
    machine.run()
    with machine.system.transactions.reading(machine.system.principal) as stores:
        nodes = dict(stores._tables.nodes)
    [merged] = {one.superseded_by for one in nodes.values() if one.id in ids}
    assert merged is not None
    taint_id = work.taint_id("agent", "scout")
    assert work.states(*ids, merged) == ["quarantined", "active", "quarantined"]
    work.lift(taint_id)
    assert work.states(*ids, merged) == ["superseded", "superseded", "active"]


def test_what_is_derived_of_a_held_node_after_all_goes_into_quarantine_itself() -> None:
    machine, work, ids = planned()
    work.taint("agent", "scout")
    late = work.tell("Late.", "keeper")
    work.link(Relation.DERIVED_FROM, late, ids[0])
    with machine.system.transactions.writing(work.admin) as stores:
        assert list(stores.taints.arrived([late]).values()) == [{late: "active"}]
