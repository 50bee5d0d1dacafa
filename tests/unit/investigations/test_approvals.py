"""A person decides: on exactly what was shown, once, in time, under the same rules."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from tests.support.agent import DOC, Agents, ScriptedPlanner, act, search
from tests.support.remembering import admin_of

from cairn.connectors.port import ConnectorUnavailable, OutcomeUnknown, ToolCall, ToolResult
from cairn.investigations.approvals import AlreadyDecided
from cairn.investigations.browse import BrowseInvestigations
from cairn.investigations.journal import Opener
from cairn.investigations.ports import ActionState, ApprovalState
from cairn.investigations.state import State, Verdict
from cairn.kernel.access import Role
from cairn.kernel.errors import Conflict, Denied, NotFound, ValidationFailed
from cairn.kernel.ids import new_id
from cairn.safety.tools import Autonomy, Lane
from cairn.tickets.personas import DEFAULT
from cairn.writing.ports import Topic

PROPOSES = replace(DEFAULT, autonomy=Autonomy.PROPOSE)
MAIL = "ada@acme.test"


def asked(**spec: Any) -> tuple[Agents, UUID]:
    """A world whose investigation waits for a person."""
    unlock = act("accounts.unlock", user="<EMAIL_1>", evidence=(DOC,))
    agents = Agents(persona=PROPOSES, planner=ScriptedPlanner([search("locked"), unlock]))
    agents.host.add("accounts.unlock", Lane.WRITE, **spec)
    one = agents.begin(f"Please unlock {MAIL}.")
    assert agents.work(one).state is State.WAITING_APPROVAL
    return agents, one


def suspicious() -> tuple[Agents, UUID]:
    """A world whose rules would ask nobody, but the ticket tries to give orders."""
    agents = Agents(planner=ScriptedPlanner([act("accounts.unlock")]))
    agents.host.add("accounts.unlock", Lane.WRITE)
    one = agents.begin(screening={"language": "en", "injection": True})
    assert agents.work(one).state is State.WAITING_APPROVAL
    return agents, one


def asked_lines(agents: Agents) -> list[str]:
    """What the timeline of the question's investigation is about."""
    with agents.transactions.reading(agents.admin) as stores:
        lines = stores.investigations.steps(agents.pending().investigation_id, after=0, limit=99)
    return [line.action for line in lines]


def approve(agents: Agents, **changes: Any) -> Any:
    question = agents.pending()
    given: dict[str, Any] = {"binding": question.binding, "reason": "I know her."}
    return agents.approvals.approve(agents.admin, question.id, **given | changes)


def reject(agents: Agents) -> Any:
    return agents.approvals.reject(agents.admin, agents.pending().id, reason="No.")


def edit(agents: Agents, **arguments: Any) -> Any:
    question = agents.pending()
    given = arguments or {"user": "bob@acme.test"}
    return agents.approvals.edit(
        agents.admin, question.id, binding=question.binding, arguments=given, reason="It is Bob."
    )


