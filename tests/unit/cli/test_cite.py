"""`cairn cite`: every form of a citation leads somewhere, and what leads nowhere is said."""

import json
from uuid import UUID

import pytest
from tests.unit.api.fakes import World
from tests.unit.api.ticket_fakes import TicketWorld
from tests.unit.cli.fakes import Shell

GONE = "019a8f0e-3b5c-7c11-9d2e-6f4a1b2c3d4e"


def test_a_ticket_is_shown() -> None:
    shell = Shell(world=World(ticketing=TicketWorld()))
    asked = ("tickets", "add", "Cannot sign in", "--body", "Since Monday.", "--json")
    ticket = json.loads(shell.run(*asked).stdout)["id"]
    shown = shell.run("cite", f"[ticket:{ticket}]").stdout
    assert "Cannot sign in" in shown
    assert "Since Monday." in shown


def test_a_document_is_found_by_its_source_and_says_where() -> None:
    shell = Shell()
    known = shell.run("cite", "[doc:kb://nothing.md]")
    assert known.exit_code == 1
    assert "no document kb://nothing.md" in known.stderr
    shown = shell.run("cite", "[doc:file:///a.md#L3-L9]").stdout
    assert "A  file:///a.md" in shown
    assert "lines 3 to 9" in shown


@pytest.mark.parametrize("token", ["", "tool:1", "[kb:x]", "[tool:1]", "[doc:]"])
def test_what_is_no_citation_is_refused_with_what_one_looks_like(token: str) -> None:
    refused = Shell().run("cite", token)
    assert refused.exit_code == 1
    assert "is no citation" in refused.stderr


@pytest.mark.parametrize("kind", ["tool", "ticket"])
def test_what_is_gone_is_said(kind: str) -> None:
    refused = Shell(world=World(ticketing=TicketWorld())).run("cite", f"[{kind}:{UUID(GONE)}]")
    assert refused.exit_code == 1
    assert "no" in refused.stderr
