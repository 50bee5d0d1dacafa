"""A process that dies at any commit, or in the middle of a call: nothing happens twice."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.fakes.keys import InMemoryKeyStore
from tests.support.agent import DOC, Agents, Killed, ScriptedPlanner, act, search
from tests.support.platform import on_other

from cairn.connectors.port import (
    ConnectorUnauthorised,
    ConnectorUnavailable,
    OutcomeUnknown,
    ToolCall,
)
from cairn.investigations.ports import ActionState, Question
from cairn.investigations.run.moving import halted, moved, read
from cairn.investigations.run.step import RunStep
from cairn.investigations.snapshot import Snapshots
from cairn.investigations.state import EDGES, RESUMED, Plan, State, Verdict
from cairn.investigations.steps.act import Act
from cairn.investigations.views import Present
from cairn.kernel.errors import Conflict, Unavailable
from cairn.kernel.ids import new_id
from cairn.kernel.records import convert
from cairn.ledger.entry import SYSTEM
from cairn.ledger.verify import verify
from cairn.safety.grants import Grant, GrantRow, declaration
from cairn.safety.tools import Autonomy, Lane
from cairn.writing.ports import Topic

COMMITS = range(1, 16)


def world(*, deduplicates: bool = True, asks: bool = False) -> Agents:
    script = [search("locked"), act("accounts.find"), act("accounts.unlock", evidence=(DOC,))]
    made = Agents(planner=ScriptedPlanner([*script]))
    made.planner.at = lambda question: (
        len(question.memory.queries)
        + sum(observation.outcome == "applied" for observation in question.memory.observations)
    )
    made.host.add("accounts.find", Lane.READ, "ada is locked")
    made.host.add("accounts.unlock", Lane.WRITE, deduplicates=deduplicates, dangerous=asks)
    return made


def through(agents: Agents, one: UUID, *, approves: bool = False) -> Present:
    """Work on it to its end: after a death by the same run first, as a machine would repeat it."""
    for _ in range(20):
        try:
            found = agents.found_(one)
            if found.ended_at is not None:
                return Present(
                    workspace_id=agents.workspace_id,
                    investigation_id=one,
                    state=found.state,
                    run=found.run,
                )
            if found.state is State.WAITING_APPROVAL and approves:
                asked = agents.pending()
                agents.approvals.approve(agents.admin, asked.id, binding=asked.binding)
            agents.work(one)
        except Killed:
            continue
        except Unavailable:
            continue
    raise AssertionError("it does not end")


def resumed(agents: Agents, one: UUID, *, approves: bool = False) -> Present:
    """Work on it to its end: after a death by a new execution, as after a restart."""
    for _ in range(20):
        try:
            return _to_the_end(agents, one, approves=approves)
        except Killed:
            agents.commits.arm()
            agents.resume.one(agents.admin, one)
    raise AssertionError("it does not end")


def _to_the_end(agents: Agents, one: UUID, *, approves: bool) -> Present:
    while True:
        now = agents.work(one)
        if now.state is not State.WAITING_APPROVAL or not approves:
            return now
        asked = agents.pending()
        agents.approvals.approve(agents.admin, asked.id, binding=asked.binding)


def check(agents: Agents, one: UUID) -> None:
    """Whatever happened: one effect, one answer, a chain that verifies, edges that are edges."""
    unlocks = [effect for effect in agents.host.effects if effect[0] == "accounts.unlock"]
    assert len(unlocks) <= 1
    assert list(agents.desk.written) == [one]
    assert agents.found_(one).ended_at is not None
    assert agents.slots() == 0
    assert agents.types().count("investigation.ended") == 1
    assert verify(agents.entries(), workspace_id=agents.workspace_id).ok
    for source, target in agents.walk(one):
        edge = State(target) in EDGES[State(source)]
        assert edge or State(target) is RESUMED[State(source)]


@pytest.mark.parametrize("asks", [False, True], ids=["alone", "approved"])
@pytest.mark.parametrize("way", [through, resumed])
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("commit", COMMITS)
def test_a_death_at_any_commit_repeats_no_action_and_loses_nothing(
    commit: int, moment: str, way: Callable[..., Present], asks: bool
) -> None:
    agents = world(asks=asks)
    one = agents.begin()
    agents.commits.arm(**{moment: commit})
    assert way(agents, one, approves=asks).state is State.DONE
    check(agents, one)
    assert agents.found_(one).verdict is Verdict.AUTO_RESOLVED
    assert len([key for key, _, _ in agents.host.effects if key == "accounts.unlock"]) == 1


@pytest.mark.parametrize("way", [through, resumed])
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("commit", COMMITS)
def test_without_deduplication_an_unknown_outcome_goes_to_a_person(
    commit: int, moment: str, way: Callable[..., Present]
) -> None:
    agents = world(deduplicates=False)
    one = agents.begin()
    agents.commits.arm(**{moment: commit})
    assert way(agents, one).state is State.DONE
    check(agents, one)
    states = {row.tool: row.state for row in agents.actions() if row.lane == "write"}
    lost = states["unlock"] is ActionState.UNKNOWN
    assert agents.found_(one).verdict is (Verdict.NEEDS_TECH if lost else Verdict.AUTO_RESOLVED)
    assert (one in agents.escalate.calls) == lost


def test_some_death_does_leave_an_unknown_outcome() -> None:
    found: set[ActionState] = set()
    for commit in COMMITS:
        agents = world(deduplicates=False)
        one = agents.begin()
        agents.commits.arm(after=commit)
        through(agents, one)
        found |= {row.state for row in agents.actions() if row.lane == "write"}
    assert found == {ActionState.APPLIED, ActionState.UNKNOWN}


@pytest.mark.parametrize("way", [through, resumed])
@pytest.mark.parametrize("moment", ["before", "after"])
@pytest.mark.parametrize("deduplicates", [True, False])
def test_a_death_in_the_call_repeats_only_what_may_be_repeated(
    deduplicates: bool, moment: str, way: Callable[..., Present]
) -> None:
    agents = world(deduplicates=deduplicates)
    died: list[ToolCall] = []

    def die(call: ToolCall) -> None:
        if call.tool == "unlock" and not died:
            died.append(call)
            raise Killed(moment)

    setattr(agents.host, moment, die)
    one = agents.begin()
    assert way(agents, one).state is State.DONE
    check(agents, one)
    calls = [call for call in agents.host.calls if call.tool == "unlock"]
    assert len(calls) == (2 if deduplicates else 1)
    assert len({call.idempotency_key for call in calls}) == 1
    expected = Verdict.AUTO_RESOLVED if deduplicates else Verdict.NEEDS_TECH
    assert agents.found_(one).verdict is expected


@pytest.mark.parametrize("reason", ["tool-timeout", "connector-crashed"])
@pytest.mark.parametrize("tool", ["find", "unlock"])
@pytest.mark.parametrize("times", [1, 9])
def test_a_call_without_an_answer_is_repeated_once_under_its_key(
    times: int, tool: str, reason: str
) -> None:
    agents = world()
    silent: list[ToolCall] = []

    def vanish(call: ToolCall) -> None:
        if call.tool == tool and len(silent) < times:
            silent.append(call)
            raise OutcomeUnknown("No answer came.", reason=reason)

    agents.host.after = vanish
    one = agents.begin()
    assert agents.work(one).state is State.DONE
    check(agents, one)
    assert len({call.idempotency_key for call in silent}) == 1
    if times == 1:
        assert agents.found_(one).verdict is Verdict.AUTO_RESOLVED
    elif tool == "unlock":
        assert len(silent) == 2
        assert agents.found_(one).verdict is Verdict.NEEDS_TECH
        assert agents.actions()[-1].state is ActionState.UNKNOWN


def test_a_call_without_an_answer_is_not_repeated_where_nobody_deduplicates() -> None:
    agents = world(deduplicates=False)

    def vanish(call: ToolCall) -> None:
        if call.tool == "unlock":
            raise OutcomeUnknown("No answer came.", reason="tool-timeout")

    agents.host.after = vanish
    one = agents.begin()
    agents.work(one)
    check(agents, one)
    assert [call.tool for call in agents.host.calls].count("unlock") == 1
    assert agents.found_(one).error == "outcome-unknown"


@pytest.mark.parametrize(
    "second",
    [
        ConnectorUnavailable("It does not run.", reason="connector-degraded"),
        ConnectorUnauthorised("401"),
        OutcomeUnknown("No answer came.", reason="tool-timeout"),
    ],
    ids=lambda item: type(item).__name__,
)
@pytest.mark.parametrize("first", ["silence", "death"])
def test_what_may_have_happened_is_not_taken_for_undone_because_a_repeat_failed(
    first: str, second: Exception
) -> None:
    agents = world()
    calls: list[ToolCall] = []

    def after(call: ToolCall) -> None:
        if call.tool == "unlock":
            calls.append(call)
            if first == "death":
                raise Killed
            raise OutcomeUnknown("No answer came.", reason="tool-timeout")

    def before(call: ToolCall) -> None:
        if calls and call.tool == "unlock":
            raise second

    agents.host.after, agents.host.before = after, before
    one = agents.begin()
    through(agents, one)
    check(agents, one)
    assert len(agents.host.effects) == 1
    assert agents.actions()[-1].state is ActionState.UNKNOWN
    assert agents.found_(one).verdict is Verdict.NEEDS_TECH


def test_what_may_have_happened_goes_to_a_person_though_time_is_over() -> None:
    agents = world()

    def die(call: ToolCall) -> None:
        if call.tool == "unlock":
            raise Killed

    agents.host.after = die
    one = agents.begin()
    with pytest.raises(Killed):
        agents.work(one)
    agents.stopwatch.step = 2_000.0
    agents.step(one)
    agents.stopwatch.step = 0.001
    agents.work(one)
    check(agents, one)
    assert agents.found_(one).error == "outcome-unknown"


@pytest.mark.parametrize("lower", [Autonomy.INVESTIGATE, Autonomy.PROPOSE])
def test_what_may_have_happened_goes_to_a_person_though_the_rules_are_tighter_now(
    lower: Autonomy,
) -> None:
    agents = world()
    one = agents.begin()
    acting(agents, one)
    agents.host.after = dead
    with pytest.raises(Killed):
        agents.step(one)
    agents.host.after = lambda call: None
    agents.planner.at = lambda question: 9
    agents.autonomy = lower
    agents.resume.one(agents.admin, one)
    agents.work(one)
    check(agents, one)
    assert agents.questions() == []
    assert agents.actions()[-1].state is ActionState.UNKNOWN
    assert agents.found_(one).error == "outcome-unknown"
    assert agents.escalate.calls[one][0] is Verdict.NEEDS_TECH


def test_what_was_proposed_and_is_refused_when_it_is_taken_up_cannot_be_started() -> None:
    agents = world()
    one = agents.begin()
    acting(agents, one)
    agents.planner.at = lambda question: 9
    agents.autonomy = Autonomy.INVESTIGATE
    agents.resume.one(agents.admin, one)
    agents.work(one)
    row = agents.actions()[-1]
    assert (row.tool, row.state, bool(row.error)) == ("unlock", ActionState.DENIED, True)
    with agents.transactions.writing(agents.admin) as stores:
        assert not stores.actions.start(row.id, dry_run=False, now=agents.clock())
    assert agents.host.effects == []


def dead(call: ToolCall) -> None:
    raise Killed


@pytest.mark.parametrize("way", [through, resumed])
@pytest.mark.parametrize("uses", [1, 2])
def test_a_death_in_a_call_under_the_last_use_of_a_grant_goes_to_a_person(
    uses: int, way: Callable[..., Present]
) -> None:
    agents = world(asks=True)
    granted(agents, uses)
    died: list[ToolCall] = []

    def die(call: ToolCall) -> None:
        if call.tool == "unlock" and not died:
            died.append(call)
            raise Killed

    agents.host.after = die
    one = agents.begin()
    way(agents, one)
    check(agents, one)
    assert agents.questions() == []
    assert len(agents.host.effects) == 1
    left = uses > 1
    assert agents.actions()[-1].state is (ActionState.APPLIED if left else ActionState.UNKNOWN)
    assert (one in agents.escalate.calls) is not left


def granted(agents: Agents, uses: int) -> None:
    """Let a standing grant take a person's place for the unlock, so many times."""
    tool = agents.host.specs["accounts.unlock"]
    row = GrantRow(
        id=new_id(),
        tool=tool.key,
        declaration=declaration(tool),
        content=b"",
        data_subjects=(),
        expires_at=agents.clock() + timedelta(days=1),
        max_uses=uses,
        made_by=new_id(),
        made_at=agents.clock(),
    )
    with agents.transactions.writing(agents.admin) as stores:
        stores.grants.add(row)

    def in_force(workspace_id: UUID, key: str) -> list[Grant]:
        with agents.transactions.reading(agents.admin) as stores:
            rows = stores.grants.in_force(key, agents.clock())
        return [_opened(row) for row in rows]

    pipeline = replace(agents.pipeline, grants=in_force)
    states = (State.SAFETY_CHECK, State.ACTING)
    held: dict[State, Any] = {state: agents.run.steps[state] for state in states}
    steps = {state: replace(step, pipeline=pipeline) for state, step in held.items()}
    agents.run = replace(agents.run, steps={**agents.run.steps, **steps})
    agents.loop = replace(agents.loop, run=agents.run)


