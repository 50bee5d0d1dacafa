"""A stop of the orchestrator in every state in turn: what it ran is taken up, and nothing twice."""

from concurrent.futures import Future, ThreadPoolExecutor

from tests.fault.office import Office, machine
from tests.fault.turnstile import Turnstile, turnstile
from tests.plugins.waiting import eventually

from cairn.investigations.state import State

SECONDS = 120.0


def test_an_orchestrator_killed_in_every_state_on_the_way_to_done_loses_nothing(
    forgetful_office: Office,
) -> None:
    office = forgetful_office
    stops: set[State] = set()
    wanted = set(State) - {State.HALTED}
    approved: Future[None] | None = None
    with ThreadPoolExecutor(1) as person, turnstile(office.laptop, office.tenant.id) as held:
        ticket = held.meanwhile(office.ticket)
        while (state := next_state(office, held, ticket)) is not None:
            if state in wanted - stops:
                stop_and_resume(office, held, ticket)
                stops.add(state)
            elif state is State.WAITING_APPROVAL and not held.waiting() and approved is None:
                approved = person.submit(office.approve)
            else:
                held.let_through()
    ended = office.over(ticket)
    assert stops == wanted
    assert (ended["state"], ended["verdict"]) == ("DONE", "auto_resolved")
    assert ended["run"] == len(stops) + 1
    assert len(office.effects()) == 1
    assert office.calls(ended["id"], "applied") == 1
    office.is_whole(ended["id"])


def test_an_orchestrator_killed_while_an_investigation_halts_loses_nothing(office: Office) -> None:
    ticket = office.ticket_nobody_answered()
    with turnstile(office.laptop, office.tenant.id) as held:
        office.sweep()
        reach_the_closing(office, held)
        stop_and_resume(office, held, ticket)
    ended = office.over(ticket)
    assert (ended["state"], ended["error"], ended["run"]) == ("HALTED", "approval-expired", 2)
    assert office.effects() == []
    office.is_whole(ended["id"])


def reach_the_closing(office: Office, held: Turnstile) -> None:
    """Let everybody write until it is the machine's last step that wants to."""

    def look() -> bool:
        if machine(office).at == State.HALTED.value and not office.owes_answers():
            return bool(held.waiting())
        if held.waiting():
            held.let_through()
        return False

    eventually(look, seconds=SECONDS, what="the closing")


def next_state(office: Office, held: Turnstile, ticket: str) -> State | None:
    """The state in which somebody wants to write or waits for a person; None when all is over."""

    def look() -> State | str | None:
        row = office.row(ticket)
        if row is None:
            if held.waiting():
                held.let_through()
            return None
        if row["ended_at"]:
            return "over"
        asks = row["state"] == State.WAITING_APPROVAL.value and office.waits_with_token(ticket)
        return State(row["state"]) if held.waiting() or asks else None

    found = eventually(look, seconds=SECONDS, what=f"a move of {office.row(ticket)}")
    return None if found == "over" else State(found)


def stop_and_resume(office: Office, held: Turnstile, ticket: str) -> None:
    """Kill it, let what its workers were about to write come late, and take it up by hand."""
    row = office.row(ticket)
    assert row is not None
    office.laptop.kill_orchestrator()
    if held.waiting():
        held.let_through()
    office.laptop.start_orchestrator()
    held.meanwhile(lambda: office.resume(row["id"]))
