"""Whole investigations over the fakes: from a ticket to an answer, with every step to be seen."""

from tests.support.agent import DOC, Agents, ScriptedPlanner, act, search

from cairn.agent.state import State, Verdict
from cairn.safety.tools import Lane


def test_a_ticket_is_searched_for_acted_on_and_answered() -> None:
    world = Agents(
        planner=ScriptedPlanner([search("locked"), act("accounts.unlock", evidence=(DOC,))])
    )
    world.host.add("accounts.unlock", Lane.WRITE)
    one = world.begin()
    assert world.work(one).state is State.DONE
    investigation = world.found_(one)
    assert investigation.verdict is Verdict.AUTO_RESOLVED
    assert investigation.ended_at is not None
    assert [key for key, _, _ in world.host.effects] == ["accounts.unlock"]
    assert world.desk.written[one]["summary"] == f"The account is unlocked again {DOC}."
    assert world.desk.written[one]["private"] is False
    assert world.slots() == 0
