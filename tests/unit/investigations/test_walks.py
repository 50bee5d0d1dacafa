"""Whatever planners, tools and people do, an investigation stays on its edges and ends."""

from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from itertools import chain, repeat
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.agent import CONCLUDE, DOC, Agents, ScriptedPlanner, act, search

from cairn.connectors.port import (
    ConnectorUnauthorised,
    ConnectorUnavailable,
    OutcomeUnknown,
    ToolResult,
)
from cairn.investigations.ports import Ruling
from cairn.investigations.state import EDGES, RESUMED, State, Verdict, check
from cairn.kernel.errors import BudgetExceeded, CairnError, Conflict, Unavailable
from cairn.ledger.verify import verify
from cairn.safety.tools import Autonomy, Lane
from cairn.tickets.personas import DEFAULT

PLANS = st.sampled_from(
    [
        search("locked"),
        search("billing"),
        search(""),
        act("accounts.find"),
        act("accounts.unlock", evidence=(DOC,)),
        act("accounts.unlock", user="bob"),
        act("accounts.erase"),
        act("accounts.never"),
        act("accounts.find", arguments={"user": 7}),
        act("accounts.find", evidence=("[doc:invented]",)),
        CONCLUDE,
    ]
)
ANSWERS = st.sampled_from(
    [
        "fine",
        ToolResult(text="no", is_error=True),
        OutcomeUnknown("silence", reason="tool-timeout"),
        ConnectorUnavailable("down", reason="connector-degraded"),
        ConnectorUnauthorised("signed out"),
        Unavailable("the database is away"),
    ]
)
PEOPLE = st.lists(
    st.sampled_from(["approve", "reject", "edit", "wait", "resume", "expire", "halt"]), max_size=12
)


def world(plans: list[Any], answers: list[Any], autonomy: Autonomy) -> Agents:
    agents = Agents(
        persona=replace(DEFAULT, autonomy=autonomy), planner=ScriptedPlanner(plans, loops=True)
    )
    said = chain(answers * 3, repeat("fine"))

    def answer(call: Any) -> Any:
        one = next(said)
        if isinstance(one, Exception):
            raise one
        return one

    agents.host.add("accounts.find", Lane.READ, answer)
    agents.host.add("accounts.unlock", Lane.WRITE, answer, deduplicates=len(plans) % 2 == 0)
    agents.host.add("accounts.erase", Lane.WRITE, answer, dangerous=True)
    return agents


def do(agents: Agents, one: Any, what: str) -> None:
    """Let a person, or fate, do something; what is refused is refused."""
    now = agents.found_(one)
    try:
        if what == "resume":
            agents.resume.one(agents.admin, one)
        elif what == "halt":
            agents.halt(agents.workspace_id, one, error="Bug")
        elif now.state is State.WAITING_APPROVAL:
            decide(agents, one, what)
    except Conflict:
        pass


def decide(agents: Agents, one: Any, what: str) -> None:
    asked = agents.pending()
    if what == "approve":
        agents.approvals.approve(agents.admin, asked.id, binding=asked.binding)
    elif what == "reject":
        agents.approvals.reject(agents.admin, asked.id, reason="no")
    elif what == "edit":
        agents.approvals.edit(
            agents.admin, asked.id, binding=asked.binding, arguments={"user": "eve"}, reason="eve"
        )
    elif what == "expire":
        agents.clock.now += timedelta(hours=25)
        agents.expire(agents.workspace_id, one)


@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
@given(
    plans=st.lists(PLANS, min_size=1, max_size=8),
    answers=st.lists(ANSWERS, min_size=1, max_size=6),
    people=PEOPLE,
    autonomy=st.sampled_from([Autonomy.INVESTIGATE, Autonomy.PROPOSE, Autonomy.ACT]),
)
def test_random_walks_stay_on_the_edges_and_end(
    plans: list[Any], answers: list[Any], people: list[str], autonomy: Autonomy
) -> None:
    agents = world(plans, answers, autonomy)
    one = agents.begin()
    todo = iter([*people, *["approve", "reject"] * 40])
    for _ in range(80):
        with suppress(Unavailable):
            agents.work(one)
        if agents.found_(one).ended_at is not None:
            break
        do(agents, one, next(todo))
    ended = agents.found_(one)
    assert ended.ended_at is not None
    assert ended.verdict is not None
    assert agents.slots() == 0
    edges = {(str(one), str(to)) for one, every in EDGES.items() for to in every}
    edges |= {(str(one), str(to)) for one, to in RESUMED.items()}
    assert set(agents.walk(one)) <= edges
    assert verify(agents.entries(), workspace_id=agents.workspace_id).ok
    done = [(key, given["user"]) for key, _, given in agents.host.effects]
    assert len(done) == len(set(done))


def test_only_edges_are_edges() -> None:
    taken = {(source, target) for source in State for target in State if allowed(source, target)}
    assert taken == {(source, target) for source in State for target in EDGES[source]}


def allowed(source: State, target: State) -> bool:
    try:
        check(source, target)
    except Conflict as refused:
        assert refused.reason == "no-such-transition"
        return False
    return True


ERRORS = [
    BudgetExceeded("spent", reason="budget-usd"),
    CairnError("odd", reason="odd"),
    Conflict("no", reason="no"),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda item: type(item).__name__)
@pytest.mark.parametrize("part", ["triage", "plan", "verdict", "summary", "recall", "write_back"])
def test_an_error_anywhere_ends_in_an_end(part: str, error: CairnError) -> None:
    agents = Agents(planner=ScriptedPlanner([search("it")]))

    def fail(*args: Any, **kwargs: Any) -> Any:
        raise error

    if part == "recall":
        agents.recalled = error
    else:
        setattr(agents.desk if part == "write_back" else agents.planner, part, fail)
    one = agents.begin()
    agents.work(one)
    found = agents.found_(one)
    assert found.ended_at is not None
    broke = isinstance(error, BudgetExceeded) and part != "write_back"
    assert found.verdict is (Verdict.FAILED_BUDGET if broke else found.verdict)
    assert found.state is (State.DONE if broke else State.HALTED)
    assert one in agents.escalate.calls


def test_every_verdict_is_reached_written_and_settled() -> None:
    for verdict in (Verdict.NEEDS_TECH, Verdict.NEEDS_L2, Verdict.NEEDS_CLIENT, Verdict.FAILED):
        agents = Agents(planner=ScriptedPlanner([search("it")]))
        agents.planner.ruling = Ruling(verdict=verdict, reason="It is so.")
        one = agents.begin()
        agents.work(one)
        assert agents.found_(one).verdict is verdict
        assert agents.desk.endings[-1][1] is verdict
        assert agents.desk.written[one]["private"] is (verdict is not Verdict.NEEDS_CLIENT)
        assert agents.escalate.calls[one] == (verdict, "It is so.")
