"""`cairn tickets`, `ticket-sources` and `personas` over the real API and use cases."""

import json
from pathlib import Path

import pytest
from tests.support.helpdesk import incoming
from tests.unit.api.fakes import World
from tests.unit.api.ticket_fakes import TicketWorld
from tests.unit.cli.fakes import Shell


@pytest.fixture
def world() -> TicketWorld:
    return TicketWorld()


@pytest.fixture
def shell(world: TicketWorld) -> Shell:
    return Shell(world=World(ticketing=world))


def added(shell: Shell, *more: str) -> str:
    asked = ("tickets", "add", "Cannot sign in", "--customer", "Hartwell Law", *more, "--json")
    return json.loads(shell.run(*asked).stdout)["id"]


def test_a_ticket_is_added_listed_and_shown(shell: Shell, tmp_path: Path) -> None:
    body = tmp_path / "body.txt"
    body.write_text("Since Monday [sic].", encoding="utf-8")
    ticket = added(shell, "--body", f"@{body}", "--priority", "high")
    listed = shell.run("tickets", "list").stdout
    assert "Cannot sign in" in listed and "new" in listed and "Hartwell Law" in listed
    shown = shell.run("tickets", "show", ticket).stdout
    assert "Since Monday [sic]." in shown and "high" in shown and "screened: not yet" in shown


def test_the_same_external_id_is_known(shell: Shell) -> None:
    added(shell, "--external-id", "T-1")
    again = shell.run("tickets", "add", "Again", "--external-id", "T-1").stdout
    assert again.startswith("known")


def test_the_queue_and_requeueing(shell: Shell, world: TicketWorld) -> None:
    ticket = added(shell)
    world.helpdesk.sweep()
    said = shell.run("tickets", "queue").stdout
    assert "1 wait" in said and "nobody knows yet" in said
    assert shell.run("tickets", "requeue", ticket).stdout.startswith("queued")
    assert "CLEAN" in shell.run("tickets", "show", ticket).stdout


def test_a_requesters_message_is_added_and_shown(shell: Shell) -> None:
    ticket = added(shell)
    first = shell.run("tickets", "message", ticket, "It is [me].", "--external-id", "m-1").stdout
    assert first.startswith("added")
    again = shell.run("tickets", "message", ticket, "Again", "--external-id", "m-1").stdout
    assert again.startswith("known")
    shown = shell.run("tickets", "show", ticket).stdout
    assert "message" in shown and "It is [me]." in shown and "Again" not in shown


def test_a_ticket_that_is_none_is_said_so(shell: Shell) -> None:
    gone = "019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e"
    refused = shell.run("tickets", "show", gone)
    assert refused.exit_code == 1
    assert "no such ticket" in refused.stderr


def test_a_help_desk_is_added_polled_paused_and_removed(
    shell: Shell, world: TicketWorld, tmp_path: Path
) -> None:
    token = tmp_path / "token"
    token.write_text("s3cret\n", encoding="utf-8")
    asked = ("ticket-sources", "add", "desk", "--kind", "zoho-desk", "--secret", f"token=@{token}")
    made = shell.run(*asked, "--config", '{"organisation_id": "1"}', "--every", "600").stdout
    assert "active" in made and "/events" in made
    world.helpdesk.remote.pages = [[incoming()]]
    assert "1 new" in shell.run("ticket-sources", "poll", "desk").stdout
    assert "paused" in shell.run("ticket-sources", "set", "desk", "--pause").stdout
    listed = shell.run("ticket-sources", "list").stdout
    assert "600 s" in listed
    assert "s3cret" not in made + listed
    shell.run("ticket-sources", "remove", "desk")
    missing = shell.run("ticket-sources", "poll", "desk")
    assert "There is no ticket source desk" in missing.stderr


def test_a_secret_on_the_command_line_is_refused(shell: Shell) -> None:
    refused = shell.run("ticket-sources", "add", "d", "--kind", "zoho-desk", "--secret", "token=x")
    assert "process listing" in refused.stderr


def test_nothing_to_change_is_said_so(shell: Shell) -> None:
    assert "nothing to change" in shell.run("ticket-sources", "set", "desk").stderr


def test_a_persona_is_made_changed_and_removed(shell: Shell) -> None:
    made = shell.run("personas", "set", "night", "--autonomy", "investigate", "--usd", "0.25")
    assert "version 1" in made.stdout
    changed = shell.run("personas", "set", "night", "--instructions", "Wake nobody.")
    assert "version 2" in changed.stdout
    shown = shell.run("personas", "show", "night").stdout
    assert "Wake nobody." in shown and "max_usd: 0.25" in shown and "investigate" in shown
    assert "0.25" in shell.run("personas", "list").stdout
    shell.run("personas", "remove", "night")
    assert "removed" in shell.run("personas", "history", "night").stdout
    assert "night" not in shell.run("personas", "list").stdout
