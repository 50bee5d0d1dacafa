"""Taints: what is reached, held, and comes back."""

from collections.abc import Iterator
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import pytest
from tests.contract.test_write_stores import in_postgres
from tests.support.platform import on_other
from tests.support.remembering import NOON
from tests.support.tainting import Tainting

from cairn.graph.edge import Relation
from cairn.graph.node import Label
from cairn.graph.projection import TaintKind
from cairn.kernel.access import Role
from cairn.kernel.errors import Denied, NotFound, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.taint import taint as taint_module
from cairn.taint.taint import NewTaint
from cairn.writing.taint_arrivals import QUARANTINED

if TYPE_CHECKING:
    from tests.plugins.postgres import Database

GOOD, BAD = "active", "quarantined"


@pytest.fixture
def work(database: "Database") -> Iterator[Tainting]:
    for system in in_postgres(database):
        yield Tainting(system)


def test_what_an_agent_wrote_goes_out_of_recall_and_comes_back(work: Tainting) -> None:
    bad, good = work.tell("The sky is green."), work.tell("Water is wet.", "keeper")
    told = work.taint("agent", "scout")
    assert (told.held, told.complete, told.node_ids) == (1, True, (bad,))
    assert work.states(bad, good) == [BAD, GOOD]
    assert told.taint_id is not None
    assert work.lift(told.taint_id) == 1
    assert work.states(bad, good) == [GOOD, GOOD]


def test_a_session_and_a_node_can_be_tainted(work: Tainting) -> None:
    bad = work.tell("One.", session_id="s-1", sequence=1)
    other = work.tell("Two.", session_id="s-2", sequence=1)
    single = work.tell("Three.")
    work.taint("session", "s-1")
    work.taint("node", single)
    assert work.states(bad, other, single) == [BAD, GOOD, BAD]


def test_a_source_takes_its_documents_and_their_parts(work: Tainting) -> None:
    document = work.plant(Label.DOCUMENT, "a", source_uri="https://x.example/a")
    section = work.plant(Label.SECTION, "b", document_id=document)
    chunk = work.plant(Label.CHUNK, "c", document_id=document, parent_id=section)
    other = work.plant(Label.DOCUMENT, "d", source_uri="https://x.example/b")
    taint_id = work.taint_id("source", "https://x.example/a")
    assert work.states(document, section, chunk, other) == [BAD, BAD, BAD, GOOD]
    view = work.taints.get(work.admin, taint_id).taint
    assert (view.source, view.roots, view.nodes) == ("https://x.example/a", (document,), 3)


def test_all_that_was_made_of_it_goes_too_however_far_and_in_circles(work: Tainting) -> None:
    bad, good = work.tell("One."), work.tell("Two.", "keeper")
    merged, summary, above = (work.tell(text, "keeper") for text in ("Three.", "Four.", "Five."))
    work.link(Relation.DERIVED_FROM, merged, bad)
    work.link(Relation.DERIVED_FROM, merged, good)
    work.link(Relation.DERIVED_FROM, summary, merged)
    work.link(Relation.DERIVED_FROM, above, summary)
    work.link(Relation.DERIVED_FROM, merged, above)
    taint_id = work.taint_id("agent", "scout")
    assert work.states(bad, merged, summary, above, good) == [BAD, BAD, BAD, BAD, GOOD]
    assert work.lift(taint_id) == 4
    assert work.states(bad, merged, summary, above) == [GOOD] * 4


def test_what_a_tainted_task_produced_goes_too(work: Tainting) -> None:
    task = work.plant(Label.TASK, "t")
    made = work.tell("Made.", "keeper")
    work.link(Relation.PRODUCED, task, made)
    work.taint("node", task)
    assert work.states(task, made) == [BAD, BAD]


def test_a_conversation_takes_its_messages(work: Tainting) -> None:
    conversation = work.plant(Label.CONVERSATION, "c")
    message = work.plant(Label.MESSAGE, "m", parent_id=conversation, sequence=1)
    work.taint("node", conversation)
    assert work.states(conversation, message) == [BAD, BAD]


def test_effects_go_only_when_asked_for(work: Tainting) -> None:
    cause, effect = work.tell("Cause."), work.tell("Effect.", "keeper")
    work.link(Relation.CAUSED_BY, effect, cause)
    first = work.taint_id("agent", "scout")
    assert work.states(cause, effect) == [BAD, GOOD]
    second = work.taint_id("agent", "scout", causes=True)
    assert second != first
    assert work.states(cause, effect) == [BAD, BAD]