def _opened(row: GrantRow) -> Grant:
    return convert(row, Grant, arguments=None, reason="Harmless.")


def test_who_is_called_because_a_budget_is_spent_is_told_of_a_call_that_never_ended() -> None:
    agents = world()
    one = agents.begin()
    acting(agents, one)
    agents.host.after = dead
    with pytest.raises(Killed):
        agents.step(one)
    agents.resume.one(agents.admin, one)
    agents.stopwatch.step = 2_000.0
    agents.work(one)
    check(agents, one)
    verdict, why = agents.escalate.calls[one]
    assert verdict is Verdict.FAILED_BUDGET
    assert why.endswith("Nobody knows whether accounts.unlock happened.")


def test_a_call_that_never_ended_calls_a_person_whatever_the_verdict() -> None:
    agents = world()
    one = agents.begin()
    acting(agents, one)
    agents.host.after = dead
    with pytest.raises(Killed):
        agents.step(one)
    before = read(agents.journal, agents.workspace_id, one)
    forgets = replace(before.memory, pending=None, verdict=Verdict.AUTO_RESOLVED)
    change = replace(
        halted(forgets, Verdict.AUTO_RESOLVED, "It works again.", code="none"),
        verdict=Verdict.AUTO_RESOLVED,
    )
    snapshots = Snapshots(cipher=agents.journal.platform.cipher)
    subjects = before.investigation.data_subjects
    agents.journal.write(
        agents.workspace_id, subjects, SYSTEM, lambda page: moved(page, snapshots, before, change)
    )
    agents.close(agents.workspace_id, one)
    assert agents.found_(one).verdict is Verdict.AUTO_RESOLVED
    assert agents.actions()[-1].state is ActionState.UNKNOWN
    verdict, why = agents.escalate.calls[one]
    assert (verdict, "accounts.unlock" in why) == (Verdict.NEEDS_TECH, True)


