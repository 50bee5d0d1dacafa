"""A ticket whose requester answered: the next investigation reads it and what was done before."""

from dataclasses import replace

from tests.support.agent import SUMMARY as ANSWER
from tests.support.agent import Agents, ScriptedPlanner, act

from cairn.investigations.state import State, Verdict
from cairn.kernel.ids import new_id
from cairn.safety.tools import Lane
from cairn.tickets.queue import MOST_REOPENINGS
from cairn.tickets.ticket import RequesterMessage, Ticket


def world() -> Agents:
    agents = Agents(planner=ScriptedPlanner([act("accounts.unlock", user="ada@acme.test")]))
    agents.host.add("accounts.unlock", Lane.WRITE)
    return agents


def test_the_next_investigation_reads_the_conversation_and_what_the_earlier_one_did() -> None:
    agents = world()
    one = agents.begin()
    agents.work(one)
    ticket_id = agents.found_(one).ticket_id
    ticket = agents.desk.tickets[ticket_id]
    agents.desk.tickets[ticket_id] = replace(
        ticket,
        messages=(RequesterMessage(text="It is ada@acme.test again.", written_at=agents.clock()),),
        answers={one: f"Dear ada@acme.test, {ANSWER}"},
    )
    agents.again(ticket_id)
    two = agents.of_ticket(ticket_id)
    agents.step(two)
    memory = agents.memory(two)
    assert memory.brief.body == "It is <EMAIL_1> again.\n\n-----\n\nAda cannot sign in."
    (note,) = memory.notes
    assert note.role == "user"
    assert note.text == (
        "An earlier investigation of this ticket ended as auto_resolved. "
        "It called: accounts.unlock (applied). "
        "It answered:\nDear <EMAIL_1>, The account is unlocked again ."
    )


def test_a_first_investigation_has_no_earlier_one() -> None:
    agents = world()
    one = agents.begin()
    agents.step(one)
    assert agents.memory(one).notes == ()


def test_the_news_of_a_long_ticket_is_what_a_model_reads() -> None:
    agents = world()
    one = agents.begin("x" * 40_000)
    ticket_id = agents.found_(one).ticket_id
    news = (RequesterMessage(text="The news.", written_at=agents.clock()),)
    agents.desk.tickets[ticket_id] = replace(agents.desk.tickets[ticket_id], messages=news)
    agents.step(one)
    assert agents.memory(one).brief.body.startswith("The news.\n")


def test_a_ticket_that_is_answered_again_and_again_goes_to_a_person_without_a_model() -> None:
    agents = world()
    one = agents.begin()
    ticket_id = agents.found_(one).ticket_id
    known = agents.desk.tickets[ticket_id]
    agents.desk.tickets[ticket_id] = replace(known, reopenings=MOST_REOPENINGS + 1)
    assert agents.work(one).state is State.DONE
    assert agents.found_(one).verdict is Verdict.SKIPPED
    assert agents.desk.written[one]["private"] is True
    assert agents.host.effects == []
    assert "triage" not in agents.planner.kinds()


def test_as_often_as_it_may_it_is_investigated() -> None:
    agents = world()
    one = agents.begin()
    ticket_id = agents.found_(one).ticket_id
    known = agents.desk.tickets[ticket_id]
    agents.desk.tickets[ticket_id] = replace(known, reopenings=MOST_REOPENINGS)
    agents.work(one)
    assert agents.found_(one).verdict is Verdict.AUTO_RESOLVED


def test_words_are_the_newest_messages_first_each_of_bounded_length() -> None:
    agents = world()
    ticket: Ticket = agents.desk.tickets[agents.ticket()]
    many = tuple(
        RequesterMessage(text=f"{new_id()}" * 500, written_at=agents.clock()) for _ in range(30)
    )
    words = replace(ticket, messages=many).words
    assert len(words) < 10 * 4_000 + 500
    assert words.startswith(many[0].text[:100])
    assert words.endswith(ticket.body)