class TestShowing:
    def test_a_question_shows_the_values_the_evidence_and_the_way_back(self) -> None:
        agents, _ = asked(rollback="lock", dangerous=True)
        shown = agents.approvals.get(agents.admin, agents.pending().id)
        assert shown.arguments == {"user": MAIL}
        assert shown.tool == "accounts.unlock"
        assert [(item.citation, item.text) for item in shown.evidence] == [(DOC, "How to unlock.")]
        assert shown.rollback == "accounts.lock"
        assert shown.dangerous
        assert shown.binding == agents.pending().binding
        assert shown.expires_at - shown.asked_at == timedelta(hours=24)
        assert shown.evidence_change is None

    def test_it_says_when_there_is_no_way_back(self) -> None:
        agents, _ = asked()
        assert agents.approvals.get(agents.admin, agents.pending().id).rollback is None

    def test_it_shows_what_a_dry_run_would_do_and_the_run_is_none(self) -> None:
        agents, _ = asked(supports_dry_run=True)
        shown = agents.approvals.get(agents.admin, agents.pending().id)
        assert shown.rehearsal == "done"
        [call] = agents.host.calls
        assert call.dry_run
        assert agents.host.effects == []
        approve(agents)
        assert call.idempotency_key != agents.pending().action_id

    def test_the_dry_run_stands_in_the_timeline_and_in_the_ledger(self) -> None:
        agents, _ = asked(supports_dry_run=True)
        [entry] = [entry for entry in agents.entries() if entry.type == "action.rehearsed"]
        action_id = str(agents.pending().action_id)
        assert (entry.meta["action_id"], entry.meta["error"]) == (action_id, None)
        assert agents.body(entry) == {"action": "accounts.unlock", "output": "done"}
        assert "rehearsed" in asked_lines(agents)

    @pytest.mark.parametrize(
        ("problem", "code"),
        [
            (OutcomeUnknown("No answer came.", reason="tool-timeout"), "tool-timeout"),
            (ConnectorUnavailable("It does not run.", reason="connector-down"), "connector-down"),
            (None, "tool-error"),
        ],
        ids=["silence", "down", "an error of the tool"],
    )
    def test_a_dry_run_that_failed_says_so_with_its_code(
        self, problem: Exception | None, code: str
    ) -> None:
        def fail(call: ToolCall) -> ToolResult:
            if problem is not None:
                raise problem
            return ToolResult(text=f"{MAIL} is unknown", is_error=True)

        agents, _ = asked(supports_dry_run=True, answer=fail)
        shown = agents.approvals.get(agents.admin, agents.pending().id)
        assert shown.rehearsal.startswith(f"It failed ({code}).")
        [entry] = [entry for entry in agents.entries() if entry.type == "action.rehearsed"]
        assert entry.meta["error"] == code
        assert MAIL not in str(agents.body(entry))

    def test_nothing_personal_stands_in_clear(self) -> None:
        agents, _ = asked()
        question = agents.pending()
        assert MAIL.encode() not in question.content
        for entry in agents.entries():
            assert MAIL not in entry.meta_text
            assert MAIL not in str(agents.body(entry)) if entry.body else True

    def test_asked_again_it_says_what_evidence_is_new(self) -> None:
        agents, one = asked()
        more = act("accounts.unlock", user="<EMAIL_1>", evidence=())
        agents.planner.script.append(replace(more, arguments={"user": "carl"}))
        reject(agents)
        agents.work(one)
        shown = agents.approvals.get(agents.admin, agents.pending().id)
        assert shown.evidence_change is not None
        assert shown.evidence_change.removed == (DOC,)

    def test_a_list_has_them_all_the_newest_first(self) -> None:
        agents, _ = asked()
        opens = Opener(keys=agents.keys, cipher=agents.journal.platform.cipher)
        browse = BrowseInvestigations(transactions=agents.transactions, open=opens)
        [one] = browse.approvals(agents.admin, state=None, before=None, limit=50)
        assert one.id == agents.pending().id
        rejected = ApprovalState.REJECTED
        assert browse.approvals(agents.admin, state=rejected, before=None, limit=50) == ()


