"""`cairn approvals`, `cairn grants` and the redaction profile: what people decide beforehand."""

import json

import pytest
from tests.unit.api.approval_fakes import ApprovalWorld
from tests.unit.api.fakes import AGENT_KEY, World
from tests.unit.cli.fakes import Shell

from cairn.investigations.ports import ApprovalState
from cairn.investigations.views import EvidenceChange


def asked(**changes: object) -> tuple[Shell, ApprovalWorld, str]:
    world = ApprovalWorld()
    one = world.add(**changes)
    return Shell(world=World(approving=world)), world, str(one.id)


def test_waiting_questions_are_listed_unless_told_others() -> None:
    shell, world, one = asked()
    other = str(world.add(state=ApprovalState.REJECTED).id)
    assert [each["id"] for each in json.loads(shell.run("approvals", "list", "--json").stdout)] == [
        one
    ]
    every = shell.run("approvals", "list", "--state", "all").stdout
    assert one in every
    assert other in every


def test_a_question_shows_what_a_person_decides_on() -> None:
    change = EvidenceChange(added=("[tool:1]",), removed=("[doc:old]",))
    shell, _, one = asked(evidence_change=change)
    shown = shell.run("approvals", "show", one).stdout
    for part in (
        "accounts.unlock",
        "dangerous",
        "ada@example.com",
        "locked_at 11:58",
        "[tool:1] new",
        "[doc:old] is no longer among it",
        "nothing undoes this",
        "would unlock 1 account",
        "2026-05-02 12:00:00",
    ):
        assert part in shown, part


def test_a_yes_is_asked_for_after_everything_was_shown() -> None:
    shell, world, one = asked()
    done = shell.run("approvals", "approve", one, stdin="y\nLooked at it.\n")
    assert done.exit_code == 0, done.stderr
    assert done.stdout.index("ada@example.com") < done.stdout.index("Approve this?")
    assert "goes on: ACTING" in done.stdout
    assert world.reasons == ["Looked at it."]


def test_a_no_to_the_question_decides_nothing() -> None:
    shell, world, one = asked()
    assert shell.run("approvals", "approve", one, stdin="n\n").exit_code == 1
    assert world.reasons == []


def test_a_yes_without_questions_is_for_scripts() -> None:
    shell, world, one = asked()
    done = shell.run("approvals", "approve", one, "--yes", "--reason", "", "--json")
    assert json.loads(done.stdout)["state"] == "granted"
    assert world.reasons == [""]


def test_json_says_no_yes_that_nobody_is_sure_of() -> None:
    shell, world, one = asked()
    done = shell.run("approvals", "approve", one, "--json")
    assert (done.exit_code, "--yes" in done.stderr) == (2, True)
    assert world.reasons == []


def test_a_sure_yes_is_asked_for_no_reason() -> None:
    shell, world, one = asked()
    done = shell.run("approvals", "approve", one, "--yes")
    assert done.exit_code == 0, done.stderr
    assert world.reasons == [""]


@pytest.mark.parametrize("answer", [("reject",), ("edit", "--set", "user=bob")])
def test_a_reason_is_asked_for_beside_the_json(answer: tuple[str, ...]) -> None:
    shell, world, one = asked()
    word, *options = answer
    done = shell.run("approvals", word, one, *options, "--json", stdin="Not theirs.\n")
    assert ("Why" in done.stderr, "Why" in done.stdout) == (True, False)
    assert json.loads(done.stdout[done.stdout.index("{") :])["id"] == one
    assert world.reasons == ["Not theirs."]


def test_a_yes_is_told_also_when_the_grant_made_with_it_is_refused() -> None:
    shell, _, one = asked()
    done = shell.run("approvals", "approve", one, "-y", "-r", "\t", "--uses", "3")
    assert done.exit_code == 1
    assert "approved" in done.stdout


