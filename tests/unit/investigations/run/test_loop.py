"""Whole investigations over the fakes: from a ticket to an answer, with every step to be seen."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from tests.support.agent import DOC, Agents, ScriptedPlanner, act, search
from tests.support.remembering import fact, in_memory

from cairn.connectors.port import ConnectorState, ConnectorUnauthorised, ConnectorUnavailable
from cairn.investigations.ports import Ruling
from cairn.investigations.run.closing import QueueEscalation
from cairn.investigations.state import Evidence, State, Verdict
from cairn.kernel.errors import NotFound, Unavailable
from cairn.kernel.ids import new_id
from cairn.kernel.metrics import Metric
from cairn.ledger.keys import BodyUnreadable
from cairn.safety.tools import Autonomy, Criticality, Lane
from cairn.tickets.personas import DEFAULT
from cairn.tickets.ticket import Priority, SourceKind, TicketSource


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
    assert world.desk.written[one]["summary"] == "The account is unlocked again (Unlock)."
    assert world.desk.written[one]["private"] is False
    assert world.slots() == 0


def ids(agents: Agents) -> dict[str, str]:
    return {row.tool: row.state.value for row in agents.actions()}


def test_every_transition_is_an_entry_with_its_lines_and_its_delta() -> None:
    world = Agents(planner=ScriptedPlanner([search("locked")]))
    one = world.begin()
    world.work(one)
    moves = [entry for entry in world.entries() if entry.type == "investigation.moved"]
    assert [(entry.meta["from"], entry.meta["to"]) for entry in moves] == [
        ("CREATED", "PLANNING"),
        ("PLANNING", "RETRIEVING"),
        ("RETRIEVING", "PLANNING"),
        ("PLANNING", "VERDICT"),
        ("VERDICT", "WRITING_BACK"),
        ("WRITING_BACK", "DONE"),
    ]
    found = world.body(moves[2])
    assert found["delta"]["queries"] == {"added": ["locked"]}
    assert found["lines"][0]["detail"] == "1 found for: locked"
    with world.transactions.reading(world.admin) as stores:
        lines = stores.investigations.steps(one, after=0, limit=100)
    assert [line.seq for line in lines] == list(range(1, len(lines) + 1))
    assert {line.position for line in lines} == {entry.position for entry in moves}
    for entry in moves:
        rows = [line for line in lines if line.position == entry.position]
        assert [row.line for row in rows] == list(range(len(world.body(entry)["lines"])))


def test_what_is_personal_goes_to_tools_and_to_the_desk_and_nowhere_else() -> None:
    planner = ScriptedPlanner(
        [search("locked"), act("accounts.find", "<EMAIL_1>"), act("accounts.unlock", "<EMAIL_1>")]
    )
    world = Agents(planner=planner)
    world.host.add("accounts.find", Lane.READ, "ada@acme.test and bob@acme.test are locked")
    world.host.add("accounts.unlock", Lane.WRITE)
    planner.summaries = [f"We wrote to <EMAIL_1> {DOC}."]
    one = world.begin("I am ada@acme.test.")
    world.work(one)
    assert [dict(call.arguments) for call in world.host.calls] == [{"user": "ada@acme.test"}] * 2
    assert world.desk.written[one]["summary"] == "We wrote to ada@acme.test (Unlock)."
    seen = world.memory(one).observations[0]
    assert seen.text == "<EMAIL_1> and <EMAIL_2> are locked"
    assert world.desk.written[one]["data_subjects"] == world.found_(one).data_subjects
    for entry in world.entries():
        assert "@acme.test" not in entry.meta_text
        assert not entry.body or "@acme.test" not in str(world.body(entry))


def test_a_name_that_the_requesters_address_gives_away_is_hidden_in_the_ticket() -> None:
    world = Agents()
    one = world.begin("Babbage cannot sign in.", requester_email="charles.babbage@acme.test")
    world.work(one)
    brief = world.memory(one).brief
    assert (brief.requester, brief.body) == ("<EMAIL_1>", "<NAME_1> cannot sign in.")


@pytest.mark.parametrize(
    ("verdict", "said"),
    [
        (Verdict.AUTO_RESOLVED, "ada@acme.test asked, and <EMAIL_2> was helped (Unlock)."),
        (Verdict.NEEDS_TECH, f"ada@acme.test asked, and bob@acme.test was helped {DOC}."),
    ],
)
def test_a_public_answer_tells_nobody_what_was_read_about_others(
    verdict: Verdict, said: str
) -> None:
    planner = ScriptedPlanner([search("bob"), act("accounts.find", "<EMAIL_1>")])
    planner.ruling = replace(planner.ruling, verdict=verdict)
    world = Agents(planner=planner)
    world.host.add("accounts.find", Lane.READ, "bob@acme.test shares it with ada@acme.test")
    planner.summaries = [f"<EMAIL_1> asked, and <EMAIL_2> was helped {DOC}."]
    one = world.begin("I am ada@acme.test.")
    world.work(one)
    assert world.desk.written[one]["summary"] == said


def test_executed_actions_name_the_evidence_they_stand_on() -> None:
    world = Agents(planner=ScriptedPlanner([search("x"), act("accounts.unlock", evidence=(DOC,))]))
    world.host.add("accounts.unlock", Lane.WRITE)
    world.work(world.begin())
    entries = [entry for entry in world.entries() if entry.type.startswith("action.")]
    assert [entry.type for entry in entries] == [
        "action.proposed",
        "action.started",
        "action.applied",
    ]
    [evidence] = world.found
    named = [entry.meta.get("evidence_ids") for entry in entries]
    assert named == [None, [str(evidence.node_id)], None]  # once for each action that was begun


def test_facts_similar_tickets_and_hints_are_read_once_and_redacted() -> None:
    like = Evidence(citation="[memory:1]", text="ada@acme.test uses SSO")
    world = Agents(around=([like], [like], ["ada@acme.test again"]))
    one = world.begin("From ada@acme.test")
    world.step(one)
    memory = world.memory(one)
    assert memory.facts[0].text == memory.similar[0].text == "<EMAIL_1> uses SSO"
    assert memory.hints == ("<EMAIL_1> again",)


def test_without_its_surroundings_an_investigation_goes_on() -> None:
    world = Agents()

    def fail(workspace_id: Any, ticket: Any) -> Any:
        raise Unavailable("The graph is away.")

    triage = replace(world.run.steps[State.CREATED], surrounds=fail)  # type: ignore[type-var]
    world.run = replace(world.run, steps={**world.run.steps, State.CREATED: triage})
    one = world.begin()
    assert world.step(one).state is State.PLANNING


def test_without_recall_an_investigation_goes_on() -> None:
    world = Agents(
        planner=ScriptedPlanner([search("locked")]), recalled=Unavailable("No index answers.")
    )
    one = world.begin()
    assert world.work(one).state is State.DONE
    assert world.memory(one).evidence == ()


@pytest.mark.parametrize("priority", list(Priority))
def test_degraded_mode_skips_retrieval_for_low_priority_only(priority: Priority) -> None:
    world = Agents(planner=ScriptedPlanner([search("locked")]), degraded=True)
    world.work(world.begin(priority=priority))
    assert len(world.searches) == (0 if priority is Priority.LOW else 1)


def test_a_ticket_of_a_megabyte_is_cut_for_models() -> None:
    world = Agents()
    one = world.begin("ada@acme.test " * 75_000)
    world.step(one)
    body = world.memory(one).brief.body
    assert len(body) < 33_000
    assert "@acme.test" not in body
    assert body.endswith("[the rest of this ticket is left out]")


def test_a_connector_that_is_signed_out_ends_with_what_to_do_and_the_ticket_waits_for_it() -> None:
    def refuse(call: Any) -> str:
        raise ConnectorUnauthorised("401")

    world = Agents(planner=ScriptedPlanner([act("accounts.unlock")]))
    world.host.add("accounts.unlock", Lane.WRITE, refuse)
    one = world.begin()
    world.work(one)
    found = world.found_(one)
    assert (found.verdict, found.error) == (Verdict.NEEDS_TECH, "connector-unauthorised")
    assert "cairn connectors" in world.escalate.calls[one][1]
    assert "verdict" not in world.planner.kinds()
    with world.transactions.reading(world.admin) as stores:
        assert stores.tickets.waiting("connector:accounts", 9) == [found.ticket_id]


@pytest.mark.parametrize("criticality", list(Criticality))
def test_a_connector_that_does_not_run_is_done_without_or_halts(criticality: Criticality) -> None:
    def down(call: Any) -> str:
        raise ConnectorUnavailable("It is degraded.", reason="connector-degraded")

    world = Agents(planner=ScriptedPlanner([act("accounts.find")]))
    world.host.add("accounts.find", Lane.READ, down)
    world.host.criticality = criticality
    one = world.begin()
    halts = criticality is Criticality.HALT
    assert world.work(one).state is (State.HALTED if halts else State.DONE)
    assert ids(world) == {"find": "failed"}


def test_a_degraded_connector_s_tools_are_not_offered() -> None:
    world = Agents(planner=ScriptedPlanner([act("accounts.find")]))
    world.host.add("accounts.find", Lane.READ)
    world.host.state = ConnectorState.DEGRADED
    world.work(world.begin())
    assert world.planner.asked[1][1].tools == ()


def test_in_investigate_nothing_is_written() -> None:
    world = Agents(
        planner=ScriptedPlanner([act("accounts.find"), act("accounts.unlock")]),
        autonomy=Autonomy.INVESTIGATE,
    )
    world.host.add("accounts.find", Lane.READ)
    world.host.add("accounts.unlock", Lane.WRITE)
    world.work(world.begin())
    assert ids(world) == {"find": "applied", "unlock": "denied"}
    assert world.host.effects == []


@pytest.mark.parametrize("how", ["refused", "needs-auth"])
def test_an_answer_the_desk_does_not_take_calls_a_person(how: str) -> None:
    world = Agents(planner=ScriptedPlanner([search("locked")]))
    world.desk.write_back = lambda *args, **said: {"reply": how}  # type: ignore[method-assign]
    one = world.begin()
    assert world.work(one).state is State.HALTED
    assert world.escalate.calls[one][0] is Verdict.NEEDS_TECH


def test_who_is_called_is_told_that_a_question_never_reached_the_requester() -> None:
    world = Agents(planner=ScriptedPlanner([search("locked")]))
    world.planner.ruling = Ruling(verdict=Verdict.NEEDS_CLIENT, reason="Which account is it?")
    world.desk.write_back = lambda *args, **said: {"reply": "refused"}  # type: ignore[method-assign]
    one = world.begin()
    assert world.work(one).state is State.HALTED
    verdict, why = world.escalate.calls[one]
    assert verdict is Verdict.NEEDS_CLIENT
    assert why == "The help desk did not take the answer: nobody has read it. Which account is it?"


def test_a_source_that_does_not_answer_is_asked_again() -> None:
    world = Agents(planner=ScriptedPlanner([search("locked")]))
    world.desk.fails = Unavailable("No answer.")
    one = world.begin()
    with pytest.raises(Unavailable):
        world.work(one)
    assert world.found_(one).state is State.WRITING_BACK
    world.desk.fails = None
    assert world.work(one).state is State.DONE
    assert len(world.desk.written) == 1


@pytest.mark.parametrize("erased", [False, True], ids=["by key", "by key and row"])
@pytest.mark.parametrize("state", [State.PLANNING, State.WRITING_BACK, State.DONE, State.HALTED])
def test_what_was_forgotten_is_closed_without_a_plan_an_answer_or_a_call(
    state: State, erased: bool
) -> None:
    world = Agents(planner=ScriptedPlanner([search("locked")]))
    real = QueueEscalation(journal=world.journal, desk=world.desk)
    world.close = replace(world.close, escalate=real)
    world.loop = replace(world.loop, close=world.close)
    one = world.begin()
    if state is State.HALTED:
        world.halt(world.workspace_id, one, error="Boom")
    else:
        world.until(one, state)
    thoughts, answers = len(world.planner.asked), world.desk.asked_to_write
    for subject in world.found_(one).data_subjects:
        world.keys.destroy(world.workspace_id, subject)
    if erased:
        world.transactions.workspaces[world.workspace_id].snapshots[one] = b""
    now = world.work(one)
    assert now.state is (state if state.is_end else State.HALTED)
    assert (len(world.planner.asked), world.desk.asked_to_write) == (thoughts, answers)
    assert world.found_(one).ended_at is not None
    assert len(world.desk.endings) == 1
    assert "escalation.queued" not in world.types()


@pytest.mark.parametrize("state", [item for item in State if not item.is_end])
def test_a_subject_forgotten_at_any_state_ends_it_and_keeps_nothing(state: State) -> None:
    planner = ScriptedPlanner([search("locked"), act("accounts.unlock")])
    world = Agents(planner=planner, persona=replace(DEFAULT, autonomy=Autonomy.PROPOSE))
    world.host.add("accounts.unlock", Lane.WRITE)
    one = world.begin()
    for _ in range(20):
        found = world.found_(one)
        if found.state is state:
            break
        if found.state is State.WAITING_APPROVAL:
            asked = world.pending()
            world.approvals.approve(world.admin, asked.id, binding=asked.binding)
        else:
            world.step(one)
    [subject] = world.found_(one).data_subjects
    world.keys.destroy(world.workspace_id, subject)
    if state is State.WAITING_APPROVAL:
        world.expire(world.workspace_id, one)
    elif state is State.CREATED:
        world.desk.tickets.clear()
    world.work(one)
    found = world.found_(one)
    assert (found.state, found.error) == (State.HALTED, "subject-forgotten")
    assert found.ended_at is not None
    assert world.slots() == 0
    with world.transactions.reading(world.admin) as stores:
        assert stores.investigations.snapshot(one) == b""


def test_a_mistake_is_halted_though_its_cause_was_cut_in_the_middle_of_a_character() -> None:
    world = Agents()
    one = world.begin()
    world.halt(world.workspace_id, one, error="Key\0Error\udc00", cause="cut \ud83d")
    assert (world.found_(one).state, world.found_(one).error) == (State.HALTED, "KeyError?")


def test_a_mistake_in_a_step_is_halted_with_its_cause_sealed() -> None:
    world = Agents()
    one = world.begin()
    world.halt(world.workspace_id, one, error="KeyError", cause="Traceback: 'user'")
    world.halt(world.workspace_id, one, error="KeyError", cause="again")
    world.close(world.workspace_id, one)
    [entry] = [entry for entry in world.entries() if entry.type == "investigation.failed"]
    assert world.body(entry) == {"cause": "Traceback: 'user'"}
    assert world.found_(one).verdict is Verdict.FAILED
    assert world.escalate.calls[one][0] is Verdict.FAILED


def test_strangers_find_nothing() -> None:
    world = Agents()
    one, elsewhere = world.begin(), new_id()
    world.transactions.create_workspace(elsewhere)
    for call in (
        lambda: world.run(elsewhere, one, state=State.CREATED),
        lambda: world.enter(elsewhere, one, run=1),
        lambda: world.wait(elsewhere, one, token="t"),
        lambda: world.expire(elsewhere, one),
        lambda: world.close(elsewhere, one),
        lambda: world.halt(elsewhere, one, error="x"),
    ):
        with pytest.raises(NotFound):
            call()


class TestWhomItIsAbout:
    def world(self) -> tuple[Agents, UUID]:
        """A workspace that remembers something of Bob, and a planner that finds it."""
        remembering = in_memory()
        node_id = remembering.tell_one(fact("Bob owns the VPN.", data_subjects=("bob",))).id
        assert node_id is not None
        with remembering.transactions.reading(remembering.principal) as stores:
            [bob] = stores.graph_nodes.find([node_id])[node_id].data_subjects
        world = Agents(
            transactions=remembering.transactions,
            workspace_id=remembering.principal.workspace_id,
            keys=remembering.keys,
            planner=ScriptedPlanner([search("vpn")]),
        )
        text = Evidence(citation=f"[memory:{node_id}]", text="Bob owns the VPN.", node_id=node_id)
        world.found = [text]
        return world, bob

    def test_what_was_read_of_others_is_sealed_with_their_keys_too(self) -> None:
        world, bob = self.world()
        one = world.begin()
        before = world.found_(one).data_subjects
        world.until(one, State.RETRIEVING)
        assert world.found_(one).data_subjects == before
        world.step(one)
        assert world.found_(one).data_subjects == tuple(sorted({*before, bob}))
        world.work(one)
        told = [entry for entry in world.entries() if entry.type == "investigation.verdict"]
        assert set(told[0].data_subjects) == {*before, bob}

    def test_forgetting_them_takes_it_from_the_investigation(self) -> None:
        world, bob = self.world()
        one = world.begin()
        world.until(one, State.VERDICT)
        world.keys.destroy(world.workspace_id, bob)
        world.work(one)
        assert world.found_(one).error == "subject-forgotten"
        for entry in world.entries():
            if bob in entry.data_subjects and entry.body:
                with pytest.raises(BodyUnreadable):
                    world.body(entry)

    def test_what_is_forgotten_while_it_is_read_is_read_again(self) -> None:
        world, bob = self.world()
        one = world.begin()
        world.until(one, State.RETRIEVING)
        world.keys.destroy(world.workspace_id, bob)
        with pytest.raises(Unavailable, match="evidence-forgotten"):
            world.step(one)
        world.found = []
        assert world.work(one).state is State.DONE

    def test_similar_tickets_bring_theirs(self) -> None:
        world = Agents()
        other = world.ticket(data_subjects=(bob := new_id(),))
        world.around = ([], [Evidence(citation=f"[ticket:{other}]", text="like it")], [])
        one = world.begin()
        world.step(one)
        assert bob in world.found_(one).data_subjects


def test_refusals_and_used_evidence_are_counted_once_they_are_committed() -> None:
    told: list[tuple[str, float, dict[str, Any]]] = []
    other = Evidence(citation="[doc:kb://other.md]", text="Something else.")
    world = Agents(planner=ScriptedPlanner([act("accounts.never"), search("locked")]))
    world.found.append(other)
    world.host.add("accounts.unlock", Lane.WRITE)
    world.run = replace(
        world.run, metrics=lambda metric, value=1, /, **labels: told.append((metric, value, labels))
    )
    world.loop = replace(world.loop, run=world.run)
    world.work(world.begin())
    assert told == [
        (
            Metric.SAFETY_DENIALS,
            1,
            {
                "workspace": world.workspace_id,
                "outcome": "unknown-tool",
                "connector": "accounts",
            },
        ),
        (Metric.RETRIEVAL_HIT_RATE, 0.5, {"workspace": world.workspace_id}),
    ]


def test_a_thread_of_slack_that_is_worked_is_a_session_of_a_chat_and_a_mail_is_none() -> None:
    told: list[dict[str, Any]] = []

    def tell(metric: Metric, value: float = 1, /, **labels: Any) -> None:
        if metric is Metric.CHAT_SESSIONS:
            told.append(labels)

    world = Agents(planner=ScriptedPlanner([search("locked")]))
    world.loop = replace(world.loop, close=replace(world.close, metrics=tell))
    with world.transactions.writing(world.admin) as stores:
        for kind in (SourceKind.SLACK, SourceKind.MAIL):
            source = TicketSource(
                id=new_id(), name=f"our-{kind}", kind=kind, config={}, created_at=world.clock()
            )
            stores.ticket_sources.add(source, b"")
    for source in ("our-slack", "our-mail", "api", "gone"):
        world.work(world.begin(source=source))
    assert told == [{"channel": "slack", "outcome": "auto_resolved"}]