class TestDeciding:
    def test_a_yes_lets_the_action_happen_once_with_the_values(self) -> None:
        agents, one = asked()
        assert agents.slots() == 0
        decided = approve(agents)
        assert (decided.state, decided.investigation_state) == (
            ApprovalState.GRANTED,
            State.ACTING,
        )
        assert agents.slots() == 1
        agents.work(one)
        assert [dict(given) for _, _, given in agents.host.effects] == [{"user": MAIL}]
        assert agents.pending().state is ApprovalState.USED
        assert agents.found_(one).verdict is Verdict.AUTO_RESOLVED

    def test_who_when_and_why_stand_in_the_ledger(self) -> None:
        agents, _ = asked()
        decided = approve(agents)
        entry = next(entry for entry in agents.entries() if entry.position == decided.position)
        assert entry.type == "approval.granted"
        assert entry.actor.id == str(agents.admin.principal_id)
        assert agents.body(entry)["reason"] == "I know her."
        question = agents.pending()
        assert question.decided_by == agents.admin.principal_id
        assert question.decided_at == entry.recorded_at
        assert question.decision_position == entry.position

    @pytest.mark.parametrize("decide", [approve, reject, edit])
    def test_the_machine_is_answered_through_the_outbox(
        self, decide: Callable[[Agents], Any]
    ) -> None:
        agents, one = asked()
        question = agents.pending()
        agents.wait(agents.workspace_id, one, token="t-1")
        assert list(agents.woken(Topic.APPROVAL)) == []
        decide(agents)
        [row] = agents.woken(Topic.APPROVAL)
        assert row.reference == question.id
        with agents.transactions.reading(agents.admin) as stores:
            assert stores.approvals.token(question.id) == "t-1"

    def test_a_machine_that_waits_for_what_is_decided_is_answered_at_once(self) -> None:
        agents, one = asked()
        approve(agents)
        sent = len(list(agents.woken(Topic.APPROVAL)))
        now = agents.wait(agents.workspace_id, one, token="t-2")
        assert now.state is State.ACTING
        *_, row = agents.woken(Topic.APPROVAL)
        assert len(list(agents.woken(Topic.APPROVAL))) == sent + 1
        with agents.transactions.reading(agents.admin) as stores:
            assert stores.approvals.token(row.reference) == "t-2"

    def test_a_no_is_told_to_the_planner_and_the_same_is_not_asked_again(self) -> None:
        agents, one = asked()
        agents.planner.loops = True
        decided = reject(agents)
        assert decided.investigation_state is State.PLANNING
        assert agents.work(one).state is State.HALTED
        assert [seen.reason for seen in agents.memory(one).observations] == [
            "rejected",
            *["rejected-before"] * 3,
        ]
        assert agents.host.effects == []
        assert agents.actions()[0].state is ActionState.DENIED

    def test_a_person_s_reason_is_redacted_for_models(self) -> None:
        agents, one = asked()
        agents.approvals.reject(
            agents.admin, agents.pending().id, reason="Ask carl@acme.test first."
        )
        assert agents.memory(one).observations[-1].text == "Ask <EMAIL_2> first."

    @pytest.mark.parametrize("decision", ["approve", "reject", "edit"])
    def test_the_timeline_has_a_person_s_reason_without_what_is_personal(
        self, decision: str
    ) -> None:
        agents, one = asked()
        question = agents.pending()
        given: dict[str, Any] = {"reason": "Ask carl@acme.test first."}
        if decision != "reject":
            given["binding"] = question.binding
        if decision == "edit":
            given["arguments"] = {"user": "bob@acme.test"}
        getattr(agents.approvals, decision)(agents.admin, question.id, **given)
        moves = [entry for entry in agents.entries() if entry.type == "investigation.moved"]
        [line] = agents.body(moves[-1])["lines"]
        hidden = next(
            key for key, value in agents.memory(one).vault.items() if value == "carl@acme.test"
        )
        assert line["detail"].endswith(f"Ask {hidden} first.")

    def test_an_edit_is_checked_again_and_is_the_yes_to_what_it_says(self) -> None:
        agents, one = asked()
        before = agents.pending()
        decided = edit(agents)
        assert decided.investigation_state is State.SAFETY_CHECK
        assert agents.work(one).state is State.DONE
        assert [dict(given) for _, _, given in agents.host.effects] == [{"user": "bob@acme.test"}]
        first, second = agents.questions()
        assert (first.id, first.state) == (before.id, ApprovalState.EDITED)
        assert second.state is ApprovalState.USED
        assert second.binding != first.binding
        assert "bob@acme.test" not in str(agents.memory(one).observations)

    def test_an_edit_is_shown_with_the_values_it_says(self) -> None:
        agents, _ = asked()
        edit(agents)
        shown = agents.approvals.get(agents.admin, agents.questions()[-1].id)
        assert shown.arguments == {"user": "bob@acme.test"}

    def test_an_edit_sends_no_value_for_what_a_ticket_wrote_like_a_placeholder(self) -> None:
        unlock = act("accounts.unlock", user="<LITERAL_1>")
        agents = Agents(persona=PROPOSES, planner=ScriptedPlanner([unlock]))
        agents.host.add("accounts.unlock", Lane.WRITE)
        one = agents.begin(f"I am <EMAIL_1>, ask {MAIL}.")
        agents.work(one)
        shown = agents.approvals.get(agents.admin, agents.pending().id)
        assert shown.arguments == {"user": "<EMAIL_1>"}
        edit(agents, user="Bob, <EMAIL_1>")
        agents.work(one)
        assert [dict(given) for _, _, given in agents.host.effects] == [{"user": "Bob, <EMAIL_1>"}]

    def test_a_yes_counts_though_the_dry_run_gave_away_a_name_in_the_arguments(self) -> None:
        unlock = act("accounts.unlock", user="for Babbage")
        agents = Agents(persona=PROPOSES, planner=ScriptedPlanner([unlock]))
        said = ToolResult(text="Dear Babbage, it would be unlocked.")
        agents.host.add("accounts.unlock", Lane.WRITE, supports_dry_run=True, answer=lambda _: said)
        one = agents.begin()
        agents.work(one)
        approve(agents)
        assert agents.work(one).state is State.DONE
        assert [dict(given) for _, _, given in agents.host.effects] == [{"user": "for Babbage"}]
        assert "Babbage" not in str(agents.memory(one).observations)

    @pytest.mark.parametrize(
        ("arguments", "error", "reason", "said"),
        [
            ({"user": 5}, ValidationFailed, "wrong-arguments", "user"),
            ({"user": "bob", "more": 1}, ValidationFailed, "wrong-arguments", "more"),
            ({"user": "<EMAIL_9>"}, Conflict, "unknown-placeholder", "The rules refuse this"),
        ],
        ids=["a wrong type", "an unknown name", "denied"],
    )
    def test_an_edit_that_could_only_be_denied_is_refused_and_the_question_waits(
        self, arguments: dict[str, Any], error: type[Exception], reason: str, said: str
    ) -> None:
        agents, one = asked()
        before = agents.entries()
        with pytest.raises(error, match=said) as refused:
            edit(agents, **arguments)
        assert getattr(refused.value, "reason", "") == reason
        for wrong in getattr(refused.value, "errors", ()):
            assert wrong.location.startswith("arguments.")
        assert agents.pending().state is ApprovalState.PENDING
        assert agents.entries() == before
        assert agents.memory(one).denials == 0

    def test_a_yes_that_does_not_count_any_more_is_not_made_up_by_rules_that_ask_nobody(
        self,
    ) -> None:
        agents, one = suspicious()
        approve(agents)
        with agents.transactions.writing(agents.admin) as stores:
            stores.approvals.add(replace(agents.pending(), state=ApprovalState.VOID))
        agents.step(one)
        assert agents.host.effects == []
        assert agents.memory(one).observations[-1].reason == "approval-used-up"
        assert agents.actions()[0].state is ActionState.DENIED

    def test_a_decision_takes_a_slot_though_all_are_taken(self) -> None:
        agents, one = asked()
        agents.admit = replace(agents.admit, at_once=1)
        agents.ticket()
        agents.wait = replace(agents.wait, admit=agents.admit)
        agents.wait(agents.workspace_id, one, token="t")
        assert agents.slots() == 1
        approve(agents)
        assert agents.slots() == 2