def test_a_step_that_is_run_again_answers_where_the_investigation_is() -> None:
    agents = world()
    one = agents.begin()
    agents.step(one)
    before = agents.entries()
    again = agents.run(agents.workspace_id, one, state=State.CREATED, run=1)
    assert again.state is State.PLANNING
    assert agents.entries() == before


def test_a_run_that_another_took_the_place_of_does_nothing() -> None:
    agents = world()
    one = agents.begin()
    agents.step(one)
    agents.resume.one(agents.admin, one)
    with pytest.raises(Exception, match="superseded"):
        agents.run(agents.workspace_id, one, state=State.PLANNING, run=1)
    with pytest.raises(Exception, match="superseded"):
        agents.enter(agents.workspace_id, one, run=1)
    assert agents.work(one).state is State.DONE
    check(agents, one)


def acting(agents: Agents, one: UUID) -> None:
    """Go on until the unlock is what is to be called."""
    agents.until(one, State.ACTING)
    agents.until(one, State.PLANNING)
    agents.until(one, State.ACTING)


def test_a_run_that_was_held_up_before_its_call_does_not_make_it_after_another_has_ended() -> None:
    agents = world(deduplicates=False)
    one = agents.begin()
    acting(agents, one)
    policies, held = agents.pipeline.policies, [True]

    def held_up(workspace_id: UUID) -> Any:
        policy = policies(workspace_id)
        if held and held.pop():
            agents.resume.one(agents.admin, one)
            agents.autonomy = Autonomy.INVESTIGATE
            agents.work(one)
        return policy

    agents.run = replace_policies(agents, held_up)
    with pytest.raises(Conflict, match="superseded"):
        agents.run(agents.workspace_id, one, state=State.ACTING, run=1)
    assert agents.host.effects == []
    assert agents.found_(one).ended_at is not None
    assert agents.types().count("investigation.ended") == 1


