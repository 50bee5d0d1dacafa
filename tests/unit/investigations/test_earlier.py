"""A ticket that is investigated again: what was done for it is not done again by itself."""

from dataclasses import replace
from uuid import UUID

from tests.support.agent import Agents, ScriptedPlanner, act

from cairn.connectors.port import OutcomeUnknown, ToolCall, ToolResult
from cairn.investigations.ports import ActionState
from cairn.investigations.state import State, Verdict
from cairn.safety.tools import Autonomy, Lane

MAIL = "ada@acme.test"


def world(*, user: str = "ada") -> tuple[Agents, UUID]:
    agents = Agents(planner=ScriptedPlanner([act("accounts.unlock", user=user)]))
    agents.host.add("accounts.unlock", Lane.WRITE, deduplicates=False)
    return agents, agents.begin()


def again(agents: Agents, one: UUID) -> UUID:
    """Investigate its ticket once more, until it ends or waits."""
    ticket_id = agents.found_(one).ticket_id
    agents.again(ticket_id)
    two = agents.of_ticket(ticket_id)
    assert two != one
    agents.work(two)
    return two


def vanish(call: ToolCall) -> None:
    raise OutcomeUnknown("No answer came.", reason="tool-timeout")


def test_what_was_applied_is_asked_about_and_done_again_only_with_a_yes() -> None:
    agents, one = world()
    agents.work(one)
    two = again(agents, one)
    assert agents.found_(two).state is State.WAITING_APPROVAL
    assert len(agents.host.effects) == 1
    asked = agents.approvals.get(agents.admin, agents.pending().id)
    assert asked.detail == "Exactly this was done in an earlier investigation of this ticket."
    agents.approvals.approve(agents.admin, asked.id, binding=asked.binding)
    agents.work(two)
    assert len(agents.host.effects) == 2
    assert agents.found_(two).verdict is Verdict.AUTO_RESOLVED


def test_what_may_have_happened_before_is_asked_about() -> None:
    agents, one = world()
    agents.host.after = vanish
    agents.work(one)
    agents.host.after = lambda call: None
    assert agents.actions()[0].state is ActionState.UNKNOWN
    two = again(agents, one)
    assert agents.found_(two).state is State.WAITING_APPROVAL
    assert "Nobody knows" in agents.approvals.get(agents.admin, agents.pending().id).detail


def test_the_same_values_are_the_same_whatever_their_placeholders_are_called() -> None:
    agents, one = world(user=MAIL)
    agents.work(one)
    ticket_id = agents.found_(one).ticket_id
    ticket = agents.desk.tickets[ticket_id]
    agents.desk.tickets[ticket_id] = replace(ticket, body="carl@acme.test and eve@acme.test")
    two = again(agents, one)
    assert agents.found_(two).state is State.WAITING_APPROVAL
    assert len(agents.host.effects) == 1


def test_other_values_are_done_though_their_placeholders_are_called_the_same() -> None:
    agents, one = world(user="<EMAIL_1>")
    ticket_id = agents.found_(one).ticket_id
    first = agents.desk.tickets[ticket_id]
    agents.desk.tickets[ticket_id] = replace(first, body="carl@acme.test", requester_email="")
    agents.work(one)
    agents.desk.tickets[ticket_id] = replace(first, body="eve@acme.test", requester_email="")
    two = again(agents, one)
    assert agents.found_(two).state is State.DONE
    assert [given["user"] for _, _, given in agents.host.effects] == [
        "carl@acme.test",
        "eve@acme.test",
    ]


def test_arguments_nobody_can_read_any_more_are_asked_about() -> None:
    agents, one = world(user="a" * 5_000)
    agents.work(one)
    two = again(agents, one)
    assert agents.found_(two).state is State.WAITING_APPROVAL


def test_what_is_only_rehearsed_asks_nobody() -> None:
    agents, one = world()
    agents.work(one)
    agents.host.add("accounts.unlock", Lane.WRITE, supports_dry_run=True)
    agents.persona = replace(agents.persona, autonomy=Autonomy.INVESTIGATE)
    agents.desk.personas["default"] = agents.persona
    again(agents, one)
    assert len(agents.host.effects) == 1
    assert agents.questions() == []


def test_what_failed_before_is_tried_again_without_asking() -> None:
    agents, one = world()
    agents.host.answers["accounts.unlock"] = lambda call: ToolResult(text="no", is_error=True)
    agents.work(one)
    agents.host.answers["accounts.unlock"] = lambda call: "done"
    two = again(agents, one)
    assert agents.questions() == []
    assert agents.found_(two).state is State.DONE
    assert len(agents.host.effects) == 1