class TestRefusing:
    @pytest.mark.parametrize("first", [approve, reject, edit])
    @pytest.mark.parametrize("second", [approve, reject, edit])
    def test_twice_is_once_and_says_what_was_decided(
        self, first: Callable[[Agents], Any], second: Callable[[Agents], Any]
    ) -> None:
        agents, _ = asked()
        question = agents.pending()
        done = first(agents)
        entries = len(agents.entries())
        agents.questions = lambda: [question]  # type: ignore[method-assign]
        with pytest.raises(AlreadyDecided) as refused:
            second(agents)
        assert refused.value.fields["decision"] == done.state.value
        assert refused.value.fields["decided_by"] == str(agents.admin.principal_id)
        assert len(agents.entries()) == entries

    @pytest.mark.parametrize("decide", [approve, reject, edit])
    def test_late_is_too_late(self, decide: Callable[[Agents], Any]) -> None:
        agents, one = asked()
        agents.clock.now += timedelta(hours=25)
        with pytest.raises(Conflict, match="approval-expired"):
            decide(agents)
        assert agents.found_(one).state is State.WAITING_APPROVAL

    def test_a_yes_to_something_else_is_none(self) -> None:
        agents, one = asked()
        with pytest.raises(Conflict, match="changed-content"):
            approve(agents, binding="0" * 64)
        assert agents.found_(one).state is State.WAITING_APPROVAL

    def test_a_question_whose_content_was_exchanged_cannot_be_approved(self) -> None:
        agents, _ = asked()
        question = agents.pending()
        shown = dict(agents.approvals._content(agents.workspace_id, question))  # pyright: ignore[reportPrivateUsage]
        shown["action"] = {**shown["action"], "arguments": '{"user":"mallory"}'}
        with agents.transactions.writing(agents.admin) as stores:
            subjects = question.data_subjects
            keys = agents.keys.get(agents.workspace_id, subjects)
            cipher = agents.journal.platform.cipher
            sealed = cipher.seal(question.id, agents.workspace_id, keys, shown)
            stores.approvals.add(replace(question, content=sealed))
        with pytest.raises(Conflict, match="changed-content"):
            approve(agents)

    @pytest.mark.parametrize("decide", [approve, edit])
    def test_other_rules_void_the_question_and_the_planner_goes_on(
        self, decide: Callable[[Agents], Any]
    ) -> None:
        agents, one = asked()
        agents.host.version = "2.0.0"
        with pytest.raises(Conflict, match="policy-changed"):
            decide(agents)
        assert agents.pending().state is ApprovalState.VOID
        assert agents.found_(one).state is State.PLANNING
        assert "approval.voided" in agents.types()
        agents.planner.script.append(agents.planner.script[-1])
        assert agents.work(one).state is State.WAITING_APPROVAL
        approve(agents)
        agents.work(one)
        assert len(agents.host.effects) == 1

    def test_rules_that_change_after_the_yes_stop_the_call(self) -> None:
        agents, one = asked()
        approve(agents)
        agents.host.version = "2.0.0"
        agents.work(one)
        assert agents.host.effects == []
        assert agents.memory(one).observations[-1].outcome == "denied"
        assert agents.actions()[0].state is ActionState.DENIED

    def test_a_yes_expires_before_the_call_too(self) -> None:
        agents, one = asked()
        approve(agents)
        agents.clock.now += timedelta(hours=25)
        agents.work(one)
        assert agents.host.effects == []

    @pytest.mark.parametrize("decide", [approve, reject, edit])
    def test_only_admins_decide(self, decide: Callable[[Agents], Any]) -> None:
        agents, _ = asked()
        for role in (Role.AGENT, Role.PUBLIC):
            agents.admin = replace(agents.admin, role=role)
            with pytest.raises(Denied):
                decide(agents)
        with pytest.raises(Denied):
            agents.approvals.get(agents.admin, new_id())

    @pytest.mark.parametrize("decide", [approve, reject, edit])
    def test_another_workspace_s_question_is_not_found(
        self, decide: Callable[[Agents], Any]
    ) -> None:
        agents, _ = asked()
        question, elsewhere = agents.pending(), new_id()
        agents.transactions.create_workspace(elsewhere)
        agents.questions = lambda: [question]  # type: ignore[method-assign]
        agents.admin = admin_of(elsewhere)
        with pytest.raises(NotFound):
            decide(agents)
        with pytest.raises(NotFound):
            agents.approvals.get(agents.admin, question.id)

    @pytest.mark.parametrize("reason", ["", "   ", "x" * 1_001, "nul\0"])
    def test_a_no_needs_a_reason_that_can_be_read(self, reason: str) -> None:
        agents, _ = asked()
        with pytest.raises(ValidationFailed, match="reason"):
            agents.approvals.reject(agents.admin, agents.pending().id, reason=reason)

    @pytest.mark.parametrize("arguments", [{"user": "x" * 70_000}, {"user": float("inf")}])
    def test_an_edit_needs_arguments_that_can_be_kept(self, arguments: dict[str, Any]) -> None:
        agents, _ = asked()
        with pytest.raises(ValidationFailed, match="arguments"):
            edit(agents, **arguments)

    def test_what_was_forgotten_cannot_be_decided(self) -> None:
        agents, one = asked()
        [subject] = agents.found_(one).data_subjects
        agents.keys.destroy(agents.workspace_id, subject)
        with pytest.raises(NotFound):
            approve(agents)
        assert agents.expire(agents.workspace_id, one).state is State.HALTED
        assert agents.found_(one).error == "subject-forgotten"