def replace_policies(agents: Agents, policies: Any) -> RunStep:
    """The steps with an ACTING that reads its rules this way."""
    act_step = agents.run.steps[State.ACTING]
    assert isinstance(act_step, Act)
    slow = replace(act_step, pipeline=replace(act_step.pipeline, policies=policies))
    return replace(agents.run, steps={**agents.run.steps, State.ACTING: slow})


def test_a_run_that_comes_back_late_does_not_write_over_what_another_is_about() -> None:
    agents = world(deduplicates=False)
    one = agents.begin()
    agents.until(one, State.ACTING)
    late = read(agents.journal, agents.workspace_id, one)
    agents.resume.one(agents.admin, one)
    agents.enter(agents.workspace_id, one, run=2)
    acting(agents, one)
    change = halted(late.memory, Verdict.FAILED, "It is the old run's.", code="late")
    snapshots = Snapshots(cipher=agents.journal.platform.cipher)
    subjects = late.investigation.data_subjects
    before = agents.entries()
    assert not agents.journal.write(
        agents.workspace_id, subjects, SYSTEM, lambda page: moved(page, snapshots, late, change)
    )
    assert agents.entries() == before
    agents.work(one)
    check(agents, one)
    assert agents.found_(one).verdict is Verdict.AUTO_RESOLVED


