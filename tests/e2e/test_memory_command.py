"""`cairn memory` on the real stack, and each command of the guides that nothing else walks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from tests.e2e.cli import cairn, environment
from tests.e2e.tenant import Tenant, open_workspace
from typer.testing import CliRunner, Result

from cairn.cli.deps import Deps
from cairn.cli.main import app

if TYPE_CHECKING:
    from pathlib import Path

    from tests.plugins.laptop import Laptop

WHY = ("--reason", "The person said so.")


@pytest.fixture(scope="module")
def tenant(laptop: Laptop) -> Tenant:
    return open_workspace(laptop, "memory command")


def run(tenant: Tenant, *arguments: str, answer: str | None = None) -> Result:
    """Run a command in this process, which spares the start of one."""
    with httpx.HTTPTransport() as transport:
        deps = Deps(transport=transport)
        return CliRunner().invoke(
            app, list(arguments), input=answer, env=environment(tenant), obj=deps
        )


def said(tenant: Tenant, *arguments: str) -> str:
    done = run(tenant, *arguments)
    assert done.exit_code == 0, f"{arguments}: {done.stderr}"
    return done.stdout


def told(tenant: Tenant, *arguments: str) -> Any:
    return json.loads(said(tenant, *arguments, "--json"))


def remembered(tenant: Tenant, text: str, *more: str) -> str:
    id_: str = told(tenant, "remember", text, *more)["id"]
    return id_


def test_one_memory_is_listed_shown_corrected_pinned_and_kept_from_recall(tenant: Tenant) -> None:
    old = remembered(tenant, "The ferry leaves at noon.", "--key", "ferry", "--client", "ada")
    assert (
        cairn(tenant, "memory", "list", "--client", "ada", "--json").json()["items"][0]["id"] == old
    )
    assert "The ferry leaves at noon." in said(tenant, "memory", "list", "--key", "ferry")

    edited = told(tenant, "memory", "edit", old, *WHY, "--text", "The ferry leaves at ten.")
    new = edited["id"]
    assert edited["replaced"] == [old]
    shown = said(tenant, "memory", "show", new)
    assert "The ferry leaves at noon." in shown
    assert "The person said so." in shown
    assert run(tenant, "memory", "edit", old, *WHY, "--text", "At two.").exit_code == 1

    assert told(tenant, "memory", "pin", new)["outcome"] == "changed"
    assert "pinned" in said(tenant, "memory", "list", "--client", "ada")
    assert told(tenant, "memory", "pin", new, "--off")["outcome"] == "changed"

    asked = ("recall", "When does the ferry leave?")
    assert new in said(tenant, *asked, "--json")
    assert run(tenant, "memory", "never-recall", new).exit_code == 2
    said(tenant, "memory", "never-recall", new, *WHY)
    assert new not in said(tenant, *asked, "--json")
    said(tenant, "memory", "never-recall", new, "--off")
    assert new in said(tenant, *asked, "--json")


def test_two_memories_are_merged_moved_and_deleted_after_a_yes(tenant: Tenant) -> None:
    one, other = (remembered(tenant, f"The hut has {what}.") for what in ("bunks", "a stove"))
    whole = told(tenant, "memory", "merge", one, other, *WHY)
    assert sorted(whole["replaced"]) == sorted([one, other])
    moved = told(tenant, "memory", "move", whole["id"], *WHY, "--client", "bob")["id"]
    assert [item["id"] for item in told(tenant, "memory", "list", "--client", "bob")["items"]] == [
        moved
    ]
    beginning = moved[:-2]
    assert run(tenant, "memory", "delete", beginning, answer="n\n").exit_code == 1
    assert told(tenant, "memory", "show", beginning)["state"] == "active"
    assert run(tenant, "memory", "delete", beginning, answer="y\n").exit_code == 0
    assert told(tenant, "memory", "list", "--client", "bob")["items"] == []
    nothing = run(tenant, "memory", "show", "00")
    assert (nothing.exit_code, "Traceback" in nothing.stderr) == (1, False)


def test_memories_leave_in_a_file_and_come_back_elsewhere(
    tenant: Tenant, laptop: Laptop, tmp_path: Path
) -> None:
    remembered(tenant, "The lamp is lit at dusk.")
    file = str(tmp_path / "memories.jsonl")
    said(tenant, "memory", "export", "--only", "memories", "--out", file)
    elsewhere = open_workspace(laptop, "elsewhere")
    said(elsewhere, "memory", "import", file, "--dry-run")
    assert told(elsewhere, "memory", "list")["items"] == []
    said(elsewhere, "memory", "import", file)
    assert "The lamp is lit at dusk." in said(elsewhere, "memory", "list")
    ledger = str(tmp_path / "ledger.jsonl")
    said(tenant, "ledger", "export", "--workspace", str(tenant.id), "-o", ledger)
    assert run(tenant, "ledger", "import", ledger, "--name", "again").exit_code == 1
    names = {item["name"] for item in told(tenant, "workspace", "list")["items"]}
    assert any(name.startswith("memory command") for name in names)


def test_the_version_and_the_completion_are_printed(tenant: Tenant) -> None:
    version = cairn(tenant, "--version")
    assert (version.status, version.err) == (0, "")
    assert version.out.split()[-1][0].isdigit()
    completing = {**environment(tenant), "_CAIRN_COMPLETE": "complete_zsh"}
    done = CliRunner().invoke(
        app,
        [],
        prog_name="cairn",
        env={**completing, "_TYPER_COMPLETE_ARGS": "cairn memory nev"},
    )
    assert "never-recall" in done.stdout


def test_every_other_command_of_the_guides_does_its_work(tenant: Tenant) -> None:
    spoken = told(tenant, "conversations", "say", "I moved to Oslo.", "--session", "s")
    conversation = spoken["conversation_id"]
    said(tenant, "conversations", "say", "I like it there.", "--session", "s")
    said(tenant, "conversations", "set", conversation, "--no-infer")
    assert "Oslo" in said(tenant, "conversations", "show", conversation)
    key = told(tenant, "keys", "create", "visitor", "--role", "public", "--agent", "bot")
    said(tenant, "conversations", "bind", conversation, key["key"]["id"])
    node = told(tenant, "nodes", "add", "Note", "Ask the harbour master.")["id"]
    event = told(tenant, "events", "add", "tool.execute", "--text", "opened the gate")["id"]
    searched = told(tenant, "recall", "Where does the user live?")["meta"]["search_id"]
    hook = told(tenant, "webhooks", "add", f"{tenant.base}/nowhere")["id"]
    incoming = told(tenant, "incoming-webhooks", "add", "sensor", "--client", "ada")["id"]
    said(tenant, "settings", "set", "recall.recipe", "knowledge")
    said(tenant, "subscriptions", "set", "bot", "harbour")
    said(tenant, "reports", "write", "Briefing", "--keyword", "day", "--file", __file__)
    said(tenant, "personas", "set", "night", "--autonomy", "off")
    for line in (
        *("conversations list", "conversations search Oslo", "events list", f"nodes show {node}"),
        *("nodes list Note", "entities list", f"graph lineage {node}", "graph query harbour"),
        *(f"searches show {searched}", f"searches replay {searched}", f"cite [memory:{node}]"),
        *("reports latest day", "reports list", "tasks list", "summaries list", "stats"),
        *("subscriptions list", "subscriptions clear bot", "keys list", "keys whoami"),
        *("settings show", "settings history", "settings reset recall.recipe", "reindex"),
        *("webhooks list", f"webhooks deliveries {hook}", f"webhooks remove {hook}"),
        *("incoming-webhooks list", f"incoming-webhooks rotate {incoming}"),
        *(f"incoming-webhooks remove {incoming}", "workspace redaction pii"),
        *("audit-memory --by-words", "personas list", "tickets list"),
        *("personas show night", "personas history night", "personas remove night"),
        *("tickets queue", "ticket-sources list", "connectors list", "tool-calls", "grants list"),
        *("escalations list", "escalations channels", "candidates list", "proposals list"),
        *("approvals list", "investigations list", "cost", "taints list", "ledger verify"),
    ):
        assert said(tenant, *line.split()), line
    assert event in said(tenant, "events", "list", "--json")
