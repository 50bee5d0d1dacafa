"""The line, its order, its two halves, and what stops an action at each step."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from tests.support.safety import NOON, WORKSPACE, Answer, Stand, action, attempt, policy, tool

from cairn.kernel.errors import Conflict, RateLimited, Unavailable
from cairn.kernel.ids import new_id
from cairn.safety import pipeline
from cairn.safety.action import Outcome, PersonApproval, binding
from cairn.safety.grants import Grant, declaration
from cairn.safety.pipeline import Attempt, Ready, decided
from cairn.safety.profiles import kinds_of
from cairn.safety.redaction import EMPTY, redact
from cairn.safety.tools import Autonomy, Lane
from cairn.tickets.personas import Persona

ALLOWED, DENIED, ASKS = Outcome.ALLOWED, Outcome.DENIED, Outcome.NEEDS_APPROVAL
DANGEROUS = tool(dangerous=True)


def said(checked: Attempt) -> tuple[Outcome, str]:
    decision = decided(checked)
    return decision.outcome, decision.reason


def approval_of(checked: Attempt, **changes: Any) -> PersonApproval:
    version, expires_at = decided(checked).policy_version, NOON + timedelta(hours=24)
    bound = binding(checked.action, policy_version=version, expires_at=expires_at)
    given = PersonApproval(
        approval_id=new_id(),
        binding=bound,
        policy_version=version,
        expires_at=expires_at,
        by=new_id(),
    )
    return replace(given, **changes)


def grant_for(spec: Any, **changes: Any) -> Grant:
    given = Grant(
        id=new_id(),
        tool=spec.key,
        declaration=declaration(spec),
        arguments={"user_id": "u_17"},
        expires_at=NOON + timedelta(days=1),
        max_uses=3,
        reason="r",
        made_by=new_id(),
        made_at=NOON,
    )
    return replace(given, **changes)


class Granted:
    """Grants in force, whatever the workspace."""

    def __init__(self, *grants: Grant) -> None:
        self.grants = grants

    def __call__(self, workspace_id: object, key: str) -> tuple[Grant, ...]:
        return tuple(grant for grant in self.grants if grant.tool == key)


def test_the_order_is_scope_redact_dry_run_approval_call_audit(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order: list[str] = []
    for name in ("_scope", "_redact", "_approval", "_calling", "_auditing"):
        made = getattr(pipeline, name)

        def making(*given: Any, made: Any = made, name: str = name) -> Any:
            step = made(*given)

            def traced(one: Attempt) -> Attempt:
                order.append(name)
                return step(one)

            return traced

        monkeypatch.setattr(pipeline, name, making)
    dry_run = pipeline._dry_run

    def traced_dry_run(one: Attempt) -> Attempt:
        order.append("_dry_run")
        return dry_run(one)

    monkeypatch.setattr(pipeline, "_dry_run", traced_dry_run)
    stand = Stand(policy())
    assert said(stand.perform(attempt())) == (ALLOWED, "allowed")
    assert order == ["_scope", "_redact", "_dry_run", "_approval", "_calling", "_auditing"]
    assert stand.trace == ["begin", "call", "audit"]


def test_the_first_half_calls_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    stand = Stand(policy())
    assert said(stand.check(attempt())) == (ALLOWED, "allowed")
    assert stand.trace == ["audit"]


def test_a_denied_action_is_audited_and_never_begun() -> None:
    stand = Stand(policy(scopes=""))
    assert said(stand.perform(attempt())) == (DENIED, "not-in-scope")
    assert stand.trace == ["audit"]
    assert said(stand.audited[0]) == (DENIED, "not-in-scope")


def test_tools_and_connectors_nobody_knows_are_denied() -> None:
    stand = Stand(policy())
    assert said(stand.check(attempt("other"))) == (DENIED, "unknown-tool")
    elsewhere = replace(attempt(), action=replace(action(), connector="stripe"))
    assert said(stand.check(elsewhere)) == (DENIED, "unknown-tool")
    unseen = replace(stand.policy.connectors["desk"], manifest=None)
    stand.policy = replace(stand.policy, connectors={"desk": unseen})
    assert said(stand.check(attempt())) == (DENIED, "unknown-tool")


def test_the_lower_of_two_autonomies_holds_and_an_unsafe_manifest_reads_only() -> None:
    stand = Stand(policy(tool(), tool("look", lane=Lane.READ)))
    assert said(stand.check(attempt(persona=Autonomy.PROPOSE)))[1] == "writes-need-approval"
    stand.policy = policy(tool(), autonomy=Autonomy.PROPOSE)
    assert said(stand.check(attempt(persona=Autonomy.ACT)))[1] == "writes-need-approval"
    stand.policy = policy(tool(), tool("look", lane=Lane.READ), safe=False)
    assert said(stand.check(attempt()))[1] == "only-reads"
    assert said(stand.check(attempt("look"))) == (ALLOWED, "allowed")


def test_the_call_gets_the_values_and_everything_else_placeholders() -> None:
    vault = redact("ada@example.org", EMPTY, kinds_of("pii")).vault
    stand = Stand(policy(), answer=Answer("reset for ada@example.org and bob@example.org"))
    done = stand.perform(replace(attempt(user="<EMAIL_1>", cc="eve@example.org"), vault=vault))
    (ready,) = stand.calls
    assert ready.action.arguments == {"user": "ada@example.org", "cc": "eve@example.org"}
    assert done.action.arguments == {"user": "<EMAIL_1>", "cc": "<EMAIL_2>"}
    assert done.text == "reset for <EMAIL_1> and <EMAIL_3>"
    assert stand.audited == [done]
    assert (ready.dry_run, ready.manifest_hash) == (False, "a" * 64)


def test_scopes_are_asked_about_the_value_behind_a_placeholder() -> None:
    vault = redact("root@example.org", EMPTY, kinds_of("pii")).vault
    spec = tool(resource="users/{user}")
    scopes = "write: {allow: ['users/*'], deny: ['users/root@*']}"
    stand = Stand(policy(spec, scopes=scopes))
    asked = replace(attempt(user="<EMAIL_1>"), vault=vault)
    assert said(stand.check(asked)) == (DENIED, "scope-denied")
    assert "root" not in str(decided(stand.check(asked)).detail).replace("root@*", "")


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"a": float("nan")}, "bad-arguments"),
        ({"a": "x\x00"}, "bad-arguments"),
        ({"a": "\ud800"}, "bad-arguments"),
        ({"a": object()}, "bad-arguments"),
        ({"a": {1: 2}}, "bad-arguments"),
        ({"password": "hunter2pass"}, "secret-in-arguments"),
        ({"note": "the token: ghp_0123456789abcdef0123456789abcdef0123"}, "secret-in-arguments"),
        ({"user": "<EMAIL_1>"}, "unknown-placeholder"),
        ({"users": [{"id": "x <NAME_3> y"}]}, "unknown-placeholder"),
    ],
)
def test_arguments_that_must_not_reach_a_tool_are_denied(
    arguments: dict[str, Any], reason: str
) -> None:
    stand = Stand(policy())
    assert said(stand.perform(attempt(**arguments))) == (DENIED, reason)
    assert stand.calls == []


def test_arguments_nested_without_end_are_denied() -> None:
    deep: Any = "x"
    for _ in range(5_000):
        deep = [deep]
    assert said(Stand(policy()).check(attempt(a=deep))) == (DENIED, "bad-arguments")


def test_a_write_that_waits_is_rehearsed_and_an_approved_one_runs_for_real() -> None:
    stand = Stand(policy(autonomy=Autonomy.PROPOSE), answer=Answer("would reset ada@example.org"))
    checked = stand.check(attempt(user_id="u_17"))
    assert said(checked) == (ASKS, "writes-need-approval")
    assert decided(checked).dry_run
    shown = stand.pipeline.rehearse(checked, stand.call)
    assert shown.text == "would reset <EMAIL_1>"
    assert [call.dry_run for call in stand.calls] == [True]
    done = stand.perform(replace(checked, approval=approval_of(checked)))
    assert said(done) == (ALLOWED, "approved")
    assert [call.dry_run for call in stand.calls] == [True, False]


def test_what_need_not_wait_is_not_rehearsed() -> None:
    stand = Stand(policy(tool("look", lane=Lane.READ, dangerous=True), tool()))
    for name in ("look", "reset", "other"):
        checked = stand.check(attempt(name))
        assert stand.pipeline.rehearse(checked, stand.call) == checked
    assert stand.calls == []


def test_a_rehearsal_that_fails_harms_nothing() -> None:
    stand = Stand(policy(DANGEROUS), answer=Unavailable("Down."))
    shown = stand.pipeline.rehearse(stand.check(attempt()), stand.call)
    assert isinstance(shown.error, Unavailable)
    assert said(shown) == (ASKS, "dangerous")


def test_without_a_yes_nothing_that_waits_is_called() -> None:
    stand = Stand(policy(DANGEROUS))
    assert said(stand.perform(attempt())) == (DENIED, "policy-changed")
    assert stand.trace == ["audit"]


def test_a_yes_is_for_exactly_one_action_under_the_same_rules_in_time() -> None:
    stand = Stand(policy(DANGEROUS))
    checked = stand.check(attempt(user_id="u_17"))
    given = approval_of(checked)
    changed = [
        replace(checked.action, arguments={"user_id": "u_18"}),
        replace(checked.action, arguments={"user_id": "u_17", "notify": True}),
        replace(checked.action, evidence=("[doc:other]",)),
    ]
    for item in changed:
        done = stand.perform(replace(checked, action=item, approval=given))
        assert said(done) == (DENIED, "approval-differs")
    longer = replace(given, expires_at=given.expires_at + timedelta(days=1))
    assert said(stand.perform(replace(checked, approval=longer)))[1] == "approval-differs"
    stand.now = given.expires_at
    assert said(stand.perform(replace(checked, approval=given)))[1] == "approval-expired"
    stand.now = NOON
    assert said(stand.perform(replace(checked, approval=given))) == (ALLOWED, "approved")
    assert len(stand.calls) == 1


@pytest.mark.parametrize(
    "other",
    [
        policy(DANGEROUS, manifest_hash="b" * 64),
        policy(DANGEROUS, scopes="write: {allow: [reset]}"),
        policy(DANGEROUS, autonomy=Autonomy.PROPOSE),
        policy(DANGEROUS, redaction="hipaa"),
    ],
)
def test_a_yes_under_other_rules_is_void(other: Any) -> None:
    stand = Stand(policy(DANGEROUS))
    checked = stand.check(attempt(user_id="u_17"))
    stand.policy = other
    done = stand.perform(replace(checked, approval=approval_of(checked)))
    assert said(done) == (DENIED, "policy-changed")
    assert stand.calls == []


def test_a_yes_does_not_help_against_a_denial() -> None:
    stand = Stand(policy(DANGEROUS))
    checked = stand.check(attempt(user_id="u_17"))
    stand.policy = policy(DANGEROUS, scopes="")
    done = stand.perform(replace(checked, approval=approval_of(checked)))
    assert said(done) == (DENIED, "not-in-scope")


def test_a_yes_to_something_else_does_not_pass_where_nobody_need_be_asked() -> None:
    stand = Stand(policy())
    checked = stand.check(attempt(user_id="u_17"))
    other = approval_of(stand.check(attempt(user_id="u_18")))
    assert said(stand.perform(replace(checked, approval=other)))[1] == "approval-differs"


def test_an_action_allowed_before_is_denied_when_the_rules_changed_meanwhile() -> None:
    stand = Stand(policy())
    checked = stand.check(attempt())
    for other, reason in (
        (policy(autonomy=Autonomy.OFF), "autonomy-off"),
        (policy(scopes="write: {allow: ['**'], deny: [reset]}"), "scope-denied"),
        (policy(autonomy=Autonomy.PROPOSE), "policy-changed"),
    ):
        stand.policy = other
        assert said(stand.perform(checked)) == (DENIED, reason)
    assert stand.calls == []


def test_a_grant_takes_a_persons_place_and_names_itself() -> None:
    grant = grant_for(DANGEROUS)
    stand = Stand(policy(DANGEROUS), grants=Granted(grant))
    checked = stand.check(attempt(user_id="u_17"))
    assert said(checked) == (ALLOWED, "granted")
    assert decided(checked).grant_id == grant.id
    assert not decided(checked).dry_run
    assert said(stand.perform(checked)) == (ALLOWED, "granted")
    assert said(stand.check(attempt(user_id="u_18"))) == (ASKS, "dangerous")


def test_a_grant_does_not_help_against_a_denial() -> None:
    spec = tool(forbidden_in_autonomy=frozenset({Autonomy.PROPOSE}))
    stand = Stand(policy(spec, autonomy=Autonomy.PROPOSE), grants=Granted(grant_for(spec)))
    assert said(stand.check(attempt(user_id="u_17"))) == (DENIED, "forbidden-in-autonomy")


def test_what_begin_raises_stops_the_call_and_what_the_call_raises_is_kept() -> None:
    stand = Stand(policy(), answer=RateLimited("Slower.", retry_after=1))
    done = stand.perform(attempt())
    assert isinstance(done.error, RateLimited)
    assert (done.result, done.text, said(done)) == (None, "", (ALLOWED, "allowed"))
    assert stand.trace == ["begin", "call", "audit"]

    def begin(_: Attempt) -> None:
        raise Conflict("It was begun before.")

    stand.trace.clear()
    with pytest.raises(Conflict):
        stand.pipeline.perform(attempt(), begin=begin, call=stand.call, audit=stand.audit)
    assert stand.trace == []


def test_a_programming_error_in_the_call_is_not_swallowed() -> None:
    def call(_: Ready) -> Answer:
        raise ZeroDivisionError

    stand = Stand(policy())
    with pytest.raises(ZeroDivisionError):
        stand.pipeline.perform(attempt(), begin=stand.begin, call=call, audit=stand.audit)


def test_the_rules_can_be_asked_about_an_action_alone() -> None:
    stand = Stand(policy(autonomy=Autonomy.PROPOSE))
    decision = stand.pipeline(WORKSPACE, action(user="ada@example.org"), persona=Persona(name="p"))
    assert decision.outcome is ASKS
    off = Persona(name="p", autonomy=Autonomy.OFF)
    assert stand.pipeline(WORKSPACE, action(), persona=off).reason == "autonomy-off"


def test_the_persona_adds_to_the_workspaces_redaction_and_takes_nothing_away() -> None:
    stand = Stand(policy(redaction="pii"))
    strict = stand.check(replace(attempt(note="MRN 0012345, ada@example.org"), profile="hipaa"))
    assert strict.action.arguments == {"note": "MRN <MRN_1>, <EMAIL_1>"}
    loose = stand.check(replace(attempt(note="MRN 0012345, ada@example.org"), profile="none"))
    assert loose.action.arguments == {"note": "MRN 0012345, <EMAIL_1>"}