def test_an_entity_stays_without_what_was_compiled_of_the_tainted(work: Tainting) -> None:
    bad = work.tell("Ada lives in Bern.")
    entity = work.plant(Label.ENTITY, "Ada", compiled_truth="Ada lives in Bern.")
    work.link(Relation.DERIVED_FROM, entity, bad)
    behind = work.tell("Behind.", "keeper")
    work.link(Relation.DERIVED_FROM, behind, entity)
    work.taint("agent", "scout")
    found = work.node(entity)
    assert (str(found["state"]), found["compiled_truth"]) == (GOOD, None)
    assert work.states(bad, behind) == [BAD, GOOD]


def test_of_two_overlapping_taints_one_lifted_leaves_what_the_other_holds(work: Tainting) -> None:
    both = work.tell("One.", session_id="s-1", sequence=1)
    only = work.tell("Two.")
    agent, session = work.taint_id("agent", "scout"), work.taint_id("session", "s-1")
    assert work.lift(agent) == 1
    assert work.states(both, only) == [BAD, GOOD]
    assert work.lift(session) == 1
    assert work.states(both) == [GOOD]


def test_overlapping_taints_may_be_lifted_in_either_order(work: Tainting) -> None:
    both = work.tell("One.", session_id="s-1", sequence=1)
    agent, session = work.taint_id("agent", "scout"), work.taint_id("session", "s-1")
    assert work.lift(session) == 0
    assert work.states(both) == [BAD]
    assert work.lift(agent) == 1
    assert work.states(both) == [GOOD]


def test_a_node_has_the_state_again_that_it_had(work: Tainting) -> None:
    old = work.tell("Old.", key="colour", occurred_at=NOON)
    new = work.tell("New.", key="colour", occurred_at=NOON + timedelta(hours=1))
    taint_id = work.taint_id("agent", "scout")
    assert work.states(old, new) == [BAD, BAD]
    work.lift(taint_id)
    assert work.states(old, new) == ["superseded", GOOD]
    assert work.node(old)["superseded_by"] == new


def test_a_predecessor_stands_again_while_what_replaced_it_is_tainted(work: Tainting) -> None:
    good = work.tell("Blue.", "keeper", key="colour", occurred_at=NOON)
    later = NOON + timedelta(hours=1)
    bad = work.tell("Green.", key="colour", occurred_at=later)
    taint_id = work.taint_id("agent", "scout")
    assert work.states(good, bad) == [GOOD, BAD]
    assert (work.node(good)["superseded_by"], work.node(good)["valid_to"]) == (None, None)
    work.lift(taint_id)
    assert work.states(good, bad) == ["superseded", GOOD]
    assert (work.node(good)["superseded_by"], work.node(good)["valid_to"]) == (bad, later)


def test_a_memory_whose_place_was_taken_meanwhile_comes_back_superseded(work: Tainting) -> None:
    bad = work.tell("Green.", key="colour", occurred_at=NOON)
    taint_id = work.taint_id("agent", "scout")
    new = work.tell("Red.", "keeper", key="colour", occurred_at=NOON + timedelta(hours=1))
    work.lift(taint_id)
    assert work.states(bad, new) == ["superseded", GOOD]
    assert work.node(bad)["superseded_by"] == new


def test_the_same_said_again_by_a_trusted_agent_is_a_memory_of_its_own(work: Tainting) -> None:
    bad = work.tell("Same words.")
    taint_id = work.taint_id("agent", "scout")
    again = work.tell("Same words.", "keeper")
    assert again != bad
    assert work.states(bad, again) == [BAD, GOOD]
    work.lift(taint_id)
    assert work.states(bad, again) == ["superseded", GOOD]


def test_new_writes_of_a_tainted_agent_are_stored_in_quarantine_and_told(work: Tainting) -> None:
    taint_id = work.taint_id("agent", "scout")
    bad, good = work.outcome("New."), work.outcome("Other.", "keeper")
    assert QUARANTINED in bad.warnings and QUARANTINED not in good.warnings
    assert bad.id and good.id
    assert work.states(bad.id, good.id) == [BAD, GOOD]
    assert work.taints.get(work.admin, taint_id).taint.nodes == 1
    work.lift(taint_id)
    assert work.states(bad.id) == [GOOD]
    assert QUARANTINED not in work.outcome("After.").warnings


def test_a_tainted_agent_cannot_hide_a_fact_by_writing_a_newer_one(work: Tainting) -> None:
    good = work.tell("Blue.", "keeper", key="colour", occurred_at=NOON)
    work.taint("agent", "scout")
    bad = work.tell("Green.", key="colour", occurred_at=NOON + timedelta(hours=1))
    worse = work.tell("Black.", key="colour", occurred_at=NOON + timedelta(hours=2))
    assert work.states(good, bad, worse) == [GOOD, BAD, BAD]