def test_do_not_ask_again_is_a_grant_made_of_the_question() -> None:
    shell, world, one = asked()
    done = shell.run("approvals", "approve", one, "-y", "-r", "Harmless.", "--uses", "3")
    assert "3 more times until" in done.stdout
    [(new, as_asked)] = world.made
    assert (new.tool, new.max_uses, str(new.approval_id)) == ("accounts.unlock", 3, one)
    assert as_asked


def test_a_no_needs_a_reason() -> None:
    shell, world, one = asked()
    done = shell.run("approvals", "reject", one, stdin="\nNot theirs.\n")
    assert done.exit_code == 0, done.stderr
    assert world.reasons == ["Not theirs."]
    assert "goes on: PLANNING" in done.stdout


def test_an_edit_changes_what_was_shown() -> None:
    shell, world, one = asked()
    changes = ("--set", "user=bob", "--set", "notify=true", "--set", "days=3")
    done = shell.run("approvals", "edit", one, *changes, "-r", "The other one.")
    assert done.exit_code == 0, done.stderr
    assert world.arguments == [{"user": "bob", "notify": True, "days": 3}]


def test_an_edit_may_say_all_arguments() -> None:
    shell, world, one = asked()
    shell.run("approvals", "edit", one, "--arguments", '{"account": 7}', "-r", "Another.")
    assert world.arguments == [{"account": 7}]


@pytest.mark.parametrize(
    "given",
    [(), ("--arguments", "{"), ("--arguments", "[1]"), ("--set", "user"), ("--set", "=bob")],
)
def test_an_edit_that_says_nothing_is_a_usage_error(given: tuple[str, ...]) -> None:
    shell, world, one = asked()
    assert shell.run("approvals", "edit", one, *given, "-r", "Why.").exit_code == 2
    assert world.reasons == []


def test_what_was_decided_before_is_said_in_one_line() -> None:
    shell, _, one = asked(state=ApprovalState.GRANTED)
    refused = shell.run("approvals", "reject", one, "-r", "Late.")
    assert (refused.exit_code, "decided before" in refused.stderr) == (1, True)


def test_nobody_is_asked_about_what_was_decided_before() -> None:
    shell, _, one = asked(state=ApprovalState.REJECTED)
    done = shell.run("approvals", "approve", one, "--reason", "late")
    assert "Approve this?" not in done.stdout
    assert done.exit_code == 1
    assert "decided" in done.stderr


def test_a_key_of_an_agent_decides_nothing() -> None:
    shell, world, one = asked()
    shell.settings["api_key"] = AGENT_KEY
    refused = shell.run("approvals", "reject", one, "-r", "I say so.")
    assert (refused.exit_code, "role admin" in refused.stderr) == (1, True)
    assert world.reasons == []


def test_grants_are_made_listed_and_revoked() -> None:
    shell = Shell()
    pattern = '{"user": "*@example.com"}'
    made = shell.run("grants", "make", "accounts.unlock", "-r", "Harmless.", "--arguments", pattern)
    assert (made.exit_code, "10 times until" in made.stdout) == (0, True)
    [one] = json.loads(shell.run("grants", "list", "--json").stdout)
    assert one["arguments"] == {"user": "*@example.com"}
    assert "0 of 10" in shell.run("grants", "list").stdout
    assert "revoked" in shell.run("grants", "revoke", one["id"]).stdout
    assert "(revoked)" in shell.run("grants", "list").stdout


@pytest.mark.parametrize("given", ["{", "[]", "7"])
def test_a_pattern_that_is_no_object_is_a_usage_error(given: str) -> None:
    refused = Shell().run("grants", "make", "a.b", "-r", "Why.", "--arguments", given)
    assert refused.exit_code == 2


def test_the_redaction_profile_is_shown_and_chosen() -> None:
    shell = Shell()
    assert shell.run("workspace", "redaction").stdout == "pii\n"
    assert shell.run("workspace", "redaction", "hipaa").stdout == "hipaa\n"
    assert json.loads(shell.run("workspace", "redaction", "--json").stdout) == {"profile": "hipaa"}
    refused = shell.run("workspace", "redaction", "hippa")
    assert (refused.exit_code, "none, soc2, pii, hipaa" in refused.stderr) == (1, True)