def test_a_step_that_is_late_does_not_undo_what_the_same_run_has_found_out_since() -> None:
    agents = world()
    one = agents.begin()
    agents.until(one, State.PLANNING)
    plans, held = agents.planner.plan, [True]

    def late(question: Question) -> Plan:
        plan = plans(question)
        if held and held.pop():  # delivered twice: the other one goes on meanwhile
            agents.until(one, State.RETRIEVING)
            agents.until(one, State.PLANNING)
        return plan

    agents.planner.plan = late  # pyright: ignore[reportAttributeAccessIssue]
    before = agents.types().count("investigation.moved")
    assert agents.step(one).state is State.PLANNING
    assert agents.types().count("investigation.moved") == before + 2
    assert agents.memory(one).queries == ("locked",)
    agents.work(one)
    check(agents, one)
    assert agents.searches == [("locked", "Acme")]


def test_a_beginning_that_is_late_takes_no_slot_for_what_has_ended() -> None:
    agents = world()
    one = agents.begin()
    agents.resume.one(agents.admin, one)
    keys, held = agents.keys, [True]

    class Late(InMemoryKeyStore):
        def get_or_create(
            self, workspace_id: UUID, subject_ids: Collection[UUID]
        ) -> Mapping[UUID, bytes]:
            if held and held.pop():  # delivered twice: the other one goes on meanwhile
                agents.work(one)
            return keys.get_or_create(workspace_id, subject_ids)

        def get(self, workspace_id: UUID, subject_ids: Collection[UUID]) -> Mapping[UUID, bytes]:
            return keys.get(workspace_id, subject_ids)

    late = replace(agents.enter, journal=on_other(agents.journal, keys=Late()))
    assert late(agents.workspace_id, one, run=2).state is State.DONE
    check(agents, one)


def test_two_processes_at_the_same_action_call_it_once() -> None:
    agents = world()
    one = agents.begin()
    agents.until(one, State.ACTING)
    agents.until(one, State.PLANNING)
    agents.until(one, State.ACTING)
    other: list[Any] = []

    def meanwhile(call: ToolCall) -> None:
        if not other:
            other.append(None)
            agents.host.before = lambda call: None
            other.append(agents.run(agents.workspace_id, one, state=State.ACTING))

    agents.host.before = meanwhile
    agents.step(one)
    agents.work(one)
    check(agents, one)


def test_what_was_lost_is_found_stale_and_taken_up() -> None:
    agents = world()
    one = agents.begin()
    agents.step(one, 2)
    assert agents.resume.stale(agents.admin) == ()
    agents.clock.now += timedelta(hours=1)
    [again] = agents.resume.stale(agents.admin)
    assert (again.investigation_id, again.run) == (one, 2)
    [row] = [row for row in agents.woken(Topic.INVESTIGATION) if row.batch == 2]
    assert row.reference == one
    assert agents.work(one).state is State.DONE
    check(agents, one)


def test_what_goes_on_since_it_was_seen_standing_still_is_left_alone() -> None:
    agents = world()
    one, other = agents.begin(), agents.begin()
    agents.clock.now += timedelta(hours=1)
    still = agents.resume.still_since(agents.workspace_id, agents.clock())
    assert [found.id for found in still] == [one, other]
    agents.resume.one(agents.admin, one)
    agents.step(other)
    assert [agents.resume.again(seen, actor=SYSTEM).run for seen in still] == [2, 1]
    assert len(list(agents.woken(Topic.INVESTIGATION))) == 3
    agents.work(other)
    assert agents.resume.again(still[1], actor=SYSTEM).state is State.DONE


def test_the_end_of_an_execution_told_twice_at_once_starts_one_other() -> None:
    agents = world()
    one = agents.begin()
    seen = agents.found_(one)
    agents.step(one)
    runs = [agents.resume.again(seen, actor=SYSTEM, died=True).run for _ in range(2)]
    assert runs == [2, 2]
    assert [row.batch for row in agents.woken(Topic.INVESTIGATION)] == [1, 2]


def test_an_end_nobody_was_told_of_is_stale_too() -> None:
    agents = world()
    one = agents.begin()
    agents.until(one, State.DONE)
    agents.clock.now += timedelta(hours=1)
    assert [now.investigation_id for now in agents.resume.stale(agents.admin)] == [one]
    agents.work(one)
    check(agents, one)
    agents.clock.now += timedelta(hours=1)
    assert agents.resume.stale(agents.admin) == ()