def test_of_several_held_ends_of_one_chain_the_newest_comes_back(work: Tainting) -> None:
    taint_id = work.taint_id("agent", "scout")
    first = work.tell("One.", key="colour", occurred_at=NOON)
    second = work.tell("Two.", key="colour", occurred_at=NOON + timedelta(hours=1))
    work.lift(taint_id)
    assert work.states(first, second) == ["superseded", GOOD]


def test_pages_are_as_good_as_one_and_a_stopped_run_goes_on(
    work: Tainting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taint_module, "PAGE", 2)
    ids = [work.tell(f"Number {n}.") for n in range(5)]
    ticks = iter([0.0, 1.0, 99.0, 0.0, 1.0, 2.0, 3.0, 4.0])
    work.taints = on_other(work.taints, stopwatch=lambda: next(ticks))
    first = work.taint("agent", "scout")
    assert (first.held, first.complete) == (2, False)
    second = work.taint("agent", "scout")
    assert (second.taint_id, second.held, second.complete) == (first.taint_id, 3, True)
    assert work.states(*ids) == [BAD] * 5
    work.taints = on_other(work.taints, stopwatch=lambda: 0.0)
    assert second.taint_id is not None
    assert work.lift(second.taint_id) == 5
    assert work.states(*ids) == [GOOD] * 5


def test_a_walk_that_meets_its_bound_says_so(
    work: Tainting, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(taint_module, "MOST", 3)
    for n in range(5):
        work.tell(f"Number {n}.")
    told = work.taint("agent", "scout", dry_run=True)
    assert (told.held, told.complete) == (3, False)


def test_a_dry_run_tells_and_changes_nothing(work: Tainting) -> None:
    bad = work.tell("One.")
    position = work.act(bad)
    told = work.taint("agent", "scout", dry_run=True)
    assert (told.taint_id, told.held, told.node_ids) == (None, 1, (bad,))
    assert [action.position for action in told.actions] == [position]
    assert work.states(bad) == [GOOD]
    assert work.taints.page(work.admin, limit=10, after=None).items == ()


def test_executed_actions_on_tainted_evidence_are_listed_newest_first(work: Tainting) -> None:
    bad, good = work.tell("One."), work.tell("Two.", "keeper")
    first = work.act(bad, good)
    work.act(good)
    work.act("no id", 7)
    last = work.act(bad)
    told = work.taint("agent", "scout")
    assert [(action.position, action.node_ids) for action in told.actions] == [
        (last, (bad,)),
        (first, (bad,)),
    ]


def test_the_same_taint_again_is_the_same_and_lifting_again_does_nothing(work: Tainting) -> None:
    work.tell("One.")
    taint_id = work.taint_id("agent", "scout")
    again = work.taint("agent", "scout")
    assert (again.taint_id, again.held) == (taint_id, 0)
    assert work.lift(taint_id) == 1
    assert work.lift(taint_id) == 0
    assert work.taint_id("agent", "scout") != taint_id


def test_taints_are_listed_the_newest_first(work: Tainting) -> None:
    first, second = work.taint_id("agent", "scout"), work.taint_id("session", "s-1")
    page = work.taints.page(work.admin, limit=1, after=None)
    assert [item.id for item in page.items] == [second]
    rest = work.taints.page(work.admin, limit=1, after=page.next_after)
    assert ([item.id for item in rest.items], rest.next_after) == ([first], None)
    work.lift(first)
    view = work.taints.get(work.admin, first).taint
    assert (view.kind, view.value, view.reason) == (TaintKind.AGENT, "scout", "forged")
    assert view.lifted_at is not None


def test_what_does_not_exist_cannot_be_tainted(work: Tainting) -> None:
    for kind, what in (("node", new_id()), ("source", "https://nowhere.example")):
        with pytest.raises(NotFound):
            work.taint(kind, what)
    with pytest.raises(NotFound):
        work.lift(new_id())
    with pytest.raises(NotFound):
        work.taints.get(work.admin, new_id())
    with pytest.raises(ValidationFailed):
        work.taints.apply(work.admin, NewTaint(kind=TaintKind.AGENT, reason="r"))


def test_agents_may_not(work: Tainting) -> None:
    agent = type(work.admin)(
        workspace_id=work.admin.workspace_id,
        principal_id=new_id(),
        role=Role.AGENT,
        allowed_scopes=work.admin.allowed_scopes,
    )
    with pytest.raises(Denied):
        work.taints.apply(agent, NewTaint(kind=TaintKind.AGENT, value="scout", reason="r"))
    for call in (work.taints.lift, work.taints.get):
        with pytest.raises(Denied):
            call(agent, UUID(int=1))
