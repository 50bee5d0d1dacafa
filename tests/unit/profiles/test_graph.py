"""What changes the graph to what a profile says: no more than it must, and nothing of others."""

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

from tests.support.world import MORNING

from cairn.graph.node import State
from cairn.kernel.ids import new_id
from cairn.nodes.draft import StoredNode
from cairn.profiles.derive import Pattern, Profile, Statement
from cairn.profiles.graph import Change, PersonGraph, change_of, gone, wanted_of
from cairn.profiles.ports import HeldEdge, Holder

WORKSPACE, ADA, LIKES = new_id(), new_id(), new_id()
EVENTS = tuple(new_id() for _ in range(3))
HOLDER = Holder(entity_id=ADA, name="ada", scope="admin", agents=None, data_subjects=(new_id(),))
PATTERN = Pattern(
    type="tool.execute",
    tool_name=None,
    times=3,
    sessions=3,
    first_at=MORNING - timedelta(days=3),
    last_at=MORNING,
    strength=0.6,
    evidence=EVENTS,
)
LIKING = Statement(id=LIKES, text="x", confidence=1.0, occurred_at=MORNING, evidence=())
PROFILE = Profile(client_id="ada", preferences=(LIKING,), patterns=(PATTERN,))


def stored(id_: UUID, state: State = State.ACTIVE) -> StoredNode:
    return StoredNode(
        id=id_,
        label="Memory",
        kind=None,
        name=None,
        state=state,
        scope="admin",
        agents=None,
        data_subjects=(),
        client_id="ada",
        created_position=1,
        position=1,
    )


def goal(profile: Profile = PROFILE) -> PersonGraph:
    return wanted_of(WORKSPACE, HOLDER, profile, 7)


def changed(wanted: PersonGraph, held: list[HeldEdge], nodes: dict[UUID, StoredNode]) -> Change:
    change = change_of(wanted, held, nodes)
    assert change is not None
    return change


def written(change: Change, own: str | None) -> list[HeldEdge]:
    """Return the edges as they are held once the change is written."""
    return [
        HeldEdge(
            id=new_id(),
            view=place.view,
            relation=place.relation,
            source_id=place.source_id,
            target_id=place.target_id,
            weight=weight,
            profile=own,
        )
        for place, weight in change.edges.items()
    ]


THERE = {id_: stored(id_) for id_ in (ADA, LIKES, *EVENTS)}


def test_what_stands_already_is_not_written_again() -> None:
    first = changed(goal(), [], THERE)
    assert len(first.parts) == 2
    assert first.edges == goal().edges
    nodes = THERE | {part.id: stored(part.id) for part in first.parts}
    held = written(first, str(goal().profile_id))
    again = changed(goal(), held, nodes)
    assert (again.edges, again.closed, again.dropped) == ({}, [], [])
    assert again.standing == {part.id for part in first.parts}
    weaker = replace(PROFILE, patterns=(replace(PATTERN, strength=0.3),))
    less = changed(goal(weaker), held, nodes)
    assert list(less.edges.values()) == [0.3]
    assert len(less.closed) == 1


def test_what_others_state_stays_and_what_is_no_more_goes() -> None:
    first = changed(goal(), [], THERE)
    nodes = THERE | {part.id: stored(part.id) for part in first.parts}
    assert changed(goal(), written(first, None), nodes).closed == []
    assert changed(gone(HOLDER, goal().profile_id), written(first, None), nodes).dropped == []
    held = written(first, str(goal().profile_id))
    end = changed(gone(HOLDER, goal().profile_id), held, nodes)
    assert set(end.closed) == {each.id for each in held}
    assert set(end.dropped) == {part.id for part in first.parts}
    deleted = nodes | {LIKES: stored(LIKES, State.DELETED)}
    ends = {each.id for each in held if LIKES in (each.source_id, each.target_id)}
    assert set(changed(goal(), held, deleted).closed) == ends


def test_a_faded_pattern_is_not_in_the_graph() -> None:
    faded = replace(PROFILE, patterns=(replace(PATTERN, strength=0.09),))
    assert [part.kind for part in goal(faded).parts] == ["profile"]


def test_what_a_taint_holds_back_is_not_let_out_and_what_rested_on_it_goes() -> None:
    first = changed(goal(), [], THERE)
    own = goal().profile_id
    held = written(first, str(own))
    nodes = THERE | {part.id: stored(part.id) for part in first.parts}
    nodes |= {own: stored(own, State.QUARANTINED)}
    assert change_of(goal(), held, nodes) is None
    without = Profile(client_id="ada", patterns=(PATTERN,))
    change = changed(goal(without), held, nodes)
    (liked,) = [each.id for each in held if each.relation == "HAS_PREFERENCE"]
    assert change.closed == [liked]
    assert own not in {part.id for part in change.parts}
