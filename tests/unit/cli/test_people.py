"""`cairn escalations`, `candidates`, `proposals`, and what people say of investigations."""

import json
from pathlib import Path

import pytest
from tests.unit.api.fakes import World
from tests.unit.api.people_fakes import PeopleWorld
from tests.unit.cli.fakes import Shell

from cairn.investigations.ports import CandidateState, EscalationState
from cairn.kernel.ids import new_id

URL = "https://hooks.slack.com/services/T/B/secret"


@pytest.fixture
def world() -> PeopleWorld:
    return PeopleWorld()


@pytest.fixture
def shell(world: PeopleWorld) -> Shell:
    return Shell(world=World(peopling=world))


def test_calls_are_listed_with_why_they_failed(shell: Shell, world: PeopleWorld) -> None:
    assert json.loads(shell.run("escalations", "list", "--json").stdout)[0]["error"] == "timeout"
    shown = shell.run("escalations", "list", "--state", "failed").stdout
    assert str(world.call.id) in shown
    assert "failed (timeout)" in shown


def test_a_hand_off_says_why_and_what_to_mend(shell: Shell, world: PeopleWorld) -> None:
    shown = shell.run("escalations", "show", str(world.call.id)).stdout
    for part in ("needs_tech", "Nobody may do this.", "connector crm", "[tool:1]"):
        assert part in shown, part
    told = json.loads(shell.run("escalations", "show", str(world.call.id), "--json").stdout)
    assert told["memory"] == {"verdict_reason": "<EMAIL_1> is locked out."}


def test_a_failed_call_is_tried_again_once(shell: Shell, world: PeopleWorld) -> None:
    assert "queued" in shell.run("escalations", "retry", str(world.call.id)).stdout
    assert world.call.state is EscalationState.QUEUED
    assert shell.run("escalations", "retry", str(world.call.id)).exit_code == 1


def test_a_channel_comes_from_a_file_and_is_not_shown(
    shell: Shell, world: PeopleWorld, tmp_path: Path
) -> None:
    kept = tmp_path / "url"
    kept.write_text(URL + "\n")
    done = shell.run("escalations", "add-channel", "ops", "--url", f"@{kept}")
    assert done.exit_code == 0, done.stderr
    assert world.urls == [URL]
    assert "ops" in shell.run("escalations", "channels").stdout
    assert URL not in shell.run("escalations", "channels", "--json").stdout
    assert shell.run("escalations", "remove-channel", "ops").exit_code == 0
    assert shell.run("escalations", "remove-channel", "ops").exit_code == 1


def test_candidates_are_shown_edited_and_accepted(shell: Shell, world: PeopleWorld) -> None:
    one = str(world.candidate.id)
    assert one in shell.run("candidates", "list").stdout
    assert "# Locked out" in shell.run("candidates", "show", one).stdout
    assert shell.run("candidates", "edit", one, "--text", "# Better").exit_code == 0
    assert world.candidate.text == "# Better"
    assert "document" in shell.run("candidates", "accept", one, "--scope", "shared").stdout
    assert shell.run("candidates", "reject", one, "-r", "No.").exit_code == 1


def test_a_rejection_says_why(shell: Shell, world: PeopleWorld) -> None:
    assert shell.run("candidates", "reject", str(world.candidate.id), "-r", "Odd.").exit_code == 0
    assert world.candidate.state is CandidateState.REJECTED
    assert world.candidate.rejected_because == "Odd."


def test_an_edit_that_says_nothing_is_refused(shell: Shell, world: PeopleWorld) -> None:
    done = shell.run("candidates", "edit", str(world.candidate.id))
    assert done.exit_code == 1
    assert "title, text or both" in done.stderr


def test_people_judge_and_remember(shell: Shell, world: PeopleWorld) -> None:
    one = str(new_id())
    assert "4 of 5" in shell.run("investigations", "rate", one, "4", "-c", "Good.").stdout
    assert shell.run("investigations", "dispute", one, "-r", "Wrong.").exit_code == 0
    done = shell.run("investigations", "remember", one, "3", "--as", "resolution")
    assert "remembered resolution" in done.stdout
    assert world.said[-1] == (3, "resolution", None)
    assert shell.run("investigations", "rate", one, "6").exit_code == 2


def test_proposals_are_decided(shell: Shell, world: PeopleWorld) -> None:
    node = str(world.node_id)
    assert node in shell.run("proposals", "list").stdout
    assert "active" in shell.run("proposals", "accept", node).stdout
    assert "archived" in shell.run("proposals", "reject", node).stdout


def test_proposals_beyond_a_page_are_listed_when_asked_for(
    shell: Shell, world: PeopleWorld
) -> None:
    world.node_ids = [new_id() for _ in range(230)]
    assert len(json.loads(shell.run("proposals", "list", "--json").stdout)) == 50
    every = shell.run("proposals", "list", "--limit", "1000", "--json").stdout
    newest = [str(id_) for id_ in reversed(world.node_ids)]
    assert [load["id"] for load in json.loads(every)] == newest