class TestExpiring:
    def test_after_a_day_a_person_is_called_and_nothing_happens(self) -> None:
        agents, one = asked()
        agents.clock.now += timedelta(hours=24)
        assert agents.expire(agents.workspace_id, one).state is State.HALTED
        agents.close(agents.workspace_id, one)
        assert agents.pending().state is ApprovalState.EXPIRED
        assert agents.escalate.calls[one][0] is Verdict.NEEDS_TECH
        assert agents.found_(one).error == "approval-expired"
        assert agents.host.effects == []
        assert "approval.expired" in agents.types()

    def test_before_that_it_goes_on_waiting(self) -> None:
        agents, one = asked()
        agents.clock.now += timedelta(hours=23)
        assert agents.expire(agents.workspace_id, one).state is State.WAITING_APPROVAL
        assert agents.pending().state is ApprovalState.PENDING

    def test_what_was_decided_does_not_expire(self) -> None:
        agents, one = asked()
        approve(agents)
        agents.clock.now += timedelta(hours=25)
        assert agents.expire(agents.workspace_id, one).state is State.ACTING

    def test_the_sweep_ends_those_whose_machine_is_gone(self) -> None:
        agents, one = asked()
        assert agents.expire.due(agents.workspace_id) == ()
        agents.clock.now += timedelta(hours=24)
        [now] = agents.expire.due(agents.workspace_id)
        assert (now.investigation_id, now.state) == (one, State.HALTED)
        assert agents.expire.due(agents.workspace_id) == ()


def test_a_revived_execution_waits_on_and_asks_nobody_twice() -> None:
    agents, one = asked()
    agents.resume.one(agents.admin, one)
    assert agents.work(one).state is State.WAITING_APPROVAL
    assert len(agents.questions()) == 1
    approve(agents)
    agents.work(one)
    assert len(agents.host.effects) == 1


def test_an_approved_action_is_not_lost_with_its_execution() -> None:
    agents, one = asked()
    approve(agents)
    agents.resume.one(agents.admin, one)
    agents.planner.script.clear()
    assert agents.work(one).state is State.DONE
    assert len(agents.host.effects) == 1
    assert len(agents.questions()) == 1
